// A pane of the debugger: the records of a chunk, row by row, `chunk[0]` to a line; where a pixel stands for several records it shows the first
// of them, with PASSES the share of them that pass.
// In: as demo_scale.glsl; pane, the pane's left and lower edge, width and height in pixels.
// CODES: the texture holds limbs of 24 bits (a NULL is 2^24), so many from a channel on;
//     the third is in a texture of its own.
// DEPTH: depths, limb / 2^24. STENCIL: stencil values. PASSES: 1 where a record passes.
// PASSES: fate is the mark of their colour. Colours are lines of `palette`: values, values
// that pass, stencil values, marks.
#ifdef STENCIL
layout(binding = 0) uniform usampler2D records;
#else
layout(binding = 0) uniform sampler2D records;
#endif
uniform int pane[4];
uniform int limbs[2]; // the first channel, how many
uniform int fate;
layout(location = 0) out vec4 colour;

void main() {
    ivec2 pixel = ivec2(gl_FragCoord.xy) - ivec2(pane[0], pane[1]);
    pixel.y = pane[3] - 1 - pixel.y;
    ivec2 size = ivec2(pane[2], pane[3]), lines = ivec2(chunk[0], chunk[1]);
    ivec2 at = pixel * lines / size;
    if (at.y * chunk[0] + at.x >= chunk[2]) {
        colour = vec4(1.0);
        return;
    }
    ivec2 from = texelOf(at);
#if defined(CODES)
    vec4 texel = texelFetch(records, from, 0);
    float code = texel[limbs[0]];
    bool null = code == 16777216.0;
    if (limbs[1] > 1)
        code += texel.g * 16777216.0;
    if (limbs[1] > 2)
        code += texelFetch(others, from, 0).r * 281474976710656.0;
    colour = null ? mark(0) : shade(rank(code), 0);
#elif defined(DEPTH)
    float limb = limbOf(texelFetch(records, from, 0).r);
    colour = depthColour(limb, rank(limb), from);
#elif defined(STENCIL)
    colour = texelFetch(palette, ivec2(int(texelFetch(records, from, 0).r), 2), 0);
#else
    ivec2 end = min(max((pixel + 1) * lines / size, at + 1), lines);
    float n = 0.0, all = 0.0;
    for (int y = at.y; y < end.y; y++)
        for (int x = at.x; x < end.x; x++)
            if (y * chunk[0] + x < chunk[2]) {
                n += texelFetch(records, texelOf(ivec2(x, y)), 0).r;
                all += 1.0;
            }
    colour = mix(mark(2), mark(fate), n / all);
#endif
}
