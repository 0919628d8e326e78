// Puts codes together of bit planes, which cross the bus in fewer bytes: one thread makes the codes of one unit
// (4 x 32 rows). The order of records in a plane is that of textures.PlaneRow.
// CODE: uint, uvec2, uvec4, for four codes of BYTES (1, 2, 4) each; BITS: planes 0..BITS-1 may be there.
layout(local_size_x = LOCAL) in;
READONLY(0, uvec4, Planes, plane);
layout(std430, binding = 1) writeonly buffer Codes { CODE code[]; };
uniform uint units;
uniform uint stored; // which planes are there, as bits; the others are 0
uniform uint from;   // where they begin, in uvec4

CODE pack(uvec4 v) {
#if BYTES == 1
    return v.x | v.y << 8 | v.z << 16 | v.w << 24;
#elif BYTES == 2
    return uvec2(v.x | v.y << 16, v.z | v.w << 16);
#else
    return v;
#endif
}

void main() {
    int planes = bitCount(stored);
    for (uint unit = firstUnit(units), end = endUnit(units); unit < end; unit += STEP) {
        uvec4 bits[BITS];
        uint at = from + first(unit, planes);
        for (int b = 0; b < BITS; b++) {
            bits[b] = uvec4(0);
            if ((stored >> b & 1u) != 0u) {
                bits[b] = FETCH(plane, at);
                at += uint(PLANE);
            }
        }
        for (uint i = 0u; i < 32u; i++) {
            uvec4 v = uvec4(0);
            for (int b = 0; b < BITS; b++)
                v |= (bits[b] >> i & 1u) << b;
            code[quadOf(unit, i)] = pack(v);
        }
    }
}
