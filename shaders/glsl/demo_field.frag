// The height field, lit from the left by the slope of the surface; see demo_field.vert.
in vec3 place;
flat in vec4 colour;
layout(location = 0) out vec4 shaded;

void main() {
    vec3 normal = normalize(cross(dFdx(place), dFdy(place)));
    float light = 0.72 + 0.28 * abs(dot(normal, normalize(vec3(-0.5, 0.8, 0.3))));
    shaded = vec4(colour.rgb * (colour.a < 1.0 ? 1.0 : light), colour.a);
}
