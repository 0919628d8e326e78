// Puts a validity bitmap (bit r of the words is row r) into the order of planes.
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer Bitmap { uint valid[]; };
layout(std430, binding = 1) writeonly buffer Plane { uvec4 plane[]; };
uniform uint units;
uniform uint rows; // bits behind them count as 0

void main() {
    uint unit = gl_GlobalInvocationID.x;
    if (unit >= units)
        return;
    uvec4 bits = uvec4(0);
    uint row = (unit >> 6) * 8192u + (unit & 63u) * 4u;
    for (uint i = 0u; i < 32u; i++, row += 256u) {
        uvec4 v = (uvec4(valid[row >> 5] >> (row & 31u)) >> uvec4(0, 1, 2, 3)) & 1u;
        bits |= v * uvec4(lessThan(uvec4(row) + uvec4(0, 1, 2, 3), uvec4(rows))) << i;
    }
    plane[(unit >> 6) * 64u + (unit & 63u)] = bits;
}
