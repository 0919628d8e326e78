// The depth buffer as a height field: a net of cells over the records of a chunk, each
// corner as high as the depth of a record there, the first line in front. FLAT: a rectangle at one height, the
// quad of a pass.
// In: as demo_scale.glsl; net, the cells along each side; camera, columns of the matrix;
//     height, of FLAT.
layout(binding = 0) uniform sampler2D records;
uniform int net;
uniform vec4 camera[4];
uniform float height;
out vec3 place;
flat out vec4 colour;

void main() {
    vec2 unit;
#ifdef FLAT
    const ivec2 corners[6] = ivec2[](ivec2(0, 0), ivec2(1, 0), ivec2(1, 1), ivec2(0, 0), ivec2(1, 1), ivec2(0, 1));
    unit = vec2(corners[gl_VertexID]);
    float h = height;
    colour = vec4(0.84, 0.37, 0.0, 0.42);
#else
    ivec2 knot = ivec2(gl_VertexID % (net + 1), gl_VertexID / (net + 1));
    unit = vec2(knot) / float(net);
    ivec2 lines = ivec2(chunk[0], chunk[1]);
    ivec2 at = min(knot * lines / net, lines - 1);
    if (at.y * chunk[0] + at.x >= chunk[2])
        at.y = max(at.y - 1, 0);
    ivec2 from = texelOf(at);
    float limb = limbOf(texelFetch(records, from, 0).r), h = rank(limb);
    colour = depthColour(limb, h, from);
#endif
    vec2 sides = vec2(chunk[0], chunk[1]) / float(max(chunk[0], chunk[1])); // the larger is 1
    place = vec3((unit.x - 0.5) * sides.x, h * 0.5, (0.5 - unit.y) * sides.y);
    gl_Position = mat4(camera[0], camera[1], camera[2], camera[3]) * vec4(place, 1.0);
}
