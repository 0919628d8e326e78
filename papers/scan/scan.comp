// Scan of chunks in local memory (section 4.2, listings 4 to 6): a work group of LOCAL threads a chunk of CHUNK elements of x; sums[c] is
// all of chunk c. The last chunk is padded by IDENTITY. An element stands every `stride` words, from word `at` on; a sum every SUM words.
// REDUCE: sums only. INCLUSIVE, EXCLUSIVE: the tree's down-sweeps. STEPS: Hillis and Steele's, inclusive, with two buffers.
// SEGMENTED: head[i] != 0 begins a segment; a sum is a value and a flag; seen[i] becomes 1 where what precedes the chunk does not reach i.
// RESET: an exclusive scan begins with IDENTITY in each segment.
layout(local_size_x = LOCAL) in;
layout(std430, binding = 0) buffer Elements { uint x[]; };
layout(std430, binding = 1) writeonly buffer Sums { uint sums[]; };
uniform uint n, stride, at, chunks;

struct Pair {
    T value;
#ifdef SEGMENTED
    uint flag;
#endif
};

#ifdef SEGMENTED
layout(std430, binding = 2) readonly buffer Heads { uint head[]; };
layout(std430, binding = 3) writeonly buffer Seen { uint seen[]; };
uniform uint head_stride, head_at;
#endif

T op(T a, T b) { return T(EXPR); }

Pair none() {
#ifdef SEGMENTED
    return Pair(T(IDENTITY), 0u);
#else
    return Pair(T(IDENTITY));
#endif
}

// combine is the operator on neighbours: of segments, the later value alone where a segment begins in it.
Pair combine(Pair a, Pair b) {
#ifdef SEGMENTED
    return Pair(b.flag != 0u ? b.value : op(a.value, b.value), a.flag | b.flag);
#else
    return Pair(op(a.value, b.value));
#endif
}

Pair load(uint i) {
    if (i >= n)
        return none();
#ifdef SEGMENTED
    return Pair(FROM(x[i * stride + at]), uint(head[i * head_stride + head_at] != 0u));
#else
    return Pair(FROM(x[i * stride + at]));
#endif
}

void store(uint i, Pair p) {
    if (i >= n)
        return;
    T value = p.value;
#ifdef SEGMENTED
    uint flag = p.flag;
#ifdef RESET
    if (head[i * head_stride + head_at] != 0u) {
        flag = 1u;
        value = T(IDENTITY);
    }
#endif
    seen[i] = flag;
#endif
    x[i * stride + at] = TO(value);
}

void total(uint c, Pair p) {
    sums[c * SUM] = TO(p.value);
#ifdef SEGMENTED
    sums[c * SUM + 1u] = p.flag;
#endif
}

#ifdef STEPS
shared Pair y[2][CHUNK];
#else
shared Pair y[CHUNK];
#endif

void main() {
    uint c = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x, i = gl_LocalInvocationIndex, first = c * CHUNK;
    if (c >= chunks)
        return;
#ifdef STEPS
    uint from = 0u;
    y[0][i] = load(first + i);
    barrier();
    for (uint d = 1u; d < CHUNK; d *= 2u) {
        y[1u - from][i] = i >= d ? combine(y[from][i - d], y[from][i]) : y[from][i];
        from = 1u - from;
        barrier();
    }
    store(first + i, y[from][i]);
    if (i == CHUNK - 1u)
        total(c, y[from][i]);
#else
    y[i] = load(first + i);
    y[i + LOCAL] = load(first + i + LOCAL);
    barrier();
    for (uint d = 1u; d < CHUNK; d *= 2u) {
        uint right = d * (2u * i + 2u) - 1u;
        if (right < CHUNK)
            y[right] = combine(y[right - d], y[right]);
        barrier();
    }
    if (i == 0u)
        total(c, y[CHUNK - 1u]);
#ifdef INCLUSIVE
    for (uint d = CHUNK / 4u; d > 0u; d /= 2u) {
        uint right = d * (2u * i + 3u) - 1u;
        if (right < CHUNK)
            y[right] = combine(y[right - d], y[right]);
        barrier();
    }
#endif
#ifdef EXCLUSIVE
    barrier();
    if (i == 0u)
        y[CHUNK - 1u] = none();
    barrier();
    for (uint d = CHUNK / 2u; d > 0u; d /= 2u) {
        uint right = d * (2u * i + 2u) - 1u;
        if (right < CHUNK) {
            Pair left = y[right - d];
            y[right - d] = y[right];
            y[right] = combine(y[right], left);
        }
        barrier();
    }
#endif
#ifndef REDUCE
    store(first + i, y[i]);
    store(first + i + LOCAL, y[i + LOCAL]);
#endif
#endif
}
