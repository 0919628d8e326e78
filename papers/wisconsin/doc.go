// Package wisconsin has the queries of "Performance Evaluation of Query Processing Algorithms on GPGPUs" (Hristov, Edinburgh 2010) as published, over
// tuples of the Wisconsin benchmark, and their experiments. The engine does not use them.
//
//	text                                   here
//	S3.1, S5.2.6 tuples                    [Layout], [Make]
//	S4.1, L2, L3, App. B projection        [GPU.Projection]
//	S4.2 scan                              package scan
//	S4.3, L7, L14 aggregation              [GPU.Aggregation], [Aggregates]
//	S4.4, L8 to L10 selection              [GPU.Selection], with the mask [Copied] or of [Vectors]
//	S5.2 sequential forms, in C            methods of [Table], in Go
//	App. A the table                       generate.Wisconsin
//
// # Slips, and what is taken
//
//   - L10 writes to mask[gid]; the text subtracts 1 from the inclusive scan, and so does the kernel.
//   - "Bitwise OR" with the copy of the mask cannot clear what was not set: it is an AND with all ones, or with 0, from the copy.
//   - L8 has == for =.
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
//   - How the maximum of nothing is told: it is the padding, the extreme.
//   - What a sum does that is too large: it wraps at 2^32.
//
// # Deviations
//
//   - OpenCL copies what a kernel asks for from host memory; OpenGL has no such buffers. The input is copied before the kernel, in the section
//     where the text has the kernel, and the output behind it.
//   - A table that no storage block holds comes in parts in an aggregation, as section 4.3 says; other queries refuse it.
//   - Quotients of floats may differ between devices in the last places: a result within four units in the last place is right, and after
//     a conversion to ints one within 1.
package wisconsin
