// Package spill writes to a temporary file what the host memory budget has no room for.
//
//   - [File] is the temporary file of a statement. It is made when something is written first, and has no name.
//   - [Extent] is where a batch is in it.
//   - [EncodeBatch] and [File.ReadBatch] have columns in Arrow's IPC format.
//   - [AppendRows] and [ReadRows] have rows as the codes of their segments, the row format of partitions.
package spill
