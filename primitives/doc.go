// Package primitives has the data-parallel primitives that relational operators are
// made of. They have the names and definitions of GDB (He et al., "Relational Query
// Coprocessing on Graphics Processors", TODS 2009, section 3.1.1 and Table II). They
// are compute dispatches. Each function hands passes to a [pass.Runner].
//
//	primitive   out                                       reads + writes (words an element)
//	Map         out[i] = fn(x[i], y[i], z[i], i)          inputs + 1
//	Reduce      out[0] = in[0] op ... op in[n-1]          1 + 0
//	Scan        out[i] = in[0] op ... op in[i-1] (op in[i])
//	                                                      1 + 1 (2 + 1 without look-back;
//	                                                      the segments are read as often as in)
//	Runs        the number of each run of like elements   as a Scan, and 1 a run
//	Gather      out[i] = in[at[i]]                        1 + 1, and 1 at random (the
//	                                                      locations once per Shapes.Reach)
//	Scatter     out[at[i]] = in[i]                        2 + 0, and 1 at random (likewise)
//	Permute     Scatter of a permutation                  beyond a quarter of Shapes.Reach that of a Split and 2 + 1
//	Split       elements by part, in order within a part  2 + 1 (and the same for values)
//	Sort        keys in order, with row ids               per 8 bits: 2 + 2 (3 + 2), and
//	                                                      1 once; the ids of the first
//	                                                      8 bits are not read
//	Search      the place of each key in sorted      1 + 1, and a word or a line a step at
//	            words                                 random: binary, p-ary, or down a [Tree]
//
// GDB's cost model (section 4.3, equations 6 to 13) charges the same: bytes moved at
// the bandwidth of sequential, or of random, access.
//
// The types to know:
//
//   - [Vector] is a run of 32-bit words in a storage block. [New] makes one,
//     [FromSlice] one with contents, [Of] names one that exists.
//   - [Shapes] are those of tiles, and which tier is used; [ShapesOf] chooses them.
//   - [Operator] is an associative operator with its identity; [Func] a GLSL
//     expression with constants.
//
// # How they work
//
// Scan, Split and Sort walk a vector in tiles that fit a work group, and
// need to know what precedes a tile. With Shapes.LookBack tiles are taken in the
// order in which work groups start. A tile looks back at the states of those
// before it. (Single-pass prefix scan with decoupled look-back, Merrill and Garland 2016. For Sort, per digit: onesweep, Adinets and Merrill 2022). Every element is
// read once. That relies on a work group that has started going on while another
// waits for it, which OpenGL does not promise. Without LookBack each work group
// reduces a strip of tiles, one group scans the sums, and each group scans its strip
// from there. Where barriers are expensive (software), every thread has a strip to
// itself and no memory is shared.
//
// # Caveats
//
//   - Vectors of scratch memory live until their scope ends (pass.Scope). So does the
//     working memory of a call, up to 4 words an element for Sort.
//   - An output may be an input of Map and Scan, and of nothing else.
//   - n is at most Shapes.MaxWords. An empty vector is fine everywhere.
//   - Expressions are part of a program's text, and a new one costs its compilation:
//     keep what varies in Func.Constants.
//   - Results are the same on every device and in every run: Sort and Split are
//     stable; Scatter is the exception where two locations are equal.
//   - Keys are unsigned. For other types sort their ordinals (package table), for a
//     descending order their complement.
package primitives
