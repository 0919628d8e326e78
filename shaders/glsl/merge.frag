// Merge: a level of a reduction. Each fragment makes one partial result of some
// texels of the level below: its own, and those at distances of the target's size.
// In: parts, partial results in a rectangle of `extent`; apart, the size of the next; above, the lines
//     above both, in `parts` and in the target, which are other chunks';
//     FOLD, how two partial results make one.
layout(binding = 0) uniform usampler2D parts;
uniform uvec2 extent;
uniform uvec2 apart;
uniform uvec2 above;
layout(location = 0) out uvec4 partial;

uvec4 part(uint x, uint y) { return texelFetch(parts, ivec2(x, y + above.x), 0); }

void main() {
    uvec2 at = uvec2(gl_FragCoord.xy) - uvec2(0u, above.y);
    partial = part(at.x, at.y);
    for (uint y = at.y; y < extent.y; y += apart.y)
        for (uint x = y == at.y ? at.x + apart.x : at.x; x < extent.x; x += apart.x)
            partial = FOLD(partial, part(x, y));
}
