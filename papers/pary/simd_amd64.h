#include <stdint.h>

// Searches of a batch among n sorted strings of four words, n at least 1; a place is 2^32 - 1 where there is no such string.
void pary_binary(const uint32_t *keys, int64_t n, const uint32_t *queries, int64_t batch, uint32_t *places);
void pary_pary(const uint32_t *keys, int64_t n, const uint32_t *queries, int64_t batch, uint32_t *places);
