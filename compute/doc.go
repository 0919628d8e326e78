// Package compute answers queries with compute shaders on bit planes.
//
// Bit plane i of a column holds bit i of the codes of its records, 32 records to a word (package textures,
// block.go). A thread works on a unit, a uvec4 of each plane. One logical operation handles 128 records, and
// a query reads only the planes that it needs.
//
//   - A comparison walks the planes from the top. Two masks hold the records that are still equal to the
//     constant, and those found less. A plane and the constant's bit move records from the one to the other.
//     It stops when no record is equal any more, or when the constant has no lower bit set. (The paper's
//     Compare.)
//
//   - AND and OR hand the records that are still undecided from one operand to the
//     next. A whole WHERE is one generated program where it fits, else bitmaps.
//
//   - COUNT is the population count of the selection: the occlusion query's place.
//
//   - A semi-linear sum is compared with its constant in the same way, from the top. A few bits hold what is
//     left of the constant for each undecided record.
//
//   - SUM is the sum of 2^i * popcount(plane i AND selection): the paper's Accumulator, with all its TestBits in one pass. The sum of a
//     product of two columns is that of 2^(i+j) * popcount(plane i of one AND plane j of the other AND selection). With more than
//     [mostPairs] pairs, or three columns, it comes from packed codes. SUM of an expression comes from such sums over codes
//     ([lower.CodeSum]).
//
//   - The k-th largest value is found from the top, as the paper's KthLargest does, but [digitBits] bits a
//     pass and without waiting. A pass derives the bits decided so far from the counts of the pass before. It
//     keeps the candidates that have these bits, and counts them by the next bits.
//
//   - GROUP BY: a group is a slot, a number whose digits are the codes of the columns that the keys read. The selection becomes a
//     bitmap. A second pass adds the packed codes of its records up by slot, in shared memory where the slots fit. Where the
//     shared memory has room for all groups of each thread, each thread has its own slots. A FILTER is a bitmap of its own. Groups
//     are told apart by codes, their keys are found on the host from the first row of each ([physical.GroupStates]). A key that is
//     computed of many codes, such as x % 2, is a digit of its own. Slots that no cache holds are filled window by window, a sweep each.
//
//   - Stars of joins: before a record counts in a group, the codes of its foreign keys are looked up. Table by
//     table, a bitmap of the keys says whether there is a partner. Then an array gives a digit of the slot for
//     each key ([physical.Dimension]). With several arrays four records are looked up together, so that many
//     reads wait for memory at a time. Of the later columns only those of records that are left are read.
//
//   - Builds: the device makes the bitmaps and arrays of dimensions for each query (star_build.go). One dispatch goes over the
//     dimension's table: it filters, joins, then sets a bit and a digit at the place of each key. The host reads which combinations of
//     codes there are, and numbers them.
//
//   - Other joins, ORDER BY, groups of more keys than have slots, and window functions are package relational's. Queries that wait
//     together are one sweep of package sharedscan.
//
//   - LIKE over a dictionary of many texts scans their bytes (like.go). A work group takes 256 texts at a time, and searches bytes
//     that every match has, 16 a thread. It matches the texts that have them. The answer is a bitmap of codes, which a sweep looks the
//     codes of its records up in. All else that is asked of texts (=, <, ORDER BY, joins, GROUP BY) is asked of codes.
//
// In large chunks each multiprocessor keeps to a region of the records, the same in every
// program (units.glsl): it finds their addresses translated.
//
// The types to know:
//
//   - [Select] is the [partial.Selection] of a query on a [Profile].
//   - compiled is a query as a list of passes and the meaning of their counts; it is
//     kept for a query that runs again.
//   - [ChunkWork] is the work on one chunk, as passes; predicate_tree.go turns predicates over codes
//     into nodes over planes, predicate_program.go these into GLSL.
//   - kernel is a program with its arguments for one window of a chunk. On a GPU a dispatch costs the CPU
//     several microseconds. So the kernels of chunks that have the same program become one dispatch, which
//     goes over the chunks one after the other. Bitmaps of all chunks are then in one block, and columns are
//     found by their addresses, where the device can (Profile.Addresses).
//   - multiSum is what sums of expressions over the same columns ask of a chunk, columnSum one sum
//     that they need.
//   - sweep is one look at every record: what it selects and gathers. Sweeps of chunks that have the
//     same program add their counts up in the same words.
//   - order is what the searches for k-th values of a column share. The chunks' passes count the same digits
//     of a common code space (physical.CodeSpace) in the same place. So the number of chunks adds no wait. A
//     chunk's codes may differ from those of the space by more than set bits. Then a constant is added to the
//     planes, which stay resident (textures.Block.Plus). The ranks of strings are looked up first.
//   - rankSearch is such a search over several devices. Each looks some digits ahead, as its own
//     values decide them; where few values are left, a digit has more bits ([wideBits]).
//
// # Caveats
//
//   - All counts of a query are read back at once, those of its checks too: a query
//     that fails has done all its work.
//   - Planes that are 0 in every code are not stored (table.Segment.Varying). Constants
//     are translated to the stored bits ("dense" codes); see [stored].
//   - Software compiles a program as slowly as it scans 100 M records, and scans one column after the other
//     faster than several at once. So it evaluates bitmap by bitmap, with programs that queries have in
//     common (Profile.Fuse).
//   - NVIDIA's compiler takes at most 512 words of uniforms a program, arrays included.
package compute
