// Gather: y[i] = x[at[i]], 0 where at[i] is not below `limit`; SCATTER: y[at[i]] =
// x[i], nothing where at[i] is not below `limit`. Only locations lo..lo+size-1 are
// looked at: random access is fast in what address translation covers (GDB's
// multipass optimization). The pass with lo = 0 gives the zeros. A work group has a tile of four elements
// a thread: groups begin in order, so that those at work are close together, which ones that loop do not stay.
// STRIPS: a thread goes over a strip, four at a time.
layout(local_size_x = LOCAL) in;
layout(std430, binding = 0) readonly buffer In { uint x[]; };
layout(std430, binding = 1) readonly buffer Locations { uint at[]; };
layout(std430, binding = 2) writeonly buffer Out { uint y[]; };
uniform uint n;     // locations
uniform uint limit; // elements of x, or of y where SCATTER
uniform uint lo, size;

void main() {
#ifdef STRIPS
    uint threads = gl_NumWorkGroups.x * uint(LOCAL);
    uint per = ((n + threads - 1u) / threads + 3u) & ~3u, step = 1u;
    uint from = gl_GlobalInvocationID.x * per, to = min(from + per, n);
    for (uint i = from; i < to; i += 4u) {
#else
    uint step = uint(LOCAL), to = n;
    uint i = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * 4u * step + gl_LocalInvocationIndex;
    {
#endif
        uint l[4], v[4];
        for (uint k = 0u; k < 4u; k++)
            l[k] = i + k * step < to ? at[i + k * step] : ~0u;
        for (uint k = 0u; k < 4u; k++) {
#ifdef SCATTER
            if (l[k] - lo < size)
                y[l[k]] = x[i + k * step];
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
