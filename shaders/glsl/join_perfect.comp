// Perfect hash join: the keys are dense, each is the place of a bit. A work group takes 8192 keys, or words of bits,
// at a time, a thread every 256th of them: so the bits of its 32 rows are a word of a bitmap in the order of
// planes (textures.PlaneRow).
// SET: sets the bits of the build side's keys. ONES: report gets how many bits are set, of `words`.
// Else: report gets how many rows of the probe side have a key whose bit is set; MARKS: marks has their bits.
#ifdef SET
layout(std430, binding = 5) coherent buffer Bits { uint bits[]; };
#else
layout(std430, binding = 5) readonly buffer Bits { uint bits[]; };
#endif
#ifdef MARKS
layout(std430, binding = 6) writeonly buffer Marks { uint marks[]; };
#endif
#ifdef ONES
uniform uint words;
#endif
const uint EACH = 8u; // loads at a time: one after the other would take long

void main() {
    for (uint tile = gl_WorkGroupID.x; tile < tiles; tile += gl_NumWorkGroups.x) {
        uint first = tile * 8192u + gl_LocalInvocationIndex, mark = 0u;
        for (uint i = 0u; i < 32u; i += EACH) {
#ifdef SET
            for (uint k = 0u; k < EACH; k++) {
                uint row = first + (i + k) * 256u;
                if (row < builds) {
                    uint key = build_keys[row];
                    atomicOr(bits[key >> 5], 1u << (key & 31u));
                }
            }
#elif defined(ONES)
            for (uint k = 0u; k < EACH; k++) {
                uint w = first + (i + k) * 256u;
                if (w < words)
                    found(uint(bitCount(bits[w])));
            }
#else
            uint keys[EACH];
            for (uint k = 0u; k < EACH; k++)
                keys[k] = probe_keys[min(first + (i + k) * 256u, probes - 1u)];
            for (uint k = 0u; k < EACH; k++) {
                uint bit = bits[keys[k] >> 5] >> (keys[k] & 31u) & uint(first + (i + k) * 256u < probes);
                mark |= bit << i + k;
            }
#endif
        }
#if !defined(SET) && !defined(ONES)
        found(uint(bitCount(mark)));
#ifdef MARKS
        marks[tile * 256u + gl_LocalInvocationIndex] = mark;
#endif
#endif
    }
#ifndef SET
    tell();
#endif
}
