// LIKE over the texts of a dictionary, which lie one behind the other. A work group takes LOCAL texts at a
// time. Its threads first look for NEEDLES, four bytes or fewer of runs of bytes that every text that matches has, 16 bytes each; then
// the first ones match the texts that have one, so that the other threads' vectors have nothing to do.
//
// EXACT: the pattern is %run% or %run%run%, and the runs are looked for: a text matches that has the one, or whose first
// one of the first ends before its last one of the second.
//
// In: the bytes; starts: where each of the n texts begins, and the last ends; pattern: a byte, ONE character or
// a RUN of any. Out: a bit for each text, from word first on.
layout(local_size_x = LOCAL) in;
layout(std430, binding = 0) writeonly buffer Out { uint bits[]; };
layout(std430, binding = 1) readonly buffer Quads { uvec4 quads[]; };
layout(std430, binding = 1) readonly buffer Words { uint words[]; };
layout(std430, binding = 2) readonly buffer Starts { uint starts[]; };
uniform uint n, first;
uniform int pattern[PATTERN];
uniform uint count;   // elements of the pattern
#ifdef NEEDLES
// Of each run, in turn: its needle's bytes, a mask of them, how many bytes are in front of the needle, how many are
// looked for (without EXACT the needle's), and the element that the run begins with.
uniform int runs[5 * NEEDLES];
#endif
uniform uint tail;    // the element behind the last RUN where only bytes follow, from the first of a character on; else 0
uniform uint others;  // all ones: the texts that do not match

const int ONE = 256, RUN = 257;

shared uint at[LOCAL + 1]; // the starts of the group's texts
shared uint found[LOCAL / 32];
shared uint list[LOCAL]; // of the texts that have the needle
shared uint listed;
#if defined(EXACT) && NEEDLES > 1
shared uint least[LOCAL], most[LOCAL]; // behind the first one of the first run, and where the last one of the second begins, of each text
#endif

uint place = 0xffffffffu, word; // the one that was read last

uint byteAt(uint i) {
    if (i >> 2 != place) {
        place = i >> 2;
        word = words[place];
    }
    uint b = word >> (8u * (i & 3u)) & 255u;
#ifdef FOLD
    if (b - 65u < 26u)
        b += 32u;
#endif
    return b;
}

// character is how many bytes the UTF-8 character at i takes; 1 where none is valid.
uint character(uint i, uint end) {
    uint b = byteAt(i);
    if (b < 0xC2u || b > 0xF4u)
        return 1u;
    uint size = b < 0xE0u ? 2u : b < 0xF0u ? 3u : 4u;
    if (i + size > end)
        return 1u;
    uint c = byteAt(i + 1u);
    if (c < (b == 0xE0u ? 0xA0u : b == 0xF0u ? 0x90u : 0x80u) || c > (b == 0xEDu ? 0x9Fu : b == 0xF4u ? 0x8Fu : 0xBFu))
        return 1u;
    for (uint j = 2u; j < size; j++)
        if ((byteAt(i + j) & 0xC0u) != 0x80u)
            return 1u;
    return size;
}

// matches reports whether the text from i to before end matches the pattern: expr.LikeMatcher.Match.
bool matches(uint i, uint end) {
    uint p = 0u, retryP = 0u, retryI = 0u;
    for (;;) {
        if (p == count) {
            if (i == end)
                return true;
        } else {
            int e = pattern[p];
            if (e == RUN) {
                p++;
                if (p == count)
                    return true;
                if (p == tail) { // only the end can match
                    if (end - i < count - p)
                        return false;
                    i = end - (count - p);
                }
                retryP = p;
                retryI = i;
                continue;
            }
            if (i < end) {
                if (e == ONE) {
                    i += character(i, end);
                    p++;
                    continue;
                }
                if (byteAt(i) == uint(e)) {
                    i++;
                    p++;
                    continue;
                }
            }
        }
        if (retryP == 0u || retryI >= end)
            return false;
        retryI += character(retryI, end);
        i = retryI;
        p = retryP;
    }
}

#ifdef NEEDLES
// candidate marks the text that has a run whose needle is at a byte.
void candidate(uint i, uint texts, int k) {
    i -= min(i, uint(runs[5 * k + 2]));
    if (i < at[0] || i >= at[texts])
        return;
    uint lo = 0u, hi = texts; // the last text that begins at or before i
    while (hi - lo > 1u) {
        uint mid = (lo + hi) / 2u;
        if (at[mid] <= i)
            lo = mid;
        else
            hi = mid;
    }
    uint size = uint(runs[5 * k + 3]);
    if (i + size > at[lo + 1u])
        return;
#ifdef EXACT
    for (uint j = 0u; j < size; j++)
        if (byteAt(i + j) != uint(pattern[runs[5 * k + 4] + int(j)]))
            return;
#if NEEDLES > 1
    if (k == 0)
        atomicMin(least[lo], i + size);
    else
        atomicMax(most[lo], i + 1u);
    return;
#endif
#endif
    atomicOr(found[lo >> 5], 1u << (lo & 31u));
}

uint has(uint window, int k) {
#ifdef FOLD
    window |= 0x20202020u;
#endif
    return uint((window & uint(runs[5 * k + 1])) == uint(runs[5 * k]));
}

// search looks at the bytes of some texts.
void search(uint texts) {
    uint end = at[texts];
    for (uint q = (at[0] >> 4) + gl_LocalInvocationIndex; q * 16u < end; q += uint(LOCAL)) {
        uvec4 v = quads[q];
        uvec4 w = uvec4(v.yzw, q * 16u + 16u < end ? words[4u * q + 4u] : 0u);
        for (int k = 0; k < NEEDLES; k++) {
            uint hits = 0u;
            for (int j = 0; j < 4; j++)
                hits |= (has(v[j], k) | has(v[j] >> 8 | w[j] << 24, k) << 1 | has(v[j] >> 16 | w[j] << 16, k) << 2 | has(v[j] >> 24 | w[j] << 8, k) << 3) << 4 * j;
            for (; hits != 0u; hits &= hits - 1u)
                candidate(16u * q + uint(findLSB(hits)), texts, k);
        }
    }
}
#endif

void main() {
    uint me = gl_LocalInvocationIndex;
    for (uint from = gl_WorkGroupID.x * uint(LOCAL); from < n; from += gl_NumWorkGroups.x * uint(LOCAL)) {
        uint texts = min(uint(LOCAL), n - from);
        for (uint i = me; i <= texts; i += uint(LOCAL))
            at[i] = starts[from + i];
#ifdef NEEDLES
        if (me < uint(LOCAL / 32))
            found[me] = 0u;
        if (me == 0u)
            listed = 0u;
#if defined(EXACT) && NEEDLES > 1
        least[me] = 0xffffffffu;
        most[me] = 0u;
#endif
        barrier();
        search(texts);
        barrier();
#ifdef EXACT
#if NEEDLES > 1
        if (least[me] < most[me])
            atomicOr(found[me >> 5], 1u << (me & 31u));
        barrier();
#endif
        uint mine = texts;
#else
        if (me < texts && (found[me >> 5] >> (me & 31u) & 1u) != 0u)
            list[atomicAdd(listed, 1u)] = me;
        barrier();
        uint mine = me < listed ? list[me] : texts;
#endif
#else
        if (me < uint(LOCAL / 32))
            found[me] = 0xffffffffu;
        barrier();
        uint mine = me;
#endif
        if (mine < texts && !matches(at[mine], at[mine + 1u]))
            atomicXor(found[mine >> 5], 1u << (mine & 31u));
        barrier();
        if (me < uint(LOCAL / 32))
            bits[first + from / 32u + me] = found[me] ^ others;
        barrier();
    }
}
