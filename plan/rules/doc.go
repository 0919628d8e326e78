// Package rules rewrites plans, one rule a file. A rule is a function from a node to a node that gives the same rows. [Rules] has those
// that can be switched off, in the order in which they are applied.
//
// # Where what is
//
//   - rules.go: the list, and [Off], the set of those that are left out.
//   - unnest.go, decorrelate.go, outer_join.go, window.go, volatile_subquery.go: [Unnest] makes joins of subqueries. lateral.go: LATERAL.
//     outer_references.go: what a subquery reads of the query around it. check_resolved.go: refuses what is left of that.
//   - count_readers.go: how many nodes read a subplan. inline.go, prune_columns.go, push_into_subquery.go, push_limit_into_union.go, push_aggregate.go: rules over whole queries.
//   - factor.go, infer_filter.go, push_filter.go, push_semi.go, push_limit.go, group_distinct.go, top_n.go, merge_filters.go, fold_false.go,
//     exists_only.go: rules over nodes.
//   - cut_fragments.go, group_bound.go: [CutFragments] puts a [plan.Fragment] in the place of what one backend does as a whole. limit_hint.go: how many rows
//     a LIMIT asks of it. materialize_join.go: a join as a table of its own.
package rules
