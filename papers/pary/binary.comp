// Parallel binary search (section 3): place[i] = where queries[i] stands among the `limit` sorted keys, ~0 where it does not; a thread a
// query, n queries. COUNT: a variant that counts over teams of LANES threads, which go step by step together, `steps` steps at most.
layout(local_size_x = LOCAL) in;
uniform uint n;
uniform uint steps;

#ifdef COUNT
void main() {
    uint lane = gl_LocalInvocationIndex % LANES, team = gl_LocalInvocationIndex / LANES, i = thread();
    uvec4 query = i < n ? queries[i] : uvec4(0u);
    uint lo = 0u, size = i < n ? limit : 0u, found = MISSING;
    for (uint s = 0u; s < steps; s++) {
        bool reads = size > 0u;
        uint at = lo + size / 2u;
        touch(team, lane, 0u, reads, at);
        touch(team, lane, 1u, false, 0u);
        barrier();
        tally(team, lane);
        barrier();
        if (reads) {
            int order = compare(keys[at], query);
            if (order == 0) {
                found = at;
                size = 0u;
            } else if (order < 0) {
                size -= at + 1u - lo;
                lo = at + 1u;
            } else
                size = at - lo;
        }
    }
    if (i < n)
        place[i] = found;
}
#else
void main() {
    uint i = thread();
    if (i >= n)
        return;
    uvec4 query = queries[i];
    uint lo = 0u, hi = limit, found = MISSING;
    while (lo < hi) {
        uint at = lo + (hi - lo) / 2u;
        int order = compare(keys[at], query);
        if (order == 0) {
            found = at;
            break;
        }
        if (order < 0)
            lo = at + 1u;
        else
            hi = at;
    }
    place[i] = found;
}
#endif
