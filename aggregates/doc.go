// Package aggregates computes aggregates over a selection as the 2004 paper does:
// COUNT by occlusion query, the k-th largest value bit by bit with the depth test
// ([Selection.KthLargest]), the sum of integers bit by bit with a discarding program
// ([Selection.Accumulator]). MIN, MAX, MEDIAN and percentile_disc are k-th values, AVG
// is SUM / COUNT.
//
//   - [Run] executes a whole plan.Query with a pass.Runner.
//   - [Chunks] is what the selections of a query's chunks have in common, those of package
//     fused too: counts of all chunks are in flight before the first is waited for.
//   - [Selection] is the selected records of all chunks of a table; file attribute.go
//     has what chunks and limbs of codes ask of a k-th search: a tentative value is
//     translated to each chunk's codes, and their limbs are compared one after the other.
//
// It calls no GL.
//
// # Deviations from the paper, and why
//
//   - Codes wider than 24 bits: KthLargest finds the top limb first, then restricts
//     the candidates to the records that have it, and so on down.
//   - Several chunks: every step asks all chunks and adds their counts.
//   - The Accumulator's counts of all chunks are in flight before the first is waited for:
//     no pass depends on another. (KthLargest has to wait for each.)
//   - TestBit discards instead of using the alpha test, which core OpenGL lacks.
package aggregates
