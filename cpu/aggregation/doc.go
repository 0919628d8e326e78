// Package aggregation groups rows on the host and computes their aggregates.
//
//   - [Group] runs a [plan.Aggregate] over rows that any backend has selected. A sample of the keys, if they are
//     columns, tells whether there are many groups. If so, the rows are partitioned by a hash of their keys, and one
//     core groups each partition. Otherwise each core groups the rows that it gets, and the groups are merged.
//   - [GroupSets] does so for each of several sets of keys, [GroupStates] and [GroupBeside] with what devices have
//     grouped.
//   - [Groups] takes the rows of one table after the other, so that groups outlive the tables. A [Hasher] partitions rows
//     where these groups are too many for memory.
//   - [CountDistinct] counts the values of a column. [Ordered] computes an aggregate from values that come in order.
//   - [State] is what an aggregate knows of the values of each group; [NewState] makes one by its kind, which [KindOf] says. The
//     aggregates of windows are computed with it, too.
//
// Files: group*.go, partitioned_groups.go, keys.go and grouping_sets.go find groups. Files of aggregates are named by
// these: order_statistics, ordered_set_aggregates, bit_aggregates, variance, distinct, string_agg; state.go has counts and
// sums.
//
// A state merges with others in any order, and is the same whatever that was. States hold values, never codes, since codes of
// two chunks do not compare.
//
// # Caveats
//
//   - [Group] keeps in memory all values of percentiles, kth_largest, kth_smallest and mode. A sum of REAL or DOUBLE
//     takes half a KiB a group.
package aggregation
