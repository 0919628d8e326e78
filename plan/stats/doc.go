// Package stats estimates what nodes of a plan give, from the tables' chunks.
//
// # Where what is
//
//   - cardinality.go: [Estimates.Rows], the rows of a node, joins included.
//   - selectivity.go: the share of rows that satisfy a condition, from ranges and from a sample of the rows.
//   - distinct_values.go: how many different values an expression has, and from which column they come.
//   - key_columns.go: the columns that a join's keys are. grouping_pays.go: whether rows are grouped before they are joined.
package stats
