// Writes what some rows of a column have now into what is resident of it: one thread a row. The rows ascend, and each is
// there once. CONTENT is what is written to:
//   PLANES  bit planes, or a plane of validity, in the order of textures.PlaneRow
//   WORDS   codes of WIDTH bits, PER to a word
//   FLOATS  an image of FORMAT, of which one channel is written
//   QUADS   an image of FORMAT with four codes to a texel
//   MARKS   an image of FORMAT with PER bits to a texel
layout(local_size_x = LOCAL) in;
layout(std430, binding = 0) readonly buffer Rows { uvec2 changed[]; }; // a row, and what it has
uniform uint count;

#if defined(PLANES)
layout(std430, binding = 1) buffer Planes { uint plane[]; };
uniform uint stored; // which planes are stored, as bits

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= count)
        return;
    uint row = changed[i].x, value = changed[i].y, r = row & 8191u;
    uint mask = 1u << (r >> 8);
    uint at = 4u * first((row >> 13) * 64u + ((r & 255u) >> 2), bitCount(stored)) + (r & 3u);
    for (uint left = stored; left != 0u; left &= left - 1u, at += 4u * uint(PLANE)) {
        if ((value >> findLSB(left) & 1u) != 0u)
            atomicOr(plane[at], mask);
        else
            atomicAnd(plane[at], ~mask);
    }
}
#else
#if defined(WORDS)
layout(std430, binding = 1) buffer Words { uint word[]; };
#elif defined(FLOATS)
layout(binding = 0, FORMAT) uniform image2D image;
uniform int channel;
#else
layout(binding = 0, FORMAT) uniform uimage2D image;
#endif
uniform uint width; // texels of a line

// Rows that share a word or a texel are written by the thread of the first of them.
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= count)
        return;
    uint at = changed[i].x / uint(PER);
    if (i > 0u && changed[i - 1u].x / uint(PER) == at)
        return;
#if defined(WORDS)
    uint w = word[at];
    for (; i < count && changed[i].x / uint(PER) == at; i++)
        w = bitfieldInsert(w, changed[i].y, int(changed[i].x % uint(PER)) * WIDTH, WIDTH);
    word[at] = w;
#else
    ivec2 texel = ivec2(at % width, at / width);
#if defined(FLOATS)
    vec4 v = imageLoad(image, texel);
    v[channel] = float(changed[i].y);
#else
    uvec4 v = imageLoad(image, texel);
    for (; i < count && changed[i].x / uint(PER) == at; i++) {
#if defined(QUADS)
        v[changed[i].x & 3u] = changed[i].y;
#else
        v.x = bitfieldInsert(v.x, changed[i].y, int(changed[i].x % uint(PER)), 1);
#endif
    }
#endif
    imageStore(image, texel, v);
#endif
}
#endif
