// Render a mask: 1 in every record that the stencil test lets through.
layout(location = 0) out float set;

void main() { set = 1.0; }
