// Puts a validity bitmap (bit r of the words is row r) into the order of planes:
// one thread makes one unit, as in planes.comp.
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer Bitmap { uint valid[]; };
layout(std430, binding = 1) writeonly buffer Plane { uvec4 plane[]; };
uniform uint rows; // bits behind them count as 0

void main() {
    uint unit = gl_LocalInvocationID.x;
    for (uint group = gl_WorkGroupID.x; group * 8192u < rows; group += gl_NumWorkGroups.x) {
        uvec4 bits = uvec4(0);
        uint row = group * 8192u + unit * 4u;
        for (uint i = 0u; i < 32u; i++, row += 256u) {
            uvec4 v = (uvec4(valid[row >> 5] >> (row & 31u)) >> uvec4(0, 1, 2, 3)) & 1u;
            bits |= v * uvec4(lessThan(uvec4(row) + uvec4(0, 1, 2, 3), uvec4(rows))) << i;
        }
        plane[group * 64u + unit] = bits;
    }
}
