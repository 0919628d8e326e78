// A record for a sorting network: its keys as numbers in three words, the most significant first,
// and its row. A texel without a selected record comes behind all others: all its bits are set.
// In: selected and keysOf, which are generated; rows, how many records there are; line, the
//     fragments of a line.
uniform uint rows;
uniform uint line;
layout(location = 0) out uvec4 pair;

bool selected(uint row);
uvec3 keysOf(uint row);

// at is where a row lies in a texture of that width.
ivec2 at(uint row, int width) { return ivec2(row % uint(width), row / uint(width)); }

void main() {
    uint row = uint(gl_FragCoord.y) * line + uint(gl_FragCoord.x);
    pair = row < rows && selected(row) ? uvec4(keysOf(row), row) : uvec4(0xffffffffu);
}
