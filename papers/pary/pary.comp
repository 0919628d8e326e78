// P-ary search (section 3): place[i] = where queries[i] stands among the `limit` sorted keys, ~0 where it does not. LANES threads, the PEs
// of a multiprocessor, search for one key together: each compares it with the boundaries of its part of the range, and whose part holds
// the key makes that the range of the next step. `steps` steps. n queries. How boundaries are read:
// OWN: both of a part by its thread, 2p reads a step. SHARED: neighbours share one through shared memory, p + 1 reads. REUSED: the range's
// own boundaries are known from the step before, or infinite, p - 1 reads.
layout(local_size_x = LOCAL) in;
uniform uint n;
uniform uint steps;

const uint TEAMS = uint(LOCAL) / LANES;
shared uint range_lo[TEAMS], range_size[TEAMS], range_found[TEAMS];
#ifdef SHARED
shared uvec4 bounds[TEAMS][LANES + 1u];
#endif
#ifdef REUSED
shared bool reached[TEAMS][LANES + 1u];
#endif

void main() {
    uint lane = gl_LocalInvocationIndex % LANES, team = gl_LocalInvocationIndex / LANES, i = thread() / LANES;
    uvec4 query = i < n ? queries[i] : uvec4(0u);
    if (lane == 0u) {
        range_lo[team] = 0u;
        range_size[team] = i < n ? limit : 0u;
        range_found[team] = MISSING;
    }
    barrier();
    for (uint s = 0u; s < steps; s++) {
        uint lo = range_lo[team], size = range_size[team], width = (size + LANES - 1u) / LANES;
        uint start = lo + min(lane * width, size), end = lo + min((lane + 1u) * width, size); // of the thread's part
        bool part = start < end, last = end == lo + size; // the part's upper boundary is the range's
        int lower = 1; // order of the part's lower boundary and the query
        bool holds = false;
#ifdef OWN
        bool above = part && end < limit;
        touch(team, lane, 0u, part, start);
        touch(team, lane, 1u, above, end);
        if (part) {
            lower = compare(keys[start], query);
            holds = lower <= 0 && !(above && compare(keys[end], query) <= 0);
        }
#endif
#ifdef SHARED
        bool above = part && last && end < limit;
        touch(team, lane, 0u, part, start);
        touch(team, lane, 1u, above, end);
        if (part)
            bounds[team][lane] = keys[start];
        if (above)
            bounds[team][lane + 1u] = keys[end];
        barrier();
        if (part) {
            lower = compare(bounds[team][lane], query);
            holds = lower <= 0 && !(end < limit && compare(bounds[team][lane + 1u], query) <= 0);
        }
#endif
#ifdef REUSED
        // The key at the range's lower end was a boundary of the step before, and is not the query, unless it is the first of all.
        bool reads = part && (lane > 0u || width == 1u && lo == 0u);
        touch(team, lane, 0u, reads, start);
        touch(team, lane, 1u, false, 0u);
        if (part)
            lower = reads ? compare(keys[start], query) : -1;
        reached[team][lane] = part && lower <= 0;
        barrier();
        holds = part && lower <= 0 && (last || !reached[team][lane + 1u]);
#endif
        barrier();
#ifdef COUNT
        tally(team, lane);
        barrier();
#endif
        if (holds) {
            range_lo[team] = start;
            range_size[team] = lower == 0 || width == 1u ? 0u : end - start;
            if (lower == 0)
                range_found[team] = start;
        } else if (lane == 0u && lower > 0)
            range_size[team] = 0u; // it is before the first key
        barrier();
    }
    if (lane == 0u && i < n)
        place[i] = range_found[team];
}
