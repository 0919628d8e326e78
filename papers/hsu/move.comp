// Records move to another table, a thread a record of n.
// SELECTED (figure 3-7): those with a flag, of one column, to the place that the inclusive scan of the flags gives, behind `after` records.
// ALL: one column as it is, to a larger table (section 3.3.7). COPY: one column to an array.
// INDEXED (figure 3-10): every column, record i from where index[i] says.
// SET (section 3.3.5): those with a flag get a value in a column of the table itself.
layout(local_size_x = LOCAL) in;
layout(std430, binding = 0) readonly buffer From { uint source[]; };
layout(std430, binding = 1) buffer To { uint target[]; };
layout(std430, binding = 2) readonly buffer Flags { uint flags[]; };
layout(std430, binding = 3) readonly buffer Places { uint places[]; };
uniform uint column, columns, capacity, target_capacity, after;
uniform int value;

void main() {
    uint i = thread();
    if (i >= n)
        return;
#ifdef SELECTED
    if (flags[i] == 1u)
        target[column * target_capacity + after + places[i] - 1u] = source[column * capacity + i];
#endif
#ifdef ALL
    target[column * target_capacity + i] = source[column * capacity + i];
#endif
#ifdef COPY
    target[i] = source[column * capacity + i];
#endif
#ifdef INDEXED
    for (uint c = 0u; c < columns; c++)
        target[c * target_capacity + i] = source[c * capacity + places[i]];
#endif
#ifdef SET
    if (flags[i] == 1u)
        target[column * target_capacity + i] = uint(value);
#endif
}
