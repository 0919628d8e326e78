// Package cpu answers queries in plain Go: the reference for every other backend,
// and the CPU side of comparisons and of co-processing.
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
//   - [Scalar] runs a [plan.Fragment] row by row on decoded values. It has nothing
//     of package lower, of codes and of bitmaps, and shares with the backends only
//     [partial.Finish], so that it can be the oracle of tests.
//   - [Group] runs a [plan.Aggregate]: groups, and aggregates of expressions, over rows that
//     any backend has selected. A [vector.Evaluator] computes the expressions. Where a sample of the keys, which
//     are columns, says that there are many groups, the rows are dealt by a hash of their keys to parts, each of
//     which one core groups; else each core groups what it is given, and these are merged.
//   - [Index] finds the rows of a segment that have a code; [WithIndexes] has a backend use some.
//   - [Backend.Join] joins tables: the codes of the result are gathered into a table, over which all
//     else runs as over any. [Star] makes of the smaller tables of a star what a device looks up.
//   - [radixsort.Sorter] puts rows in the order of the codes of keys: a radix sort, or a selection of
//     the first ones.
//
// The packages below it know nothing of plans and backends:
//
//   - radixsort sorts rows, and finds the k-th of a list.
//   - hashtable numbers different words.
//   - vector computes expressions over blocks of rows.
//   - int128 has integers of 128 bits, and their sums.
//
// Where what is, by the first word of a file's name: join_, partitioned_join, index_join and star join;
// group_, groups_, partitioned_groups and merge_device_states group; the files of aggregates are named by them
// (order_statistics, ordered_set_aggregates, bit_aggregates, variance, distinct, string_agg); window_
// computes window functions; index, index_scan and search_tree are the index.
//
// Every aggregate has a partial result that is a small value and merges in any
// order (a count, a [partial.Sum], a minimum, a number of codes below the one of a rank).
// Workers keep one each; only values are merged, never codes, since codes of two chunks
// do not compare.
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
//   - Scalar keeps every selected value of every aggregate in memory, and Group those of
//     percentiles, kth_largest, kth_smallest and mode. A sum of REAL or DOUBLE takes half a KiB a group.
package cpu
