// Puts a validity bitmap (bit r of the words is row r) into the order of planes:
// one thread makes one unit, as in planes.comp.
layout(local_size_x = LOCAL) in;
READONLY(0, uint, Bitmap, valid);
layout(std430, binding = 1) writeonly buffer Plane { uvec4 plane[]; };
uniform uint units;
uniform uint rows; // bits behind them count as 0
uniform uint from; // where the bitmap begins, in words

void main() {
    for (uint unit = firstUnit(units), end = endUnit(units); unit < end; unit += STEP) {
        uvec4 bits = uvec4(0);
        for (uint i = 0u; i < 32u; i++) {
            uint row = 4u * quadOf(unit, i);
            bits |= ((uvec4(FETCH_UINT(valid, from + (row >> 5)) >> (row & 31u)) >> uvec4(0, 1, 2, 3)) & 1u) << i;
        }
        plane[unit] = bits & within(unit, rows);
    }
}
