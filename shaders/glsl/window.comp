// Window functions over rows in the order of their partitions, and within these in that of the window: a thread has
// ROWS of them.
//   PARTITIONS  partitions[i] is the number of the row's partition, from 1; partition_starts[k] where that of number
//               k + 1 begins, and behind the last one n. Else all rows are one partition.
//   PEERS       the same of groups of peers. Else all rows of a partition are peers.
// RESULT sets `a` (and `b` where TWO) from what this file knows of the row, and the words x (and y) of INPUTS.
// FRAME: it also has the row's frame, from..to-1, which FROM and TO tell.
layout(local_size_x = LOCAL) in;
layout(std430, binding = 0) writeonly buffer OutA { uint out_a[]; };
#ifdef TWO
layout(std430, binding = 1) writeonly buffer OutB { uint out_b[]; };
#endif
#ifdef PARTITIONS
layout(std430, binding = 2) readonly buffer Partitions { uint partitions[]; };
layout(std430, binding = 3) readonly buffer PartitionStarts { uint partition_starts[]; };
#endif
#ifdef PEERS
layout(std430, binding = 4) readonly buffer Peers { uint peers[]; };
layout(std430, binding = 5) readonly buffer PeersStarts { uint peers_starts[]; };
#endif
#if INPUTS > 0
layout(std430, binding = 6) readonly buffer X { uint x[]; };
#endif
#if INPUTS > 1
layout(std430, binding = 7) readonly buffer Y { uint y[]; };
#endif
uniform uint n;
CONSTANTS

#if INPUTS > 0
// The sums of x, and of (x, y) as 64 bits, over the rows before i, of inclusive prefix sums.
uint before(uint i) { return i == 0u ? 0u : x[i - 1u]; }
#endif
#if INPUTS > 1
uvec2 before_wide(uint i) { return i == 0u ? uvec2(0u) : uvec2(x[i - 1u], y[i - 1u]); }
#endif

uvec2 add(uvec2 a, uvec2 b) {
    uint carry, low = uaddCarry(a.x, b.x, carry);
    return uvec2(low, a.y + b.y + carry);
}
uvec2 minus(uvec2 a, uvec2 b) { return add(a, add(~b, uvec2(1u, 0u))); }
uvec2 times(uint a, uvec2 b) {
    uint high, low;
    umulExtended(a, b.x, high, low);
    return uvec2(low, high + a * b.y);
}

uint first = 0u, last = 0u; // of the row's partition, and behind it

#ifdef PEERS
uint peer_of(uint i) { return peers[i]; }
// group_start is where the k-th group of peers of all begins, or the partition's end.
uint group_start(int k) {
    int least = int(peers[first]) - 1, most = int(peers[last - 1u]);
    return peers_starts[clamp(k, least, most)];
}
// own_group is where the row's own group begins, or what is behind it.
uint own_group(uint i, uint behind) { return peers_starts[peers[i] - 1u + behind]; }
#else
uint peer_of(uint i) { return 1u; }
uint group_start(int k) { return k <= 0 ? first : last; }
uint own_group(uint i, uint behind) { return behind == 0u ? first : last; }
#endif

void work(uint i) {
#ifdef PARTITIONS
    uint part = partitions[i];
    first = partition_starts[part - 1u];
    last = partition_starts[part];
#else
    first = 0u;
    last = n;
#endif
#ifdef FRAME
    uint from = FROM, to = TO;
    to = max(from, to);
#endif
    uint a = 0u, b = 0u;
    RESULT;
    out_a[i] = a;
#ifdef TWO
    out_b[i] = b;
#endif
}

void main() {
    uint from = (gl_WorkGroupID.x + gl_WorkGroupID.y * gl_NumWorkGroups.x) * uint(LOCAL) * ROWS + gl_LocalInvocationIndex;
    for (uint k = 0u; k < ROWS; k++)
        if (from + k * LOCAL < n)
            work(from + k * LOCAL);
}
