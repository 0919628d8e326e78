// The last step of listing 5: what precedes a chunk comes to each of its elements. A thread an element; chunks of `chunk` elements.
// SEGMENTED: only to those before the chunk's first segment.
layout(local_size_x = LOCAL) in;
layout(std430, binding = 0) buffer Elements { uint x[]; };
layout(std430, binding = 1) readonly buffer Sums { uint sums[]; };
#ifdef SEGMENTED
layout(std430, binding = 3) readonly buffer Seen { uint seen[]; };
#endif
uniform uint n, stride, at, chunk;

T op(T a, T b) { return T(EXPR); }

void main() {
    uint i = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * LOCAL + gl_LocalInvocationIndex;
    if (i >= n)
        return;
    uint c = i / chunk;
#ifdef SEGMENTED
    if (seen[i] != 0u)
        return;
#endif
    x[i * stride + at] = TO(op(FROM(sums[c * SUM]), FROM(x[i * stride + at])));
}
