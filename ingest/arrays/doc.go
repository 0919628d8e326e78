// Package arrays turns columns of tables into Arrow arrays and back.
//
//   - [TypeOf], [ColumnType]: the Arrow type of an SQL type, and the reverse (types.go)
//   - [AppendValue], [Values]: single values (values.go)
//   - [Columns]: codes to arrays (encode.go)
//   - [Decoded]: arrays to ordinals, and so to codes (decode.go, integers.go); [Cells]: values of a column that are added to a table (cells.go)
//   - [BatchWriter], [ChunkWriter]: tables as record batches (batch_writer.go)
package arrays
