// The searches with vector instructions: SSE2, which every such processor has.

#include "simd_amd64.h"
#include <emmintrin.h>

// compare orders a string and the query: the first word that differs decides.
static inline int compare(const uint32_t *key, __m128i query, const uint32_t *words) {
	int alike = _mm_movemask_epi8(_mm_cmpeq_epi32(_mm_loadu_si128((const __m128i *)key), query));
	if (alike == 0xffff) return 0;
	int w = __builtin_ctz(~alike) / 4;
	return key[w] < words[w] ? -1 : 1;
}

void pary_binary(const uint32_t *keys, int64_t n, const uint32_t *queries, int64_t batch, uint32_t *places) {
	for (int64_t i = 0; i < batch; i++) {
		const uint32_t *words = queries + 4 * i;
		__m128i query = _mm_loadu_si128((const __m128i *)words);
		int64_t lo = 0, hi = n;
		places[i] = ~0u;
		while (lo < hi) {
			int64_t at = (lo + hi) / 2;
			int order = compare(keys + 4 * at, query, words);
			if (order == 0) {
				places[i] = at;
				break;
			}
			if (order < 0) lo = at + 1;
			else hi = at;
		}
	}
}

// Of the four boundaries of five parts of width w: how many are not above the query. Unsigned words are compared as signed ones less 2^31.
void pary_pary(const uint32_t *keys, int64_t n, const uint32_t *queries, int64_t batch, uint32_t *places) {
	const __m128i sign = _mm_set1_epi32(0x80000000);
	for (int64_t i = 0; i < batch; i++) {
		const uint32_t *words = queries + 4 * i;
		__m128i query = _mm_loadu_si128((const __m128i *)words), head = _mm_set1_epi32(words[0] ^ 0x80000000);
		int64_t lo = 0, size = n;
		places[i] = ~0u;
		while (size > 0) {
			int64_t w = (size + 4) / 5, last = size - 1;
			const uint32_t *at[4];
			for (int b = 0; b < 4; b++) {
				int64_t place = (b + 1) * w;
				at[b] = keys + 4 * (lo + (place < last ? place : last));
			}
			__m128i heads = _mm_xor_si128(_mm_set_epi32(*at[3], *at[2], *at[1], *at[0]), sign);
			int above = _mm_movemask_ps(_mm_castsi128_ps(_mm_cmpgt_epi32(heads, head)));
			int alike = _mm_movemask_ps(_mm_castsi128_ps(_mm_cmpeq_epi32(heads, head)));
			int part = 0;
			while (part < 4 && (part + 1) * w < size) {
				if (above >> part & 1) break;
				if ((alike >> part & 1) && compare(at[part], query, words) > 0) break;
				part++;
			}
			lo += part * w;
			size = size - part * w < w ? size - part * w : w;
			if (w == 1) {
				if (compare(keys + 4 * lo, query, words) == 0) places[i] = lo;
				break;
			}
		}
	}
}
