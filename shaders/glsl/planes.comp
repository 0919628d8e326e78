// Cuts codes into bit planes: one thread makes one unit (4 x 32 rows) of each plane
// that is stored. The order of records in a plane is that of textures.PlaneRow.
// BYTES: of a code (1, 2, 4); BITS: planes 0..BITS-1 may be stored.
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer Codes { uint code[]; };
layout(std430, binding = 1) writeonly buffer Planes { uvec4 plane[]; };
uniform uint units;
uniform uint rows;   // codes behind them count as 0
uniform uint stored; // which planes are stored, as bits

uvec4 fetch(uint row) {
#if BYTES == 1
    uint w = code[row >> 2];
    return (uvec4(w) >> uvec4(0, 8, 16, 24)) & 255u;
#elif BYTES == 2
    uint a = code[row >> 1], b = code[(row >> 1) + 1];
    return uvec4(a & 65535u, a >> 16, b & 65535u, b >> 16);
#else
    return uvec4(code[row], code[row + 1], code[row + 2], code[row + 3]);
#endif
}

void main() {
    uint unit = gl_GlobalInvocationID.x;
    if (unit >= units)
        return;
    uvec4 bits[BITS];
    for (int b = 0; b < BITS; b++)
        bits[b] = uvec4(0);
    uint row = (unit >> 6) * 8192u + (unit & 63u) * 4u;
    for (uint i = 0u; i < 32u; i++, row += 256u) {
        uvec4 v = fetch(row) * uvec4(lessThan(uvec4(row) + uvec4(0, 1, 2, 3), uvec4(rows)));
        for (int b = 0; b < BITS; b++)
            bits[b] |= ((v >> b) & 1u) << i;
    }
    uint at = (unit >> 6) * 64u * uint(bitCount(stored)) + (unit & 63u);
    for (int b = 0; b < BITS; b++)
        if ((stored >> b & 1u) != 0u) {
            plane[at] = bits[b];
            at += 64u;
        }
}
