// Package join joins tables on the host, and conducts the joins of which a device finds the pairs.
//
//   - [Join] joins the tables of a [Spec]: the codes of the result are gathered into a table, over which all else runs as
//     over any. Its [Step]s say what was joined, how, and how many rows there were.
//   - [Star] makes of the smaller tables of a star schema what a device looks up in one sweep over the fact table.
//   - [Partition] and [JoinBuckets] are the halves of a partitioned join: see [physical.Bucket].
//
// Files: join.go walks the plan and chooses the order of inner joins. pipeline.go sends blocks of the largest input through the
// joins with the others, whose rows are found by hash_tables.go (perfect hash, hash, merge) or index_join.go; keys.go
// makes numbers of keys, columns.go gathers columns. pairs.go and pairs_chain.go ask a device by way of [FindPairs] and
// [Holder].
package join
