// The rows of sorted records, four to a fragment. In: pairs, sorted; line, the base-2 logarithm of their line;
//     records, how many there are; width, the fragments of a line.
layout(binding = 0) uniform usampler2D pairs;
uniform uint line;
uniform uint records;
uniform uint width;
layout(location = 0) out uvec4 rows;

void main() {
    uint first = 4u * (uint(gl_FragCoord.y) * width + uint(gl_FragCoord.x));
    for (uint k = 0u; k < 4u; k++)
        rows[k] = first + k < records ? texelFetch(pairs, ivec2((first + k) & ((1u << line) - 1u), (first + k) >> line), 0).w : 0xffffffffu;
}
