// A digit is DIGIT neighbouring bits of a code, which is how many a pass of the
// k-th search decides. Needs report.glsl, whose counters lie in pairs then: value 2i
// in the lower half of word i, value 2i + 1 in the upper one, which takes half the
// registers and so lets more threads hide each other's waiting.
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
