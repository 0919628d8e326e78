// CopyToDepth (paper, routine 4.1), with fewer bits when asked to.
// In:  attr, a code; lost, 2^n to drop the lowest n bits of it, 1 to drop none.
// Out: the fragment's depth.
layout(binding = 0) uniform sampler2D attr;
uniform float lost;

void main() {
    float code = texelFetch(attr, ivec2(gl_FragCoord.xy), 0).r;
    code = floor(code / lost) * lost;
    gl_FragDepth = code / 16777216.0; // 0 .. 1
}
