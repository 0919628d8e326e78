// Members: keep the record when its code lies in one of `count` ascending,
// disjoint spans (an IN list, or LIKE over a dictionary); needs members.glsl.
// In: the limbs of the code (a NULL is 2^24 in each), and spans.
layout(binding = 0) uniform sampler2D attr;
#ifdef WIDE
layout(binding = 2) uniform sampler2D attrHigh;
#endif
layout(binding = 1) uniform usamplerBuffer spans;
uniform int count;

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    vec4 texel = texelFetch(attr, at, 0);
    if (texel.r == 16777216.0)
        discard;
    uint l0 = uint(texel.r), l1 = LIMBS > 1 ? uint(texel.g) : 0u, l2 = 0u;
#ifdef WIDE
    l2 = uint(texelFetch(attrHigh, at, 0).r);
#endif
    uvec2 code = uvec2(l0 | l1 << 24, l1 >> 8 | l2 << 16);
    if (!member(spans, count, code))
        discard;
}
