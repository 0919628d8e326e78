// A quad over half of each block of texels of a sorting network: over the first texels or over the last. A block is a part of a line,
// which stands over all lines, or several lines.
// In: line and lines, the base-2 logarithms of the texels of a line and of the lines; block, that of the texels
//     of a block; last, 1 for the last half.
uniform uint line;
uniform uint lines;
uniform uint block;
uniform uint last;

void main() {
    uvec2 whole = block <= line ? uvec2(1u << block, 1u << lines) : uvec2(1u << line, 1u << (block - line));
    uvec2 way = block <= line ? uvec2(1u, 0u) : uvec2(0u, 1u); // from a block to the next, and from half to half
    uvec2 size = whole - way * whole / 2u;
    uvec2 from = way * whole * uint(gl_InstanceID) + last * way * whole / 2u;
    uvec2 corner = uvec2(0x26u >> gl_VertexID & 1u, 0x34u >> gl_VertexID & 1u); // of two triangles
    gl_Position = vec4(vec2(from + corner * size) / vec2(1u << line, 1u << lines) * 2.0 - 1.0, 0.0, 1.0);
}
