// What the debugger's pictures know of the records of a chunk, and of the depth test.
// In: chunk, the width and height of the view, the number of records, and the texels of a line of
//     their textures; scale, the largest number; ranks,
//     of numbers 0 .. scale, evenly; nulls, whether there are any; test, whether a depth
//     test is shown, its function (as pass.Func), whether bounds are; quad, its depth and
//     the bounds.
layout(binding = 1) uniform sampler2D palette;
layout(binding = 2) uniform sampler2D ranks;
layout(binding = 3) uniform sampler2D others; // CODES: the third limbs; else the attribute, for its NULLs
uniform int chunk[4];
uniform float scale;
uniform int nulls;
uniform int test[3];
uniform vec4 quad;

// mark is a colour of the palette's last line: 0 of NULL, 1 of a NULL that passes, 2 of no
// fate, 3 of records that pass, 4 of records dropped.
vec4 mark(int i) { return texelFetch(palette, ivec2(i, 3), 0); }

float rank(float number) {
    int n = textureSize(ranks, 0).x;
    float x = clamp(number / max(scale, 1.0), 0.0, 1.0) * float(n - 1);
    int i = int(x);
    float a = texelFetch(ranks, ivec2(i, 0), 0).r, b = texelFetch(ranks, ivec2(min(i + 1, n - 1), 0), 0).r;
    return mix(a, b, x - float(i));
}

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

// texelOf is where the record at a place of the view lies in the textures.
ivec2 texelOf(ivec2 at) {
    int row = at.y * chunk[0] + at.x;
    return ivec2(row % chunk[3], row / chunk[3]);
}

// limbOf is the number that a depth stands for.
float limbOf(float depth) { return floor(depth * 16777216.0 + 0.5); }

vec4 shade(float place, int line) { return texelFetch(palette, ivec2(int(place * 255.0 + 0.5), line), 0); }

// depthColour is that of a number of the depth buffer at a texel; place is its rank.
vec4 depthColour(float limb, float place, ivec2 at) {
    bool passes = test[0] != 0 && compares(test[1], quad.x, limb) && (test[2] == 0 || quad.y <= limb && limb <= quad.z);
    if (nulls != 0 && texelFetch(others, at, 0).r == 16777216.0)
        return mark(passes ? 1 : 0);
    return shade(place, passes ? 1 : 0);
}
