// Package scan has the parallel scan of "Performance Evaluation of Query Processing Algorithms on GPGPUs" (Hristov 2010, section 4.2). It
// is the tree scan in local memory, over any associative operator. Other papers use it, too. The engine's own is primitives.Scan.
//
//	text                                    here
//	L4 Reduction, F1                        reduction in scan.comp, [Scanner.Reduce]
//	L4 Down-sweep inclusive, F2             [Scanner.Inclusive]
//	L4 Down-sweep exclusive, F3             [Scanner.Exclusive]
//	L5 Performing a scan on large arrays    chunks of twice the local size, a scan of their sums, add.comp; recursive
//	L6 Alternative version                  [Scanner.HillisSteele], with two buffers
//	S4.2 an element of a vector array       [Array.Stride] and [Array.At]
//
// # Slips, and what is taken
//
//   - L4 has the conditions i >= 2^d - 1 and i > 2^d - 1. The first threads do not meet them, and the down-sweep has no thread left
//     in its first step. The figures' conditions are taken: thread i works in a step if its pair is in the array.
//   - L5's chunk_size := nearest_pow2(n >> 1 + n&1) is n >> (1 + n) & 1 by C's precedence; (n >> 1) + (n & 1) is taken.
//   - "Updating all chunks requires O(c)", and so the whole O(log n): c grows with n, so that the whole is O(n / (chunk * cores) + log n).
//
// # Deviations
//
//   - An array is padded in local memory, where a chunk reaches beyond it, by the identity; in global memory nothing is.
//   - Segments are ours, for papers that need them: an operator on pairs of a flag and a value (Schwartz 1980) in the same tree.
package scan
