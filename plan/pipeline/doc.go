// Package pipeline has the physical plan of a statement as data: a DAG of pipelines (Neumann, "Efficiently Compiling Efficient Query
// Plans for Modern Hardware", 2011). Package planner makes it of a logical plan.
//
// A [Pipeline] is what one sweep over some rows does. A [Source] gives them, each [Step] filters, widens or joins them, a [Sink]
// takes them in. What a sink leaves is the source of a later pipeline, a build that a later one probes, or the answer.
//
// # Where what is
//
//   - plan.go: [Plan], the pipelines in the order of their execution, and [Answer]. pipeline.go: [Pipeline] and the three interfaces.
//   - Sources, a file each: [Scan], [Lookup], [Batches], [Relation], [BuildScan], [Values], [Series], [Recursion] and its [WorkingTable].
//   - Steps, a file each: [Filter], [Compute], [Probe], [Repeat], [SeriesOfEach], [Unpivot].
//   - Sinks, a file each: [Rows], [Aggregate], [Groups], [Build], [Sort], [Distinct], [Window], [Scalar], [Change].
//   - check.go: [Plan.Check], which says what is wrong with a plan. json.go: a plan as JSON.
//
// # Caveats
//
//   - Rows have a layout: the columns of the source, then those that steps add. An [expr.Column] is a place in the layout of its step.
//   - There is no [expr.AggRef]: what an aggregation gives is columns of a relation. An [expr.Subquery] names the [Scalar] of an earlier pipeline.
//   - Estimates are expectations. A build that meets a key twice, or more rows than it was planned for, changes its mode while it runs.
package pipeline
