// One level of a floating-point mipmap (paper, section 4.3.3): the mean of four
// texels of the level below. Float32, so it rounds: for comparison only.
layout(binding = 0) uniform sampler2D below;
layout(location = 0) out float mean;

void main() {
    ivec2 at = 2 * ivec2(gl_FragCoord.xy);
    mean = 0.25 * (texelFetch(below, at, 0).r + texelFetch(below, at + ivec2(1, 0), 0).r
                 + texelFetch(below, at + ivec2(0, 1), 0).r + texelFetch(below, at + ivec2(1, 1), 0).r);
}
