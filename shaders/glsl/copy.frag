// CopyToDepth (paper, routine 4.1): fetch the texel, normalise it, write it to depth.
// In:  attr, one limb (0 .. 2^24-1; a NULL is 2^24) in channel CHANNEL.
// Out: window depth limb / 2^24; a NULL lies at depth 1, or at nullDepth when
//      NULL_DEPTH is defined, where the comparison that follows cannot take it.
// SHIFTED: the limb LIMB of code + offset, for chunks that share a code space;
//      WIDE: the code has a third limb in a second texture.
layout(binding = 0) uniform sampler2D attr;
#ifdef WIDE
layout(binding = 1) uniform sampler2D attrHigh;
#endif
#ifdef NULL_DEPTH
uniform float nullDepth;
#endif
#ifdef SHIFTED
uniform uvec3 offset; // limbs, lowest first
#endif
layout(depth_any) out float gl_FragDepth;

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
#ifdef SHIFTED
    vec4 texel = texelFetch(attr, at, 0);
    uvec3 limbs = uvec3(uint(texel.r), LIMBS > 1 ? uint(texel.g) : 0u, 0u);
#ifdef WIDE
    limbs.z = uint(texelFetch(attrHigh, at, 0).r);
#endif
    bool null = texel.r == 16777216.0;
    limbs += offset;
    limbs.y += limbs.x >> 24;
    limbs.z += limbs.y >> 24;
    float limb = null ? 16777216.0 : float(limbs[LIMB] & 0xffffffu);
#else
    float limb = texelFetch(attr, at, 0).CHANNEL;
#endif
#ifdef NULL_DEPTH
    gl_FragDepth = limb == 16777216.0 ? nullDepth : limb * (1.0 / 16777216.0);
#else
    gl_FragDepth = limb * (1.0 / 16777216.0);
#endif
}
