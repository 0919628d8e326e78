// Package kernels has the inner loops of package cpu: range tests, counts, sums and extremes. They read codes
// of 8, 16, 32 or 64 bits, under selections of one bit a row.
//
// The types to know:
//
//   - [Codes] are the codes of a chunk with the loops over them; [Set.Of] makes them.
//   - [Set] is one implementation of the loops: [Portable], plain Go, or [AVX2].
//     [Best] is the fastest one that this machine runs.
//   - [Range] is the one test of codes that comparisons come down to:
//     code - Lo <= Top, unsigned and wrapping in the width of the code.
//
// A selection has row i in bit i%64 of word i/64, and as many words as its rows need. Its bits past the last
// row are 0. It may start at any row of the codes.
//
// The AVX2 kernels, in C in avx2_amd64.c, take whole words of 64 rows, and the portable
// ones the rows that remain. A word of which no row is selected is skipped without reading
// its codes.
//
// # Caveats
//
//   - Nothing checks that a machine has AVX2 when that Set is asked for: take it
//     from [Best] or [Sets].
//   - Members marks rows past the last one of a selection too, where there are some.
//   - Codes and selections are handed to C: they lie in allocations without pointers, no
//     array within a struct that has some.
//   - Go cannot preempt a kernel. One call handles a block of rows: microseconds.
package kernels
