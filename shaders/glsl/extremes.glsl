// Partial results of a reduction: the smallest and the largest code of 64 bits, low
// words first. Over no records the smallest is above the largest.
const uvec4 noExtremes = uvec4(0xffffffffu, 0xffffffffu, 0u, 0u);
uvec4 addExtremes(uvec4 a, uvec4 b) {
    return uvec4(belowU64(b.xy, a.xy) ? b.xy : a.xy, belowU64(a.zw, b.zw) ? b.zw : a.zw);
}
