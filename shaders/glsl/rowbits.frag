// Pack a mask: bit k of component c of fragment f is that of record 128 f + 32 c + k, the
// fragments going line by line. In: mask, 1 in every selected record; rows, how many there are;
//     line, the fragments of a line.
layout(binding = 0) uniform sampler2D mask;
uniform uint rows;
uniform uint line;
layout(location = 0) out uvec4 bits;

void main() {
    uint first = 128u * (uint(gl_FragCoord.y) * line + uint(gl_FragCoord.x)), width = uint(textureSize(mask, 0).x);
    bits = uvec4(0u);
    for (uint i = 0u; i < 128u && first + i < rows; i++) {
        uint row = first + i;
        bits[i >> 5] |= uint(texelFetch(mask, ivec2(row % width, row / width), 0).r) << (i & 31u);
    }
}
