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

// Division by estimates: a float of a quotient, made a little smaller than all of
// its roundings (10 units in the last place at most) can make it too large, is
// subtracted, times the divisor, from the dividend.
float approximateU64(uvec2 a) { return float(a.y) * 4294967296.0 + float(a.x); }
float inverseU64(uvec2 a) { return 0.9999980926513672 / approximateU64(a); } // 1 - 2^-19

// Leaves a quotient r / b of at most its part 2^-18, and 1.
void reduceU64(inout uvec2 r, uvec2 b, float inverse, inout uvec2 quotient) {
    float f = approximateU64(r) * inverse;
    float high = floor(f * 2.3283064365386963e-10); // f / 2^32
    uvec2 q = uvec2(uint(f - high * 4294967296.0), uint(high));
    uint h, l;
    umulExtended(q.x, b.x, h, l);
    r = wrappingAdd(r, wrappingNeg(uvec2(l, h + q.x * b.y + q.y * b.x)));
    quotient = wrappingAdd(quotient, q);
}

// For b > 0: 64 bits of quotient become 46, 28, 10 and at last no more than 1.
void divideU64(uvec2 a, uvec2 b, out uvec2 quotient, out uvec2 remainder) {
    quotient = uvec2(0u);
    remainder = a;
    float inverse = inverseU64(b);
    reduceU64(remainder, b, inverse, quotient);
    reduceU64(remainder, b, inverse, quotient);
    reduceU64(remainder, b, inverse, quotient);
    reduceU64(remainder, b, inverse, quotient);
    if (!belowU64(remainder, b)) {
        remainder = wrappingAdd(remainder, wrappingNeg(b));
        quotient = wrappingAdd(quotient, uvec2(1u, 0u));
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
