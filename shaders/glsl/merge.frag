// Merge: a level of a reduction. Each fragment makes one partial result of some
// texels of the level below: its own, and those at distances of the target's size.
// In: parts, partial results in a rectangle of `extent`; apart, the target's size;
//     FOLD, how two partial results make one.
layout(binding = 0) uniform usampler2D parts;
uniform uvec2 extent;
uniform uvec2 apart;
layout(location = 0) out uvec4 partial;

void main() {
    uvec2 at = uvec2(gl_FragCoord.xy);
    partial = texelFetch(parts, ivec2(at), 0);
    for (uint y = at.y; y < extent.y; y += apart.y)
        for (uint x = y == at.y ? at.x + apart.x : at.x; x < extent.x; x += apart.x)
            partial = FOLD(partial, texelFetch(parts, ivec2(x, y), 0));
}
