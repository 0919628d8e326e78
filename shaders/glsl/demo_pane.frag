// A pane of the debugger: the records of a chunk, row by row, `width` to a line, as
// they lie in a texture; where a pixel stands for several records it shows the first
// of them, with PASSES the share of them that pass.
// In: pane, the pane's left and lower edge, width and height in pixels; chunk, the
//     width, height and number of the records; scale, the largest number.
// CODES: the texture holds limbs of 24 bits (a NULL is 2^24), so many from a channel on;
//     the third is in a texture of its own.
// DEPTH: depths, limb / 2^24; in others the attribute, where it has NULLs. test, whether a depth test is shown, its function (as
//     pass.Func), whether bounds are; quad, its depth and the bounds.
// STENCIL: stencil values. PASSES: 1 where a record passes.
// Colours are lines of `palette`: codes, depths, depths that pass, stencil values.
#ifdef STENCIL
layout(binding = 0) uniform usampler2D records;
#else
layout(binding = 0) uniform sampler2D records;
#endif
layout(binding = 1) uniform sampler2D palette;
layout(binding = 2) uniform sampler2D ranks; // of numbers 0 .. scale, evenly
layout(binding = 3) uniform sampler2D others; // CODES: the third limbs; DEPTH: the attribute, for its NULLs
uniform int pane[4];
uniform int chunk[3];
uniform int limbs[2]; // the first channel, how many
uniform int test[3];
uniform vec4 quad;
uniform float scale;
uniform int nulls; // whether there are any
layout(location = 0) out vec4 colour;

const vec4 NOTHING = vec4(1.0), NONE = vec4(0.80, 0.47, 0.65, 1.0), NONE_PASSES = vec4(0.30, 0.72, 0.56, 1.0); // of NULL

float rank(float number) {
    int n = textureSize(ranks, 0).x;
    float x = clamp(number / max(scale, 1.0), 0.0, 1.0) * float(n - 1);
    int i = int(x);
    float a = texelFetch(ranks, ivec2(i, 0), 0).r, b = texelFetch(ranks, ivec2(min(i + 1, n - 1), 0), 0).r;
    return mix(a, b, x - float(i));
}

vec4 shade(float place, int line) { return texelFetch(palette, ivec2(int(place * 255.0 + 0.5), line), 0); }

// compares is the depth or stencil test's comparison, as pass.Func numbers them.
bool compares(int f, float a, float b) {
    switch (f) {
    case 0: return true;
    case 1: return false;
    case 2: return a < b;
    case 3: return a <= b;
    case 4: return a == b;
    case 5: return a != b;
    case 6: return a >= b;
    }
    return a > b;
}

void main() {
    ivec2 pixel = ivec2(gl_FragCoord.xy) - ivec2(pane[0], pane[1]);
    pixel.y = pane[3] - 1 - pixel.y;
    ivec2 size = ivec2(pane[2], pane[3]), lines = ivec2(chunk[0], chunk[1]);
    ivec2 at = pixel * lines / size;
    if (at.y * chunk[0] + at.x >= chunk[2]) {
        colour = NOTHING;
        return;
    }
#if defined(CODES)
    vec4 texel = texelFetch(records, at, 0);
    float code = texel[limbs[0]];
    bool null = code == 16777216.0;
    if (limbs[1] > 1)
        code += texel.g * 16777216.0;
    if (limbs[1] > 2)
        code += texelFetch(others, at, 0).r * 281474976710656.0;
    colour = null ? NONE : shade(rank(code), 0);
#elif defined(DEPTH)
    float depth = texelFetch(records, at, 0).r, limb = floor(depth * 16777216.0 + 0.5);
    bool tested = test[0] != 0 && compares(test[1], quad.x, limb) && (test[2] == 0 || quad.y <= limb && limb <= quad.z);
    bool null = nulls != 0 && texelFetch(others, at, 0).r == 16777216.0;
    colour = null ? (tested ? NONE_PASSES : NONE) : shade(rank(limb), tested ? 2 : 1);
#elif defined(STENCIL)
    colour = texelFetch(palette, ivec2(int(texelFetch(records, at, 0).r), 3), 0);
#else
    ivec2 end = min(max((pixel + 1) * lines / size, at + 1), lines);
    float n = 0.0, all = 0.0;
    for (int y = at.y; y < end.y; y++)
        for (int x = at.x; x < end.x; x++)
            if (y * chunk[0] + x < chunk[2]) {
                n += texelFetch(records, ivec2(x, y), 0).r;
                all += 1.0;
            }
    colour = mix(vec4(0.925, 0.925, 0.925, 1.0), vec4(0.0, 0.36, 0.55, 1.0), n / all);
#endif
}
