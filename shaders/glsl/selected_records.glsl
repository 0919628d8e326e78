// The main function of programs that take the selected records in one by one: begin and finish stand around each piece, and fours gets the
// records of SELECTION, with PARTNERS those of them that have partners.
void main() {
    claim(uint(args[1]));
    for (int p = 0; p < args[0]; p++) {
        PIECE(p);
#ifdef TAKES
        if (!TAKES(UNITS, BEFORE, TOTAL))
            continue;
#endif
        begin();
        for (UNITS_OF(UNITS, BEFORE, TOTAL)) {
            uvec4 m = within(unit, ROWS) & SELECTION;
#ifdef PARTNERS
            for (uint i = PLACE; i < 32u; i += STRIDE * uint(QUADS)) {
                uint left = partners(unit, i, quadsOf(m, i));
                while (left != 0u) {
                    uint k = uint(findLSB(left)) >> 2;
                    uvec4 taken = uvec4(left >> 4u * k) >> uvec4(0, 1, 2, 3) & 1u;
                    left &= ~(15u << 4u * k);
                    fours(unit, i + k * STRIDE, taken);
                }
            }
#else
            for (uint i = PLACE; i < 32u; i += STRIDE) {
                uvec4 taken = m >> i & 1u;
                if (some(taken))
                    fours(unit, i, taken);
            }
#endif
        }
        finish();
    }
}
