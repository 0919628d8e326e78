// Level 0 of the mipmap: the attribute's codes, NULLs as 0.
layout(binding = 0) uniform sampler2D attr;
layout(location = 0) out float value;

void main() {
    float v = texelFetch(attr, ivec2(gl_FragCoord.xy), 0).r;
    value = v == 16777216.0 ? 0.0 : v;
}
