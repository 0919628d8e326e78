// Package plan has the logical plan of a statement: a tree of [Node]s over names and values. It knows neither SQL text nor GL.
//
// # Where what is
//
//   - A node is a file: [Scan], [Filter], [Project], [Join], [Aggregate], [GroupingSets], [Distinct], [Sort], [Limit], [Window], [Values],
//     and so on. A [Derived] reads the rows of a [Subplan], a tree of its own. A [Fragment] is what one backend does as a whole.
//   - node.go and visitor.go walk and rewrite trees and their expressions. conditions.go takes conditions apart and tells
//     which expressions may raise an error. join.go has the keys of joins.
//   - Package rules rewrites a tree, one rule a file; it ends with [rules.CutFragments], which cuts out the fragments.
//   - Package stats estimates: rows of a node, selectivities, different values, whether grouping early pays.
//   - Package pipeline has the physical plan, a DAG of pipelines, and package planner makes it of a tree and of estimates.
//   - Package lower turns expressions into predicates, sums and computed codes over the codes of one chunk: what package predicate has.
//   - Package physical has what a backend is asked: a [physical.Query] over a table, a [physical.JoinQuery] over two.
//   - Package partial has what a backend answers: partial aggregates, and how those of parts and devices merge and are finished.
//   - Package glsl writes predicates and values as GLSL.
//
// Imports point one way: rules and stats use plan; lower uses predicate; physical uses lower; partial uses physical.
//
// # Caveats
//
//   - A tree does not change: a rule makes new nodes. [Subplan].Tree is the exception, while rules run.
//   - The identity of a [Subplan] says that it is computed once, however many nodes read it.
package plan
