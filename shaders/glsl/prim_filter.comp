// Filter: EMIT (x and i) of the elements for which KEEP (x and i) holds, in order, to
// y; their number is the sum of all. Scanned is the number kept in each quad.
layout(std430, binding = 0) readonly buffer In { uvec4 xs[]; };
#ifndef REDUCE
layout(std430, binding = 1) writeonly buffer Out { uint y[]; };
#endif
CONSTANTS
uvec4 quads[ROWS];
uint kept[ROWS]; // bit e: element e of the quad

bool keep(uint x, uint i) { return KEEP; }
uint emit(uint x, uint i) { return EMIT; }

uint quad(uint tile, int row) { return (tile * uint(ROWS) + uint(row)) * uint(TEAM) + rank; }

void load(uint tile, out T rows[ROWS]) {
    for (int r = 0; r < ROWS; r++) {
        uint q = quad(tile, r);
        quads[r] = 4u * q < n ? xs[q] : uvec4(0);
    }
    for (int r = 0; r < ROWS; r++) {
        uint i = 4u * quad(tile, r);
        kept[r] = 0u;
        for (int e = 0; e < 4; e++)
            if (i + uint(e) < n && keep(quads[r][e], i + uint(e)))
                kept[r] |= 1u << e;
        rows[r] = uint(bitCount(kept[r]));
    }
}

#if TEAM > 1 && !defined(REDUCE)
shared uint stage[TEAM * ROWS * 4];
#endif

void store(uint tile, T rows[ROWS], T base, T total) {
#ifndef REDUCE
    for (int r = 0; r < ROWS; r++) {
        uint i = 4u * quad(tile, r), at = rows[r];
        for (int e = 0; e < 4; e++)
            if ((kept[r] >> e & 1u) != 0u) {
#if TEAM > 1
                stage[at - base] = emit(quads[r][e], i + uint(e));
#else
                y[at] = emit(quads[r][e], i + uint(e));
#endif
                at++;
            }
    }
#if TEAM > 1
    barrier(); // the tile's output is written by neighbours
    for (uint j = rank; j < total; j += uint(TEAM))
        y[base + j] = stage[j];
    barrier();
#endif
#endif
}
