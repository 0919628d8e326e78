// Doubles, decoded from ordinals (IEEE bits, sign trick; see package table) and
// compared by them: NaN equals NaN and is above everything, -0 equals 0. Values
// are kept as bits between operations. `failed` is set as PostgreSQL raises:
// a finite operation that overflows, underflows to zero, or divides by zero. Where a
// subnormal number takes part, which graphics hardware and llvmpipe may flush to zero,
// operations are computed in integers.

bool isNaN64(uvec2 b) { uint h = b.y & 0x7fffffffu; return h > 0x7ff00000u || (h == 0x7ff00000u && b.x != 0u); }
bool isInf64(uvec2 b) { return (b.y & 0x7fffffffu) == 0x7ff00000u && b.x == 0u; }
bool isZero64(uvec2 b) { return ((b.y & 0x7fffffffu) | b.x) == 0u; }

uvec2 fromOrdinal64(uvec2 o) { return (o.y & 0x80000000u) != 0u ? uvec2(o.x, o.y & 0x7fffffffu) : ~o; }
uvec2 toOrdinal64(uvec2 b) {
    if (isNaN64(b)) return uvec2(0u, 0xfff80000u);
    if (isZero64(b)) return uvec2(0u, 0x80000000u);
    return (b.y & 0x80000000u) != 0u ? ~b : uvec2(b.x, b.y | 0x80000000u);
}
int compareF64(uvec2 a, uvec2 b) {
    uvec2 x = toOrdinal64(a), y = toOrdinal64(b);
    return belowU64(x, y) ? -1 : x == y ? 0 : 1;
}

// A REAL's 32-bit ordinal to the bits of the same number as a double; built from
// the fields, since converting a subnormal float may flush it.
uvec2 fromOrdinal32(uint o) {
    uint f = (o & 0x80000000u) != 0u ? o & 0x7fffffffu : ~o;
    uint sign = f & 0x80000000u, e = f >> 23 & 0xffu, m = f & 0x7fffffu;
    if (e == 0xffu) return uvec2(m << 29, sign | 0x7ff00000u | m >> 3);
    if (e == 0u) {
        if (m == 0u) return uvec2(0u, sign);
        int top = findMSB(m); // a subnormal float is a normal double
        m = m << (23 - top) & 0x7fffffu;
        return uvec2(m << 29, sign | uint(top + 1023 - 149) << 20 | m >> 3);
    }
    return uvec2(m << 29, sign | (e + 896u) << 20 | m >> 3);
}
uvec2 bits64(double d) { return unpackDouble2x32(d); }
double value64(uvec2 b) { return packDouble2x32(b); }

// The double nearest to a signed 64-bit integer: both products are exact, the sum
// rounds once.
uvec2 floatI64(uvec2 a) {
    bool negative = isNegative(a);
    uvec2 m = magnitude(a);
    precise double d = double(m.y) * 4294967296.0lf + double(m.x);
    return bits64(negative ? -d : d);
}

uvec2 shiftLeft64(uvec2 a, int n) { // 0 <= n < 64
    if (n >= 32)
        return uvec2(0u, a.x << (n - 32));
    return n == 0 ? a : uvec2(a.x << n, a.y << n | a.x >> (32 - n));
}

// The lowest bit of the result is also set where a bit was lost.
uvec2 shiftRight64(uvec2 a, int n) { // 0 <= n
    if (n >= 64)
        return uvec2(min(a.x | a.y, 1u), 0u);
    uint lost = 0u;
    if (n >= 32) {
        lost = a.x;
        a = uvec2(a.y, 0u);
        n -= 32;
    }
    if (n > 0) {
        lost |= a.x << (32 - n);
        a = uvec2(a.x >> n | a.y << (32 - n), a.y >> n);
    }
    a.x |= min(lost, 1u);
    return a;
}

int top64(uvec2 a) { return a.y != 0u ? findMSB(a.y) + 32 : findMSB(a.x); } // a not 0

// The double of m * 2^(e - 1086), m not 0; the lowest bit of m may stand for more.
uvec2 round64(uint sign, int e, uvec2 m) {
    int up = 63 - top64(m);
    m = shiftLeft64(m, up);
    e -= up;
    if (e < 1) {
        m = shiftRight64(m, 1 - e);
        e = 1;
    }
    uint low = m.x & 0x7ffu;
    m = uvec2(m.x >> 11 | m.y << 21, m.y >> 11);
    if (low > 0x400u || (low == 0x400u && (m.x & 1u) != 0u))
        m = wrappingAdd(m, uvec2(1u, 0u));
    m.y += uint(e - 1) << 20; // the first bit of the mantissa adds the 1
    if (e > 2046 || m.y >= 0x7ff00000u)
        return uvec2(0u, sign | 0x7ff00000u);
    return uvec2(m.x, sign | m.y);
}

// Exponent, at least 1, and mantissa of 53 bits or, of a subnormal, fewer.
int exponent64(uvec2 b) { return max(1, int(b.y >> 20 & 0x7ffu)); }
uvec2 mantissa64(uvec2 b) {
    return uvec2(b.x, (b.y & 0xfffffu) | ((b.y & 0x7ff00000u) == 0u ? 0u : 0x100000u));
}

// The mantissa of a number that is not 0, of 53 bits; e changes by what it takes.
uvec2 normal64(uvec2 b, inout int e, int side) {
    uvec2 m = mantissa64(b);
    int up = 52 - top64(m);
    e -= side * up;
    return shiftLeft64(m, up);
}

// Whether a subnormal number, or a 0 that may be one flushed, is among two operands,
// both finite, and their result.
bool subnormals64(uvec2 a, uvec2 b, uvec2 r) {
    uint x = a.y & 0x7ff00000u, y = b.y & 0x7ff00000u;
    return x != 0x7ff00000u && y != 0x7ff00000u && (x == 0u || y == 0u || (r.y & 0x7ff00000u) == 0u);
}

uvec2 exactAdd64(uvec2 a, uvec2 b) {
    if (belowU64(uvec2(a.x, a.y & 0x7fffffffu), uvec2(b.x, b.y & 0x7fffffffu))) {
        uvec2 c = a;
        a = b;
        b = c;
    }
    int e = exponent64(a);
    uvec2 m = shiftLeft64(mantissa64(a), 10);
    uvec2 n = shiftRight64(shiftLeft64(mantissa64(b), 10), e - exponent64(b));
    uint sign = a.y & 0x80000000u;
    m = wrappingAdd(m, ((a.y ^ b.y) & 0x80000000u) != 0u ? wrappingNeg(n) : n);
    if ((m.x | m.y) == 0u)
        return uvec2(0u, a.y & b.y & 0x80000000u);
    return round64(sign, e + 1, m);
}

uvec2 exactMul64(uvec2 a, uvec2 b) {
    uint sign = (a.y ^ b.y) & 0x80000000u;
    uvec2 m = mantissa64(a), n = mantissa64(b);
    if ((m.x | m.y) == 0u || (n.x | n.y) == 0u)
        return uvec2(0u, sign);
    int e = exponent64(a) + exponent64(b);
    // Both mantissas brought to 64 bits: the product's first bit is 127 or 126.
    int up = 63 - top64(m), right = 63 - top64(n);
    m = shiftLeft64(m, up);
    n = shiftLeft64(n, right);
    uint h0, l0, h1, l1, h2, l2, h3, l3, c0, c1;
    umulExtended(m.x, n.x, h0, l0);
    umulExtended(m.x, n.y, h1, l1);
    umulExtended(m.y, n.x, h2, l2);
    umulExtended(m.y, n.y, h3, l3);
    uint w1 = uaddCarry(h0, l1, c0);
    w1 = uaddCarry(w1, l2, c1);
    uvec2 high = wrappingAdd(uvec2(l3, h3), uvec2(c0 + c1, 0u));
    high = wrappingAdd(high, uvec2(h1, 0u));
    high = wrappingAdd(high, uvec2(h2, 0u));
    high.x |= min(l0 | w1, 1u);
    return round64(sign, e - 1000 - up - right, high);
}

uvec2 checked64(uvec2 r, uvec2 a, uvec2 b) {
    failed = failed || (isInf64(r) && !isInf64(a) && !isInf64(b));
    return r;
}
uvec2 addF64(uvec2 a, uvec2 b) {
    precise double r = value64(a) + value64(b);
    uvec2 bits = bits64(r);
    if (subnormals64(a, b, bits))
        bits = exactAdd64(a, b);
    return checked64(bits, a, b);
}
uvec2 subF64(uvec2 a, uvec2 b) { return addF64(a, uvec2(b.x, b.y ^ 0x80000000u)); }
uvec2 negF64(uvec2 a) { return uvec2(a.x, a.y ^ 0x80000000u); }
uvec2 mulF64(uvec2 a, uvec2 b) {
    precise double r = value64(a) * value64(b);
    uvec2 bits = bits64(r);
    if (subnormals64(a, b, bits)) {
        bits = exactMul64(a, b);
        failed = failed || (isZero64(bits) && !isZero64(a) && !isZero64(b));
    }
    return checked64(bits, a, b);
}
// Appends the next bits, 9 at most, of the quotient m / n to q; m becomes the
// remainder. Mantissas have 53 bits, so that nothing is lost.
void divideBits(inout uvec2 m, uvec2 n, float inverse, int bits, inout uvec2 q) {
    m = uvec2(m.x << bits, m.y << bits | m.x >> (32 - bits));
    uint digit = uint(approximateU64(m) * inverse);
    uint h, l;
    umulExtended(n.x, digit, h, l);
    m = wrappingAdd(m, wrappingNeg(uvec2(l, h + n.y * digit)));
    if (!belowU64(m, n)) {
        m = wrappingAdd(m, wrappingNeg(n));
        digit++;
    }
    q = uvec2(q.x << bits | digit, q.y << bits | q.x >> (32 - bits));
}
// GLSL promises neither a correctly rounded quotient nor a fused fma to correct
// one with, so mantissas are divided as integers: 53 bits and one to round by.
uvec2 divF64(uvec2 a, uvec2 b) {
    if (isZero64(b)) {
        failed = failed || !isNaN64(a);
        return uvec2(0u, 0x7ff80000u);
    }
    if (isNaN64(a) || isNaN64(b) || (isInf64(a) && isInf64(b))) return uvec2(0u, 0x7ff80000u);
    uint sign = (a.y ^ b.y) & 0x80000000u;
    if (isInf64(a)) return uvec2(0u, sign | 0x7ff00000u);
    if (isInf64(b) || isZero64(a)) return uvec2(0u, sign);
    int e = exponent64(a) - exponent64(b) + 1023;
    uvec2 m = normal64(a, e, 1), n = normal64(b, e, -1);
    if (belowU64(m, n)) {
        m = uvec2(m.x << 1, m.y << 1 | m.x >> 31);
        e--;
    }
    uvec2 q = uvec2(0u); // 54 bits; n <= m < 2n makes the first a 1
    float inverse = inverseU64(n);
    divideBits(m, n, inverse, 8, q);
    divideBits(m, n, inverse, 9, q);
    divideBits(m, n, inverse, 9, q);
    divideBits(m, n, inverse, 9, q);
    divideBits(m, n, inverse, 9, q);
    divideBits(m, n, inverse, 9, q);
    q = shiftLeft64(q, 10);
    q.x |= min(m.x | m.y, 1u);
    q = round64(sign, e, q);
    failed = failed || isZero64(q) || isInf64(q);
    return q;
}

// REAL arithmetic: a double rounded to float32 and widened again. Two roundings
// equal one for + - * / (53 >= 2 * 24 + 2).
uvec2 round32(uvec2 a) {
    if (isNaN64(a) || isInf64(a) || isZero64(a)) return a;
    double d = value64(a);
    double size = abs(d);
    if (size < 1.1754943508222875e-38lf) { // 2^-126: a subnormal float; in units of 2^-149
        precise double units = roundEven(size * 7.1362384635297994e+44lf);
        size = units * 1.4012984643248171e-45lf;
        failed = failed || units == 0.0lf;
    } else {
        precise float f = float(size);
        failed = failed || isinf(f);
        size = double(f);
    }
    uvec2 r = bits64(size);
    return uvec2(r.x, r.y | (a.y & 0x80000000u));
}
