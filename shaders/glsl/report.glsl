// Adds the counters of all threads to result[at ...]: one word each, or, with WIDE,
// two (low, high). A work group adds its threads up first; with SOFTWARE each thread
// adds its own, since barriers cost more there. A counter stays below 2^16 a thread;
// with DIGIT two of them share a word.
#ifndef REGIONS
layout(std430, binding = 0) buffer Result { uint result[]; };
#endif

#ifdef DIGIT
#define FOURS ((COUNTERS + 7) / 8)
#define COUNTER(counter, c) (counter[(c) / 8][(c) / 2 % 4] >> (c) % 2 * 16 & 65535u)
#else
#define FOURS ((COUNTERS + 3) / 4)
#define COUNTER(counter, c) counter[(c) / 4][(c) % 4]
#endif

void add(uint at, uint counter, uint n) {
    if (n == 0u)
        return;
#ifdef WIDE
    uint before = atomicAdd(result[at + 2u * counter], n);
    if (before + n < before)
        atomicAdd(result[at + 2u * counter + 1u], 1u);
#else
    atomicAdd(result[at + counter], n);
#endif
}

#ifdef SOFTWARE
void report(uint at, uvec4 counter[FOURS]) {
    for (int c = 0; c < COUNTERS; c++)
        add(at, uint(c), COUNTER(counter, c));
}
#else
// SHARE threads add up one counter.
#define SHARE 16
shared uint every[COUNTERS * LOCAL];
shared uint part[LOCAL];

void report(uint at, uvec4 counter[FOURS]) {
    int me = int(gl_LocalInvocationIndex);
    for (int c = 0; c < COUNTERS; c++)
        every[c * LOCAL + me] = COUNTER(counter, c);
    barrier();
    int c = me / SHARE;
    uint n = 0u;
    if (c < COUNTERS)
        for (int i = me % SHARE; i < LOCAL; i += SHARE)
            n += every[c * LOCAL + i];
    part[me] = n;
    barrier();
    if (me >= COUNTERS)
        return;
    n = 0u;
    for (int i = 0; i < SHARE; i++)
        n += part[me * SHARE + i];
    add(at, uint(me), n);
}
#endif

// A digit is DIGIT neighbouring bits of a code, which is how many a pass of the k-th
// search decides. Counters lie in pairs then: value 2i in the lower half of word i, value
// 2i + 1 in the upper one, which takes half the registers and so lets more threads hide
// each other's waiting.
#ifdef DIGIT
#define VALUES (1 << DIGIT)

// pairs counts the records of m by two bits: 00 and 01, 10 and 11.
uvec2 pairs(uint m, uint high, uint low) {
    uint upper = m & high, lower = m & ~high;
    return uvec2(bitCount(lower & ~low), bitCount(upper & ~low)) + (uvec2(bitCount(lower & low), bitCount(upper & low)) << 16);
}

// countWord counts the 32 records of m by digit: bit j of it is plane p[j]. Indices
// are constants so that the counters stay in registers.
void countWord(uint m, uint p[DIGIT], inout uvec4 counter[FOURS]) {
#if DIGIT == 2
    counter[0].xy += pairs(m, p[1], p[0]);
#elif DIGIT == 3
    counter[0].xy += pairs(m & ~p[2], p[1], p[0]);
    counter[0].zw += pairs(m & p[2], p[1], p[0]);
#else
    uint upper = m & p[3], lower = m & ~p[3];
    counter[0].xy += pairs(lower & ~p[2], p[1], p[0]);
    counter[0].zw += pairs(lower & p[2], p[1], p[0]);
    counter[1].xy += pairs(upper & ~p[2], p[1], p[0]);
    counter[1].zw += pairs(upper & p[2], p[1], p[0]);
#endif
}

// countDigits counts the records of m by digit.
void countDigits(uvec4 m, uvec4 p[DIGIT], inout uvec4 counter[FOURS]) {
    uint q[DIGIT];
    for (int j = 0; j < DIGIT; j++) q[j] = p[j].x;
    countWord(m.x, q, counter);
    for (int j = 0; j < DIGIT; j++) q[j] = p[j].y;
    countWord(m.y, q, counter);
    for (int j = 0; j < DIGIT; j++) q[j] = p[j].z;
    countWord(m.z, q, counter);
    for (int j = 0; j < DIGIT; j++) q[j] = p[j].w;
    countWord(m.w, q, counter);
}
#endif
