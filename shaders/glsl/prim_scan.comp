// Prefix scan and reduce of x: y[i] is x[0] op ... op x[i-1], and op x[i] where
// INCLUSIVE. Where SEGMENTED, it starts afresh at every i at which heads[i] is another word than at i - 1, and at 0: scanned are
// pairs (head, value). Where WIDE, elements are sums of 64 bits: the lower words of y, the upper ones of y_high; those
// of x have upper words x_high where WIDE is 2.
// Where RUNS, what is added up is 1 at each i at which x[i], but for its lowest `without` bits, or beside[i] where
// BESIDE, is another one than at i - 1, and at 0: y numbers the runs from 1. starts[k] becomes the first i of run
// k + 1, and n behind the last.
//
// Teams walk tiles of the vector in order. A tile is ROWS rows of TEAM quads (uvec4);
// thread `rank` of the team has quad `rank` of every row, so that neighbours read
// neighbours and order is row by row.
// COMBINE: the operator on uints a and b; IDENTITY: its identity.
// The phase is one of
//   REDUCE    a team reduces its strip of `per` tiles to sums[team]
//   DOWN      a team scans its strip, starting from sums[team]
//   SPINE     one team scans the sums: sums[s] becomes the sum of those before it, and
//             that of all goes to sum_of_all[0]
//   LOOKBACK  a team takes the next tile in order of start, and what precedes the
//             tile from the states of the tiles before it: one pass in all
uniform uint tiles; // ceil(n / tile), at least 1

uint op(uint a, uint b) { return COMBINE; }

#ifdef SEGMENTED
#define T uvec2
const T NONE = uvec2(0u, IDENTITY);
T combine(T a, T b) { return uvec2(a.x | b.x, b.x != 0u ? b.y : op(a.y, b.y)); }
uint value(T t) { return t.y; }
uint head(T t) { return t.x; }
T element(uint h, uint v) { return uvec2(h, v); }
#elif defined(WIDE)
#define T uvec2
const T NONE = uvec2(0u);
T combine(T a, T b) {
    uint carry, low = uaddCarry(a.x, b.x, carry);
    return uvec2(low, a.y + b.y + carry);
}
uint value(T t) { return t.x; }
#else
#define T uint
const T NONE = IDENTITY;
T combine(T a, T b) { return op(a, b); }
uint value(T t) { return t; }
uint head(T t) { return 0u; }
T element(uint h, uint v) { return v; }
#endif

uint current = 0u; // the tile at hand

#ifdef LOOKBACK
// The state of a tile: its sum alone (PART) or of all up to it (ALL). Each word has
// the status and half of the value, so that two words with the same status belong
// together, and no order among words is relied on.
const uint PART = 1u, ALL = 2u;
layout(std430, binding = 3) coherent volatile buffer States {
    uint ticket;
    uint unused;
    uvec2 state[];
};
layout(std430, binding = 4) writeonly buffer Total { uint sum_of_all[]; };
shared uint drawn;

uvec2 encode(uint status, T t) {
    return (uvec2(status) << 30) | uvec2(head(t) << 16 | (value(t) & 0xffffu), value(t) >> 16);
}
T decode(uvec2 s) { return element(s.x >> 16 & 1u, (s.x & 0xffffu) | (s.y & 0xffffu) << 16); }
uint status(uvec2 s) { return s.x >> 30 == s.y >> 30 ? s.x >> 30 : 0u; }

#ifdef SUBGROUPS
// take returns what precedes the current tile, given its sum; 32 threads call it and
// look at 32 tiles at a time.
T take(T total) {
    uint lane = gl_LocalInvocationIndex & 31u;
    if (lane == 0u)
        state[current] = encode(current == 0u ? ALL : PART, total);
    T carry = NONE;
    for (int at = int(current) - 1; at >= 0; at -= 32) {
        int mine = at - int(lane);
        uvec2 s;
        uint ends;
        for (;;) {
            s = mine >= 0 ? state[mine] : encode(ALL, NONE);
            uint st = status(s);
            ends = subgroupBallot(st == ALL).x;
            uint empty = subgroupBallot(st == 0u).x;
            if ((empty & ((ends & (0u - ends)) - 1u)) == 0u)
                break;
        }
        uint last = ends != 0u ? uint(findLSB(ends)) : 31u;
        T v = lane <= last ? decode(s) : NONE;
        for (uint d = 1u; d < 32u; d <<= 1) {
            T earlier = subgroupShuffleDown(v, d);
            if (lane + d < 32u)
                v = combine(earlier, v);
        }
        carry = combine(subgroupShuffle(v, 0u), carry);
        if (ends != 0u)
            break;
    }
    T after = combine(carry, total);
    if (lane == 0u) {
        if (current > 0u)
            state[current] = encode(ALL, after);
        if (current == tiles - 1u)
            sum_of_all[0] = value(after);
    }
    return carry;
}
#else
// take returns what precedes the current tile, given its sum; one thread calls it.
T take(T total) {
    if (current > 0u)
        state[current] = encode(PART, total);
    T carry = NONE;
    for (uint at = current; at > 0u;) {
        // An atomic read: Mesa reads a volatile word anew at each use of a copy of it.
        uvec2 s = uvec2(atomicOr(state[at - 1u].x, 0u), atomicOr(state[at - 1u].y, 0u));
        uint st = status(s);
        if (st == 0u)
            continue;
        carry = combine(decode(s), carry);
        if (st == ALL)
            break;
        at--;
    }
    T after = combine(carry, total);
    state[current] = encode(ALL, after);
    if (current == tiles - 1u)
        sum_of_all[0] = value(after);
    return carry;
}
#endif
#else
layout(std430, binding = 3) buffer Sums { T sums[]; };
T running = NONE;

T take(T total) {
    T carry = running;
    running = combine(running, total);
    return carry;
}
#endif

#if TEAM == 1
// scan replaces the rows by what precedes each of them in the vector.
void scan(inout T rows[ROWS], out T base, out T total) {
    total = NONE;
    for (int r = 0; r < ROWS; r++) {
        T t = rows[r];
        rows[r] = total;
        total = combine(total, t);
    }
    base = take(total);
    for (int r = 0; r < ROWS; r++)
        rows[r] = combine(base, rows[r]);
}
#elif defined(SUBGROUPS)
#define WARPS (TEAM / 32)
shared T parts[32];
shared T shared_base, shared_total;

T inclusive(T t) {
    for (uint d = 1u; d < 32u; d <<= 1) {
        T earlier = subgroupShuffleUp(t, d);
        if ((rank & 31u) >= d)
            t = combine(earlier, t);
    }
    return t;
}

T exclusive(T upto) {
    T t = subgroupShuffleUp(upto, 1u);
    return (rank & 31u) == 0u ? NONE : t;
}

// scan replaces the rows by what precedes each of them in the vector. The first 32
// threads scan the sums of a subgroup's part of a row: ROWS * WARPS <= 32.
void scan(inout T rows[ROWS], out T base, out T total) {
    uint warp = rank >> 5;
    for (int r = 0; r < ROWS; r++) {
        T t = inclusive(rows[r]);
        if ((rank & 31u) == 31u)
            parts[r * WARPS + warp] = t;
        rows[r] = exclusive(t);
    }
    barrier();
    if (rank < 32u) {
        T t = inclusive(rank < uint(ROWS * WARPS) ? parts[rank] : NONE);
        T sum = subgroupShuffle(t, 31u);
        T carry = take(sum);
        parts[rank] = combine(carry, exclusive(t));
        if (rank == 0u) {
            shared_base = carry;
            shared_total = sum;
        }
    }
    barrier();
    base = shared_base;
    total = shared_total;
    for (int r = 0; r < ROWS; r++)
        rows[r] = combine(parts[r * WARPS + warp], rows[r]);
}
#else
shared T parts[TEAM * ROWS];
shared T ends[TEAM];
shared T shared_base;

// scan replaces the rows by what precedes each of them in the vector.
void scan(inout T rows[ROWS], out T base, out T total) {
    for (int r = 0; r < ROWS; r++)
        parts[r * TEAM + rank] = rows[r];
    barrier();
    T sum = NONE;
    for (uint i = rank * ROWS; i < rank * ROWS + ROWS; i++)
        sum = combine(sum, parts[i]);
    ends[rank] = sum;
    barrier();
    for (uint d = 1u; d < TEAM; d <<= 1) {
        T t = ends[rank];
        if (rank >= d)
            t = combine(ends[rank - d], t);
        barrier();
        ends[rank] = t;
        barrier();
    }
    total = ends[TEAM - 1];
    if (rank == 0u)
        shared_base = take(total);
    barrier();
    base = shared_base;
    T before = rank == 0u ? base : combine(base, ends[rank - 1u]);
    for (uint i = rank * ROWS; i < rank * ROWS + ROWS; i++) {
        T t = parts[i];
        parts[i] = before;
        before = combine(before, t);
    }
    barrier();
    for (int r = 0; r < ROWS; r++)
        rows[r] = parts[r * TEAM + rank];
}
#endif

#ifdef SPINE
layout(std430, binding = 4) writeonly buffer Total { uint sum_of_all[]; };

// load gives the sum of each quad of a tile, or of each of the sums.
void load(uint tile, out T rows[ROWS]) {
    for (int r = 0; r < ROWS; r++) {
        uint i = (tile * uint(ROWS) + uint(r)) * uint(TEAM) + rank;
        rows[r] = i < n ? sums[i] : NONE;
    }
}

// store is given what precedes each of them, what precedes the tile, and its sum.
void store(uint tile, T rows[ROWS], T base, T total) {
    for (int r = 0; r < ROWS; r++) {
        uint i = (tile * uint(ROWS) + uint(r)) * uint(TEAM) + rank;
        if (i < n)
            sums[i] = rows[r];
    }
    if (rank == 0u && tile == tiles - 1u)
        sum_of_all[0] = value(combine(base, total));
}
#else
layout(std430, binding = 0) readonly buffer In { uvec4 x[]; };
#ifdef SEGMENTED
layout(std430, binding = 2) readonly buffer Heads { uvec4 heads[]; };
layout(std430, binding = 2) readonly buffer HeadWords { uint head_word[]; };
uvec4 hs[ROWS];
uint head_before[ROWS]; // what precedes a quad
#endif
#ifndef REDUCE
layout(std430, binding = 1) writeonly buffer Out { uvec4 y[]; };
layout(std430, binding = 1) writeonly buffer OutWords { uint word[]; };
#endif
uvec4 xs[ROWS];
#ifdef RUNS
layout(std430, binding = 0) readonly buffer InWords { uint x_word[]; };
#ifndef REDUCE
layout(std430, binding = 2) writeonly buffer Starts { uint starts[]; };
#endif
uniform uint without;
uint x_before[ROWS]; // what precedes a quad
#ifdef BESIDE
layout(std430, binding = 5) readonly buffer Beside { uvec4 beside[]; };
layout(std430, binding = 5) readonly buffer BesideWords { uint beside_word[]; };
uvec4 bs[ROWS];
uint beside_before[ROWS];
#endif
#endif
#ifdef WIDE
#if WIDE == 2
layout(std430, binding = 5) readonly buffer InHigh { uvec4 x_high[]; };
uvec4 hs[ROWS];
#endif
#ifndef REDUCE
layout(std430, binding = 6) writeonly buffer OutHigh { uvec4 y_high[]; };
layout(std430, binding = 6) writeonly buffer OutHighWords { uint word_high[]; };
#endif
#endif

uint quad(uint tile, int row) { return (tile * uint(ROWS) + uint(row)) * uint(TEAM) + rank; }

void fetch(uint tile) {
    for (int r = 0; r < ROWS; r++) {
        uint q = quad(tile, r);
        xs[r] = 4u * q < n ? x[q] : uvec4(0);
#ifdef SEGMENTED
        hs[r] = 4u * q < n ? heads[q] : uvec4(0);
        head_before[r] = q > 0u && 4u * q < n ? head_word[4u * q - 1u] : 0u;
#elif defined(RUNS)
        x_before[r] = q > 0u && 4u * q < n ? x_word[4u * q - 1u] : 0u;
#ifdef BESIDE
        bs[r] = 4u * q < n ? beside[q] : uvec4(0);
        beside_before[r] = q > 0u && 4u * q < n ? beside_word[4u * q - 1u] : 0u;
#endif
#elif defined(WIDE) && WIDE == 2
        hs[r] = 4u * q < n ? x_high[q] : uvec4(0);
#endif
    }
}

T at(uint i, int row, int e) {
#ifdef SEGMENTED
    bool begins = i == 0u || hs[row][e] != (e == 0 ? head_before[row] : hs[row][e - 1]);
    return i < n ? element(uint(begins), xs[row][e]) : NONE;
#elif defined(RUNS)
    bool begins = i == 0u || xs[row][e] >> without != (e == 0 ? x_before[row] : xs[row][e - 1]) >> without;
#ifdef BESIDE
    begins = begins || bs[row][e] != (e == 0 ? beside_before[row] : bs[row][e - 1]);
#endif
    return i < n ? uint(begins) : NONE;
#elif defined(WIDE)
#if WIDE == 2
    return i < n ? uvec2(xs[row][e], hs[row][e]) : NONE;
#else
    return i < n ? uvec2(xs[row][e], 0u) : NONE;
#endif
#else
    return i < n ? xs[row][e] : NONE;
#endif
}

void load(uint tile, out T rows[ROWS]) {
    fetch(tile);
    for (int r = 0; r < ROWS; r++) {
        uint i = 4u * quad(tile, r);
        rows[r] = combine(combine(at(i, r, 0), at(i + 1u, r, 1)), combine(at(i + 2u, r, 2), at(i + 3u, r, 3)));
    }
}

void store(uint tile, T rows[ROWS], T base, T total) {
#ifndef REDUCE
    for (int r = 0; r < ROWS; r++) {
        uint q = quad(tile, r), i = 4u * q;
        T t = rows[r];
        uvec4 out_quad;
#ifdef WIDE
        uvec4 out_high;
#endif
        for (int e = 0; e < 4; e++) {
            T v = at(i + uint(e), r, e);
#ifdef WIDE
#ifdef INCLUSIVE
            t = combine(t, v);
#endif
            out_quad[e] = t.x;
            out_high[e] = t.y;
#ifndef INCLUSIVE
            t = combine(t, v);
#endif
#elif defined(INCLUSIVE)
            t = combine(t, v);
            out_quad[e] = value(t);
#ifdef RUNS
            if (v != 0u)
                starts[t - 1u] = i + uint(e);
            if (i + uint(e) == n - 1u)
                starts[t] = n;
#endif
#else
            out_quad[e] = head(v) != 0u ? IDENTITY : value(t);
            t = combine(t, v);
#endif
        }
        if (i + 3u < n)
            y[q] = out_quad;
        else
            for (uint e = 0u; i + e < n; e++)
                word[i + e] = out_quad[e];
#ifdef WIDE
        if (i + 3u < n)
            y_high[q] = out_high;
        else
            for (uint e = 0u; i + e < n; e++)
                word_high[i + e] = out_high[e];
#endif
    }
#endif
}
#endif

void main() {
    T rows[ROWS];
    T base, total;
#ifdef LOOKBACK
    if (rank == 0u)
        drawn = atomicAdd(ticket, 1u);
    barrier();
    current = drawn;
    if (current >= tiles)
        return;
    load(current, rows);
    scan(rows, base, total);
    store(current, rows, base, total);
#else
    if (team >= strips)
        return;
    uint end = min(team * per + per, tiles);
#ifndef REDUCE
#ifdef DOWN
    running = sums[team];
#endif
    for (current = team * per; current < end; current++) {
        load(current, rows);
        scan(rows, base, total);
        store(current, rows, base, total);
    }
#else
#ifdef COMMUTATIVE
    T mine = NONE;
    for (current = team * per; current < end; current++) {
        load(current, rows);
        for (int r = 0; r < ROWS; r++)
            mine = combine(mine, rows[r]);
    }
    for (int r = 0; r < ROWS; r++)
        rows[r] = NONE;
    rows[0] = mine;
    scan(rows, base, total);
#else
    for (current = team * per; current < end; current++) {
        load(current, rows);
        scan(rows, base, total);
    }
#endif
    if (rank == 0u)
        sums[team] = running;
#endif
#endif
}
