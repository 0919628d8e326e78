// Doubles, decoded from ordinals (IEEE bits, sign trick; see package table) and
// compared by them: NaN equals NaN and is above everything, -0 equals 0. Values
// are kept as bits between operations. `failed` is set as PostgreSQL raises:
// a finite operation that overflows, underflows to zero, or divides by zero.
// `hazard` is set where a subnormal number takes part: graphics hardware and
// llvmpipe may flush it to zero, so such a record must be left to another backend;
// unless subnormal64.glsl comes before this file, and computes it.
bool hazard = false;

bool isNaN64(uvec2 b) { uint h = b.y & 0x7fffffffu; return h > 0x7ff00000u || (h == 0x7ff00000u && b.x != 0u); }
bool isInf64(uvec2 b) { return (b.y & 0x7fffffffu) == 0x7ff00000u && b.x == 0u; }
bool isZero64(uvec2 b) { return ((b.y & 0x7fffffffu) | b.x) == 0u; }
bool isSubnormal64(uvec2 b) { return (b.y & 0x7ff00000u) == 0u && !isZero64(b); }

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

uvec2 checked64(uvec2 r, uvec2 a, uvec2 b) {
    hazard = hazard || isSubnormal64(r) || isSubnormal64(a) || isSubnormal64(b);
    failed = failed || (isInf64(r) && !isInf64(a) && !isInf64(b));
    return r;
}
uvec2 addF64(uvec2 a, uvec2 b) {
    precise double r = value64(a) + value64(b);
    uvec2 bits = bits64(r);
#ifdef SUBNORMALS
    if (subnormals64(a, b, bits))
        bits = exactAdd64(a, b);
#endif
    return checked64(bits, a, b);
}
uvec2 subF64(uvec2 a, uvec2 b) { return addF64(a, uvec2(b.x, b.y ^ 0x80000000u)); }
uvec2 negF64(uvec2 a) { return uvec2(a.x, a.y ^ 0x80000000u); }
uvec2 mulF64(uvec2 a, uvec2 b) {
    precise double r = value64(a) * value64(b);
    uvec2 bits = bits64(r);
#ifdef SUBNORMALS
    if (subnormals64(a, b, bits)) {
        bits = exactMul64(a, b);
        failed = failed || (isZero64(bits) && !isZero64(a) && !isZero64(b));
    }
#else
    if (isZero64(bits) && !isZero64(a) && !isZero64(b)) {
        // Either a true underflow or a subnormal result flushed: decide by the exponents.
        int e = int(a.y >> 20 & 0x7ffu) + int(b.y >> 20 & 0x7ffu) - 2046;
        if (e < -1077) failed = true; else hazard = true;
    }
#endif
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
#ifdef SUBNORMALS
    int e = exponent64(a) - exponent64(b) + 1023;
    uvec2 m = normal64(a, e, 1), n = normal64(b, e, -1);
#else
    hazard = hazard || isSubnormal64(a) || isSubnormal64(b);
    int e = int(a.y >> 20 & 0x7ffu) - int(b.y >> 20 & 0x7ffu) + 1023;
    uvec2 m = uvec2(a.x, (a.y & 0xfffffu) | 0x100000u), n = uvec2(b.x, (b.y & 0xfffffu) | 0x100000u);
#endif
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
#ifdef SUBNORMALS
    q = shiftLeft64(q, 10);
    q.x |= min(m.x | m.y, 1u);
    q = round64(sign, e, q);
    failed = failed || isZero64(q) || isInf64(q);
    return q;
#else
    bool up = (q.x & 1u) != 0u; // never a tie: an odd q times n has no 53 zero bits at its end
    bool power = (q.x | (q.y ^ 0x200000u) | m.x | m.y) == 0u;
    q = uvec2(q.x >> 1 | q.y << 31, q.y >> 1);
    if (up) q = wrappingAdd(q, uvec2(1u, 0u)); // at most 2 - 2^-52
    if (e > 2046) {
        failed = true;
        return uvec2(0u, sign | 0x7ff00000u);
    }
    if (e < 1) { // below 2^-1022; half of 2^-1074 and less is 0
        if (e < -52 || (e == -52 && power)) failed = true;
        else hazard = true;
        return uvec2(0u, sign);
    }
    return uvec2(q.x, sign | uint(e) << 20 | (q.y & 0xfffffu));
#endif
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
