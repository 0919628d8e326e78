// Cuts codes into bit planes: one thread makes one unit (4 x 32 rows) of each plane
// that is stored. The order of records in a plane is that of textures.PlaneRow.
// CODE: uint, uvec2, uvec4 (codes of 1, 2, 4 bytes), read by FETCH_CODE; BITS: planes
// 0..BITS-1 may be stored. RANKS: of the ranks of the codes, looked up.
layout(local_size_x = LOCAL) in;
#ifdef RANKS
#define CODES 2 // binding 0 is no image
layout(std430, binding = 0) readonly buffer Ranks { uint rank[]; };
#else
#define CODES 0
#endif
READONLY(CODES, CODE, Codes, code);
layout(std430, binding = 1) writeonly buffer Planes { uvec4 plane[]; };
uniform uint units;
uniform uint rows;   // codes behind them count as 0
uniform uint stored; // which planes are stored, as bits
uniform uint from;   // where the codes begin, in fours

void main() {
    int planes = bitCount(stored);
    for (uint unit = firstUnit(units), end = endUnit(units); unit < end; unit += STEP) {
        uvec4 among = within(unit, rows), bits[BITS];
        for (int b = 0; b < BITS; b++)
            bits[b] = uvec4(0);
        for (uint i = 0u; i < 32u; i++) {
            uvec4 v = unpack(FETCH_CODE(code, from + quadOf(unit, i)));
#ifdef RANKS
            uvec4 some = among >> i & 1u; // the codes behind the rows are any
            v *= some;
            v = uvec4(rank[v.x], rank[v.y], rank[v.z], rank[v.w]);
#endif
            for (int b = 0; b < BITS; b++)
                bits[b] |= ((v >> b) & 1u) << i;
        }
        uint at = first(unit, planes);
        for (int b = 0; b < BITS; b++)
            if ((stored >> b & 1u) != 0u) {
                plane[at] = bits[b] & among;
                at += uint(PLANE);
            }
    }
}
