// Section 4.3: a kernel copies the attribute of each tuple into an array. EXPR gives it, of int unique1, float onepercent and tenpercent,
// int unique2 and two; RESULT makes a word of it. A thread a tuple.
layout(local_size_x = LOCAL) in;
layout(std430, binding = 0) readonly buffer Tuples { uint tuples[]; };
layout(std430, binding = 1) writeonly buffer Values { uint values[]; };
uniform uint first; // of the tuples, where they come in parts

void main() {
    uint i = thread();
    if (i >= n)
        return;
    int unique1 = int(tuples[i * TUPLE + NUMBER(0)]), unique2 = int(tuples[i * TUPLE + NUMBER(1)]);
    float onepercent = uintBitsToFloat(tuples[i * TUPLE + PERCENT(0)]);
#ifdef WIDE
    int two = int(tuples[i * TUPLE + NUMBER(2)]);
    float tenpercent = uintBitsToFloat(tuples[i * TUPLE + PERCENT(1)]);
#endif
    values[i + first] = RESULT(EXPR);
}
