// Listings 9 and 10, and the forms of the mask of section 4.4. A thread a tuple.
// INIT: mask[i] = 1 where tuple i qualifies (CRITERIA), else 0; with VECTOR both components of an ivec2.
// MASK: what was 0 before the scan, of which target has a copy, is 0 again: an AND with all ones or with 0.
// FINISH: tuples that qualify go to their places in output, which are one less than the inclusive scan says.
layout(local_size_x = LOCAL) in;
layout(std430, binding = 0) readonly buffer Tuples { uint tuples[]; };
#ifdef VECTOR
layout(std430, binding = 1) buffer Mask { ivec2 mask[]; };
#else
layout(std430, binding = 1) buffer Mask { int mask[]; };
#endif
layout(std430, binding = 2) buffer Output { uint target[]; };

void main() {
    uint i = thread();
    if (i >= n)
        return;
#ifdef INIT
    int att0 = int(tuples[i * TUPLE + NUMBER(0)]), att1 = int(tuples[i * TUPLE + NUMBER(1)]), att2 = int(tuples[i * TUPLE + NUMBER(2)]);
    int res = 1;
    CRITERIA;
#ifdef VECTOR
    mask[i] = ivec2(res);
#else
    mask[i] = res;
#endif
#endif
#ifdef MASK
    mask[i] &= -int(target[i]);
#endif
#ifdef FINISH
#ifdef VECTOR
    bool qualifies = mask[i].x != 0;
    uint place = uint(mask[i].y) - 1u;
#else
    bool qualifies = mask[i] != 0;
    uint place = uint(mask[i]) - 1u;
#endif
    if (qualifies)
        for (uint w = 0u; w < TUPLE; w++)
            target[place * TUPLE + w] = tuples[i * TUPLE + w];
#endif
}
