// Adds a constant to codes in planes, from the lowest bit up, with a mask of the records
// that carry: one thread makes one unit of each plane.
//
// In: the planes that are stored of the lower 32 bits of the codes, and of those above; plus: the
// constant, low word first. Out: a plane for each bit of the sum below BITS, of the lower 32 or,
// where there are more, of those above.
layout(local_size_x = LOCAL) in;
layout(std430, binding = 0) writeonly buffer Sum { uvec4 sum[]; };
READONLY(1, uvec4, Low, low);
READONLY(2, uvec4, High, high);
uniform uint units;
uniform uvec2 stored, plus;

// code returns bit b of a unit's codes.
uvec4 code(uint unit, int b) {
    uint planes = stored[b >> 5], below = planes & ((1u << (b & 31)) - 1u);
    if ((planes >> (b & 31) & 1u) == 0u)
        return uvec4(0u);
    uint at = first(unit, bitCount(planes)) + uint(PLANE * bitCount(below));
    return b < 32 ? FETCH(low, at) : FETCH(high, at);
}

void main() {
    const int part = BITS > 32 ? 32 : 0; // the first bit that is kept
    for (uint unit = firstUnit(units), end = endUnit(units); unit < end; unit += STEP) {
        uvec4 carry = uvec4(0u);
        uint at = first(unit, BITS - part);
        for (int b = 0; b < BITS; b++) {
            uvec4 x = code(unit, b);
            uint c = uint(-int(plus[b >> 5] >> (b & 31) & 1u));
            if (b >= part)
                sum[at + uint(PLANE * (b - part))] = x ^ c ^ carry;
            carry = (x & c) | (carry & (x | c));
        }
    }
}
