// SemilinearFP (paper, routine 4.2): keep the record when s . a op b.
// In: attributes, TEXTURES textures with four attributes in a texel (absent ones
//     are 0; a NULL is 2^24), s, the coefficients, and b. With EXACT everything is an
//     integer and every partial sum stays below 2^24, so float32 is exact; without it
//     the coefficients are any, as published, and the sum is rounded.
layout(binding = 0) uniform sampler2D attributes[TEXTURES];
uniform vec4 s[TEXTURES];
uniform float b;

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    float sum = 0.0;
    for (int i = 0; i < TEXTURES; i++) {
        vec4 a = texelFetch(attributes[i], at, 0);
#ifdef NULLS
        if (any(equal(a, vec4(16777216.0))))
            discard;
#endif
        sum += dot(a, s[i]);
    }
#ifdef EXACT
    // As integers: NVIDIA's compiler (driver 580) makes an inexact test of the
    // float form, a discard unless sum != b.
    if (!(int(sum) OP int(b)))
        discard;
#else
    if (!(sum OP b))
        discard;
#endif
}
