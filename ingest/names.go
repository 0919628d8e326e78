package ingest

import "github.com/stencildb/stencildb/ingest/source"

// What says where data come from and how they are read is of package source, on which all formats are built.
type (
	// Source says where the data of a table come from and how to read them.
	Source = source.Source
	// Options bound a load.
	Options = source.Options
	// ColumnType declares the type of a column; columns not declared are inferred.
	ColumnType = source.ColumnType
	// Format is a file format.
	Format = source.Format
	// Header says whether the first line of a CSV holds the names of its columns.
	Header = source.Header
	// Encoding is how the characters of a text are bytes; "" is UTF-8.
	Encoding = source.Encoding
	// Progress is how far a load is.
	Progress = source.Progress
	// Temporary is a file without a name, which goes when it is closed.
	Temporary = source.Temporary
	// Kept is what comes once only, to be read more often.
	Kept = source.Kept
	// MemoryError is that of a table which takes more memory than the options allow.
	MemoryError = source.MemoryError
)

// The formats, the kinds of first lines, and the encodings.
const (
	CSV     = source.CSV
	TSV     = source.TSV
	JSON    = source.JSON
	Parquet = source.Parquet
	Arrow   = source.Arrow

	HeaderSniffed = source.HeaderSniffed
	HeaderThere   = source.HeaderThere
	HeaderNone    = source.HeaderNone

	UTF8        = source.UTF8
	Latin1      = source.Latin1
	Windows1252 = source.Windows1252
	UTF16       = source.UTF16
)
