// The AVX2 kernels, by the width of a code in bits: 8, 16, 32 or 64.

#include <stdint.h>

// avx2_select: dst has the rows of among with code - lo <= top, wrapping in the width.
void avx2_select(int width, uint64_t *dst, const uint64_t *among, int64_t words, const void *codes, uint64_t lo, uint64_t top);

// avx2_sum: the selected codes, up to 2^32 of them, add up to sum[1] * 2^64 + sum[0].
void avx2_sum(int width, const uint64_t *sel, int64_t words, const void *codes, uint64_t sum[2]);

// avx2_extremes: the smallest and the largest selected code, the largest number and 0 where
// no row is selected.
void avx2_extremes(int width, const uint64_t *sel, int64_t words, const void *codes, uint64_t ends[2]);

// avx2_multiply_add32 and avx2_multiply_add64: acc += coef * code, for n codes, wrapping.
void avx2_multiply_add32(int width, uint32_t *acc, int64_t n, const void *codes, uint32_t coef);
void avx2_multiply_add64(int width, uint64_t *acc, int64_t n, const void *codes, uint64_t coef);
