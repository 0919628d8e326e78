// What the programs of joins share: keys of one word, or of two (WIDE), and the number of pairs found.
// report: 0, 1 the pairs, 2, 3 rows of the two sides in partitions that are too large (join_hash.comp).
layout(local_size_x = 256) in;
layout(std430, binding = 0) buffer Report { uint report[]; };
layout(std430, binding = 1) readonly buffer ProbeKeys { uint probe_keys[]; };
layout(std430, binding = 2) readonly buffer BuildKeys { uint build_keys[]; };
#ifdef WIDE
layout(std430, binding = 3) readonly buffer ProbeHigh { uint probe_high[]; };
layout(std430, binding = 4) readonly buffer BuildHigh { uint build_high[]; };
#define KEY uvec2
KEY probe_key(uint i) { return uvec2(probe_keys[i], probe_high[i]); }
KEY build_key(uint i) { return uvec2(build_keys[i], build_high[i]); }
bool less(KEY a, KEY b) { return a.y < b.y || a.y == b.y && a.x < b.x; }
#else
#define KEY uint
KEY probe_key(uint i) { return probe_keys[i]; }
KEY build_key(uint i) { return build_keys[i]; }
bool less(KEY a, KEY b) { return a < b; }
#endif
uniform uint probes, builds; // rows
uniform uint tiles;

uvec2 pairs = uvec2(0u); // of this thread
shared uint group_pairs[2];

void found(uint n) {
    uint carry;
    pairs.x = uaddCarry(pairs.x, n, carry);
    pairs.y += carry;
}

// tell adds the pairs of all threads to the report; they all call it, once.
void tell() {
    if (gl_LocalInvocationIndex < 2u)
        group_pairs[gl_LocalInvocationIndex] = 0u;
    barrier();
    if (pairs.x != 0u) {
        uint before = atomicAdd(group_pairs[0], pairs.x);
        pairs.y += uint(before + pairs.x < before);
    }
    if (pairs.y != 0u)
        atomicAdd(group_pairs[1], pairs.y);
    barrier();
    if (gl_LocalInvocationIndex == 0u) {
        uint low = group_pairs[0], high = group_pairs[1];
        uint before = atomicAdd(report[0], low);
        high += uint(before + low < before);
        if (high != 0u)
            atomicAdd(report[1], high);
    }
}
