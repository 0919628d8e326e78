// Emits the pairs of a join. Row i of the probe side meets count(i) rows of the build side, from from[i] on;
// starts[i] is how many pairs are before its own. Rows and pairs together are cut into tiles of the same
// size, so that a row with many pairs has many work groups, and many rows without pairs have several.
// SPLITS: a thread finds how many rows are before one tile, a step in the merge of rows and pairs.
// Else: left and right get the pairs' row ids, from pair `base` on.
layout(local_size_x = 256) in;
layout(std430, binding = 0) readonly buffer Starts { uint starts[]; };
layout(std430, binding = 1) buffer Splits { uint splits[]; };
uniform uint probes, pairs, tiles;
const uint TILE = 2048u;

#ifdef SPLITS
void main() {
    uint tile = gl_GlobalInvocationID.x;
    if (tile > tiles)
        return;
    uint d = min(tile * TILE, probes + pairs); // both are less than 2^30
    uint lo = d > pairs ? d - pairs : 0u, hi = min(d, probes);
    while (lo < hi) {
        uint mid = (lo + hi) / 2u;
        if (starts[mid] <= d - 1u - mid)
            lo = mid + 1u;
        else
            hi = mid;
    }
    splits[tile] = lo;
}
#else
layout(std430, binding = 2) readonly buffer From { uint from[]; };
layout(std430, binding = 3) readonly buffer Probe { uint probe[]; };
layout(std430, binding = 4) readonly buffer Build { uint build[]; };
layout(std430, binding = 5) writeonly buffer ProbeOut { uint probe_out[]; };
layout(std430, binding = 6) writeonly buffer BuildOut { uint build_out[]; };
uniform uint base;
shared uint mine[TILE + 1];

void main() {
    for (uint tile = gl_WorkGroupID.x; tile < tiles; tile += gl_NumWorkGroups.x) {
        uint row = splits[tile], rows = splits[tile + 1u];
        uint lo = tile * TILE - row, hi = min((tile + 1u) * TILE, probes + pairs) - rows;
        row = max(row, 1u) - 1u; // the last row before may have pairs here
        rows -= row;
        for (uint i = gl_LocalInvocationIndex; i < rows; i += 256u)
            mine[i] = starts[row + i];
        barrier();
        for (uint o = lo + gl_LocalInvocationIndex; o < hi; o += 256u) {
            uint first = 0u, n = rows; // the last row that starts at the pair or before
            while (n > 1u) {
                uint half_ = n / 2u;
                if (mine[first + half_] <= o)
                    first += half_;
                n -= half_;
            }
            uint i = row + first;
            probe_out[base + o] = probe[i];
            build_out[base + o] = build[from[i] + (o - mine[first])];
        }
        barrier();
    }
}
#endif
