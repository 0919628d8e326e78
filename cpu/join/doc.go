// Package join joins tables on the host.
//
// A [Host] has the tables of a join, in the numbering of [plan.Join.OverScans]. Package joinorder of engine conducts a
// join and calls its operators one after the other. Each takes and returns a [Relation]: rows of several tables side by
// side, as lists of their numbers:
//
//   - [Host.Selected] is the rows of one table for which a condition is TRUE.
//   - [Host.Pipeline] sends the rows of a relation, in blocks on all cores, through [Stage]s: joins with other relations,
//     whose rows are found by their [Key]s.
//   - [Host.Gather] gathers the columns of the result: a table, over which all else runs as over any.
//
// [Partition] and [JoinBuckets] are the halves of a partitioned join: see [physical.Bucket].
//
// Files: join.go has the types, pipeline.go the pipeline. Partners are found by hash_tables.go (perfect hash, hash, merge) or
// index_join.go. keys.go makes numbers of keys, columns.go gathers columns.
package join
