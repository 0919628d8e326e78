// Nested loops without index: each row of the probe side meets each of the build side. A thread has a row
// of the probe side; the rows of the build side come in blocks, through shared memory. Work groups of one
// y share a strip of the build side.
// COMPARE: what has to hold of keys x and y. report gets the number of pairs.
// COUNTS: counts[y * probes + i] gets those of row i in strip y. EMIT: these have become starts, and left
// and right get the pairs' row ids.
#ifdef COUNTS
layout(std430, binding = 5) writeonly buffer Counts { uint counts[]; };
#endif
#ifdef EMIT
layout(std430, binding = 5) readonly buffer Starts { uint starts[]; };
layout(std430, binding = 6) readonly buffer Probe { uint probe[]; };
layout(std430, binding = 7) readonly buffer Build { uint build[]; };
layout(std430, binding = 8) writeonly buffer ProbeOut { uint probe_out[]; };
layout(std430, binding = 9) writeonly buffer BuildOut { uint build_out[]; };
#endif
uniform uint strip; // rows of one
shared KEY inner[256];

void main() {
    uint me = gl_LocalInvocationIndex;
    uint from = gl_WorkGroupID.y * strip, to = min(from + strip, builds);
    for (uint tile = gl_WorkGroupID.x; tile < tiles; tile += gl_NumWorkGroups.x) {
        uint i = tile * 256u + me;
        KEY x = probe_key(min(i, probes - 1u));
        uint n = 0u;
#ifdef EMIT
        uint id = probe[min(i, probes - 1u)];
        uint at = i < probes ? starts[gl_WorkGroupID.y * probes + i] : 0u;
#endif
        for (uint first = from; first < to; first += 256u) {
            barrier();
            if (first + me < to)
                inner[me] = build_key(first + me);
            barrier();
            uint rows = i < probes ? min(256u, to - first) : 0u;
            for (uint k = 0u; k < rows; k++) {
                KEY y = inner[k];
#ifdef EMIT
                if (COMPARE) {
                    probe_out[at + n] = id;
                    build_out[at + n] = build[first + k];
                    n++;
                }
#else
                n += uint(COMPARE);
#endif
            }
        }
#ifndef EMIT
        found(n);
#endif
#ifdef COUNTS
        if (i < probes)
            counts[gl_WorkGroupID.y * probes + i] = n;
#endif
    }
#ifndef EMIT
    tell();
#endif
}
