// Prefix scan and reduce of x: y[i] is x[0] op ... op x[i-1], and op x[i] where
// INCLUSIVE. Where SEGMENTED, it starts afresh at every i with heads[i] != 0.
layout(std430, binding = 0) readonly buffer In { uvec4 x[]; };
#ifdef SEGMENTED
layout(std430, binding = 2) readonly buffer Heads { uvec4 heads[]; };
uvec4 hs[ROWS];
#endif
#ifndef REDUCE
layout(std430, binding = 1) writeonly buffer Out { uvec4 y[]; };
layout(std430, binding = 1) writeonly buffer OutWords { uint word[]; };
#endif
uvec4 xs[ROWS];

uint quad(uint tile, int row) { return (tile * uint(ROWS) + uint(row)) * uint(TEAM) + rank; }

void fetch(uint tile) {
    for (int r = 0; r < ROWS; r++) {
        uint q = quad(tile, r);
        xs[r] = 4u * q < n ? x[q] : uvec4(0);
#ifdef SEGMENTED
        hs[r] = 4u * q < n ? heads[q] : uvec4(0);
#endif
    }
}

T at(uint i, int row, int e) {
#ifdef SEGMENTED
    return i < n ? element(uint(hs[row][e] != 0u), xs[row][e]) : NONE;
#else
    return i < n ? xs[row][e] : NONE;
#endif
}

void load(uint tile, out T rows[ROWS]) {
    fetch(tile);
    for (int r = 0; r < ROWS; r++) {
        uint i = 4u * quad(tile, r);
        rows[r] = combine(combine(at(i, r, 0), at(i + 1u, r, 1)), combine(at(i + 2u, r, 2), at(i + 3u, r, 3)));
    }
}

void store(uint tile, T rows[ROWS], T base, T total) {
#ifndef REDUCE
    for (int r = 0; r < ROWS; r++) {
        uint q = quad(tile, r), i = 4u * q;
        T t = rows[r];
        uvec4 out_quad;
        for (int e = 0; e < 4; e++) {
            T v = at(i + uint(e), r, e);
#ifdef INCLUSIVE
            t = combine(t, v);
            out_quad[e] = value(t);
#else
            out_quad[e] = head(v) != 0u ? IDENTITY : value(t);
            t = combine(t, v);
#endif
        }
        if (i + 3u < n)
            y[q] = out_quad;
        else
            for (uint e = 0u; i + e < n; e++)
                word[i + e] = out_quad[e];
    }
#endif
}
