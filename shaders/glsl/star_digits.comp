// Digits of slots for the combinations of a build that there are: a thread makes ROWS words of digits of BYTES bytes.
layout(local_size_x = LOCAL) in;
layout(std430, binding = 0) readonly buffer Combinations { uint combination[]; }; // by place one more than it; 0 for none
layout(std430, binding = 1) readonly buffer Ranks { uvec2 ranks[]; };             // of 32 combinations each: which there are, how many there are before
layout(std430, binding = 2) writeonly buffer Digits { uint digits[]; };
uniform uint n, places;

uint digit(uint place) {
    uint c = place < places ? combination[place] : 0u;
    if (c == 0u)
        return 0u;
    uvec2 of = ranks[(c - 1u) >> 5];
    return of.y + uint(bitCount(of.x & ((1u << ((c - 1u) & 31u)) - 1u))) + 1u;
}

void work(uint i) {
#if BYTES == 1
    digits[i] = digit(4u * i) | digit(4u * i + 1u) << 8 | digit(4u * i + 2u) << 16 | digit(4u * i + 3u) << 24;
#elif BYTES == 2
    digits[i] = digit(2u * i) | digit(2u * i + 1u) << 16;
#else
    digits[i] = digit(i);
#endif
}

void main() {
    uint first = (gl_WorkGroupID.x + gl_WorkGroupID.y * gl_NumWorkGroups.x) * uint(LOCAL) * ROWS + gl_LocalInvocationIndex;
    for (uint r = 0u; r < ROWS; r++) {
        uint i = first + r * uint(LOCAL);
        if (i < n)
            work(i);
    }
}
