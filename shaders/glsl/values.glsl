// Reading codes in the order of planes (textures.PlaneRow): four neighbouring
// records at a time, which lie in one uint, uvec2 or uvec4 of a block of codes of
// 1, 2 or 4 bytes.

// quadOf is where in the block the records of bit i of a unit's components lie.
uint quadOf(uint unit, uint i) { return (unit >> 6) * 2048u + i * 64u + (unit & 63u); }

// FETCH_ reads four neighbouring codes of a block by their width.
#ifdef SOFTWARE
#define FETCH_UVEC4(block, quad) imageLoad(block, int(quad))
#define FETCH_UVEC2(block, quad) (((quad) & 1u) != 0u ? imageLoad(block, int((quad) >> 1)).zw : imageLoad(block, int((quad) >> 1)).xy)
#define FETCH_UINT(block, quad) imageLoad(block, int((quad) >> 2))[(quad) & 3u]
#else
#define FETCH_UVEC4(block, quad) block[quad]
#define FETCH_UVEC2(block, quad) block[quad]
#define FETCH_UINT(block, quad) block[quad]
#endif

uvec4 unpack(uint w) { return (uvec4(w) >> uvec4(0, 8, 16, 24)) & 255u; }
uvec4 unpack(uvec2 w) { return uvec4(w.x & 65535u, w.x >> 16, w.y & 65535u, w.y >> 16); }
uvec4 unpack(uvec4 w) { return w; }

// within marks the records of a unit that are among the window's rows, not padding.
uvec4 within(uint unit, uint rows) {
    uvec4 first = uvec4((unit >> 6) * 8192u + (unit & 63u) * 4u) + uvec4(0, 1, 2, 3);
    uvec4 n = (max(uvec4(rows), first) - first + 255u) >> 8; // bits below n
    return mix((uvec4(1u) << min(n, 31u)) - 1u, uvec4(0xffffffffu), greaterThan(n, uvec4(31)));
}
