// Package querystats collects what a statement takes while it runs.
//
//   - [Stats] says what a statement took: passes, samples, times. [Loading] is what it waited for before that.
//   - [Collector] adds them up. Several goroutines may use it.
//   - [RowCounts] has how many rows each node of a plan gave, and [Operator] its rows, bytes and time, for EXPLAIN ANALYZE.
package querystats
