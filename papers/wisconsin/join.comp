// Section 4.6. A thread a tuple of the larger table.
// PROBE: looks its key up in the hash table; mask[i] = (1, 1, row of the first table, row of the second), or 0.
// FINISH: what has a partner goes, both tuples merged, to the place in the first component after the exclusive scan.
// BLOCKS (listing 12): thread j compares block j of the first table with block (j + shift) mod blocks of the second.
layout(local_size_x = LOCAL) in;
layout(std430, binding = 0) readonly buffer First { uint first[]; };
layout(std430, binding = 1) readonly buffer Second { uint second[]; };
layout(std430, binding = 2) buffer Mask { uvec4 mask[]; };
#ifdef PROBE
layout(std430, binding = 3) readonly buffer State { uvec4 state[]; };
layout(std430, binding = 4) readonly buffer Slots { uvec2 slots[]; };
uniform uint buckets;
#endif
#ifdef FINISH
layout(std430, binding = 3) writeonly buffer Output { uint target[]; };
#endif
uniform uint number1, number2, n1, n2, size1, size2, shift;

#define KEY1(i) first[(i) * TUPLE + NUMBER(number1)]
#define KEY2(i) second[(i) * TUPLE + NUMBER(number2)]

void main() {
    uint i = thread();
    if (i >= n)
        return;
#ifdef PROBE
#ifdef BUILD_FIRST
    uint key = KEY2(i);
#else
    uint key = KEY1(i);
#endif
    uint bucket = key % buckets;
    mask[i] = uvec4(0u);
    for (uint t = 0u; t < 3u; t++) {
        uvec2 found = slots[bucket * 576u + t * 192u + cuckoo(key, state[bucket].x, t)];
        if (found.y != ~0u && found.x == key)
#ifdef BUILD_FIRST
            mask[i] = uvec4(1u, 1u, found.y, i);
#else
            mask[i] = uvec4(1u, 1u, i, found.y);
#endif
    }
#endif
#ifdef BLOCKS
    uint other = (i + shift) % n;
    for (uint r = i * size1; r < min((i + 1u) * size1, n1); r++)
        for (uint s = other * size2; s < min((other + 1u) * size2, n2); s++)
            if (KEY1(r) == KEY2(s))
                mask[n1 >= n2 ? r : s] = uvec4(1u, 1u, r, s);
#endif
#ifdef FINISH
    if (mask[i].y != 1u)
        return;
    for (uint w = 0u; w < TUPLE; w++) {
        target[mask[i].x * 2u * TUPLE + w] = first[mask[i].z * TUPLE + w];
        target[mask[i].x * 2u * TUPLE + TUPLE + w] = second[mask[i].w * TUPLE + w];
    }
#endif
}
