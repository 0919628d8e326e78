// A step of a bitonic sorting network: each record is compared with the one at a distance, and
// of both the smaller stays in front, in every other run of records the larger.
// In: pairs, as pairs.frag draws them; line, the base-2 logarithm of their line; run and apart, the distance, powers of two.
layout(binding = 0) uniform usampler2D pairs;
uniform uint line;
uniform uint run;
uniform uint apart;
layout(location = 0) out uvec4 pair;

uvec4 record(uint i) { return texelFetch(pairs, ivec2(i & ((1u << line) - 1u), i >> line), 0); }

bool before(uvec4 a, uvec4 b) {
    if (a.x != b.x) return a.x < b.x;
    if (a.y != b.y) return a.y < b.y;
    if (a.z != b.z) return a.z < b.z;
    return a.w < b.w;
}

void main() {
    uint i = uint(gl_FragCoord.y) << line | uint(gl_FragCoord.x);
    uvec4 own = record(i), other = record(i ^ apart);
    bool smaller = ((i & apart) == 0u) == ((i & run) == 0u); // stays here
    pair = before(own, other) == smaller ? own : other;
}
