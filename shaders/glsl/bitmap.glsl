// Bitmaps and planes: a uvec4 is one bit of each of the 128 records of a unit.

// FETCH reads a block that the program does not write: in software an image,
// which llvmpipe reads much faster than storage blocks.
#ifdef SOFTWARE
#define FETCH(block, i) imageLoad(block, int(i))
#else
#define FETCH(block, i) block[i]
#endif

uint ones(uvec4 m) {
    ivec4 n = bitCount(m);
    return uint(n.x + n.y + n.z + n.w);
}

bool some(uvec4 m) { return (m.x | m.y | m.z | m.w) != 0u; }

// first is where the lowest of a number of stored planes lies for a unit; the
// others follow PLANE apart (textures.UnitsPerRun).
#define PLANE 256
uint first(uint unit, int planes) { return (unit >> 8) * 256u * uint(planes) + (unit & 255u); }
