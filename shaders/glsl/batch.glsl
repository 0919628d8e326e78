// What the programs of batches share (package sharedscan, shared_scan.go): 64 lines, each a condition, whose records
// are counted, and of whose records values are added up or the largest is found.
//
// The cuts of all lines' conditions on a column divide its codes into intervals, of which a table
// tells which lines an interval passes, a bit a line: a record's lines are the AND of what the intervals
// of its codes pass, whatever there are of lines.
//
// A table has, for each column, a word for each of BUCKETS neighbouring ranges of 2^shift codes: the interval that its first code
// is in, in the low 8 bits, and in its highest bits, one behind the other, shift bits each, the last codes before the next two intervals; of
// wide ranges two words, each with one of these. There are no more than two, so that no thread waits for another one's third. Behind the words of all columns are, of each
// interval, the lines that it passes, once or twice (PASSES). Interval NULLS is that of no value.
#define BUCKETS 512u
#define NULLS 255u

// Lines 0..31 are bits of a word, the others, if there are any, of a second one: LINE_BITS are those of a record, which low
// and high have for four.
#if LINES > 32
#define LINE_WORDS 2u
#define LINE_BITS uvec2
#define BITS_OF(low, high) uvec2(low, high)
#define BIT_OF(bits, line) ((line < 32u ? bits.x : bits.y) >> (line & 31u) & 1u)
#else
#define LINE_WORDS 1u
#define LINE_BITS uint
#define BITS_OF(low, high) low
#define BIT_OF(bits, line) (bits >> line & 1u)
#endif

#define COPIES 16u // of a work group's sums: neighbouring threads have different ones
shared uint table[max(TABLE_WORDS, 3u * uint(LINES) * COPIES)];
shared LINE_BITS passing[256u * COLUMNS * uint(PASSES)];
shared uvec4 values[VALUES * LOCAL]; // of four records of each thread, value by value
#define VALUE(k) values[uint(k) * uint(LOCAL) + gl_LocalInvocationIndex]
#define LOAD(at) \
    barrier(); \
    for (uint i = gl_LocalInvocationIndex; i < TABLE_WORDS; i += uint(LOCAL)) \
        table[i] = FETCH_UINT(TABLES, at + i); \
    for (uint i = gl_LocalInvocationIndex; i < 256u * COLUMNS * uint(PASSES); i += uint(LOCAL)) \
        passing[i] = BITS_OF(FETCH_UINT(TABLES, at + TABLE_WORDS + LINE_WORDS * i), FETCH_UINT(TABLES, at + TABLE_WORDS + LINE_WORDS * i + 1u)); \
    barrier();

#define AMONG uvec4(lessThan(4u * quad + uvec4(0, 1, 2, 3), uvec4(ROWS))) // which of four records there are
uvec4 words(uvec4 at) { return uvec4(table[at.x], table[at.y], table[at.z], table[at.w]); }

// intervals are those of four codes, by the words of a column from a place on; wideIntervals of wide ranges. A code's low bits are
// compared where they are highest: what is below them in the word does not matter, since the code has zeros there.
uvec4 intervals(uint at, uvec4 code, int shift) {
    uvec4 word = words(at + (code >> shift));
    code <<= 32 - shift;
    return (word & 255u) + uvec4(greaterThan(code, word)) + uvec4(greaterThan(code, word << shift));
}
uvec4 wideIntervals(uint at, uvec4 code, int shift) {
    uvec4 word = words(at + (code >> shift)), second = words(at + BUCKETS + (code >> shift));
    code <<= 32 - shift;
    return (word & 255u) + uvec4(greaterThan(code, word)) + uvec4(greaterThan(code, second));
}

// PASS has four records pass only the lines that their intervals pass by a table.
#if LINES > 32
#define PASS(low, high, which, i) { \
    uvec2 x = passing[256u * (which) + i.x], y = passing[256u * (which) + i.y], z = passing[256u * (which) + i.z], w = passing[256u * (which) + i.w]; \
    low &= uvec4(x.x, y.x, z.x, w.x); \
    high &= uvec4(x.y, y.y, z.y, w.y); }
#else
#define PASS(low, high, which, i) low &= uvec4(passing[256u * (which) + i.x], passing[256u * (which) + i.y], passing[256u * (which) + i.z], passing[256u * (which) + i.w]);
#endif

// The lines' records are counted by planes: bit p of line i's count is bit i of level p.
#define LEVELS 13
#define ADD_THREE(level, a, b, carry) { LINE_BITS odd = level ^ (a); carry = (level & (a)) | (odd & (b)); level = odd ^ (b); }

void count(inout LINE_BITS level[LEVELS], uvec4 low, uvec4 high) {
    LINE_BITS first, second, carry;
    ADD_THREE(level[0], BITS_OF(low.x, high.x), BITS_OF(low.y, high.y), first)
    ADD_THREE(level[0], BITS_OF(low.z, high.z), BITS_OF(low.w, high.w), second)
    ADD_THREE(level[1], first, second, carry)
    for (int p = 2; p < LEVELS; p++) {
        LINE_BITS both = level[p] & carry;
        level[p] ^= carry;
        carry = both;
    }
}
uint counted(LINE_BITS level[LEVELS], uint line) {
    uint n = 0u;
    for (int p = 0; p < LEVELS; p++)
        n |= BIT_OF(level[p], line) << p;
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

// Four lines of one value, from a bit on: kind is the value's number.
#define EACH_OF_FOUR(WHAT, to, m, bit, kind) { uvec4 v = VALUE(kind); \
    WHAT(to.x, m, (bit), v) WHAT(to.y, m, (bit) << 1, v) WHAT(to.z, m, (bit) << 2, v) WHAT(to.w, m, (bit) << 3, v) }
// Four lines of a value each, of which four bits of a word tell the numbers.
#define SUM_ONE(to, m, bit, number) { uvec4 v = VALUE((number) & 15); SUM(to, m, bit, v) }
#define MIXED_SUMS(to, m, bit, numbers) { \
    SUM_ONE(to.x, m, (bit), numbers) SUM_ONE(to.y, m, (bit) << 1, (numbers) >> 4) SUM_ONE(to.z, m, (bit) << 2, (numbers) >> 8) SUM_ONE(to.w, m, (bit) << 3, (numbers) >> 12) }

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
