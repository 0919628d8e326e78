// TestBit (paper, routine 4.6): keep the record when bit i of the limb is set,
// that is when the fractional part of limb / 2^(i+1) is at least one half.
// In: attr, a limb in channel CHANNEL (a NULL is 2^24: no bit below 24 set);
//     scale = 2^-(i+1), i in 0..23.
// The paper's alpha test is a discard here: core OpenGL has no alpha test.
layout(binding = 0) uniform sampler2D attr;
uniform float scale;

void main() {
    if (fract(texelFetch(attr, ivec2(gl_FragCoord.xy), 0).CHANNEL * scale) < 0.5)
        discard;
}
