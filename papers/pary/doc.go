// Package pary has the searches of "Parallel Search On Video Cards" (Kaldewey, Hagen, Di Blas and Sedlar, HotPar 2009) as published, and
// their experiments. The engine's own searches are in package primitives; these are for comparison, and nothing else uses them.
//
//	text                                 here
//	S3 Parallel Binary Search            [Binary], binary.comp: a thread a query
//	S3 P-ary Search                      [PAry], pary.comp: p threads a query, with the boundaries [Own], [Shared] or [Reused]
//	S3 Theoretical Considerations, F5    the counting variants of both ([Counts]), and theory in figures.go
//	S4 the serial CPU implementation     [Serial]
//	S4 the CPU's SSE unit                [SIMD], simd_amd64.c
//	S4 multithreading                    [Threads]
//	S4 data                              [Keys], [Places]
//	S4 Timing Breakdown, F7              [Launch] and the cumulative steps in experiments.go
//	S5 future work: vector units         [Vectors], and [Threads] of it; ours
//
// # Slips, and what is taken
//
//   - "Theoretical Considerations" has p memory accesses a step, the paragraph above it 2p, p + 1 and p - 1. All of them are measured, and
//     figure 5 has the three theories.
//   - S3 has "more than 2 x" as many accesses as binary search, S5 "nearly three times". p / log2 p is 8/3 = 2.67 with p = 8. It is 3.0
//     with p + 1, 2.33 with p - 1, and 5.33 with 2p accesses a step.
//   - "Reduces the search range by 1/p": to 1/p of it, or the execution time would not be log_p n.
//   - "At least p log2 p conflicts" of binary searches and "p - 1 at most" of p-ary search count different things. The first count is of
//     the first log2 p steps of p searches, the second of the last step of one search. Here a conflict is a read of a key that another
//     one of the p threads reads in the same step. With own boundaries neighbours conflict in every step; with the others never.
//   - A p-ary search "yields only 1 result as opposed to p" in each run, and its "response time is better". Figure 5 has both, as
//     results a step and steps.
//
// # Silences, and what is taken
//
//   - Which keys are asked for: each key alike. Keys that are not there, which differ in the last byte, are cases of their own.
//   - Which of the three ways to read boundaries was measured: [Reused], the last named.
//   - How many threads a block has: 128, 32 on a software rasteriser, in whole teams of p.
//   - How strings are compared: as four words, the first characters in the highest bits. The serial search compares word by word.
//   - What an unsuccessful search gives: [Missing].
//   - The sizes of the batches in figures 6 to 8: powers of two from 16 on.
//
// # Deviations
//
//   - PEs of a multiprocessor run in step without a barrier. In OpenGL threads of a work group do not, so that every device has barriers
//     between steps.
//   - A step that ends with a part of no keys is an idle one for its thread: p need not divide n.
package pary
