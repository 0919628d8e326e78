// Package fused answers queries with the graphics pipeline used the modern way. The
// idea of the 2004 paper stays: an attribute is a texture, a record a texel, and
// drawing evaluates a condition for all records. What has changed since is that
// fragment programs are long, know integers, and can write any number of bits.
//
// [Select] is the partial.Selection of a query, by passes for a pass.Runner. The package
// calls no GL.
//
// # A condition is one program
//
// The paper takes a pass for each simple predicate, and keeps the truth of what has
// been evaluated so far in the stencil buffer. Here the whole WHERE becomes one
// fragment program (file where.go). It is `bool selected(...)`, a function of the codes of one record. In it AND and OR are && and ||, a comparison is a comparison, an
// IN list a binary search in a buffer texture. Arithmetic is the function that
// package plan/glsl writes for every kind of shader. Its text depends on the shape of
// the condition only, constants are uniforms, and so the next query of that shape
// needs no compiler.
//
// # Aggregates by reduction
//
// An occlusion query counts fragments, hence one record a fragment. Here a fragment
// takes many records (file reduce.go). It walks over texels of which each holds four
// codes, evaluates the condition for each, and adds the selected ones up. Its result
// is a texel of four 32-bit words. It has up to four counts, or a sum of 96 bits and how
// many codes it is of. Or it has the smallest and the largest code. The fragments make a
// rectangle of at most 256 x 256 texels. A second draw folds it into 32 x 32, and
// these are read back and finished in Go. (On software rasterisers a fragment takes neighbouring
// texels of a line. Up to 4096 results of all chunks are read back without a second draw.) The rectangles
// of all chunks lie in one texture. Their draws do not wait for one another. Their second ones come
// after the first of all, and what they leave is read back at once. Everything is in integers, and exact.
//
//   - COUNT, SUM, AVG, MIN, MAX take one reduction each, the selection included.
//     Where several passes go over one selection, a first pass draws it as a bitmap,
//     a bit a record. The others then need neither the condition's attributes nor a
//     program of their own for its shape.
//   - The k-th largest value is searched for as in the paper. But a pass counts for
//     three tentative values at once and so decides two bits.
//
// # Attributes that are depths
//
// The paper copies an attribute to the depth buffer before it compares. Here a
// column whose codes have at most 24 bits can lie in a DEPTH24_STENCIL8 texture from
// the beginning, uploaded as integers. The texture is the buffer that is drawn to.
// The depth test compares all records with the quad's depth, without a fragment
// program reading any (file depth.go). This is how
//
//   - a comparison or range on one attribute is counted where there are few records. On hardware that is in
//     chunks of up to two million, where a reduction's second draw costs more than it saves. On software
//     rasterisers in tables of half a million;
//   - the k-th largest is searched for on software rasterisers in such tables, a bit a pass. The
//     WHERE program has marked the selection in the stencil values of the same
//     texture before.
//
// NULL is depth 0, and then the codes begin at depth 1. A column with NULLs must
// leave one of the 2^24 depths to them, or it is reduced like wider ones.
//
// # Caveats
//
//   - SUM and AVG of floating-point columns are a plan.Declined. So are conditions that read more textures
//     than the device has units. An attribute takes one, one more for codes of more than 32 bits, one more for
//     NULLs. Declined are conditions, too, that have more constants than the device takes as uniforms, or more
//     than 1000.
//   - Integer textures and depth textures are other forms of a column than the float
//     textures of package predicates. A column that both backends use is resident
//     more than once.
package fused
