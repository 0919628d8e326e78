// Group runs: what there is of each group of records that are sorted by it. A thread has ROWS records. The last one of a
// group does WRITE, which knows the group's slot, from and i, its first and its last record, and input0[], ... by sorted record.
//
// In: number[i]: the group of record i, from 1 on, ascending. start[slot]: its first record.
// Out: out_words[slot * WORDS ...].
layout(local_size_x = LOCAL) in;
layout(std430, binding = 0) writeonly buffer Out { uint out_words[]; };
layout(std430, binding = 1) readonly buffer Numbers { uint number[]; };
layout(std430, binding = 2) readonly buffer Starts { uint start[]; };
uniform uint n;

#define PUT(w, x) out_words[slot * WORDS + uint(w)] = (x)
// The sum from record from to record i of 64 bits, of which low and high have those of all records up to each.
#define DIFFERENCE(low, high) minus(uvec2(low[i], high[i]), from == 0u ? uvec2(0u) : uvec2(low[from - 1u], high[from - 1u]))

uvec2 minus(uvec2 a, uvec2 b) {
    uint borrow, low = usubBorrow(a.x, b.x, borrow);
    return uvec2(low, a.y - b.y - borrow);
}

void work(uint i) {
    uint slot = number[i] - 1u;
    if (i + 1u < n && number[i + 1u] - 1u == slot)
        return;
    uint from = start[slot];
    WRITE
}

void main() {
    uint first = (gl_WorkGroupID.x + gl_WorkGroupID.y * gl_NumWorkGroups.x) * uint(LOCAL) * ROWS + gl_LocalInvocationIndex;
    for (uint k = 0u; k < ROWS; k++)
        if (first + k * LOCAL < n)
            work(first + k * LOCAL);
}
