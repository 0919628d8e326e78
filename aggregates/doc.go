// Package aggregates computes aggregates over a selection as the 2004 paper does.
// COUNT is an occlusion query. The k-th largest value is found bit by bit with the depth test
// ([Selection.KthLargest]). The sum of integers is found bit by bit with a discarding program
// ([Selection.Accumulator]). MIN, MAX, MEDIAN and percentile_disc are k-th values, AVG
// is SUM / COUNT.
//
//   - [Run] executes a whole physical.Query with a pass.Runner.
//   - [Chunks] is what the selections of a query's chunks have in common, those of package
//     fused too. Counts of all chunks are in flight before the first is waited for.
//   - [Order] orders the selected rows by a sorting network, which the paper has not.
//   - [Selection] is the selected records of all chunks of a table. File attribute.go
//     has what chunks and limbs of codes ask of a k-th search. A tentative value is
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
//   - Both work on codes, a value's distance from the smallest of the chunk, with as many bits as the
//     largest has. The smallest value is added once for each record that was summed.
//   - A NULL's texel is 2^24. It has none of the bits 0 to 23, so that TestBit passes it by. The
//     copy for a k-th search puts it where it is not counted: beyond every code, or at 0 where the largest
//     are searched.
//   - The rank of a median is of the selected values that are not NULL: their count comes first.
//   - The mean of a mipmap's top times its texels is the sum. Its side is a power of two, so that
//     texels without a record count as 0.
//   - The guard program and the triangle for a quad: see package predicates.
package aggregates
