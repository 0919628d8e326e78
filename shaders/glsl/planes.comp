// Cuts codes into bit planes: one thread makes one unit (4 x 32 rows) of each plane
// that is stored. The order of records in a plane is that of textures.PlaneRow.
// BYTES: of a code (1, 2, 4); BITS: planes 0..BITS-1 may be stored.
#if BYTES == 1
#define FOUR uint // four codes
#elif BYTES == 2
#define FOUR uvec2
#else
#define FOUR uvec4
#endif
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer Codes { FOUR code[]; };
layout(std430, binding = 1) writeonly buffer Planes { uvec4 plane[]; };
uniform uint rows;   // codes behind them count as 0
uniform uint stored; // which planes are stored, as bits

uvec4 fetch(uint row) {
    FOUR w = code[row >> 2];
#if BYTES == 1
    return (uvec4(w) >> uvec4(0, 8, 16, 24)) & 255u;
#elif BYTES == 2
    return uvec4(w.x & 65535u, w.x >> 16, w.y & 65535u, w.y >> 16);
#else
    return w;
#endif
}

void main() {
    uint planes = uint(bitCount(stored));
    uint unit = gl_LocalInvocationID.x;
    for (uint group = gl_WorkGroupID.x; group * 8192u < rows; group += gl_NumWorkGroups.x) {
        uvec4 bits[BITS];
        for (int b = 0; b < BITS; b++)
            bits[b] = uvec4(0);
        uint row = group * 8192u + unit * 4u;
        for (uint i = 0u; i < 32u; i++, row += 256u) {
            uvec4 v = fetch(row) * uvec4(lessThan(uvec4(row) + uvec4(0, 1, 2, 3), uvec4(rows)));
            for (int b = 0; b < BITS; b++)
                bits[b] |= ((v >> b) & 1u) << i;
        }
        uint at = group * 64u * planes + unit;
        for (int b = 0; b < BITS; b++)
            if ((stored >> b & 1u) != 0u) {
                plane[at] = bits[b];
                at += 64u;
            }
    }
}
