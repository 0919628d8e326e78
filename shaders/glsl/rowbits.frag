// Pack a mask: bit k of fragment f is that of record 32 f + k, the fragments going line by line. In: mask, 1 in every selected
// record; rows, how many there are; line, the fragments of a line.
layout(binding = 0) uniform sampler2D mask; // a power of two wide
uniform uint rows;
uniform uint line;
layout(location = 0) out uint bits;

void main() {
    uint first = 32u * (uint(gl_FragCoord.y) * line + uint(gl_FragCoord.x)), width = uint(textureSize(mask, 0).x);
    int shift = findMSB(width);
    bits = 0u;
    for (uint i = 0u; i < 32u && first + i < rows; i++) {
        uint row = first + i;
        bits |= uint(texelFetch(mask, ivec2(row & (width - 1u), row >> shift), 0).r) << i;
    }
}
