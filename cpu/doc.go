// Package cpu scans tables in plain Go: the reference for every other backend, and the CPU side of comparisons and of
// co-processing.
//
// The types to know:
//
//   - [Backend] runs a [physical.Query] over the codes of a table on several
//     goroutines. It works on blocks of 65,536 rows: a block's selection is a
//     bitmap, AND and OR work on bitmaps, aggregates read the selected codes. Its
//     inner loops are those of package kernels: AVX2 where the machine has it, plain
//     Go elsewhere and with the option [WithoutSIMD]; [Backend.SIMD] says which.
//     [Backend.Rows] yields the numbers of the selected rows, block by block in the
//     order of the table.
//   - [Scalar] runs a [plan.Fragment] row by row on decoded values. It uses neither package lower nor codes
//     nor bitmaps, and shares only [partial.Finish] with the backends. So it can be the oracle of tests.
//   - [WithIndexes] has a backend look rows up in the indexes of segments where one finds few (index_scan.go).
//   - [Selected] and [Assign] are the scan for one predicate over one chunk.
//
// The packages in its folder are the other operators of the host, and what they share:
//
//   - aggregation groups rows, and computes aggregates.
//   - join joins tables.
//   - window computes window functions.
//   - index finds the rows of a segment that have a code.
//   - radixsort sorts rows, and finds the k-th of a list.
//   - hashtable numbers different words, and finds the rows that have a key.
//   - vector computes expressions over blocks of rows.
//   - int128 has integers of 128 bits, and their sums.
//
// Every aggregate has a partial result: a small value that merges in any order. It is a count, a
// [partial.Sum], a minimum, or a number of codes below the code of a rank. Workers keep one each; only values
// are merged, never codes, since codes of two chunks do not compare.
//
// # Caveats
//
//   - When several rows raise errors, [Backend] reports the one of the first chunk,
//     and there of the first check; Scalar that of the first row. Both fail, but
//     not always with the same error.
//   - The k-th value takes a sample and one pass over the codes, which sets 3 % of
//     them aside. Where the sample misleads (one search in 16,000) or one value of
//     many rows is beside the wanted one, it takes a few of each.
//   - SUM of REAL and DOUBLE, IN lists, and arithmetic other than linear sums have no
//     vector instructions.
//   - Scalar keeps every selected value of every aggregate in memory.
package cpu
