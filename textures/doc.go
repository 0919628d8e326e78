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
//     first; [Store.Resident] and [Store.Usage] tell what is there.
//   - [Scope] is the working memory of one query; several are open at a time.
//
// # How a column gets to the device
//
// Goroutines write texels or codes into the slots of a persistently mapped ring. The
// GL thread has the device take each slot as soon as it is full, in order, while
// the next ones are being filled. What a scope had is kept in one pool for the next, so
// that repeated queries create no GL object.
//
// What is resident is known by the segments that it holds. Snapshots of a table share
// what they share, and [Store.Drop] releases what none has any more. A patched segment
// is another one, which takes over what is resident of the one before: only the rows
// that changed are uploaded (file patch.go).
//
// What has to go when the budget is full is decided by use. First goes what this scope
// has not touched, least recently used first. Then its own columns, most recently
// used first, those of other chunks before those of the chunk at hand.
//
// # How a code lies in texels
//
// A code is cut into limbs of 24 bits, lowest first; a limb is a float32 that
// holds an integer exactly. One limb is a channel of R32F, two are RG32F, the
// third of a code wider than 48 bits is an R32F of its own. A NULL is 2^24 in
// every limb. No code has that limb, and CopyToDepth puts it at depth 1. None of
// its bits 0..23 is set, so that TestBit does not count it.
//
// Integer textures ([Integers]) hold the codes as they are, four records of a line to
// a texel. Beside them is a bit a record for NULL. A resident depth texture
// ([ResidentDepth]) holds codes of up to 24 bits as depths.
//
// # Caveats
//
//   - The rows of a chunk fill lines of Width texels; the last line is partly
//     filled and what lies behind it is undefined. Draw [Shape.Rects] and padding
//     is never counted.
//   - The budget counts what stencildb allocates; a driver may pad. The rings of
//     uploads and of large read-backs come on top. They have 64 MiB on the host each, 4 MiB where the CPU renders. For uploads they have as much
//     on the device while a depth texture is drawn.
package textures
