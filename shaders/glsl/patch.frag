// Draws a depth that is given as an integer: window depth value / (2^24 - 1), as depths.frag does.
flat in uint value;

void main() { gl_FragDepth = float(double(value) / 16777215.0lf); }
