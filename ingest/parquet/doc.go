// Package parquet reads and writes Parquet files. It uses arrow-go's record readers and column writers, but not pqarrow, which would link gRPC.
//
//   - [Open]: fields and row groups of a file (reader.go, types.go); its footer (footer.go); pages, whose checksums and number of values are verified (page_reader.go)
//   - what a footer states about a column, as far as the standard makes it sure, and the check of it against the rows (statistics.go)
//   - [NewWriter], [WriteChunks]: record batches to a file (writer.go, forms.go); [NewRowsFile]: rows of tables (rows_file.go)
package parquet
