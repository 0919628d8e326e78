// Adds a constant to codes in planes, from the lowest bit up, with a mask of the records
// that carry: one thread makes one unit of each plane.
//
// In: the planes of the lower 32 bits and of those above; list[b]: the plane of bit b,
// -1 for zeros; list[64 + b]: bit b of the constant, as a mask.
// Out: a plane for each bit of the sum, in two blocks likewise.
layout(local_size_x = LOCAL) in;
READONLY(1, uvec4, Low, low);
READONLY(3, uvec4, High, high);
layout(std430, binding = 2) writeonly buffer LowSum { uvec4 lowSum[]; };
layout(std430, binding = 4) writeonly buffer HighSum { uvec4 highSum[]; };
uniform int arg[6]; // units, place of claims; planes of each block: low, lowSum, high, highSum
uniform int list[128];

uvec4 carry;

// add returns bit b of the sum.
uvec4 add(uvec4 code, int b) {
    uint c = uint(list[64 + b]);
    uvec4 sum = code ^ c ^ carry;
    carry = (code & c) | (carry & (code | c));
    return sum;
}

void main() {
    claim(uint(arg[1]));
    uint units = uint(arg[0]);
    for (uint unit = firstUnit(units), end = endUnit(units); unit < end; unit += STEP) {
        carry = uvec4(0u);
        uint from = first(unit, arg[2]), to = first(unit, arg[3]);
        for (int b = 0; b < arg[3]; b++)
            lowSum[to + uint(PLANE * b)] = add(list[b] < 0 ? uvec4(0u) : FETCH(low, from + uint(PLANE * list[b])), b);
        from = first(unit, arg[4]);
        to = first(unit, arg[5]);
        for (int b = 32; b < 32 + arg[5]; b++)
            highSum[to + uint(PLANE * (b - 32))] = add(list[b] < 0 ? uvec4(0u) : FETCH(high, from + uint(PLANE * list[b])), b);
    }
}
