// What the programs of batches share (package compute, batch.go): 64 lines, each a condition, whose records
// are counted, and of whose records values are added up or the largest is found.
//
// The cuts of all lines' conditions on a column divide its codes into intervals, of which a table
// tells which lines an interval passes, a bit a line: a record's lines are the AND of what the intervals
// of its codes pass, whatever there are of lines.
//
// A table has, for each column, COLUMN_WORDS words: of each of BUCKETS neighbouring ranges of codes the
// interval that its first code is in and, times 256, how many cuts are in it; the cuts; and, of each
// interval, the lines that it passes: MASKS words. Interval NULLS is that of no value.
#define BUCKETS 512u
#define CUTS 512u
#define PASSES 768u
#define NULLS 255u
#define COLUMN_WORDS (768u + 256u * uint(MASKS))

#define COPIES 16u // of a work group's sums: neighbouring threads have different ones
shared uint table[max(COLUMNS * COLUMN_WORDS, 3u * uint(LINES) * COPIES)];
shared uvec4 values[VALUES * LOCAL]; // of four records of each thread, value by value
#define VALUE(k) values[uint(k) * uint(LOCAL) + gl_LocalInvocationIndex]
#define LOAD(at) \
    barrier(); \
    for (uint i = gl_LocalInvocationIndex; i < COLUMNS * COLUMN_WORDS; i += uint(LOCAL)) \
        table[i] = FETCH_UINT(TABLES, at + i); \
    barrier();

// intervals are those of four codes, by the table of a column, which begins at a place.
uvec4 intervals(uint at, uvec4 code, int shift) {
    uvec4 bucket = code >> shift;
    bucket = uvec4(table[at + bucket.x], table[at + bucket.y], table[at + bucket.z], table[at + bucket.w]);
    uvec4 i = bucket & 255u, left = bucket >> 8;
    at += CUTS;
    while (some(left)) {
        uvec4 cut = uvec4(table[at + i.x], table[at + i.y], table[at + i.z], table[at + i.w]);
        uvec4 step = uvec4(greaterThanEqual(code, cut)) & uvec4(notEqual(left, uvec4(0u)));
        i += step;
        left = (left - 1u) * step; // behind a cut that is not reached there is none that is
    }
    return i;
}

// passes is word w of what intervals pass.
uvec4 passes(uint at, uvec4 i, uint w) {
    at += PASSES + 256u * w;
    return uvec4(table[at + i.x], table[at + i.y], table[at + i.z], table[at + i.w]);
}

// Lines 0..31 are bits of the first of two words, the others of the second. Their records are counted by
// planes: bit p of line i's count is bit i of level p.
#define LEVELS 13
#define ADD_THREE(level, a, b, carry) { uvec2 odd = level ^ (a); carry = (level & (a)) | (odd & (b)); level = odd ^ (b); }

void count(inout uvec2 level[LEVELS], uvec4 low, uvec4 high) {
    uvec2 first, second, carry;
    ADD_THREE(level[0], uvec2(low.x, high.x), uvec2(low.y, high.y), first)
    ADD_THREE(level[0], uvec2(low.z, high.z), uvec2(low.w, high.w), second)
    ADD_THREE(level[1], first, second, carry)
    for (int p = 2; p < LEVELS; p++) {
        uvec2 both = level[p] & carry;
        level[p] ^= carry;
        carry = both;
    }
}
uint counted(uvec2 level[LEVELS], uint line) {
    uint n = 0u, i = line & 31u;
    for (int p = 0; p < LEVELS; p++)
        n |= ((line < 32u ? level[p].x : level[p].y) >> i & 1u) << p;
    return n;
}

// What a line adds of the records whose bit is set.
#define SUM(to, m, bit, v) \
    if ((m.x & bit) != 0u) to += v.x; \
    if ((m.y & bit) != 0u) to += v.y; \
    if ((m.z & bit) != 0u) to += v.z; \
    if ((m.w & bit) != 0u) to += v.w;
#define LARGEST(to, m, bit, v) \
    if ((m.x & bit) != 0u) to = max(to, v.x); \
    if ((m.y & bit) != 0u) to = max(to, v.y); \
    if ((m.z & bit) != 0u) to = max(to, v.z); \
    if ((m.w & bit) != 0u) to = max(to, v.w);

#ifndef REGIONS
layout(std430, binding = 0) buffer Result { uint result[]; };
#endif

// The result has three words a line: the count, and the sum, low word first, or the largest value.
void addSum(uint at, uint low, uint high) {
    if ((low | high) == 0u)
        return;
    uint before = atomicAdd(result[at], low);
    high += uint(before + low < before);
    if (high != 0u)
        atomicAdd(result[at + 1u], high);
}

// A work group adds its threads up first, in the memory of the table: of each line a count and the halves of the sum,
// or the largest value. REPORT_ is what a thread does with its own, with me its copy.
#define OWN_WORD(line, w) table[(3u * (line) + (w)) * COPIES + me]
#define REPORT_COUNT(line, n) atomicAdd(OWN_WORD(line, 0u), n);
#define REPORT_SUM(line, n) { atomicAdd(OWN_WORD(line, 1u), (n) & 65535u); atomicAdd(OWN_WORD(line, 2u), (n) >> 16); }
#define REPORT_LARGEST(line, n) atomicMax(OWN_WORD(line, 1u), n);

void beginReport() {
    barrier();
    for (uint i = gl_LocalInvocationIndex; i < 3u * uint(LINES) * COPIES; i += uint(LOCAL))
        table[i] = 0u;
    barrier();
}

// send adds a line of the work group to the result.
void send(uint at, uint line, bool largest) {
    uvec3 n = uvec3(0u);
    uint most = 0u;
    for (uint me = 0u; me < COPIES; me++) {
        uvec3 more = uvec3(OWN_WORD(line, 0u), OWN_WORD(line, 1u), OWN_WORD(line, 2u));
        n += more;
        most = max(most, more.y);
    }
    at += 3u * line;
    if (n.x == 0u)
        return;
    atomicAdd(result[at], n.x);
    if (largest) {
        atomicMax(result[at + 1u], most);
        return;
    }
    uint low = n.y + (n.z << 16);
    addSum(at + 1u, low, (n.z >> 16) + uint(low < n.y));
}
