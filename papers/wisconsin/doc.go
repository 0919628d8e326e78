// Package wisconsin has the queries of "Performance Evaluation of Query Processing Algorithms on GPGPUs" (Hristov, Edinburgh 2010) as
// published. They run over tuples of the Wisconsin benchmark; the package has their experiments, too. The engine does not use them.
//
//	text                                   here
//	S3.1, S5.2.6 tuples                    [Layout], [Make]
//	S4.1, L2, L3, App. B projection        [GPU.Projection]
//	S4.2 scan                              package scan
//	S4.3, L7, L14 aggregation              [GPU.Aggregation], [Aggregates]
//	S4.4, L8 to L10 selection              [GPU.Selection], with the mask [Copied] or of [Vectors]
//	S4.5, App. C cuckoo hash partitioning  [GPU.Cuckoo], cuckoo.comp
//	S4.6, L11 hash join                    [GPU.HashJoin]
//	L12 block based nested-loop join       [GPU.BlockJoin]; the text does not measure it
//	L13, S5.2.5 integrated query           [GPU.Integrated]
//	S5.2 sequential forms, in C            methods of [Table], in Go
//	S5.2.7 reading and writing data        figure 14 in experiments.go
//	S4.7 sorting                           described only: primitives.Sort is the engine's
//	App. A the table                       generate.Wisconsin
//
// # Slips, and what is taken
//
//   - L10 writes to mask[gid]; the text subtracts 1 from the inclusive scan, and so does the kernel.
//   - "Bitwise OR" with the copy of the mask cannot clear a bit that was not set. So it is an AND with all ones, or with 0, from
//     the copy.
//   - L8 has == for =.
//   - L13 has an alias t that does not exist, predicates on both tables where S5.2.5 selects on one, and calls a MAX average_sum. Taken is
//     a selection of unique1 between the bounds on the larger table, and the larger table's attributes. By the join the result is the same.
//   - g_n(x) = (a_n0 | seed + (a_n1 | seed mod p)) mod s has no x and gives no constants. Taken is g_n(x) = ((a_n0 ^ m) x + (a_n1 ^ m)) mod
//     p mod s with m = seed * 0x9e3779b9. p is 1900813, the prime of Alcantara and others 2009, and the constants are those of hash
//     functions. An OR cannot change a bit that is set.
//   - A load of "about 75 %": 409 elements are 71 % of the 576 slots, and 80 % of 512.
//   - The result of the join is "bound by max(N, M)": of unique keys by min(N, M).
//   - App. C: every thread that fails adds 1 to the seed: here the bucket's seed is one more. Tables are not cleared before a rebuild: they
//     are. The variable table is not reset: it is. Lanes beyond a bucket's elements are not masked: they are idle. done is read and
//     set without a barrier between: there is one. Slots that stay empty are not marked: they have row ~0. A slot has the number of its thread in
//     the place of the key, so that every key may occur.
//   - Large tuples of 136 bytes have decimals of 8 bytes; with the text's floats of 4 they have 120. 136 is taken, by padding.
//   - "25 % higher, than the time required to process a large tuple": a small one.
//   - Tables 6 and 7 say ms and are ns a tuple; the standard row of table 7 is the float column of table 6.
//   - The block of the 9600 in table 8 is shifted by one row: its first line is the total.
//   - Tables 1 and 5 differ (86.2 and 84.5 ms): other runs.
//   - Query L8 selects nothing of 1,000 tuples, and from 10,000 on always about 1,250: [Constant] has 12.5 % of any.
//
// # Silences, and what is taken
//
//   - The values of the attributes: those of the Wisconsin benchmark.
//   - How tuples come to their buckets: by counters of the buckets, so that their order within one is not fixed.
//   - How a key is treated that is there twice: the join is refused, as a bucket of more than 512 elements is.
//   - How often a bucket is rebuilt at most: 1024 times.
//   - How many blocks listing 12 has: 256, fewer of few tuples.
//   - How the maximum of nothing is told: it is the padding, the extreme.
//   - What a sum does that is too large: it wraps at 2^32.
//
// # Deviations
//
//   - OpenCL copies what a kernel asks for from host memory; OpenGL has no such buffers. The input is copied before the kernel, in the section
//     where the text has the kernel, and the output behind it.
//   - A table that no storage block holds comes in parts in an aggregation, as section 4.3 says; other queries refuse it.
//   - Quotients of floats may differ between devices in the last places. A result within four units in the last place is right, and after
//     a conversion to ints one within 1.
package wisconsin
