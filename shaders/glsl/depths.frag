// Draws depths that lie in a buffer, in the upper 24 bits of each word, row after
// row of lines: window depth k / (2^24 - 1), which DEPTH24 stores as the integer k.
// A division of floats does not give the nearest float on every device.
layout(std430, binding = 0) readonly buffer Depths { uint word[]; };
uniform int width; // words of a line
uniform int line;  // of the texture, that the buffer begins with

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    gl_FragDepth = float(double(word[(at.y - line) * width + at.x] >> 8) / 16777215.0lf);
}
