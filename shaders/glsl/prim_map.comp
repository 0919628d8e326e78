// Map: out[i] = FUNCTION of x (and y, z: the INPUTS vectors) at i. A thread does a
// quad at a time, in turns or (STRIPS) a strip of quads.
layout(local_size_x = LOCAL) in;
#if INPUTS > 0
layout(std430, binding = 1) readonly buffer X { uvec4 xs[]; };
#endif
#if INPUTS > 1
layout(std430, binding = 2) readonly buffer Y { uvec4 ys[]; };
#endif
#if INPUTS > 2
layout(std430, binding = 3) readonly buffer Z { uvec4 zs[]; };
#endif
layout(std430, binding = 0) writeonly buffer Out { uvec4 quads[]; };
layout(std430, binding = 0) writeonly buffer OutWords { uint word[]; };
uniform uint n;
CONSTANTS

uint function(uint x, uint y, uint z, uint i) { return FUNCTION; }

void main() {
    uint quad_count = n / 4u + uint((n & 3u) != 0u);
    uint threads = gl_NumWorkGroups.x * uint(LOCAL);
#ifdef STRIPS
    uint per = (quad_count + threads - 1u) / threads, from = gl_GlobalInvocationID.x * per;
    for (uint q = from; q < min(from + per, quad_count); q++) {
#else
    for (uint q = gl_GlobalInvocationID.x; q < quad_count; q += threads) {
#endif
        uvec4 x = uvec4(0), y = uvec4(0), z = uvec4(0), v;
#if INPUTS > 0
        x = xs[q];
#endif
#if INPUTS > 1
        y = ys[q];
#endif
#if INPUTS > 2
        z = zs[q];
#endif
        for (int e = 0; e < 4; e++)
            v[e] = function(x[e], y[e], z[e], 4u * q + uint(e));
        if (4u * q + 3u < n)
            quads[q] = v;
        else
            for (uint e = 0u; 4u * q + e < n; e++)
                word[4u * q + e] = v[e];
    }
}
