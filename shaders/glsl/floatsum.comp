// Float sum: adds the selected records of a REAL or DOUBLE column exactly, as
// fixed-point numbers in units of 2^-1074 (Neal's small superaccumulator, with
// limbs of 32 bits in 64).
//
// A thread, with its bits of units (codes.glsl), adds in a window of 128 bits in
// registers, placed by the first record. A record outside of it goes to the limbs by
// itself, and then the window goes there, too, to be placed anew. SOFTWARE: to the
// limbs in memory, without a shared copy.
//
// In: block0: codes; CODE: uint, uvec2, uvec4 (1, 2, 4 bytes), read by FETCH_CODE; HIGH: the
//     block of a second part of 32 bits; SINGLE: a REAL's ordinals; SELECTION, VALID: the
//     records of a unit that count. AHEAD: how many bits' codes are read before they are added, 1, 2.
//     Arguments: the place of the sum, the ordinal of code 0.
// Out: result[place]: which of NaN, +Infinity and -Infinity were met (1, 2, 4), and the
//     limbs: signed, low word first, limb i in units of 2^(32 i - 1074).
#define LIMBS 67u
#define NEXT (AHEAD == 1u ? 1u : 1u | 1u << STRIDE) // the bits read
#define NONE 0xffffffffu
#define MOST (8u * STRIDE) // units that cannot overflow the window: 1024 records
layout(local_size_x = LOCAL) in;
layout(std430, binding = 0) buffer Sum { uint result[]; };
#define SUM uint(arg(OWN))

#ifdef SOFTWARE
#define WORD(i) result[SUM + 1u + (i)]
#else
shared uint words[2u * LIMBS];
#define WORD(i) words[i]
#endif

void addLimb(uint i, uint l, uint h) { // += h * 2^32 + l
    if ((l | h) == 0u)
        return;
    uint before = atomicAdd(WORD(2u * i), l);
    h += uint(before + l < l);
    if (h != 0u)
        atomicAdd(WORD(2u * i + 1u), h);
}

uint specials = 0u;
uint window = NONE; // the limb of the lowest word of the window
uvec4 sum = uvec4(0u);
uint taken = 0u; // units in the window; MOST: it is to be placed anew

void flush() {
    if (window == NONE)
        return;
    addLimb(window, sum.x, 0u);
    addLimb(window + 1u, sum.y, 0u);
    addLimb(window + 2u, sum.z, 0u);
    addLimb(window + 3u, sum.w, uint(int(sum.w) >> 31));
    window = NONE;
}

// Adds a mantissa of 53 bits times 2^e; negative: all ones to subtract it.
void add(uvec2 m, uint e, uint negative) {
    if ((m.x | m.y) == 0u)
        return;
    if (window == NONE) { // put the first record in the middle
        window = (max(e, 16u) - 16u) >> 5;
        sum = uvec4(0u);
    }
    uint r = e & 31u;
    uint a = m.x << r, b = m.y << r | (m.x >> 1) >> (31u - r), c = (m.y >> 1) >> (31u - r);
    uint k = (e >> 5) - window;
    if (k > 1u) {
        uint i = e >> 5;
        addLimb(i, (a ^ negative) - negative, a != 0u ? negative : 0u);
        addLimb(i + 1u, (b ^ negative) - negative, b != 0u ? negative : 0u);
        addLimb(i + 2u, (c ^ negative) - negative, c != 0u ? negative : 0u);
        taken = MOST;
        return;
    }
    uvec4 x = (k == 0u ? uvec4(a, b, c, 0u) : uvec4(0u, a, b, c)) ^ negative;
    uint carry = negative & 1u, c0, c1;
    x.x = uaddCarry(x.x, carry, c0);
    sum.x = uaddCarry(sum.x, x.x, c1);
    x.y = uaddCarry(x.y, c0 | c1, c0);
    sum.y = uaddCarry(sum.y, x.y, c1);
    x.z = uaddCarry(x.z, c0 | c1, c0);
    sum.z = uaddCarry(sum.z, x.z, c1);
    sum.w += x.w + (c0 | c1);
}

void special(uvec2 m, uint negative) {
    specials |= (m.x | m.y) != 0u ? 1u : negative == 0u ? 2u : 4u;
}

void record(uint l, uint h) {
    l += uint(arg(OWN + 1));
#ifdef SINGLE
    uint negative = (l & 0x80000000u) != 0u ? 0u : NONE;
    l = (l ^ negative) & 0x7fffffffu;
    uint e = l >> 23;
    uvec2 m = uvec2(l & 0x7fffffu, 0u);
    if (e == 255u) {
        special(m, negative);
        return;
    }
    m.x |= min(e, 1u) << 23;
    e = max(e, 1u) + 924u; // the smallest REAL is 2^-149
#else
    h += uint(arg(OWN + 2)) + uint(l < uint(arg(OWN + 1)));
    uint negative = (h & 0x80000000u) != 0u ? 0u : NONE;
    l ^= negative;
    h = (h ^ negative) & 0x7fffffffu;
    uint e = h >> 20;
    uvec2 m = uvec2(l, h & 0xfffffu);
    if (e == 2047u) {
        special(m, negative);
        return;
    }
    m.y |= min(e, 1u) << 20;
    e = max(e, 1u) - 1u;
#endif
    add(m, e, negative);
}

void main() {
#ifndef SOFTWARE
    for (uint i = gl_LocalInvocationIndex; i < 2u * LIMBS; i += gl_WorkGroupSize.x)
        words[i] = 0u;
    barrier();
#endif
    for (int p = 0; p < args[0]; p++) {
        PIECE(p);
        for (UNITS_OF(UNITS, BEFORE, TOTAL)) {
            uvec4 bits = within(unit, ROWS);
#ifdef SELECTION
            bits &= SELECTION;
#endif
#ifdef VALID
            bits &= VALID;
#endif
            for (uint i = PLACE; i < 32u; i += AHEAD * STRIDE) {
                uvec4 now = bits >> i;
                if (((now.x | now.y | now.z | now.w) & NEXT) == 0u)
                    continue;
                uint quad = quadOf(unit, i);
                uvec4 l[AHEAD], h[AHEAD];
                for (uint j = 0u; j < AHEAD; j++) {
                    l[j] = unpack(FETCH_CODE(block0, quad + 64u * STRIDE * j));
#ifdef HIGH
                    h[j] = FETCH(HIGH, quad + 64u * STRIDE * j);
#else
                    h[j] = uvec4(0u);
#endif
                }
                for (uint j = 0u; j < AHEAD; j++, now >>= STRIDE)
                    for (uint k = 0u; k < 4u; k++)
                        if ((now[k] & 1u) != 0u)
                            record(l[j][k], h[j][k]);
            }
            if (++taken >= MOST) {
                flush();
                taken = 0u;
            }
        }
    }
    flush();
    PIECE(0);
    if (specials != 0u)
        atomicOr(result[SUM], specials);
#ifndef SOFTWARE
    barrier();
    for (uint i = gl_LocalInvocationIndex; i < LIMBS; i += gl_WorkGroupSize.x) {
        uint l = words[2u * i], h = words[2u * i + 1u];
        if ((l | h) == 0u)
            continue;
        uint before = atomicAdd(result[SUM + 1u + 2u * i], l);
        atomicAdd(result[SUM + 2u + 2u * i], h + uint(before + l < l));
    }
#endif
}
