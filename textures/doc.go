// Package textures decides how columns lie in textures and keeps them on the
// device: layouts, upload, read-back, a byte budget and what is resident.
//
// The types to know:
//
//   - [Shape] is the rectangle of texels over which the rows of a chunk lie.
//   - [Ref] names what a texture holds, without GL: an attribute's limbs, or up to
//     four narrow attributes in one texel (the paper's two ways).
//   - [TargetRef] names a depth-stencil buffer over a chunk's rows.
//   - [Store] makes refs resident within a byte budget, least recently used out
//     first.
//
// # How a code lies in texels
//
// A code is cut into limbs of 24 bits, lowest first; a limb is a float32 that
// holds an integer exactly. One limb is a channel of R32F, two are RG32F, the
// third of a code wider than 48 bits is an R32F of its own. A NULL is 2^24 in
// every limb: no code has that limb, CopyToDepth puts it at depth 1, and none of
// its bits 0..23 is set, so that TestBit does not count it.
//
// # Caveats
//
//   - The rows of a chunk fill lines of Width texels; the last line is partly
//     filled and what lies behind it is undefined. Draw [Shape.Rects] and padding
//     is never counted.
//   - The budget counts what stencildb allocates; a driver may pad.
package textures
