// Gather: y[i] = x[at[i]], 0 where at[i] is not below `limit`; SCATTER: y[at[i]] =
// x[i], nothing where at[i] is not below `limit`. Only locations lo..lo+size-1 are
// looked at: random access is fast in what address translation covers (GDB's
// multipass optimization). The pass with lo = 0 gives the zeros. A thread does four
// elements at a time, in turns with its neighbours or (STRIPS) from a strip. TWO: of two
// vectors, to be scattered.
layout(local_size_x = LOCAL) in;
layout(std430, binding = 0) readonly buffer In { uint x[]; };
layout(std430, binding = 1) readonly buffer Locations { uint at[]; };
layout(std430, binding = 2) writeonly buffer Out { uint y[]; };
#ifdef TWO
layout(std430, binding = 3) readonly buffer In2 { uint x2[]; };
layout(std430, binding = 4) writeonly buffer Out2 { uint y2[]; };
#endif
uniform uint n;     // locations
uniform uint limit; // elements of x, or of y where SCATTER
uniform uint lo, size;

void main() {
    uint threads = gl_NumWorkGroups.x * uint(LOCAL);
#ifdef STRIPS
    uint per = ((n + threads - 1u) / threads + 3u) & ~3u, step = 1u;
    uint from = gl_GlobalInvocationID.x * per, to = min(from + per, n);
    for (uint i = from; i < to; i += 4u) {
#else
    uint step = threads, to = n;
    for (uint i = gl_GlobalInvocationID.x; i < to; i += 4u * threads) {
#endif
        uint l[4], v[4];
        for (uint k = 0u; k < 4u; k++)
            l[k] = i + k * step < to ? at[i + k * step] : ~0u;
        for (uint k = 0u; k < 4u; k++) {
#ifdef SCATTER
            if (l[k] - lo < size) {
                y[l[k]] = x[i + k * step];
#ifdef TWO
                y2[l[k]] = x2[i + k * step];
#endif
            }
#else
            v[k] = l[k] - lo < size ? x[l[k]] : 0u;
#endif
        }
#ifndef SCATTER
        for (uint k = 0u; k < 4u; k++)
            if (i + k * step < to && (l[k] - lo < size || lo == 0u && l[k] >= limit))
                y[i + k * step] = v[k];
#endif
    }
}
