// Scans the sums of the strips: sums[s] becomes the sum of those before it. One team.
// The sum of all goes to sum_of_all[0].
layout(std430, binding = 4) writeonly buffer Total { uint sum_of_all[]; };

void load(uint tile, out T rows[ROWS]) {
    for (int r = 0; r < ROWS; r++) {
        uint i = (tile * uint(ROWS) + uint(r)) * uint(TEAM) + rank;
        rows[r] = i < n ? sums[i] : NONE;
    }
}

void store(uint tile, T rows[ROWS], T base, T total) {
    for (int r = 0; r < ROWS; r++) {
        uint i = (tile * uint(ROWS) + uint(r)) * uint(TEAM) + rank;
        if (i < n)
            sums[i] = rows[r];
    }
    if (rank == 0u && tile == tiles - 1u)
        sum_of_all[0] = value(combine(base, total));
}
