// Package workload has what suites measure: operations over tables, and the statements that are made for a table.
//
// # Where what is
//
//   - source.go: [Source] gives the tables of a run. database.go: those of a benchmark's database. file_load.go: a table of a file.
//   - profile.go: [TableProfile] is what statements over a table are made of: columns, quantiles, coefficients.
//   - operations.go, paper_tables.go: the 2004 paper's operations, and the sizes of its tables.
//   - ssb.go, tpch.go, relational.go, functions.go: the operations of these suites.
//   - draws.go, query_template.go: parameters that are drawn, of a suite and of a user's statements.
package workload
