// One pass of a radix sort, or a split: moves keys to where their digit (DIGIT of x
// and its number; below 256) puts them, in order within a digit, and their values.
// A tile is TEAM * ITEMS keys; subgroup w of 32 threads has keys w*32*ITEMS + k*32 +
// lane of it. The tile is ordered in shared memory, then written digit by digit.
// VALUES: 0 none, 1 the row number, 2 read. KEYS_OUT: keys are written as well. BESIDE: other
// values move, too.
// OFFSETS: where each of the `parts` digits starts is written, and n behind them.
// LOOKBACK: a team takes the next tile in order of start; counts is the number of
// keys of each value of each digit in all, and states has 256 words a tile: the number
// of keys of a digit in the tile alone (PART) or up to it (ALL). Else a team has a
// strip of `per` keys, and counts[d * strips + strip] is where its digit d starts.
layout(std430, binding = 0) readonly buffer Keys { uint keys[]; };
#if VALUES == 2
layout(std430, binding = 1) readonly buffer Values { uint values[]; };
#endif
layout(std430, binding = 2) buffer Counts { uint counts[]; };
#ifdef KEYS_OUT
layout(std430, binding = 3) writeonly buffer KeysOut { uint keys_out[]; };
#endif
#if VALUES > 0
layout(std430, binding = 4) writeonly buffer ValuesOut { uint values_out[]; };
#endif
#ifdef BESIDE
layout(std430, binding = 7) readonly buffer Beside { uint beside[]; };
layout(std430, binding = 8) writeonly buffer BesideOut { uint beside_out[]; };
#endif
#ifdef OFFSETS
layout(std430, binding = 5) writeonly buffer Offsets { uint offsets[]; };
#endif

uint value(uint i) {
#if VALUES == 2
    return values[i];
#else
    return i;
#endif
}

#if TEAM == 1
void main() {
    if (team >= strips)
        return;
#ifdef OFFSETS
    if (team == 0u) {
        for (uint d = 0u; d < parts; d++)
            offsets[d] = counts[d * strips];
        offsets[parts] = n;
    }
#endif
    uint to = min(team * per + per, n);
    for (uint i = team * per; i < to; i++) {
        uint x = keys[i], at = digit(x, number) * strips + team;
        uint p = counts[at];
        counts[at] = p + 1u;
#ifdef KEYS_OUT
        keys_out[p] = x;
#endif
#if VALUES > 0
        values_out[p] = value(i);
#endif
#ifdef BESIDE
        beside_out[p] = beside[i];
#endif
    }
}
#else
const uint WARPS = TEAM / 32;
const uint TILE = TEAM * ITEMS;
const uint DIGITS = 256;
const uint OWN = (DIGITS + TEAM - 1) / TEAM; // digits of a thread: rank + j * TEAM
uint lane = gl_LocalInvocationIndex & 31u, warp = gl_LocalInvocationIndex >> 5;

// First the number of keys by subgroup and digit, then the tile in order.
shared uint stage[max(TILE, WARPS * DIGITS)];
shared uint first[DIGITS];  // where a digit starts in the tile
shared uint target[DIGITS]; // where it starts in the output, less first
uint current = 0u; // the tile at hand

// starts replaces own[], one value a digit, by the sum of the digits before.
#ifdef SUBGROUPS
shared uint warp_sums[8];

void starts(inout uint own[OWN]) { // TEAM >= 256
    uint v = own[0];
    for (uint d = 1u; d < 32u; d <<= 1) {
        uint t = subgroupShuffleUp(v, d);
        if (lane >= d)
            v += t;
    }
    if (lane == 31u && warp < 8u)
        warp_sums[warp] = v;
    barrier();
    v -= own[0];
    for (uint w = 0u; w < 8u; w++)
        if (w < warp)
            v += warp_sums[w];
    own[0] = v;
}
#else
shared uint line[DIGITS];

void starts(inout uint own[OWN]) {
    for (uint j = 0u; j < OWN; j++)
        if (rank + j * TEAM < DIGITS)
            line[rank + j * TEAM] = own[j];
    barrier();
    for (uint s = 1u; s < DIGITS; s <<= 1) {
        uint sum[OWN];
        for (uint j = 0u; j < OWN; j++) {
            uint d = rank + j * TEAM;
            sum[j] = d < DIGITS ? line[d] + (d >= s ? line[d - s] : 0u) : 0u;
        }
        barrier();
        for (uint j = 0u; j < OWN; j++)
            if (rank + j * TEAM < DIGITS)
                line[rank + j * TEAM] = sum[j];
        barrier();
    }
    for (uint j = 0u; j < OWN; j++)
        if (rank + j * TEAM < DIGITS)
            own[j] = line[rank + j * TEAM] - own[j];
}
#endif

#ifdef LOOKBACK
const uint PART = 1u << 30, ALL = 2u << 30, NUMBER = PART - 1u;
layout(std430, binding = 6) coherent volatile buffer States {
    uint ticket;
    uint unused[255];
    uint state[];
};
shared uint drawn;
const uint LOOK = 4; // states read together: reading one takes as long

// announce says how many keys of a digit the tile has.
void announce(uint d, uint count) {
    if (current > 0u)
        state[current * DIGITS + d] = PART | count;
}

uint peek(uint at) {
#ifdef SUBGROUPS
    return state[at];
#else
    return atomicOr(state[at], 0u); // Mesa reads a volatile word anew at each use of a copy
#endif
}

// take returns where the tile's keys of a digit go, given how many they are. In tile
// 0 `before` is where the digit starts in all.
uint take(uint d, uint count, uint before) {
    uint sum = current == 0u ? before : 0u;
    for (uint at = current; at > 0u;) {
        uint s[LOOK];
        for (uint j = 0u; j < LOOK; j++)
            s[j] = peek((max(at, j + 1u) - 1u - j) * DIGITS + d);
        for (uint j = 0u; j < LOOK; j++) {
            if (at == 0u || s[j] == 0u)
                break;
            sum += s[j] & NUMBER;
            at = (s[j] & ALL) != 0u ? 0u : at - 1u;
        }
    }
    state[current * DIGITS + d] = ALL | (sum + count);
    return sum;
}
#else
shared uint next[DIGITS];

void announce(uint d, uint count) {}

uint take(uint d, uint count, uint before) {
    uint at = next[d];
    next[d] = at + count;
    return at;
}
#endif

// rank_of returns how many keys with the same digit precede that of this thread in
// the subgroup's part of the tile, and counts it in stage.
#ifdef SUBGROUPS
uint rank_of(uint d) {
    uint same = ~0u; // the threads with the same digit
    for (uint b = 0u; b < 8u; b++) {
        bool set = (d >> b & 1u) != 0u;
        uint vote = subgroupBallot(set).x;
        same &= set ? vote : ~vote;
    }
    uint first_of = uint(findLSB(same)), before;
    if (lane == first_of)
        before = atomicAdd(stage[warp * DIGITS + d], uint(bitCount(same)));
    return subgroupShuffle(before, first_of) + uint(bitCount(same & ((1u << lane) - 1u)));
}
#else
shared uint votes[WARPS * DIGITS]; // all zero between calls

uint rank_of(uint d) {
    uint at = warp * DIGITS + d;
    atomicOr(votes[at], 1u << lane);
    barrier();
    uint same = votes[at];
    uint before = stage[at];
    barrier();
    uint below = same & ((1u << lane) - 1u);
    if (below == 0u) {
        votes[at] = 0u;
        stage[at] = before + uint(bitCount(same));
    }
    barrier();
    return before + uint(bitCount(below));
}
#endif

// move orders the tile from..from+TILE-1 and writes it out.
void move(uint from, uint to) {
    uint key[ITEMS], at[ITEMS], own[OWN], count[OWN];
    uint mine = from + warp * (32u * ITEMS) + lane;
    for (uint k = 0u; k < ITEMS; k++) {
        uint i = mine + k * 32u;
        key[k] = i < to ? keys[i] : 0u;
    }
    for (uint d = rank; d < WARPS * DIGITS; d += TEAM)
        stage[d] = 0u;
    barrier();
    for (uint k = 0u; k < ITEMS; k++) { // behind the end: the last digit, last in order
        uint d = mine + k * 32u < to ? digit(key[k], number) : DIGITS - 1u;
        at[k] = rank_of(d) | d << 16;
    }
    barrier();
    for (uint j = 0u; j < OWN; j++) {
        uint d = rank + j * TEAM;
        uint sum = 0u;
        if (d < DIGITS) {
            for (uint w = 0u; w < WARPS; w++) {
                uint c = stage[w * DIGITS + d];
                stage[w * DIGITS + d] = sum;
                sum += c;
            }
            announce(d, sum);
        }
        own[j] = count[j] = sum;
    }
    starts(own);
#ifdef LOOKBACK
    uint whole[OWN];
    if (current == 0u) { // where the digits start in all
        for (uint j = 0u; j < OWN; j++)
            whole[j] = rank + j * TEAM < DIGITS ? counts[number * DIGITS + rank + j * TEAM] : 0u;
        barrier();
        starts(whole);
#ifdef OFFSETS
        for (uint j = 0u; j < OWN; j++)
            if (rank + j * TEAM < parts)
                offsets[rank + j * TEAM] = whole[j];
        if (rank == 0u)
            offsets[parts] = n;
#endif
    }
#endif
    for (uint j = 0u; j < OWN; j++)
        if (rank + j * TEAM < DIGITS)
            first[rank + j * TEAM] = own[j];
    barrier();
    for (uint k = 0u; k < ITEMS; k++) {
        uint d = at[k] >> 16;
        at[k] = first[d] + stage[warp * DIGITS + d] + (at[k] & 0xffffu);
    }
    barrier();
    for (uint k = 0u; k < ITEMS; k++)
        stage[at[k]] = key[k];
    for (uint j = 0u; j < OWN; j++) {
        uint d = rank + j * TEAM;
        if (d < DIGITS)
#ifdef LOOKBACK
            target[d] = take(d, count[j], whole[j]) - own[j];
#else
            target[d] = take(d, count[j], 0u) - own[j];
#endif
    }
    barrier();
    uint size = min(TILE, to - from);
    uint goal[ITEMS];
    for (uint k = 0u; k < ITEMS; k++) {
        uint j = rank + k * TEAM;
        uint x = stage[j];
        if (j < size) {
            goal[k] = target[digit(x, number)] + j;
#ifdef KEYS_OUT
            keys_out[goal[k]] = x;
#endif
        }
    }
#if VALUES > 0
    uint v[ITEMS];
    for (uint k = 0u; k < ITEMS; k++)
        v[k] = mine + k * 32u < to ? value(mine + k * 32u) : 0u;
    barrier();
    for (uint k = 0u; k < ITEMS; k++)
        stage[at[k]] = v[k];
    barrier();
    for (uint k = 0u; k < ITEMS; k++)
        if (rank + k * TEAM < size)
            values_out[goal[k]] = stage[rank + k * TEAM];
#endif
#ifdef BESIDE
    for (uint k = 0u; k < ITEMS; k++)
        v[k] = mine + k * 32u < to ? beside[mine + k * 32u] : 0u;
    barrier();
    for (uint k = 0u; k < ITEMS; k++)
        stage[at[k]] = v[k];
    barrier();
    for (uint k = 0u; k < ITEMS; k++)
        if (rank + k * TEAM < size)
            beside_out[goal[k]] = stage[rank + k * TEAM];
#endif
}

void main() {
#ifndef SUBGROUPS
    for (uint d = rank; d < WARPS * DIGITS; d += TEAM)
        votes[d] = 0u;
    barrier();
#endif
#ifdef LOOKBACK
    if (rank == 0u)
        drawn = atomicAdd(ticket, 1u);
    barrier();
    current = drawn;
    if (current * TILE < n || current == 0u)
        move(current * TILE, n);
#else
    if (team >= strips)
        return;
    for (uint d = rank; d < DIGITS; d += TEAM)
        next[d] = counts[d * strips + team];
#ifdef OFFSETS
    if (team == 0u) {
        for (uint d = rank; d < parts; d += TEAM)
            offsets[d] = counts[d * strips];
        if (rank == 0u)
            offsets[parts] = n;
    }
#endif
    uint to = min(team * per + per, n);
    for (uint from = team * per; from < to; from += TILE) {
        move(from, to);
        barrier();
    }
#endif
}
#endif
