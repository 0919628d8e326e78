// Counts keys x by digit: DIGIT of x and its number. A team counts its strip of `per`
// elements: counts[d * strips + strip], zero at first. Where PASSES is set, strips do
// not matter, and all digits are counted: counts[p * 256 + d] of digit p in all.
layout(std430, binding = 0) readonly buffer Keys { uint keys[]; };
layout(std430, binding = 0) readonly buffer KeyQuads { uvec4 quads[]; };
layout(std430, binding = 2) buffer Counts { uint counts[]; };

#ifdef PASSES
const uint BINS = PASSES * 256;
#else
const uint BINS = 256;
#endif
#if TEAM > 1
shared uint local[BINS];

void note(uint x) {
#ifdef PASSES
    for (uint p = 0u; p < uint(PASSES); p++)
        atomicAdd(local[p * 256u + digit(x, p)], 1u);
#else
    atomicAdd(local[digit(x, number)], 1u);
#endif
}
#endif

void main() {
    if (team >= strips)
        return;
#if TEAM > 1
    for (uint d = rank; d < BINS; d += uint(TEAM))
        local[d] = 0u;
    barrier();
    uint from = team * per, to = min(from + per, n);
    for (uint i = from + 4u * rank; i < to; i += 4u * uint(TEAM)) {
        uvec4 x = quads[i >> 2];
        for (int e = 0; e < 4; e++)
            if (i + uint(e) < to)
                note(x[e]);
    }
    barrier();
    for (uint d = rank; d < BINS; d += uint(TEAM))
#ifdef PASSES
        if (local[d] != 0u)
            atomicAdd(counts[d], local[d]);
#else
        counts[d * strips + team] = local[d];
#endif
#else
    uint to = min(team * per + per, n);
    for (uint i = team * per; i < to; i++)
        counts[digit(keys[i], number) * strips + team]++;
#endif
}
