// Adds the counters of all threads to result[at ...]: one word each, or, with WIDE,
// two (low, high). A work group adds its threads up first; with SOFTWARE each thread
// adds its own, since barriers cost more there. A counter stays below 2^16 a thread;
// with DIGIT two of them share a word.
layout(std430, binding = 0) buffer Result { uint result[]; };

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
