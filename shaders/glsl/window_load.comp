// Codes of the rows of a piece of a column, one by one, as words of 64 bits in the code space that all chunks have
// in common: out_[base + row] gets a word of
//   plus + code        of a row that is not NULL; NEGATE: plus - code; CONSTANT: plus
//   null               of one that is
// which is first shifted to the left by `shift` bits, to the right where that is negative. OR: it is added to the bits
// that are there.
// BYTES: those of a code; WIDE: there are upper words; NULLS: there is a validity plane in the order of
// textures.PlaneRow; RANKS: a code's place in the common dictionary. A thread has ROWS of them.
layout(local_size_x = LOCAL) in;
layout(std430, binding = 0) readonly buffer Codes { uint codes[]; };
#ifdef WIDE
layout(std430, binding = 1) readonly buffer High { uint high[]; };
#endif
#ifdef NULLS
layout(std430, binding = 2) readonly buffer Valid { uint valid[]; };
#endif
#ifdef RANKS
layout(std430, binding = 3) readonly buffer Ranks { uint ranks[]; };
#endif
layout(std430, binding = 4) buffer Out { uint out_[]; };
uniform uint n, base, plus_low, plus_high, null_low, null_high;
uniform int shift;

uvec2 add(uvec2 a, uvec2 b) {
    uint carry, low = uaddCarry(a.x, b.x, carry);
    return uvec2(low, a.y + b.y + carry);
}

uvec2 value(uint row) {
#ifdef NULLS
    if ((valid[4u * (row / 8192u * 64u + row % 256u / 4u) + row % 4u] >> (row % 8192u / 256u) & 1u) == 0u)
        return uvec2(null_low, null_high);
#endif
    uvec2 plus = uvec2(plus_low, plus_high);
#ifdef CONSTANT
    return plus;
#else
#if BYTES == 1
    uvec2 code = uvec2(codes[row >> 2] >> 8u * (row & 3u) & 0xffu, 0u);
#elif BYTES == 2
    uvec2 code = uvec2(codes[row >> 1] >> 16u * (row & 1u) & 0xffffu, 0u);
#else
    uvec2 code = uvec2(codes[row], 0u);
#endif
#ifdef WIDE
    code.y = high[row];
#endif
#ifdef RANKS
    code.x = ranks[code.x];
#endif
#ifdef NEGATE
    code = add(~code, uvec2(1u, 0u));
#endif
    return add(code, plus);
#endif
}

void put(uint row) {
    uvec2 v = value(row);
    uint word;
    if (shift >= 0)
        word = v.x << shift;
    else if (shift > -32)
        word = v.x >> -shift | v.y << (32 + shift);
    else
        word = v.y >> (-shift - 32);
#ifdef OR
    out_[base + row] |= word;
#else
    out_[base + row] = word;
#endif
}

void main() {
    uint from = (gl_WorkGroupID.x + gl_WorkGroupID.y * gl_NumWorkGroups.x) * uint(LOCAL) * ROWS + gl_LocalInvocationIndex;
    for (uint k = 0u; k < ROWS; k++)
        if (from + k * LOCAL < n)
            put(from + k * LOCAL);
}
