// Package planner makes the physical plan of a statement, a DAG of pipelines, of its logical plan and of statistics. It runs nothing, and
// the same tree with the same statistics gives the same plan.
//
// # Where what is
//
//   - planner.go: [New], [Statistics]; a stream is a pipeline whose sink is not known yet. needs.go: which columns are needed of a node.
//   - scan.go: tables, with pruning, look-ups by index and batches of files. subplan.go: subqueries in FROM, WITH, WITH RECURSIVE, UNION ALL.
//   - row_nodes.go: filters, select lists and the like, which are steps. breakers.go: groups, sorts, windows, which are sinks.
//   - join_order.go: the order of inner joins, by dynamic programming over subsets (Selinger and others 1979; Moerkotte and Neumann 2006).
//     inner_joins.go: inner joins that stand above one another. outer_joins.go: outer, semi and anti joins. builds.go: builds and their
//     kinds. shared_builds.go: one build for several probes.
//   - expressions.go: expressions over the layout of a pipeline.
//
// # Caveats
//
//   - A node that is none of those that the rules leave is an error.
//   - What a subquery gives that is read once flows on in the same pipeline; what is read twice is a relation.
package planner
