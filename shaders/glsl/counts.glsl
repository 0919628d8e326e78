// Partial results of a reduction: four counts.
uvec4 addCounts(uvec4 a, uvec4 b) { return a + b; }
