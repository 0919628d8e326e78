// Section 4.5: h(x) = x mod buckets. Each tuple's row goes into its bucket, up to 512; counts has the number of each, beyond 512 too.
// faults[1]: the largest number. A thread a tuple.
layout(local_size_x = LOCAL) in;
layout(std430, binding = 0) readonly buffer Tuples { uint tuples[]; };
layout(std430, binding = 1) buffer Counts { uint counts[]; };
layout(std430, binding = 2) writeonly buffer Rows { uint rows[]; };
layout(std430, binding = 3) buffer Faults { uint faults[]; };
uniform uint number, buckets;

void main() {
    uint i = thread();
    if (i >= n)
        return;
    uint bucket = tuples[i * TUPLE + NUMBER(number)] % buckets, at = atomicAdd(counts[bucket], 1u);
    if (at < 512u)
        rows[bucket * 512u + at] = i;
    else
        atomicMax(faults[1], at + 1u);
}
