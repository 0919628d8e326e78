// One digit of the k-th largest value: decides the previous digit from its counts,
// keeps the candidates that have it, and counts these by the next digit.
//
// In: result[from]: k among the candidates so far (FIRST: their number, from which
//     k follows), result[from + v]: how many of them have v in the previous digit.
// Out: result[to], result[to + v]: the same for this digit; the candidates.
// APPEND: lists the units that have candidates left; LISTED: looks at these only.
// FIRST: the candidates so far are all records, of the SELECTION, without NULLS.
layout(local_size_x = LOCAL) in;
layout(std430, binding = 3) buffer Candidates { uvec4 candidate[]; };
READONLY(1, uvec4, Previous, previous);
READONLY(2, uvec4, Next, next);
READONLY(4, uvec4, Selection, selection);
READONLY(5, uvec4, Validity, valid);
#ifdef SOFTWARE
READONLY(3, uvec4, Kept, kept); // the candidates, as the pass before left them
#else
#define kept candidate
#endif
uniform int arg[16];
// A digit: the planes of its block, and which of them each bit is, lowest first; -1 is
// zeros, -2 ones.
const int before = 2, now = 6;
#define BIT(block, unit, which, j) (arg[(which) + 1 + (j)] < 0 ? uvec4(uint(arg[(which) + 1 + (j)] + 1)) \
    : FETCH(block, first(unit, arg[which]) + uint(PLANE * arg[(which) + 1 + (j)])))

#ifdef FIRST
// rank is k, counted from the largest of n values: a number, or the fraction of n
// that percentile_disc takes.
uint rank(uint n) {
    uint k = uint(arg[13]);
    if ((arg[12] & 2) != 0) {
        precise double x = packDouble2x32(uvec2(arg[13], arg[14])) * double(n);
        k = x >= double(n) ? n : uint(x);
        k = clamp(double(k) < x ? k + 1u : k, 1u, max(n, 1u));
    }
    return (arg[12] & 1) != 0 ? n - k + 1u : k;
}
#else
uint rank(uint k) { return k; }
#endif

#if defined(APPEND) || defined(LISTED)
// The units that have candidates left, by work group: how many, and at most share()
// of them. Few of the others' threads have something to do, and these wait for it.
layout(std430, binding = 6) buffer List { uint list[]; };
uint listAt(uint units) { return gl_NumWorkGroups.x + GROUP * share(units); }
#endif
#ifdef APPEND
shared uint appended;
#endif

uint k, digit = 0u; // of the digit before

void decide(uint from) {
    k = rank(result[from]);
    for (uint v = uint(VALUES) - 1u; v > 0u; v--) {
        uint n = result[from + v];
        if (digit == 0u && k <= n)
            digit = v;
        else if (digit == 0u)
            k -= n;
    }
}

// narrow returns the candidates of a unit that have the digit.
uvec4 narrow(uint unit) {
#ifdef FIRST
    uvec4 m = within(unit, uint(arg[1]));
#ifdef SELECTION
    m &= FETCH(selection, unit);
#endif
#ifdef NULLS
    m &= FETCH(valid, unit);
#endif
#else
    uvec4 m = FETCH(kept, unit);
    if (!some(m))
        return m;
#endif
    if (some(m))
        for (int j = 0; j < DIGIT; j++)
            m &= BIT(previous, unit, before, j) ^ ((digit >> j & 1u) - 1u);
    candidate[unit] = m;
    return m;
}

void count(uint unit, uvec4 m, inout uvec4 counter[FOURS]) {
    uvec4 p[DIGIT];
    for (int j = 0; j < DIGIT; j++)
        p[j] = BIT(next, unit, now, j);
    countDigits(m, p, counter);
}

void main() {
    uint units = uint(arg[0]), to = uint(arg[11]);
    claim(uint(arg[15]));
    decide(uint(arg[10]));
    if (gl_GlobalInvocationID.x == 0u)
        result[to] = k;
    uvec4 counter[FOURS];
    for (int c = 0; c < FOURS; c++)
        counter[c] = uvec4(0u);
#ifdef APPEND
    if (gl_LocalInvocationIndex == 0u)
        appended = 0u;
    barrier();
#endif
#ifdef LISTED
    for (uint i = gl_LocalInvocationIndex, end = list[GROUP]; i < end; i += uint(LOCAL)) {
        uint unit = list[listAt(units) + i];
#else
    for (uint unit = firstUnit(units), end = endUnit(units); unit < end; unit += STEP) {
#endif
        uvec4 m = narrow(unit);
        if (!some(m))
            continue;
#ifdef APPEND
        list[listAt(units) + atomicAdd(appended, 1u)] = unit;
#endif
        count(unit, m, counter);
    }
    counter[0].x &= ~65535u; // the place of value 0 is k's
    report(to, counter);
#ifdef APPEND
    if (gl_LocalInvocationIndex == 0u)
        list[GROUP] = appended; // report has a barrier
#endif
}
