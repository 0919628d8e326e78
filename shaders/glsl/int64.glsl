// Signed 64-bit integers as uvec2 (low word, high word), for devices without
// 64-bit integers in GLSL. Each operation sets `failed` when the exact result does
// not fit, as PostgreSQL's "bigint out of range", or when a divisor is zero.
bool failed = false;

bool isNegative(uvec2 a) { return (a.y & 0x80000000u) != 0u; }
bool isZero(uvec2 a) { return (a.x | a.y) == 0u; }

uvec2 wrappingAdd(uvec2 a, uvec2 b) {
    uint low = a.x + b.x;
    return uvec2(low, a.y + b.y + (low < a.x ? 1u : 0u));
}
uvec2 wrappingNeg(uvec2 a) { return wrappingAdd(~a, uvec2(1u, 0u)); }

uvec2 addI64(uvec2 a, uvec2 b) {
    uvec2 r = wrappingAdd(a, b);
    failed = failed || (((a.y ^ r.y) & (b.y ^ r.y)) & 0x80000000u) != 0u;
    return r;
}
uvec2 subI64(uvec2 a, uvec2 b) {
    uvec2 r = wrappingAdd(a, wrappingNeg(b));
    failed = failed || (((a.y ^ b.y) & (a.y ^ r.y)) & 0x80000000u) != 0u;
    return r;
}
uvec2 negI64(uvec2 a) { return subI64(uvec2(0u), a); }

uvec2 magnitude(uvec2 a) { return isNegative(a) ? wrappingNeg(a) : a; }

uvec2 mulI64(uvec2 a, uvec2 b) {
    bool negative = isNegative(a) != isNegative(b);
    uvec2 x = magnitude(a), y = magnitude(b);
    // x.y * y.y * 2^64 + (x.y * y.x + x.x * y.y) * 2^32 + x.x * y.x
    bool over = x.y != 0u && y.y != 0u;
    uint lowHigh, low, crossHigh, cross, h, l;
    umulExtended(x.x, y.x, lowHigh, low);
    umulExtended(x.y, y.x, crossHigh, cross);
    umulExtended(x.x, y.y, h, l);
    over = over || crossHigh != 0u || h != 0u;
    uint c0, c1;
    cross = uaddCarry(cross, l, c0);
    uint high = uaddCarry(lowHigh, cross, c1);
    over = over || c0 != 0u || c1 != 0u;
    uvec2 m = uvec2(low, high);
    if (isNegative(m)) // 2^63 or more: only -2^63 itself fits
        over = over || !(negative && m == uvec2(0u, 0x80000000u));
    failed = failed || over;
    return negative ? wrappingNeg(m) : m;
}

bool belowU64(uvec2 a, uvec2 b) { return a.y < b.y || (a.y == b.y && a.x < b.x); }

// Schoolbook long division of magnitudes, bit by bit from the top.
void divideU64(uvec2 a, uvec2 b, out uvec2 quotient, out uvec2 remainder) {
    quotient = uvec2(0u);
    remainder = uvec2(0u);
    for (int i = 63; i >= 0; i--) {
        bool carry = isNegative(remainder);
        remainder = uvec2(remainder.x << 1, remainder.y << 1 | remainder.x >> 31);
        remainder.x |= (i >= 32 ? a.y >> (i - 32) : a.x >> i) & 1u;
        if (carry || !belowU64(remainder, b)) {
            remainder = wrappingAdd(remainder, wrappingNeg(b));
            if (i >= 32) quotient.y |= 1u << (i - 32);
            else quotient.x |= 1u << i;
        }
    }
}
uvec2 divI64(uvec2 a, uvec2 b) { // truncates towards zero
    if (isZero(b)) {
        failed = true;
        return uvec2(0u);
    }
    uvec2 q, r;
    divideU64(magnitude(a), magnitude(b), q, r);
    bool negative = isNegative(a) != isNegative(b);
    failed = failed || (!negative && isNegative(q));
    return negative ? wrappingNeg(q) : q;
}
uvec2 modI64(uvec2 a, uvec2 b) { // the sign of the dividend
    if (isZero(b)) {
        failed = true;
        return uvec2(0u);
    }
    uvec2 q, r;
    divideU64(magnitude(a), magnitude(b), q, r);
    return isNegative(a) ? wrappingNeg(r) : r;
}
int compareI64(uvec2 a, uvec2 b) { // -1, 0, 1
    a.y ^= 0x80000000u;
    b.y ^= 0x80000000u;
    return belowU64(a, b) ? -1 : a == b ? 0 : 1;
}
