// The units of a thread: from firstUnit in steps of STEP to before endUnit. Comes
// first in a program; every thread calls claim first of all.
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
layout(std430, binding = 0) buffer Claims { uint claims[]; }; // the result's block
shared uint claimed;
uint GROUP; // the part: region * PARTS + its number in the region

#define PARTS (gl_NumWorkGroups.x / uint(REGIONS)) // of a region
#define STEP (PARTS * uint(LOCAL))

// claim takes a part; claims[at ...] are REGIONS words, zero at first.
void claim(uint at) {
    if (gl_LocalInvocationIndex == 0u) {
        uint region = MULTIPROCESSOR % uint(REGIONS), taken = 0u;
        for (int i = 0; i < REGIONS; i++) {
            taken = atomicAdd(claims[at + region], 1u);
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
uint regionUnits(uint units) { return ((units + RUN - 1u) / RUN + uint(REGIONS) - 1u) / uint(REGIONS) * RUN; }
uint firstUnit(uint units) { return GROUP / PARTS * regionUnits(units) + GROUP % PARTS * uint(LOCAL) + gl_LocalInvocationIndex; }
uint endUnit(uint units) { return min(units, (GROUP / PARTS + 1u) * regionUnits(units)); }

// share is the most units that a group takes.
uint share(uint units) { return (regionUnits(units) + STEP - 1u) / STEP * uint(LOCAL); }
#elif defined(SOFTWARE)
// The eight threads of a vector, which llvmpipe runs from their first unit to their
// last before it begins with the next eight, take neighbouring units, and after these
// the ones that follow: so the CPU reads ahead.
#define GROUP gl_WorkGroupID.x
#define STEP 8u
void claim(uint at) {}
uint runUnits(uint units) { // that a vector takes
    uint step = gl_NumWorkGroups.x * uint(LOCAL);
    return (units + step - 1u) / step * STEP;
}
uint firstUnit(uint units) { return gl_GlobalInvocationID.x / STEP * runUnits(units) + gl_GlobalInvocationID.x % STEP; }
uint endUnit(uint units) { return min(units, (gl_GlobalInvocationID.x / STEP + 1u) * runUnits(units)); }
uint share(uint units) { return runUnits(units) * (uint(LOCAL) / STEP); }
#else
#define GROUP gl_WorkGroupID.x
#define STEP (gl_NumWorkGroups.x * uint(LOCAL))
void claim(uint at) {}
uint firstUnit(uint units) { return gl_GlobalInvocationID.x; }
uint endUnit(uint units) { return units; }
uint share(uint units) { return (units + STEP - 1u) / STEP * uint(LOCAL); }
#endif
