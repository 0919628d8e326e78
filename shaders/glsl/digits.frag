// Digits: the last level of a histogram. A partial result is 16 counters, one a byte; a fragment adds up those of one of
// its four words, of some texels: its own, and those at distances of a quarter of the target's size.
// In: parts, partial results in a rectangle of `extent`; apart, the size of the part of the target that one word has; the words'
//     parts lie one above the other; above, the lines above both, in `parts` and in the target, which are other chunks'.
layout(binding = 0) uniform usampler2D parts;
uniform uvec2 extent;
uniform uvec2 apart;
uniform uvec2 above;
layout(location = 0) out uvec4 partial;

void main() {
    uvec2 at = uvec2(gl_FragCoord.xy) - uvec2(0u, above.y);
    uint word = at.y / apart.y;
    partial = uvec4(0u);
    for (uint y = at.y % apart.y; y < extent.y; y += apart.y)
        for (uint x = at.x; x < extent.x; x += apart.x)
            partial += uvec4(texelFetch(parts, ivec2(x, y + above.x), 0)[word]) >> uvec4(0, 8, 16, 24) & 255u;
}
