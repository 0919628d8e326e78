// Group values: lists words of each record, what aggregates add up or raise, in the order of the rows.
//
// In: list(unit, i): writes those of four records, of bit i of a unit.
// Out: vectors of words, which list writes.
layout(local_size_x = LOCAL) in;

void main() {
    for (int p = 0; p < args[0]; p++) {
        PIECE(p);
        for (UNITS_OF(UNITS, BEFORE, TOTAL)) {
            uvec4 m = within(unit, ROWS);
            for (uint i = PLACE; i < 32u; i += STRIDE)
                if (some(m >> i & 1u))
                    list(unit, i);
        }
    }
}
