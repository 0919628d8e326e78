// CopyToDepth (paper, routine 4.1): fetch the texel, normalise it, write it to depth.
// In:  attr, one limb (0 .. 2^24-1; a NULL is 2^24) in channel CHANNEL.
// Out: window depth limb / 2^24; a NULL lies at depth 1, or at nullDepth when
//      NULL_DEPTH is defined, where the comparison that follows cannot take it.
layout(binding = 0) uniform sampler2D attr;
#ifdef NULL_DEPTH
uniform float nullDepth;
#endif
layout(depth_any) out float gl_FragDepth;

void main() {
    float limb = texelFetch(attr, ivec2(gl_FragCoord.xy), 0).CHANNEL;
#ifdef NULL_DEPTH
    gl_FragDepth = limb == 16777216.0 ? nullDepth : limb * (1.0 / 16777216.0);
#else
    gl_FragDepth = limb * (1.0 / 16777216.0);
#endif
}
