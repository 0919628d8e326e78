// Partial results of a reduction: a sum of 96 bits, low word first, and how many
// codes were added.
uvec4 addSum(uvec4 a, uvec4 b) {
    uint c0, c1, c2;
    uint x = uaddCarry(a.x, b.x, c0);
    uint y = uaddCarry(a.y, b.y, c1);
    y = uaddCarry(y, c0, c2);
    return uvec4(x, y, a.z + b.z + c1 + c2, a.w + b.w);
}
