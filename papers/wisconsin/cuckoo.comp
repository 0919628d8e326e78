// Appendix C: the hash table of a bucket, a work group a bucket, a thread an element of up to 512. Three tables of 192 slots stand in local
// memory; a slot has the number of the thread whose key is there, from 1, or 0. A thread whose key was ousted takes the next table, up to
// ITERATIONS times; if one has no slot then, the bucket's seed is one more, and all begins again, SEEDS times in one dispatch.
// rows[bucket * 512 + i] are the elements, counts[bucket] how many. state[bucket]: seed, rebuilds, iterations, 1 when built.
// slots: key and row of each of the bucket's 576 slots, row ~0 where it is empty. faults[0]: keys that are there twice.
layout(local_size_x = 512) in;
layout(std430, binding = 0) readonly buffer Tuples { uint tuples[]; };
layout(std430, binding = 1) readonly buffer Counts { uint counts[]; };
layout(std430, binding = 2) readonly buffer Rows { uint rows[]; };
layout(std430, binding = 3) buffer State { uvec4 state[]; };
layout(std430, binding = 4) writeonly buffer Slots { uvec2 slots[]; };
layout(std430, binding = 5) buffer Faults { uint faults[]; };
uniform uint number;

shared uint place[3][192];
shared uint keys[512];
shared uint failed, last;

void main() {
    uint bucket = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x, lid = gl_LocalInvocationIndex;
    if (bucket >= n || state[bucket].w != 0u)
        return;
    bool element = lid < counts[bucket]; // lanes beyond the bucket's elements stay idle
    uint row = element ? rows[bucket * 512u + lid] : 0u;
    uint key = element ? tuples[row * TUPLE + NUMBER(number)] : 0u;
    keys[lid] = key;
    uint seed = state[bucket].x, rebuilds = state[bucket].y, iterations = state[bucket].z;
    bool built = false;
    for (uint s = 0u; s < SEEDS && !built; s++) {
        for (uint slot = lid; slot < 3u * 192u; slot += 512u)
            place[slot / 192u][slot % 192u] = 0u; // of the seed before
        if (lid == 0u) {
            failed = 0u;
            last = 0u;
        }
        uint table = 0u, hash = 0u;
        bool set = !element;
        barrier();
        for (uint i = 0u; i < ITERATIONS; i++) {
            if (!set) {
                hash = cuckoo(key, seed, table);
                place[table][hash] = lid + 1u;
                set = true;
                last = i + 1u;
            }
            barrier();
            if (element && place[table][hash] != lid + 1u) {
                table = (table + 1u) % 3u;
                set = false;
            }
            barrier();
        }
        if (!set)
            failed = 1u;
        barrier();
        built = failed == 0u;
        iterations += last;
        if (!built) { // each thread counts for itself, so that the seed is one more
            seed++;
            rebuilds++;
        }
        barrier();
    }
    if (built && element) {
        bool twice = false;
        for (uint t = 0u; t < 3u; t++) {
            uint other = place[t][cuckoo(key, seed, t)];
            twice = twice || other != 0u && other != lid + 1u && keys[other - 1u] == key;
        }
        if (twice)
            atomicAdd(faults[0], 1u);
    }
    if (built)
        for (uint slot = lid; slot < 3u * 192u; slot += 512u) {
            uint who = place[slot / 192u][slot % 192u];
            slots[bucket * 576u + slot] = who == 0u ? uvec2(0u, ~0u) : uvec2(keys[who - 1u], rows[bucket * 512u + who - 1u]);
        }
    if (lid == 0u)
        state[bucket] = uvec4(seed, rebuilds, iterations, uint(built));
}
