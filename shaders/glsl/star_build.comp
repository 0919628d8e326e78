// The build side of a join: for the records that are selected, and have partners in other builds, the bit of the place of their key, and at this
// place a digit of BYTES bytes, one more than the slot that tells them apart.
// In: fours(unit, i, taken): calls put for the records of bit i of a unit that are taken.
//     KEYS: the bitmap, zero at first. DIGITS, when defined: the array, likewise.
//     Arguments: the place of the counts, how many places there are, the number of the first record.
// Out: result[at]: records that found a place of their own, result[at + 1]: those whose key another one has; then a bit for each slot.
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
#if BYTES == 1
    atomicOr(DIGITS[place >> 2], (slot + 1u) << 8u * (place & 3u));
#elif BYTES == 2
    atomicOr(DIGITS[place >> 1], (slot + 1u) << 16u * (place & 1u));
#else
    DIGITS[place] = slot + 1u;
#endif
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
