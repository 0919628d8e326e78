// Package joinorder runs the joins of a statement: it chooses their order, and for each whether a device or the host does it.
//
//   - [Join] walks a tree of joins from its leaves. Inner joins that stand above one another are ordered as their inputs
//     are counted. The next input is the one after which the fewest rows are expected (order.go).
//   - A device finds the pairs of two relations by way of [FindPairs], and keeps their rows by way of a [Holder]. pairs.go
//     does that for two tables, pairs_of_relations.go for rows of joins. What it declines package join of cpu does.
//   - [Star] makes of the smaller tables of a star schema what a device looks up in one sweep over the fact table
//     (star*.go). A device builds most of it itself, for each execution (star_builds.go); the host makes the rest (star_arms.go).
//
// The order is greedy: joins are not reordered across an outer, semi or anti join.
package joinorder
