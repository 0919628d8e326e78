// The build side of a join: for the records that are selected, and have partners in other builds, the bit of the place of their key, and at this
// place one more than the combination of codes that tells them apart.
// In: fours(unit, i, taken): calls put for the records of bit i of a unit that are taken.
//     KEYS: the bitmap, zero at first. DIGITS, when defined: the array.
//     Arguments: the place of the counts, how many places there are.
// Out: result[at]: records that found a place of their own, result[at + 1]: those whose key another one has; then a bit for each combination.
layout(local_size_x = LOCAL) in;
layout(std430, binding = 0) buffer Result { uint result[]; };

uint placed = 0u, repeated = 0u;

void put(uint place, uint slot) {
    if (place >= uint(arg(OWN + 1)))
        return;
    uint bit = 1u << (place & 31u);
    uint before = atomicOr(KEYS[place >> 5], bit);
    if ((before & bit) != 0u) {
        repeated++;
        return;
    }
    placed++;
#ifdef DIGITS
    DIGITS[place] = slot + 1u;
    uint at = uint(arg(OWN)) + 2u + (slot >> 5), seen = 1u << (slot & 31u);
    if ((result[at] & seen) == 0u)
        atomicOr(result[at], seen);
#endif
}

void begin() {
    placed = 0u;
    repeated = 0u;
}

void finish() {
    if (placed != 0u)
        atomicAdd(result[uint(arg(OWN))], placed);
    if (repeated != 0u)
        atomicAdd(result[uint(arg(OWN)) + 1u], repeated);
}
