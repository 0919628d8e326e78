// Bitmaps and planes: a uvec4 is one bit of each of the 128 records of a unit.

// FETCH reads a block that the program does not write: in software a buffer texture,
// which llvmpipe reads five times faster than storage blocks.
#ifdef SOFTWARE
#define FETCH(block, i) texelFetch(block, int(i))
#else
#define FETCH(block, i) block[i]
#endif

uint ones(uvec4 m) {
    ivec4 n = bitCount(m);
    return uint(n.x + n.y + n.z + n.w);
}

bool some(uvec4 m) { return (m.x | m.y | m.z | m.w) != 0u; }

// first is where the lowest of a number of stored planes lies for a unit; the
// others follow 64 apart (textures.GroupRows).
uint first(uint unit, int planes) { return (unit >> 6) * 64u * uint(planes) + (unit & 63u); }

// The units of a thread: from firstUnit in steps of STEP to before endUnit. Work
// groups go side by side over the units; with RUNS each takes a run of them, for
// programs that read several columns. share is the most units that a group takes.
uint share(uint units) {
    uint threads = gl_NumWorkGroups.x * uint(LOCAL);
    return (units + threads - 1u) / threads * uint(LOCAL);
}
#ifdef RUNS
#define STEP uint(LOCAL)
uint firstUnit(uint units) { return gl_WorkGroupID.x * share(units) + gl_LocalInvocationIndex; }
uint endUnit(uint units) { return min(units, (gl_WorkGroupID.x + 1u) * share(units)); }
#else
#define STEP (gl_NumWorkGroups.x * uint(LOCAL))
uint firstUnit(uint units) { return gl_GlobalInvocationID.x; }
uint endUnit(uint units) { return units; }
#endif
