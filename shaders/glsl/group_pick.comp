// Groups of which something is asked, by the sum of one of their aggregates or a digit of their slot: keys of 64 bits (low
// word, high word) that order as these do.
//
// In: slots groups of WORDS words from word first of result, as groups.comp leaves them; word 1 is 0 where there is no
//     group, word VALUES where its sum is NULL. SUM is the sum of a slot, made with coefficients.
//     flip: all bits set where the smallest sums are to have the greatest keys.
// Out: GREATEST: by work group the greatest key of its slots, 0 for none.
//     Else: how many groups have keys within bounds (NULLS: or no sum), how many groups there are, and the words and the slot of each of up to room of the former.
layout(local_size_x = LOCAL) in;
layout(std430, binding = 0) readonly buffer Groups { uint result[]; };
layout(std430, binding = 1) buffer Picked { uint picked[]; };
uniform uint first;
uniform uint slots;
uniform uint flip;
uniform int coefficients[2 * TERMS];
#ifdef DIGIT
uniform uvec2 digit;
#endif

uint word(uint slot, uint w) { return result[first + slot * WORDS + w]; }

uvec2 coefficient(int i) { return uvec2(coefficients[2 * i], coefficients[2 * i + 1]); }

// times is the product of integers of 64 bits, modulo 2^64.
uvec2 times(uvec2 a, uvec2 b) {
    uint high, low;
    umulExtended(a.x, b.x, high, low);
    return uvec2(low, high + a.x * b.y + a.y * b.x);
}

uvec2 key(uint slot) {
    uvec2 s = SUM;
    s.y ^= 0x80000000u;
    return s ^ flip;
}

#ifdef GREATEST
shared uvec2 greatest[LOCAL];

void main() {
    uvec2 best = uvec2(0u);
    for (uint slot = gl_GlobalInvocationID.x; slot < slots; slot += gl_NumWorkGroups.x * uint(LOCAL)) {
        if (word(slot, 1u) == 0u || word(slot, VALUES) == 0u)
            continue;
        uvec2 k = key(slot);
        if (belowU64(best, k))
            best = k;
    }
    greatest[gl_LocalInvocationIndex] = best;
    for (uint half_ = uint(LOCAL) / 2u; half_ > 0u; half_ /= 2u) {
        barrier();
        if (gl_LocalInvocationIndex < half_ && belowU64(greatest[gl_LocalInvocationIndex], greatest[gl_LocalInvocationIndex + half_]))
            greatest[gl_LocalInvocationIndex] = greatest[gl_LocalInvocationIndex + half_];
    }
    if (gl_LocalInvocationIndex == 0u) {
        picked[2u * gl_WorkGroupID.x] = greatest[0].x;
        picked[2u * gl_WorkGroupID.x + 1u] = greatest[0].y;
    }
}
#else
uniform uint room;
uniform int bounds[4];
shared uint found, taken, start;

bool wanted(uint slot) {
    if (word(slot, VALUES) == 0u)
#ifdef NULLS
        return true;
#else
        return false;
#endif
    uvec2 k = key(slot);
    return !belowU64(k, uvec2(bounds[0], bounds[1])) && !belowU64(uvec2(bounds[2], bounds[3]), k);
}

void main() {
    if (gl_LocalInvocationIndex == 0u)
        found = 0u;
    uint mine = 0u;
    for (uint base = gl_WorkGroupID.x * uint(LOCAL); base < slots; base += gl_NumWorkGroups.x * uint(LOCAL)) {
        uint slot = base + gl_LocalInvocationIndex;
        bool there = slot < slots && word(slot, 1u) != 0u, take = there && wanted(slot);
        mine += uint(there);
        if (gl_LocalInvocationIndex == 0u)
            taken = 0u;
        barrier();
        uint at = take ? atomicAdd(taken, 1u) : 0u;
        barrier();
        if (gl_LocalInvocationIndex == 0u && taken != 0u)
            start = atomicAdd(picked[0], taken);
        barrier();
        at += start;
        if (take && at < room) {
            uint to = 2u + at * (WORDS + 1u);
            for (uint w = 0u; w < WORDS; w++)
                picked[to + w] = word(slot, w);
            picked[to + WORDS] = slot;
        }
    }
    atomicAdd(found, mine);
    barrier();
    if (gl_LocalInvocationIndex == 0u)
        atomicAdd(picked[1], found);
}
#endif
