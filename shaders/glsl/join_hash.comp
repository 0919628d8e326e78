// Hash join: both sides are split by the upper `bits` bits of their keys' hashes. A work group makes a hash
// table of the build side's rows of a partition in shared memory, and looks the probe side's rows up there.
// Keys of two words have been hashed to one (WIDE: the upper word tells those apart which then look alike).
// probe_bounds, build_bounds: where the partitions begin, and the end.
// BOUNDS: a thread finds where one partition of the build side begins.
// LARGE: the build side's rows of partitions that are too large go to keys_out, high_out and rows_out, in
// any order; report[at] counts them.
// Else: report gets the number of pairs, and how many rows of each side are in such partitions. RANGES:
// build_out gets the build side's row ids, within a partition those of a key side by side; from[i] and
// counts[i] the range there of row i of the probe side, where it has one.
layout(std430, binding = 5) buffer ProbeBounds { uint probe_bounds[]; };
layout(std430, binding = 6) buffer BuildBounds { uint build_bounds[]; };
uniform uint bits; // 1..24

uint mixed(uint key) { return (key ^ key >> 15) * 0x9e3779b1u; } // no two keys alike
uint partition_of(uint key) { return mixed(key) >> (32u - bits); }

const uint ROWS = 1536u;        // of the build side that a table has room for
const uint PROBES = 16384u;     // of the probe side that are left to one work group
const uint SLOTS = 2048u;

bool too_large(uint p) {
    uint b = build_bounds[p + 1u] - build_bounds[p], n = probe_bounds[p + 1u] - probe_bounds[p];
    return b > 0u && n > 0u && (b > ROWS || n > PROBES);
}

#ifdef BOUNDS
void main() {
    uint p = gl_GlobalInvocationID.x;
    if (p > 1u << bits)
        return;
    uint lo = 0u, hi = builds;
    while (lo < hi && p > 0u) {
        uint mid = lo + (hi - lo) / 2u;
        if (partition_of(build_keys[mid]) < p)
            lo = mid + 1u;
        else
            hi = mid;
    }
    build_bounds[p] = lo;
}
#elif defined(LARGE)
layout(std430, binding = 7) readonly buffer Rows { uint rows[]; };
layout(std430, binding = 8) writeonly buffer KeysOut { uint keys_out[]; };
layout(std430, binding = 9) writeonly buffer HighOut { uint high_out[]; };
layout(std430, binding = 10) writeonly buffer RowsOut { uint rows_out[]; };
uniform uint at;
shared uint n, first;

void main() {
    for (uint tile = gl_WorkGroupID.x; tile < tiles; tile += gl_NumWorkGroups.x) {
        if (gl_LocalInvocationIndex == 0u)
            n = 0u;
        barrier();
        uint place[8];
        for (uint k = 0u; k < 8u; k++) {
            uint i = tile * 2048u + k * 256u + gl_LocalInvocationIndex;
            place[k] = i < builds && too_large(partition_of(build_keys[i])) ? atomicAdd(n, 1u) : ~0u;
        }
        barrier();
        if (gl_LocalInvocationIndex == 0u)
            first = atomicAdd(report[at], n);
        barrier();
        for (uint k = 0u; k < 8u; k++) {
            uint i = tile * 2048u + k * 256u + gl_LocalInvocationIndex;
            if (place[k] != ~0u) {
                keys_out[first + place[k]] = build_keys[i];
#ifdef WIDE
                high_out[first + place[k]] = build_high[i];
#endif
#ifdef RANGES
                rows_out[first + place[k]] = rows[i];
#endif
            }
        }
        barrier();
    }
}
#else
#ifdef RANGES
layout(std430, binding = 7) readonly buffer Rows { uint rows[]; };
layout(std430, binding = 8) writeonly buffer BuildOut { uint build_out[]; };
layout(std430, binding = 9) writeonly buffer From { uint from[]; };
layout(std430, binding = 10) writeonly buffer Counts { uint counts[]; };
shared uint sums[256];
#endif
shared uint slots[SLOTS];     // 0, or 1 more than the first row of a key, from the partition's begin
shared KEY keys[ROWS];
shared uint starts[ROWS + 1]; // how many rows have the key of which this is the first; RANGES: then where they begin

const uint EACH = ROWS / 256u;

uint slot_of(KEY key) {
    uint h = mixed(key
#ifdef WIDE
        .x ^ key.y
#endif
    );
    return ((h ^ h >> 15) * 0x2c1b3c6du) >> 21;
}

// join joins partition p.
void join(uint p) {
    uint me = gl_LocalInvocationIndex;
    uint build = build_bounds[p], n = build_bounds[p + 1u] - build, end = probe_bounds[p + 1u];
    for (uint s = me; s < SLOTS; s += 256u)
        slots[s] = 0u;
    for (uint i = me; i <= n; i += 256u) {
        starts[i] = 0u;
        if (i < n)
            keys[i] = build_key(build + i);
    }
    barrier();
    uint leader[EACH], place[EACH];
    for (uint k = 0u; k < EACH; k++) {
        uint i = me + 256u * k;
        leader[k] = ~0u;
        if (i >= n)
            continue;
        KEY key = keys[i];
        uint s = slot_of(key);
        for (;;) {
            uint other = atomicCompSwap(slots[s], 0u, i + 1u);
            leader[k] = other == 0u ? i : other - 1u;
            if (keys[leader[k]] == key)
                break;
            s = (s + 1u) % SLOTS;
        }
        place[k] = atomicAdd(starts[leader[k]], 1u);
    }
    barrier();
#ifdef RANGES
    uint own = 0u, first = me * EACH; // a prefix sum: a thread has EACH counts
    for (uint i = first; i < min(first + EACH, n); i++)
        own += starts[i];
    sums[me] = own;
    barrier();
    for (uint d = 1u; d < 256u; d *= 2u) {
        uint sum = me >= d ? sums[me - d] : 0u;
        barrier();
        sums[me] += sum;
        barrier();
    }
    uint before = sums[me] - own;
    for (uint i = first; i < min(first + EACH, n); i++) {
        uint count = starts[i];
        starts[i] = before;
        before += count;
    }
    if (me == 0u)
        starts[n] = n;
    barrier();
    for (uint k = 0u; k < EACH; k++)
        if (leader[k] != ~0u)
            build_out[build + starts[leader[k]] + place[k]] = rows[build + me + 256u * k];
#endif
    for (uint i = probe_bounds[p] + me; i < end; i += 256u) {
        KEY key = probe_key(i);
        uint s = slot_of(key), other = slots[s];
        while (other != 0u && keys[other - 1u] != key) {
            s = (s + 1u) % SLOTS;
            other = slots[s];
        }
        if (other == 0u)
            continue;
#ifdef RANGES
        uint count = starts[other] - starts[other - 1u];
        from[i] = build + starts[other - 1u];
        counts[i] = count;
        found(count);
#else
        found(starts[other - 1u]);
#endif
    }
    barrier();
}

void main() {
    for (uint p = gl_WorkGroupID.x; p < tiles; p += gl_NumWorkGroups.x) {
        uint n = build_bounds[p + 1u] - build_bounds[p], m = probe_bounds[p + 1u] - probe_bounds[p];
        if (n == 0u || m == 0u)
            continue;
        if (n <= ROWS && m <= PROBES)
            join(p);
        else if (gl_LocalInvocationIndex == 0u) {
            atomicAdd(report[2], m);
            atomicAdd(report[3], n);
        }
    }
    tell();
}
#endif
