// Figures 3-11 to 3-14. BEGIN: flag i says that a group begins at element i of the sorted ones, of which there are n - 1; the flag behind the last one is set, too. The
// values come to the order of the groups; COUNT has ones. FINISH: the last element of each group goes to the result, whose place the
// inclusive scan of the flags gives: element i - 1 where flag i is set. AVERAGE divides there.
layout(local_size_x = LOCAL) in;
layout(std430, binding = 0) buffer Flags { uint flags[]; };
layout(std430, binding = 1) readonly buffer Sorted { uint sorted[]; };
#ifdef BEGIN
layout(std430, binding = 2) readonly buffer Index { uint index[]; };
layout(std430, binding = 3) readonly buffer Table { uint data[]; };
layout(std430, binding = 4) writeonly buffer Values { uint values[]; };
layout(std430, binding = 5) writeonly buffer Ones { uint ones[]; };
#else
layout(std430, binding = 2) readonly buffer Places { uint places[]; };
layout(std430, binding = 3) readonly buffer Values { uint values[]; };
layout(std430, binding = 4) readonly buffer Counts { uint counts[]; };
layout(std430, binding = 5) writeonly buffer Result { uint result[]; };
#endif
uniform uint column, capacity, target_capacity;

// quotient is that of integers, towards zero, whatever the device does with negative ones.
int quotient(int a, int b) {
    uint q = uint(abs(a)) / uint(b);
    return a < 0 ? -int(q) : int(q);
}

void main() {
    uint i = thread();
    if (i >= n)
        return;
#ifdef BEGIN
    flags[i] = uint(i == 0u || i == n - 1u || sorted[i] != sorted[i - 1u]);
    if (i == n - 1u)
        return;
#ifdef VALUES
    values[i] = data[column * capacity + index[i]];
#endif
#ifdef COUNTS
    ones[i] = 1u;
#endif
#endif
#ifdef FINISH
    if (i == 0u || flags[i] == 0u)
        return;
    uint place = places[i - 1u] - 1u;
    result[place] = sorted[i - 1u];
#ifdef AVERAGE
    result[target_capacity + place] = uint(quotient(int(values[i - 1u]), int(counts[i - 1u])));
#else
    result[target_capacity + place] = values[i - 1u];
#endif
#endif
}
