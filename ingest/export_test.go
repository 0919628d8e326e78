package ingest

// LoadFrom is what Load does with an open file; the others are what WriteFile does with
// one.
var (
	LoadFrom     = loadFrom
	WriteCSV     = delimited(',')
	WriteArrow   = batches(NewArrowFile)
	WriteParquet = batches(NewParquetFile)
)
