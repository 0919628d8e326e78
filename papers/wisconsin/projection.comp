// Listing 3: result[i] = unique1 + unique2 of tuple i. A thread a tuple.
layout(local_size_x = LOCAL) in;
layout(std430, binding = 0) readonly buffer Tuples { uint tuples[]; };
layout(std430, binding = 1) writeonly buffer Result { uint result[]; };
uniform uint first; // of the tuples, where they come in parts

void main() {
    uint i = thread();
    if (i < n)
        result[i + first] = tuples[i * TUPLE + NUMBER(0)] + tuples[i * TUPLE + NUMBER(1)];
}
