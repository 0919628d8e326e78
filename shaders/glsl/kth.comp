// One digit of the k-th largest value: decides the previous digit from its counts,
// keeps the candidates that have it, and counts these by the next digit.
//
// In: result[from]: k among the candidates so far (FIRST: their number, from which
//     k follows), result[from + v]: how many of them have v in the previous digit.
// Out: result[to], result[to + v]: the same for this digit; the candidates.
// APPEND: lists the units that have candidates left; LISTED: looks at these only.
// GIVEN: the previous digit is an argument, and result[to] is how many have 0 in this one.
// WIDE: this digit has NEXT bits, and each candidate is counted by itself: few are left.
// FIRST: the candidates so far are all records, of the SELECTION (which is where it has the
// first unit of a piece), without NULLS. CANDIDATES: where candidates have it.
// Blocks: candidate, and kept, the same as the pass before left it; previous, next: planes;
// selection; valid; list.
layout(local_size_x = LOCAL) in;
// Arguments. A digit: the planes of its block, and for each bit, lowest first, which of them
// it is, -1 for zeros, and -1 if it is inverted.
#ifndef PREVIOUS
#define PREVIOUS DIGIT // bits; 0: no digit is decided yet
#endif
#ifndef NEXT
#define NEXT DIGIT
#endif
const int before = OWN, now = before + 1 + 2 * PREVIOUS, from = now + 1 + 2 * NEXT, to = from + 1, howRank = to + 1, listed = howRank + 3;
#define BIT(block, unit, which, j) (uint(arg((which) + 2 + 2 * (j))) ^ (arg((which) + 1 + 2 * (j)) < 0 ? uvec4(0u) \
    : FETCH(block, first(unit, arg(which)) + uint(PLANE * arg((which) + 1 + 2 * (j))))))

#ifdef FIRST
// rank is k, counted from the largest of n values: a number, or the fraction of n
// that percentile_disc takes.
uint rank(uint n) {
    uint k = uint(arg(howRank + 1));
    if ((arg(howRank) & 2) != 0) {
        precise double x = packDouble2x32(uvec2(arg(howRank + 1), arg(howRank + 2))) * double(n);
        k = x >= double(n) ? n : uint(x);
        k = clamp(double(k) < x ? k + 1u : k, 1u, max(n, 1u));
    }
    return (arg(howRank) & 1) != 0 ? n - k + 1u : k;
}
#else
uint rank(uint k) { return k; }
#endif

// The units that have candidates left, by work group: where in list, and how many. Few of the
// others' threads have something to do, and these wait for it.
#define LISTOF (uint(arg(listed)) + 2u * GROUP)
#ifdef APPEND
shared uint appended;
#endif
#ifdef LISTED
shared uvec2 listOf[PIECES];
#endif

uint k, digit = 0u; // of the digit before

#ifdef GIVEN
void decide(uint at) { digit = uint(arg(howRank)); }
#else
void decide(uint at) {
    k = rank(result[at]);
    for (uint v = uint(VALUES) - 1u; v > 0u; v--) {
        uint n = result[at + v];
        if (digit == 0u && k <= n)
            digit = v;
        else if (digit == 0u)
            k -= n;
    }
}
#endif

// narrow returns the candidates of a unit that have the digit.
uvec4 narrow(uint unit) {
#ifdef FIRST
    uvec4 m = within(unit, ROWS);
#ifdef SELECTION
    m &= FETCH(selection, SELECTION + unit);
#endif
#ifdef NULLS
    m &= FETCH(valid, unit);
#endif
#else
    uvec4 m = FETCH(kept, CANDIDATES + unit);
    if (!some(m))
        return m;
#endif
    if (some(m))
        for (int j = 0; j < PREVIOUS; j++)
            m &= BIT(previous, unit, before, j) ^ ((digit >> j & 1u) - 1u);
#if PREVIOUS > 0
    candidate[CANDIDATES + unit] = m;
#endif
    return m;
}

#ifdef WIDE
#ifdef SOFTWARE
#define NOTE(v) atomicAdd(result[uint(arg(to)) + v], 1u)
#else
shared uint noted[1 << NEXT];
#define NOTE(v) atomicAdd(noted[v], 1u)
#endif
void noteWord(uint m, uint p[NEXT]) {
    for (; m != 0u; m &= m - 1u) {
        uint v = 0u;
        for (int j = 0; j < NEXT; j++)
            v |= (p[j] >> findLSB(m) & 1u) << j;
        NOTE(v);
    }
}
void count(uint unit, uvec4 m, inout uvec4 counter[FOURS]) {
    uvec4 p[NEXT]; // all at once: one load after the other would take long
    for (int j = 0; j < NEXT; j++)
        p[j] = BIT(next, unit, now, j);
    uint q[NEXT];
    for (int j = 0; j < NEXT; j++) q[j] = p[j].x;
    noteWord(m.x, q);
    for (int j = 0; j < NEXT; j++) q[j] = p[j].y;
    noteWord(m.y, q);
    for (int j = 0; j < NEXT; j++) q[j] = p[j].z;
    noteWord(m.z, q);
    for (int j = 0; j < NEXT; j++) q[j] = p[j].w;
    noteWord(m.w, q);
}
#else
void count(uint unit, uvec4 m, inout uvec4 counter[FOURS]) {
    uvec4 p[DIGIT];
    for (int j = 0; j < DIGIT; j++)
        p[j] = BIT(next, unit, now, j);
    countDigits(m, p, counter);
}
#endif

void main() {
    claim(uint(args[1]));
    PIECE(0);
    decide(uint(arg(from)));
#ifndef GIVEN
    if (gl_GlobalInvocationID.x == 0u)
        result[arg(to)] = k;
#endif
#if defined(WIDE) && !defined(SOFTWARE)
    for (uint v = gl_LocalInvocationIndex; v < noted.length(); v += uint(LOCAL))
        noted[v] = 0u;
    barrier();
#endif
    uvec4 counter[FOURS];
    for (int c = 0; c < FOURS; c++)
        counter[c] = uvec4(0u);
#ifdef LISTED
    if (gl_LocalInvocationIndex < uint(args[0])) { // of all pieces at once: a load takes long
        piece = int(gl_LocalInvocationIndex);
        listOf[piece] = uvec2(list[LISTOF], list[LISTOF + 1u]);
    }
    barrier();
#endif
    for (int p = 0; p < args[0]; p++) {
        PIECE(p);
#ifdef APPEND
        uint start = uint(arg(listed)) + 2u * gl_NumWorkGroups.x + room(UNITS, BEFORE, TOTAL);
        if (gl_LocalInvocationIndex == 0u)
            appended = 0u;
        barrier();
#endif
#ifdef LISTED
        for (uint i = gl_LocalInvocationIndex; i < listOf[piece].y; i += uint(LOCAL)) {
            uint unit = list[listOf[piece].x + i];
#else
        for (uint unit = firstUnit(UNITS, BEFORE, TOTAL), end = endUnit(UNITS, BEFORE, TOTAL); unit < end; unit += STEP) {
#endif
            uvec4 m = narrow(unit);
            if (!some(m))
                continue;
#ifdef APPEND
            list[start + atomicAdd(appended, 1u)] = unit;
#endif
            count(unit, m, counter);
        }
#ifdef APPEND
        barrier();
        if (gl_LocalInvocationIndex == 0u) {
            list[LISTOF] = start;
            list[LISTOF + 1u] = appended;
        }
#endif
    }
    PIECE(0);
#ifndef WIDE
#ifndef GIVEN
    counter[0].x &= ~65535u; // the place of value 0 is k's
#endif
    report(uint(arg(to)), counter);
#elif !defined(SOFTWARE)
    barrier();
    for (uint v = gl_LocalInvocationIndex; v < noted.length(); v += uint(LOCAL))
        if (noted[v] != 0u)
            atomicAdd(result[uint(arg(to)) + v], noted[v]);
#endif
}
