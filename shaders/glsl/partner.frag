// The texel at another place, for a sorting network that blends: the one to be compared with.
// In: keys, four to a texel; line, the base-2 logarithm of the texels of a line; flip, the bits of a
//     texel's number that are other ones at the partner; 0 copies.
layout(binding = 0) uniform sampler2D keys;
uniform uint line;
uniform uint flip;
layout(location = 0) out vec4 partner;

void main() {
    uint i = (uint(gl_FragCoord.y) << line | uint(gl_FragCoord.x)) ^ flip;
    partner = texelFetch(keys, ivec2(i & ((1u << line) - 1u), i >> line), 0);
}
