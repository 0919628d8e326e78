// A letter's coverage in a colour; see demo_ui.vert. Texel (0, 0) is covered.
layout(binding = 0) uniform sampler2D atlas;
in vec2 at;
flat in vec4 ink;
layout(location = 0) out vec4 colour;

void main() { colour = vec4(ink.rgb, ink.a * texelFetch(atlas, ivec2(at), 0).r); }
