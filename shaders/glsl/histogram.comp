// A histogram of a digit of codes: the selected records by bits SHIFT to SHIFT + b - 1 of the code, of those
// that are as another code lo above; those greater are counted together, smaller ones not at all. Codes become those of
// a common space when a number is added, or are looked up.
//
// Neighbours with one value, of which columns in order and frequent values have many, are added up in a register.
//
// In: counted(unit): the records of a unit that count. codesOf(quad, taken, low, high): four neighbouring
//     codes, by words.
//     Arguments: the place of the counts; a number to add to a code, which takes lo away at the same time,
//     and the least code, two words each; the shift; the number of values.
// Out: result[place + v]: the records whose digit is v more than that of lo; the last one greater.
layout(local_size_x = LOCAL) in;
layout(std430, binding = 0) buffer Counts { uint result[]; };

uint held = 0u, times = 0u; // a value, and records of it

void put(uint value) {
    if (value == held) {
        times++;
        return;
    }
    if (times > 0u)
        atomicAdd(result[uint(arg(OWN)) + held], times);
    held = value;
    times = 1u;
}

void digit(uint low, uint high) {
    uint leastLow = uint(arg(OWN + 3)), leastHigh = uint(arg(OWN + 4));
    if (high < leastHigh || high == leastHigh && low < leastLow)
        return;
    uint carry, last = uint(arg(OWN + 6));
    low = uaddCarry(low, uint(arg(OWN + 1)), carry);
    high += uint(arg(OWN + 2)) + carry;
    int shift = arg(OWN + 5);
    if (shift >= 32) {
        put(min(high >> (shift - 32), last));
        return;
    }
    uint above = high >> shift;
    put(above != 0u ? last : min(shift == 0 ? low : low >> shift | high << (32 - shift), last));
}

void main() {
    claim(uint(args[1]));
    for (int p = 0; p < args[0]; p++) {
        PIECE(p);
        for (UNITS_OF(UNITS, BEFORE, TOTAL)) {
            uvec4 m = within(unit, ROWS) & counted(unit);
            for (uint i = PLACE; i < 32u; i += STRIDE) {
                uvec4 taken = m >> i & 1u;
                if (!some(taken))
                    continue;
                uvec4 low, high;
                codesOf(quadOf(unit, i), taken, low, high);
                for (int j = 0; j < 4; j++)
                    if (taken[j] != 0u)
                        digit(low[j], high[j]);
            }
        }
        if (times > 0u)
            atomicAdd(result[uint(arg(OWN)) + held], times);
        times = 0u;
    }
}
