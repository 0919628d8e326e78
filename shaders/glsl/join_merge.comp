// Sort-merge join: both sides are sorted by key. The rows of the probe side that lie in a tile meet those
// of the build side from bounds[tile] to bounds[tile + 1] at most; there each row looks for its own
// range by binary search.
// WHOLE: the probe side is in no order, and meets all of the build side.
// BOUNDS: a thread finds the bound of one tile. Else: from[i] and counts[i] get the range of row i where
// RANGES; report gets the number of pairs.
#ifndef WHOLE
layout(std430, binding = 5) buffer Bounds { uint bounds[]; };
#endif
#ifdef RANGES
layout(std430, binding = 6) writeonly buffer From { uint from[]; };
layout(std430, binding = 7) writeonly buffer Counts { uint counts[]; };
#endif
const uint EACH = 8u, TILE = 256u * EACH;

// lower is the first row from lo to hi with a key that is not less.
uint lower(KEY key, uint lo, uint hi) {
    while (lo < hi) {
        uint mid = lo + (hi - lo) / 2u;
        if (less(build_key(mid), key))
            lo = mid + 1u;
        else
            hi = mid;
    }
    return lo;
}

// run is how many rows from at on have the key, found in steps that grow and then shrink.
uint run(KEY key, uint at) {
    uint n = 0u, step = 1u;
    while (at + n < builds && step <= builds - at - n && build_key(at + n + step - 1u) == key) {
        n += step;
        step *= 2u;
    }
    for (step /= 2u; step > 0u; step /= 2u)
        if (step <= builds - at - n && build_key(at + n + step - 1u) == key)
            n += step;
    return n;
}

#ifdef BOUNDS
void main() {
    uint tile = gl_GlobalInvocationID.x;
    if (tile <= tiles)
        bounds[tile] = tile < tiles ? lower(probe_key(tile * TILE), 0u, builds) : builds;
}
#else
void main() {
    for (uint tile = gl_WorkGroupID.x; tile < tiles; tile += gl_NumWorkGroups.x) {
#ifdef WHOLE
        uint lo = 0u, hi = builds;
#else
        uint lo = bounds[tile], hi = bounds[tile + 1u];
#endif
        for (uint k = 0u; k < EACH; k++) {
            uint i = tile * TILE + k * 256u + gl_LocalInvocationIndex;
            if (i >= probes)
                break;
            KEY key = probe_key(i);
            uint at = lower(key, lo, hi), n = run(key, at);
            found(n);
#ifdef RANGES
            from[i] = at;
            counts[i] = n;
#endif
        }
    }
    tell();
}
#endif
