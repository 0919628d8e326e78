// What programs over codes, planes and bitmaps share: which units a thread takes, and how
// it reads them. A unit is 4 x 32 records; a uvec4 is one bit of each of them, in the order
// of textures.PlaneRow. Comes first in a program.

#ifdef GL_NV_shader_buffer_load
#extension GL_NV_shader_buffer_load : enable
#extension GL_NV_gpu_shader5 : enable
#endif

// READONLY declares a block that the program does not write, and FETCH reads it: in
// software an image, which llvmpipe reads much faster than storage blocks. FETCH_ reads
// four neighbouring codes by their width: they lie in one uint, uvec2 or uvec4 of a block
// of codes of 1, 2 or 4 bytes.
#ifdef SOFTWARE
#define READONLY(at, kind, Name, name) layout(binding = at, rgba32ui) readonly uniform uimageBuffer name
#define FETCH(block, i) imageLoad(block, int(i))
#define FETCH_UVEC4(block, quad) FETCH(block, quad)
#define FETCH_UVEC2(block, quad) (((quad) & 1u) != 0u ? FETCH(block, (quad) >> 1).zw : FETCH(block, (quad) >> 1).xy)
#define FETCH_UINT(block, quad) FETCH(block, (quad) >> 2)[(quad) & 3u]
#else
#define READONLY(at, kind, Name, name) layout(std430, binding = at) readonly buffer Name { kind name[]; }
#define FETCH(block, i) block[i]
#define FETCH_UVEC4(block, quad) block[quad]
#define FETCH_UVEC2(block, quad) block[quad]
#define FETCH_UINT(block, quad) block[quad]
#endif

// The units of a thread: from firstUnit in steps of STEP to before endUnit. Every thread
// calls claim first of all.
//
// A program goes over one or several pieces: a piece has units, those of all pieces are total,
// and before of them come before it. Threads take their turns as if there were one piece.
//
// Work groups go side by side over the units. With REGIONS, which is the number of
// multiprocessors, each of these has a region of the units, the same one in every
// program: it then finds the addresses of its part of every column translated, as
// the programs before left them. A work group takes one of the parts of its
// multiprocessor's region or, where all are taken, one of another's: there are as many
// parts as groups, so that each is taken once, wherever the groups run.
#ifdef REGIONS
#ifdef GL_NV_shader_thread_group
#extension GL_NV_shader_thread_group : enable
#define MULTIPROCESSOR gl_SMIDNV
#else
#define MULTIPROCESSOR gl_WorkGroupID.x
#endif
layout(std430, binding = 0) buffer Result { uint result[]; };
shared uint claimed;
uint GROUP; // the part: region * PARTS + its number in the region

#define PARTS (gl_NumWorkGroups.x / uint(REGIONS)) // of a region
#define STEP (PARTS * uint(LOCAL))

// claim takes a part; result[at ...] are REGIONS words, zero at first.
void claim(uint at) {
    if (gl_LocalInvocationIndex == 0u) {
        uint region = MULTIPROCESSOR % uint(REGIONS), taken = 0u;
        for (int i = 0; i < REGIONS; i++) {
            taken = atomicAdd(result[at + region], 1u);
            if (taken < PARTS)
                break;
            region = (region + 1u) % uint(REGIONS);
        }
        claimed = region * PARTS + taken;
    }
    barrier();
    GROUP = claimed;
}

// Regions are whole runs of planes (textures.UnitsPerRun): where they begin within a run,
// an AND of four columns takes a quarter longer.
const uint RUN = 256u;

// bound is where a region begins in a piece.
uint bound(uint region, uint units, uint before, uint total) {
    uint at = region * ((total + RUN * uint(REGIONS) - 1u) / (RUN * uint(REGIONS)) * RUN);
    return min(units, (max(at, before) - before + RUN - 1u) / RUN * RUN);
}
uint firstUnit(uint units, uint before, uint total) {
    return bound(GROUP / PARTS, units, before, total) + GROUP % PARTS * uint(LOCAL) + gl_LocalInvocationIndex;
}
uint endUnit(uint units, uint before, uint total) { return bound(GROUP / PARTS + 1u, units, before, total); }

// room is where, of units + gl_NumWorkGroups.x * LOCAL places, the group has as many as it takes of a piece.
uint room(uint units, uint before, uint total) {
    uint first = bound(GROUP / PARTS, units, before, total), n = endUnit(units, before, total) - first;
    return first + GROUP / PARTS * STEP + GROUP % PARTS * ((n + STEP - 1u) / STEP * uint(LOCAL));
}
#elif defined(SOFTWARE)
// The eight threads of a vector, which llvmpipe runs from their first unit to their
// last before it begins with the next eight, take neighbouring units, and after these
// the ones that follow: so the CPU reads ahead.
#define GROUP gl_WorkGroupID.x
#define STEP 8u
void claim(uint at) {}
uint runBegins(uint run, uint before, uint total) { // in a piece
    uint step = gl_NumWorkGroups.x * uint(LOCAL), at = run * ((total + step - 1u) / step * STEP);
    return max(at, before) - before;
}
uint firstUnit(uint units, uint before, uint total) { return runBegins(gl_GlobalInvocationID.x / STEP, before, total) + gl_GlobalInvocationID.x % STEP; }
uint endUnit(uint units, uint before, uint total) { return min(units, runBegins(gl_GlobalInvocationID.x / STEP + 1u, before, total)); }
#else
#define GROUP gl_WorkGroupID.x
#define STEP (gl_NumWorkGroups.x * uint(LOCAL))
void claim(uint at) {}
uint firstUnit(uint units, uint before, uint total) { return (gl_GlobalInvocationID.x + STEP - before % STEP) % STEP; }
uint endUnit(uint units, uint before, uint total) { return units; }
uint room(uint units, uint before, uint total) { return GROUP * ((units + STEP - 1u) / STEP * uint(LOCAL)); }
#endif
uint firstUnit(uint units) { return firstUnit(units, 0u, units); }
uint endUnit(uint units) { return endUnit(units, 0u, units); }

uint ones(uvec4 m) {
    ivec4 n = bitCount(m);
    return uint(n.x + n.y + n.z + n.w);
}

// addShifted adds n * 2^shift to a sum of 64 bits, 0 <= shift < 32.
void addShifted(inout uvec2 sum, uint n, int shift) {
    uint carry;
    sum.x = uaddCarry(sum.x, n << shift, carry);
    sum.y += carry + (n >> 1 >> (31 - shift));
}

bool some(uvec4 m) { return (m.x | m.y | m.z | m.w) != 0u; }

// first is where the lowest of a number of stored planes lies for a unit; the
// others follow PLANE apart (textures.UnitsPerRun).
#define PLANE 256
uint first(uint unit, int planes) { return (unit >> 8) * 256u * uint(planes) + (unit & 255u); }

// quadOf is where in the block the records of bit i of a unit's components lie.
uint quadOf(uint unit, uint i) { return (unit >> 6) * 2048u + i * 64u + (unit & 63u); }

uvec4 unpack(uint w) { return (uvec4(w) >> uvec4(0, 8, 16, 24)) & 255u; }
uvec4 unpack(uvec2 w) { return uvec4(w.x & 65535u, w.x >> 16, w.y & 65535u, w.y >> 16); }
uvec4 unpack(uvec4 w) { return w; }

// multiply is the product of three factors: 96 bits, low word first.
void multiply(uvec4 a, uvec4 b, uvec4 c, out uvec4 low, out uvec4 high, out uvec4 top) {
    uvec4 l, h, more, carry;
    umulExtended(a, b, h, l);
    umulExtended(l, c, high, low);
    umulExtended(h, c, top, more);
    high = uaddCarry(high, more, carry);
    top += carry;
}

// within marks the records of a unit that are among the window's rows, not padding.
uvec4 within(uint unit, uint rows) {
    uvec4 first = uvec4((unit >> 6) * 8192u + (unit & 63u) * 4u) + uvec4(0, 1, 2, 3);
    uvec4 n = (max(uvec4(rows), first) - first + 255u) >> 8; // bits below n
    return mix((uvec4(1u) << min(n, 31u)) - 1u, uvec4(0xffffffffu), greaterThan(n, uvec4(31)));
}
