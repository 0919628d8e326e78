// Places a point on the texel of each of some rows, which lie in a buffer texture with what they have now: two rows to a
// texel of it.
layout(binding = 0) uniform usamplerBuffer rows;
uniform uvec2 size; // of the texture that is drawn to, in texels
flat out uint value;

void main() {
    uvec4 two = texelFetch(rows, gl_VertexID >> 1);
    uvec2 one = (gl_VertexID & 1) == 0 ? two.xy : two.zw;
    gl_Position = vec4((vec2(one.x % size.x, one.x / size.x) + 0.5) / vec2(size) * 2.0 - 1.0, 0.0, 1.0);
    value = one.y;
}
