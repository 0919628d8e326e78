// The depth buffer as a height field: a net of cells over the records of a chunk, each
// corner as high as the depth of a record there, the first line in front. FLAT: a rectangle at one height, the
// quad of a pass.
// In: as demo_pane.frag; net, the cells along each side; camera, columns of the matrix;
//     height, of FLAT.
layout(binding = 0) uniform sampler2D records;
layout(binding = 1) uniform sampler2D palette;
layout(binding = 2) uniform sampler2D ranks;
layout(binding = 3) uniform sampler2D others; // the attribute, where it has NULLs
uniform int nulls;
uniform int chunk[3];
uniform int net;
uniform vec4 camera[4];
uniform float height;
uniform float scale;
uniform int test[3];
uniform vec4 quad;
uniform float shape; // height of the chunk / its width
out vec3 place;
flat out vec4 colour;

float rank(float number) {
    int n = textureSize(ranks, 0).x;
    float x = clamp(number / max(scale, 1.0), 0.0, 1.0) * float(n - 1);
    int i = int(x);
    float a = texelFetch(ranks, ivec2(i, 0), 0).r, b = texelFetch(ranks, ivec2(min(i + 1, n - 1), 0), 0).r;
    return mix(a, b, x - float(i));
}

bool compares(int f, float a, float b) {
    switch (f) {
    case 0: return true;
    case 1: return false;
    case 2: return a < b;
    case 3: return a <= b;
    case 4: return a == b;
    case 5: return a != b;
    case 6: return a >= b;
    }
    return a > b;
}

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
    float limb = floor(texelFetch(records, at, 0).r * 16777216.0 + 0.5);
    float h = rank(limb);
    bool tested = test[0] != 0 && compares(test[1], quad.x, limb) && (test[2] == 0 || quad.y <= limb && limb <= quad.z);
    colour = texelFetch(palette, ivec2(int(h * 255.0 + 0.5), tested ? 2 : 1), 0);
    if (nulls != 0 && texelFetch(others, at, 0).r == 16777216.0)
        colour = tested ? vec4(0.30, 0.72, 0.56, 1.0) : vec4(0.80, 0.47, 0.65, 1.0);
#endif
    place = vec3(unit.x - 0.5, h * 0.5, (0.5 - unit.y) * shape);
    gl_Position = mat4(camera[0], camera[1], camera[2], camera[3]) * vec4(place, 1.0);
}
