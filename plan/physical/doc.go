// Package physical has what a backend is asked.
//
// # Where what is
//
//   - query.go: [Query], a [plan.Fragment] lowered for a snapshot of its table: what to select in each chunk, and what to aggregate, order or group.
//     predicate_cache.go: [NewQuery] and the cache of lowered predicates. part.go: the query over some chunks, for one of several devices.
//   - join_query.go: [JoinQuery], the pairs of rows of two tables that a join finds; bucket.go: the keys and row ids of one partition.
//   - group_states.go: which groups a device may find, and their states; distinct_codes.go: different values of a column; dimension.go: the tables of a star join.
//   - code_space.go: [CodeSpace], the code space that the chunks of a column share. sort_by_columns.go: sort keys as columns. rank.go: which element an
//     order statistic is.
//   - selected_rows.go, sorted_run.go: rows that a device gives. check_error.go: the error of a check.
package physical
