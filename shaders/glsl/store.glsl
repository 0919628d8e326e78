// Puts the bits that the threads of a work group have found together: of unit
// first + i those of threads i, i + 64, ... Every thread calls it.
layout(std430, binding = 0) writeonly buffer Bitmap { uvec4 bitmap[]; };

#ifdef SOFTWARE
void store(uint unit, uvec4 bits) { bitmap[unit] = bits; }
#else
shared uvec4 found[LOCAL];

void store(uint unit, uvec4 bits) {
    uint me = gl_LocalInvocationIndex;
    found[me] = bits;
    barrier();
    if (me < 64u) {
        for (uint i = me + 64u; i < uint(LOCAL); i += 64u)
            bits |= found[i];
        bitmap[unit] = bits;
    }
    barrier();
}
#endif
