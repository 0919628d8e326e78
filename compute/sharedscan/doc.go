// Package sharedscan answers queries that wait together by one sweep over the rows: Hsu's scheduler on compute shaders.
//
//   - batchable_query.go: a [Query] is a query that such a sweep can answer, as lines, each a condition and a value.
//   - code_set.go has its conditions as sets of codes.
//   - shared_scan.go: a [Scan] takes queries over the same chunks. The intervals of a record's codes tell which of 64 conditions
//     it passes, so that conditions cost the same however many there are.
//   - program.go writes its program (shaders/glsl/batch.glsl).
package sharedscan
