// Package externalsort sorts more rows than memory has room for (Knuth, volume 3, 5.4). Batches are sorted to runs in a temporary
// file, and the runs are merged.
//
//   - [Runs] takes batches of columns and gives their rows in order.
//   - [Merge] merges runs that are sorted already.
//   - [Heap] finds the next of several sorted runs, also for those that devices have sorted.
//
// The keys of rows are compared as bytes: see package sortkey. A batch is Arrow arrays of equal length, a column each.
package externalsort
