// Package answer compares the answers that systems give to one statement. Rows that SQL leaves free may differ: their order, ties at a
// LIMIT, the rows that DISTINCT ON picks.
//
// # Where what is
//
//   - shape.go: [Shape] says how two right answers may differ, [Describe] reads it from a statement.
//   - comparison.go: [Answer], and the comparison of two.
package answer
