// RenderQuad(d): one triangle that covers the viewport, at window depth d.
// The viewport is the rows of the chunk, so every fragment is one record.
// In: depth, the window depth 0..1 (exact for multiples of 2^-24).
uniform float depth;

void main() {
    vec2 corner = vec2((gl_VertexID << 1) & 2, gl_VertexID & 2);
    gl_Position = vec4(corner * 2.0 - 1.0, depth * 2.0 - 1.0, 1.0);
}
