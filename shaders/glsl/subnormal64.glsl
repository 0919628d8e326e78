// Doubles in integer arithmetic, rounded to nearest, for where a subnormal number
// takes part and the device's own arithmetic may flush it to zero. Operands are
// bits, finite. float64.glsl behind this file is exact for all doubles.
#define SUBNORMALS

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
