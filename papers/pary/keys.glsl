// What both searches have: the keys, their order, and what the counting variants count.
layout(std430, binding = 0) readonly buffer Keys { uvec4 keys[]; };
layout(std430, binding = 1) readonly buffer Queries { uvec4 queries[]; };
layout(std430, binding = 2) writeonly buffer Places { uint place[]; };
uniform uint limit; // keys

const uint MISSING = ~0u;

// compare orders two strings: below, at or above 0.
int compare(uvec4 a, uvec4 b) {
    uint x = a.x, y = b.x;
    if (x == y) {
        x = a.y;
        y = b.y;
    }
    if (x == y) {
        x = a.z;
        y = b.z;
    }
    if (x == y) {
        x = a.w;
        y = b.w;
    }
    return x == y ? 0 : x < y ? -1 : 1;
}

// thread is the number of this thread among all.
uint thread() {
    return (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * uint(LOCAL) + gl_LocalInvocationIndex;
}

#ifdef COUNT
layout(std430, binding = 3) buffer Counters { uint counters[]; }; // steps of teams, reads, conflicts
shared uint touched[uint(LOCAL) / LANES][2u * LANES];

// touch notes what a thread reads in a step: up to two keys.
void touch(uint team, uint lane, uint which, bool reads, uint at) {
    touched[team][2u * lane + which] = reads ? at : MISSING;
}

// tally counts a thread's reads of the step, and of them those of a key that another thread of the team reads in the same step. The first
// thread of a team that reads counts the step.
void tally(uint team, uint lane) {
    bool is_first = true;
    for (uint other = 0u; other < 2u * lane; other++)
        is_first = is_first && touched[team][other] == MISSING;
    for (uint which = 0u; which < 2u; which++) {
        uint at = touched[team][2u * lane + which];
        if (at == MISSING)
            continue;
        if (is_first)
            atomicAdd(counters[0], 1u);
        is_first = false;
        atomicAdd(counters[1], 1u);
        for (uint other = 0u; other < 2u * LANES; other++)
            if (other / 2u != lane && touched[team][other] == at) {
                atomicAdd(counters[2], 1u);
                break;
            }
    }
}
#else
#define touch(team, lane, which, reads, at)
#endif
