// The keys of four records, one of each quarter, for a sorting network that blends: codes, exactly, from the other end where the
// order is descending. NULL is smaller or larger than all of them. Places without a selected record come last.
// In: codes, the attribute of one limb; selected, which is generated; rows, how many records there are; line, the
//     fragments of a line; quarter, how many fragments there are; sign, 1 or -1; first, what the codes are added to; nulls, the
//     key of NULL.
layout(binding = 0) uniform sampler2D codes;
uniform uint rows;
uniform uint line;
uniform uint quarter;
uniform float sign;
uniform float first;
uniform float nulls;
layout(location = 0) out vec4 keys;

const float none = 33554432.0; // 2^25, behind the codes of a limb and NULL
const float isNull = 16777216.0;

bool selected(uint row);

// at is where a row lies in a texture of that width.
ivec2 at(uint row, int width) { return ivec2(row % uint(width), row / uint(width)); }

void main() {
    uint i = uint(gl_FragCoord.y) * line + uint(gl_FragCoord.x);
    for (uint k = 0u; k < 4u; k++) {
        uint row = k * quarter + i;
        keys[k] = none;
        if (row < rows && selected(row)) {
            float code = texelFetch(codes, at(row, textureSize(codes, 0).x), 0).r;
            keys[k] = code == isNull ? nulls : first + sign * code;
        }
    }
}
