// The flat parts of the debugger's frame: rectangles, lines, letters.
// In: place in pixels from the upper left, place in the atlas in texels, colour; size,
//     1 / the frame's width and height.
layout(location = 0) in vec2 place;
layout(location = 1) in vec2 letter;
layout(location = 2) in vec4 colour;
uniform vec4 size;
out vec2 at;
flat out vec4 ink;

void main() {
    gl_Position = vec4(place * size.xy * vec2(2.0, -2.0) + vec2(-1.0, 1.0), 0.0, 1.0);
    at = letter;
    ink = colour;
}
