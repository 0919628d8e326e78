// Group runs: what there is of each group of records that are sorted by it. A thread has record i.
//   STARTS: the first record of a group writes where it begins. Else the last one does WRITE, which knows the group's slot, from and i, its
//   first and its last record, and input0[], ... by sorted record.
//
// In: number[i]: the group of record i, from 1 on, ascending. start[slot]: its first record.
// Out: out_words[slot * WORDS ...], or with STARTS out_words[slot].
layout(local_size_x = LOCAL) in;
layout(std430, binding = 0) writeonly buffer Out { uint out_words[]; };
layout(std430, binding = 1) readonly buffer Numbers { uint number[]; };
#ifndef STARTS
layout(std430, binding = 2) readonly buffer Starts { uint start[]; };
#endif
uniform uint n;

#define PUT(w, x) out_words[slot * WORDS + uint(w)] = (x)
// The sum from record from to record i of 64 bits, of which low and high have those of all records up to each.
#define DIFFERENCE(low, high) minus(uvec2(low[i], high[i]), from == 0u ? uvec2(0u) : uvec2(low[from - 1u], high[from - 1u]))

uvec2 minus(uvec2 a, uvec2 b) {
    uint borrow, low = usubBorrow(a.x, b.x, borrow);
    return uvec2(low, a.y - b.y - borrow);
}

void main() {
    uint i = gl_GlobalInvocationID.x + gl_GlobalInvocationID.y * gl_NumWorkGroups.x * uint(LOCAL);
    if (i >= n)
        return;
    uint slot = number[i] - 1u;
#ifdef STARTS
    if (i == 0u || number[i - 1u] - 1u != slot)
        out_words[slot] = i;
#else
    if (i + 1u < n && number[i + 1u] - 1u == slot)
        return;
    uint from = start[slot];
    WRITE
#endif
}
