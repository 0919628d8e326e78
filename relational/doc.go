// Package relational joins, sorts, groups by sorting and computes window functions on the device. Its operators are built on
// package primitives. Their input is the rows that package compute selects.
//
//   - order_by.go: the keys of selected records become words, which a radix sort orders. With LIMIT, an order statistic of the
//     first key first leaves few records. computed_codes.go makes the codes of a key that is an expression. assign.go makes the
//     codes of a column that UPDATE assigns to.
//   - join_pairs.go: the codes of the keys of two tables are gathered from the planes or by lists of row ids. [Join]
//     (join.go) finds the pairs of row ids: by a perfect hash (perfect_join.go), a hash join (hash_join.go), a sort-merge
//     join or nested loops. partitioned_join.go joins what does not fit, a partition at a time.
//   - group_by_sort.go: groups by keys with more combinations of codes than [compute.Groups] has slots for. distinct.go marks
//     the different values of a column.
//   - window.go sorts by the keys of a window. window_functions.go computes its functions by scans over that order.
//     window_column.go makes segments of what is read back.
package relational
