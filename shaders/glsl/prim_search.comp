#ifdef SUBGROUPS
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_ballot : require
#endif
// Search: place[i] = the first of the `limit` sorted words x that is keys[i] or larger, `limit` where none is.
// A step of a p-ary search: what is looked for is one of the places lo to lo + size. They are cut into p runs of
// w = ceil((size + 1) / p), of which run c holds it where c of the p - 1 words before the runs' ends are less than the key.
// BINARY: p is 2; the first step has p = TOP, whose words all threads of a work group share.
// LANES: p threads do a step together, a word each.
// TREE: a thread goes down a tree of nodes of FAN keys. BUILD makes it: `n` keys of nodes.
layout(local_size_x = LOCAL) in;
layout(std430, binding = 0) readonly buffer In { uint x[]; };
layout(std430, binding = 1) readonly buffer Keys { uint keys[]; };
layout(std430, binding = 2) writeonly buffer Out { uint place[]; };
layout(std430, binding = 3) buffer Tree { uint tree[]; };
uniform uint n;     // lookups
uniform uint limit; // words

#ifdef LANES
#ifndef SUBGROUPS
const uint TEAMS = uint(LOCAL) / LANES;
shared uint ends[2][TEAMS];
#endif

void main() {
    uint lane = gl_LocalInvocationIndex % LANES, team = gl_LocalInvocationIndex / LANES, teams = uint(LOCAL) / LANES;
    for (uint first = gl_WorkGroupID.x * teams; first < n; first += gl_NumWorkGroups.x * teams) {
        uint i = first + team, key = i < n ? keys[i] : 0u, lo = 0u, turn = 0u;
        for (uint size = limit; size > 0u;) {
            uint w = size / LANES + 1u, end = lo + (lane + 1u) * w - 1u;
            bool is_less = lane < LANES - 1u && end < limit && end >= lo && x[end] < key;
#ifdef SUBGROUPS
            lo += uint(bitCount(subgroupBallot(is_less).x)) * w;
#else
            if (lane == 0u)
                ends[turn & 1u][team] = 0u;
            barrier();
            if (is_less)
                atomicMax(ends[turn & 1u][team], lane + 1u);
            barrier();
            lo += ends[turn & 1u][team] * w;
            turn++;
#endif
            size = w - 1u;
        }
        if (lane == 0u && i < n)
            place[i] = lo;
    }
}
#else

#ifdef FAN
// The levels of the tree: where each begins, the lowest first.
uint begins[8];
uint levels;

void find_levels() {
    uint size = limit, at = 0u;
    levels = 0u;
    do {
        size = (size + FAN - 1u) / FAN;
        begins[levels++] = at;
        at += (size + FAN - 1u) / FAN * FAN;
    } while (size > FAN);
    begins[levels] = at;
}
#endif

#ifdef BUILD
void work(uint i) {
    uint level = 0u, below = FAN;
    while (i >= begins[level + 1u]) {
        level++;
        below *= FAN;
    }
    uint k = i - begins[level], size = (limit - 1u) / below + 1u;
    tree[i] = k >= size ? ~0u : k == size - 1u ? x[limit - 1u] : x[(k + 1u) * below - 1u];
}
#endif

#ifdef TREE
void work(uint i) {
    uint key = keys[i], last = x[limit - 1u], at = 0u;
    uint found = min(key, last); // no node is passed over
    for (uint level = levels; level-- > 0u;) {
        uint c = 0u, node = begins[level] + at * FAN;
        for (uint s = FAN / 2u; s > 0u; s /= 2u)
            if (tree[node + c + s - 1u] < found)
                c += s;
        at = at * FAN + c;
    }
    uint c = 0u, node = at * FAN;
    for (uint s = FAN / 2u; s > 0u; s /= 2u)
        if (node + c + s - 1u < limit && x[node + c + s - 1u] < found)
            c += s;
    place[i] = key > last ? limit : node + c;
}
#endif

#ifdef BINARY
#ifdef TOP
shared uint top[TOP - 1u];
#endif

void work(uint i) {
    uint key = keys[i], lo = 0u, size = limit;
#ifdef TOP
    uint c = 0u, w = limit / TOP + 1u;
    for (uint s = TOP / 2u; s > 0u; s /= 2u)
        if (top[c + s - 1u] < key)
            c += s;
    lo = c * w;
    size = w - 1u;
#endif
    while (size > 0u) {
        uint w = size / 2u + 1u, end = lo + w - 1u;
        if (end < limit && x[end] < key)
            lo += w;
        size = w - 1u;
    }
    place[i] = lo;
}
#endif

void main() {
#ifdef FAN
    find_levels();
#endif
#ifdef TOP
    for (uint l = gl_LocalInvocationIndex; l < TOP - 1u; l += uint(LOCAL)) {
        uint end = (l + 1u) * (limit / TOP + 1u) - 1u;
        top[l] = end < limit ? x[end] : ~0u;
    }
    barrier();
#endif
    uint threads = gl_NumWorkGroups.x * uint(LOCAL);
#ifdef STRIPS
    uint per = (n + threads - 1u) / threads, from = gl_GlobalInvocationID.x * per;
    for (uint i = from; i < min(from + per, n); i++)
#else
    for (uint i = gl_GlobalInvocationID.x; i < n; i += threads)
#endif
        work(i);
}
#endif
