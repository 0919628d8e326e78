// A token of a postfix (figures 3-4 to 3-6), a thread a record. Each record has a stack, level l of record i in stack[l * n + i], and its
// top, the number of levels in use. OPERAND pushes whether column COMPARE value, AND and OR take two levels and push one. REVERSE is
// section 3.3.6: the flag, at the bottom, becomes the other one.
layout(local_size_x = LOCAL) in;
layout(std430, binding = 0) buffer Stack { uint stack[]; };
layout(std430, binding = 1) buffer Top { uint top[]; };
layout(std430, binding = 2) readonly buffer Table { uint data[]; };
uniform uint column, capacity;
uniform int value;

void main() {
    uint i = thread();
    if (i >= n)
        return;
#ifdef OPERAND
    stack[top[i] * n + i] = uint(int(data[column * capacity + i]) COMPARE value);
    top[i]++;
#endif
#ifdef AND
    stack[(top[i] - 2u) * n + i] &= stack[(top[i] - 1u) * n + i];
    top[i]--;
#endif
#ifdef OR
    stack[(top[i] - 2u) * n + i] |= stack[(top[i] - 1u) * n + i];
    top[i]--;
#endif
#ifdef REVERSE
    stack[i] = 1u - stack[i];
#endif
}
