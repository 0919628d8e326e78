// What programs that read codes share. A work group takes 64 units at a time, 8192 records
// in a row, and a thread of it every STRIDE-th bit of a unit from PLACE on; in software a
// thread takes all bits of its units. UNITS_OF is the head of a loop over these, TAKES says whether a work group has any.
#ifdef SOFTWARE
#define PLACE 0u
#define STRIDE 1u
#define UNITS_OF(units, before, total) uint unit = firstUnit(units, before, total), end = endUnit(units, before, total); unit < end; unit += STEP
#define TAKES(units, before, total) (firstUnit(units, before, total) < endUnit(units, before, total))
uvec4 joined(uvec4 bits) { return bits; }
#else
#define PLACE (gl_LocalInvocationIndex >> 6)
#define STRIDE (uint(LOCAL) / 64u)
#ifdef REGIONS
#define UNITS_OF(units, before, total) uint unit = bound(GROUP / PARTS, units, before, total) + GROUP % PARTS * 64u + (gl_LocalInvocationIndex & 63u), \
    end = endUnit(units, before, total); unit < end; unit += PARTS * 64u
#else
#define BEGINS(units, before, total) ((gl_WorkGroupID.x + gl_NumWorkGroups.x - (before) / 64u % gl_NumWorkGroups.x) % gl_NumWorkGroups.x * 64u)
#define TAKES(units, before, total) (BEGINS(units, before, total) < (units))
#define UNITS_OF(units, before, total) uint unit = BEGINS(units, before, total) + (gl_LocalInvocationIndex & 63u); \
    unit < (units); unit += gl_NumWorkGroups.x * 64u
#endif
shared uvec4 found[LOCAL];

// joined puts the bits together that the threads of a unit have found, for the one at
// PLACE 0. Every thread calls it.
uvec4 joined(uvec4 bits) {
    uint me = gl_LocalInvocationIndex;
    barrier();
    found[me] = bits;
    barrier();
    if (me < 64u)
        for (uint i = me + 64u; i < uint(LOCAL); i += 64u)
            bits |= found[i];
    return bits;
}
#endif
