// The AVX2 kernels. Each goes over words of 64 rows: 64 codes, which are 2, 4, 8 or 16
// vectors of 32 bytes, beside one word of a selection. Words of which no row is selected
// are skipped. The width of a code is a constant wherever a kernel is compiled, so that
// of each switch below one case is left.

#include "avx2_amd64.h"
#include <immintrin.h>
#include <string.h>

typedef __m256i vector;
typedef uint16_t __attribute__((may_alias)) u16; // parts of a word
typedef uint32_t __attribute__((may_alias)) u32;

#define AVX2 static inline __attribute__((target("avx2,popcnt"), always_inline))

AVX2 vector load(const void *codes, int64_t i) { return _mm256_loadu_si256((const vector *)codes + i); }
AVX2 void store(void *out, int64_t i, vector x) { _mm256_storeu_si256((vector *)out + i, x); }

// fill has x in all lanes.
AVX2 vector fill(int width, uint64_t x) {
	switch (width) {
	case 8: return _mm256_set1_epi8(x);
	case 16: return _mm256_set1_epi16(x);
	case 32: return _mm256_set1_epi32(x);
	}
	return _mm256_set1_epi64x(x);
}

// above compares codes of 64 bits as unsigned numbers: AVX2 has signed ones alone.
AVX2 vector above(vector a, vector b) {
	vector sign = fill(64, 1ull << 63);
	return _mm256_cmpgt_epi64(a ^ sign, b ^ sign);
}

AVX2 vector smaller64(vector a, vector b) { return _mm256_blendv_epi8(a, b, above(a, b)); }
AVX2 vector larger64(vector a, vector b) { return _mm256_blendv_epi8(b, a, above(a, b)); }

// LANES makes one function of those for lanes of 8, 16, 32 and 64 bits.
#define LANES(name, of8, of16, of32, of64)               \
	AVX2 vector name(int width, vector a, vector b) {    \
		switch (width) {                                 \
		case 8: return of8(a, b);                        \
		case 16: return of16(a, b);                      \
		case 32: return of32(a, b);                      \
		}                                                \
		return of64(a, b);                               \
	}

LANES(equal, _mm256_cmpeq_epi8, _mm256_cmpeq_epi16, _mm256_cmpeq_epi32, _mm256_cmpeq_epi64)
LANES(subtract, _mm256_sub_epi8, _mm256_sub_epi16, _mm256_sub_epi32, _mm256_sub_epi64)
LANES(smaller, _mm256_min_epu8, _mm256_min_epu16, _mm256_min_epu32, smaller64)
LANES(larger, _mm256_max_epu8, _mm256_max_epu16, _mm256_max_epu32, larger64)

// skipped has lanes of ones for the rows of vector i of a word that are not selected.
AVX2 vector skipped(int width, const uint64_t *word, int i) {
	vector bits, lane;
	switch (width) {
	case 8:
		bits = _mm256_shuffle_epi8(_mm256_set1_epi32(((const u32 *)word)[i]),
			_mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303));
		lane = fill(64, 0x8040201008040201);
		break;
	case 16:
		bits = _mm256_set1_epi16(((const u16 *)word)[i]);
		lane = _mm256_setr_epi16(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768);
		break;
	case 32:
		bits = _mm256_set1_epi32(((const u32 *)word)[i / 4]);
		lane = _mm256_slli_epi32(_mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128), i % 4 * 8);
		break;
	default:
		bits = fill(64, *word);
		lane = _mm256_slli_epi64(_mm256_setr_epi64x(1, 2, 4, 8), 4 * i);
	}
	return equal(width, bits & lane, fill(64, 0));
}

// inside has lanes of ones for the codes of vector i with code - lo <= top.
AVX2 vector inside(int width, const void *codes, int i, vector lo, vector top) {
	vector x = subtract(width, load(codes, i), lo);
	return equal(width, smaller(width, x, top), x);
}

// outside64 is the same the other way round for codes of 64 bits, top less 2^63.
AVX2 uint64_t outside64(const void *codes, int i, vector lo, vector top) {
	vector x = subtract(64, load(codes, i), lo);
	return _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpgt_epi64(x, top)));
}

AVX2 void pick(int width, uint64_t *dst, const uint64_t *among, int64_t words, const char *codes, uint64_t lo, uint64_t top) {
	// Codes of 64 bits compare as signed numbers, 2^63 less.
	uint64_t bias = width == 64 ? 1ull << 63 : 0;
	vector l = fill(width, lo + bias), t = fill(width, top ^ bias);
	for (int64_t w = 0; w < words; w++, codes += 8 * width) {
		uint64_t m = 0;
		if (!among[w]) {
			dst[w] = 0;
			continue;
		}
#pragma GCC unroll 16
		for (int i = 0; i < width / 4; i += width == 16 ? 2 : 1) {
			switch (width) {
			case 8: m |= (uint64_t)(uint32_t)_mm256_movemask_epi8(inside(8, codes, i, l, t)) << (32 * i); break;
			case 16: {
				vector pair = _mm256_packs_epi16(inside(16, codes, i, l, t), inside(16, codes, i + 1, l, t));
				m |= (uint64_t)(uint32_t)_mm256_movemask_epi8(_mm256_permute4x64_epi64(pair, 0xd8)) << (16 * i);
				break;
			}
			case 32: m |= (uint64_t)_mm256_movemask_ps(_mm256_castsi256_ps(inside(32, codes, i, l, t))) << (8 * i); break;
			case 64: m |= outside64(codes, i, l, t) << (4 * i); break;
			}
		}
		dst[w] = among[w] & (width == 64 ? ~m : m);
	}
}

// EACH_SELECTED does what follows for each vector x of codes of which some row of the word
// is selected, with lanes of ones in skip for the others.
#define EACH_SELECTED(...)                                           \
	for (int64_t w = 0; w < words; w++, codes += 8 * width) {        \
		if (sel[w] == ~0ull)                                         \
			_Pragma("GCC unroll 16") for (int i = 0; i < width / 4; i++) { \
				vector x = load(codes, i), skip = fill(64, 0);       \
				__VA_ARGS__                                          \
			}                                                        \
		else if (sel[w])                                             \
			_Pragma("GCC unroll 16") for (int i = 0; i < width / 4; i++) { \
				vector x = load(codes, i), skip = skipped(width, &sel[w], i); \
				__VA_ARGS__                                          \
			}                                                        \
	}

// add adds up low and high parts of the selected codes: bytes of 16 bits, halves of 64.
AVX2 void add(int width, const uint64_t *sel, int64_t words, const char *codes, uint64_t sum[2]) {
	vector zero = fill(64, 0), low = zero, high = zero, half = fill(64, width == 16 ? 0x00ff00ff00ff00ff : 0xffffffff);
	EACH_SELECTED(
		x = x & ~skip;
		if (width == 8) {
			low = _mm256_add_epi64(low, _mm256_sad_epu8(x, zero));
		} else if (width == 16) {
			low = _mm256_add_epi64(low, _mm256_sad_epu8(x & half, zero));
			high = _mm256_add_epi64(high, _mm256_sad_epu8(_mm256_srli_epi16(x, 8), zero));
		} else {
			low = _mm256_add_epi64(low, x & half);
			high = _mm256_add_epi64(high, _mm256_srli_epi64(x, 32));
		})
	uint64_t lanes[8];
	store(lanes, 0, low);
	store(lanes, 1, high);
	unsigned __int128 total = (unsigned __int128)lanes[4] + lanes[5] + lanes[6] + lanes[7];
	total = (total << (width == 16 ? 8 : width == 64 ? 32 : 0)) + lanes[0] + lanes[1] + lanes[2] + lanes[3];
	sum[0] = total, sum[1] = total >> 64;
}

// extremes keeps the smallest and the largest selected code, lane by lane until the end.
AVX2 void extremes(int width, const uint64_t *sel, int64_t words, const char *codes, uint64_t ends[2]) {
	vector lo = fill(64, ~0ull), hi = fill(64, 0);
	EACH_SELECTED(
		lo = smaller(width, lo, skip | x);
		hi = larger(width, hi, x & ~skip);)
	ends[0] = ~0ull >> (64 - width), ends[1] = 0;
	for (int i = 0; i < 32; i += width / 8) {
		uint64_t least = 0, most = 0;
		memcpy(&least, (char *)&lo + i, width / 8);
		memcpy(&most, (char *)&hi + i, width / 8);
		ends[0] = least < ends[0] ? least : ends[0], ends[1] = most > ends[1] ? most : ends[1];
	}
}

// widened are codes 4*i to 4*i+3 in lanes of 64 bits.
AVX2 vector widened(int width, const char *codes, int64_t i) {
	const char *at = codes + i * width / 2;
	switch (width) {
	case 8: return _mm256_cvtepu8_epi64(_mm_loadu_si32(at));
	case 16: return _mm256_cvtepu16_epi64(_mm_loadl_epi64((const __m128i *)at));
	case 32: return _mm256_cvtepu32_epi64(_mm_loadu_si128((const __m128i *)at));
	}
	return load(at, 0);
}

// multiply_add takes products of 64 bits from those of 32.
AVX2 void multiply_add(int width, uint64_t *acc, int64_t n, const char *codes, uint64_t coef) {
	vector low = fill(64, coef), high = fill(64, coef >> 32);
#pragma GCC unroll 8
	for (int64_t i = 0; i < n / 4; i++) {
		vector x = widened(width, codes, i), upper = _mm256_mul_epu32(x, high);
		if (width == 64)
			upper = _mm256_add_epi64(upper, _mm256_mul_epu32(_mm256_srli_epi64(x, 32), low));
		x = _mm256_add_epi64(_mm256_mul_epu32(x, low), _mm256_slli_epi64(upper, 32));
		store(acc, i, _mm256_add_epi64(load(acc, i), x));
	}
}

#define BY_WIDTH(kernel, ...)                    \
	switch (width) {                             \
	case 8: kernel(8, __VA_ARGS__); break;       \
	case 16: kernel(16, __VA_ARGS__); break;     \
	case 32: kernel(32, __VA_ARGS__); break;     \
	case 64: kernel(64, __VA_ARGS__); break;     \
	}

#define ENTRY __attribute__((target("avx2,popcnt")))

ENTRY void avx2_select(int width, uint64_t *dst, const uint64_t *among, int64_t words, const void *codes, uint64_t lo, uint64_t top) {
	BY_WIDTH(pick, dst, among, words, codes, lo, top)
}

ENTRY void avx2_sum(int width, const uint64_t *sel, int64_t words, const void *codes, uint64_t sum[2]) {
	BY_WIDTH(add, sel, words, codes, sum)
}

ENTRY void avx2_extremes(int width, const uint64_t *sel, int64_t words, const void *codes, uint64_t ends[2]) {
	BY_WIDTH(extremes, sel, words, codes, ends)
}

// The compiler finds the vectors in these loops by itself.
#define MULTIPLY_ADD(type)                         \
	for (int64_t i = 0; i < n; i++)                \
		acc[i] += coef * ((const type *)codes)[i]; \
	break;

ENTRY void avx2_multiply_add32(int width, uint32_t *acc, int64_t n, const void *codes, uint32_t coef) {
	switch (width) {
	case 8: MULTIPLY_ADD(uint8_t)
	case 16: MULTIPLY_ADD(uint16_t)
	case 32: MULTIPLY_ADD(uint32_t)
	case 64: MULTIPLY_ADD(uint64_t)
	}
}

ENTRY void avx2_multiply_add64(int width, uint64_t *acc, int64_t n, const void *codes, uint64_t coef) {
	BY_WIDTH(multiply_add, acc, n, codes, coef)
}
