package columnar

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stencildb/stencildb/table"
)

// Groups are those of a file, or some of them.
type Groups []Group

// Group is some of the rows of a file that has them column by column. It is a row group of a
// Parquet file, or a record batch of Arrow. Its columns are read at the same time.
type Group struct {
	Rows int
	// Column begins to read a column; next returns its next n rows as an array.
	Column func(col int) (next func(n int) (arrow.Array, error), err error)
	// Stated is what the file states about a column.
	Stated func(col int) Statistics
	Bytes  func(col int) int64 // of the file
	Path   string              // of the file, where there are several
	Name   string              // in the file
	Of     *largeGroup         // that it is a piece of, if it is one
	from   int                 // its first row there
}

// columnBatch is how many values of a column are decoded at a time.
const columnBatch = 1 << 14

// skip passes over the next rows of a column.
func skip(next func(n int) (arrow.Array, error), rows int) error {
	for rows > 0 {
		n := min(rows, columnBatch)
		a, err := next(n)
		if err != nil {
			return err
		}
		a.Release()
		rows -= n
	}
	return nil
}

// MemoryBytes estimates what columns of the group take in memory.
func (g Group) MemoryBytes(fields []table.Field, columns []int) (n int64) {
	for _, i := range columns {
		width := 8
		if lo, hi, ok := g.Stated(i).bounds(); ok {
			width = table.CodeWidth(hi - lo)
		}
		if fields[i].Type.Kind == table.Varchar {
			width = 4
			n += 3 * g.Bytes(i)
		}
		n += int64(width*g.Rows) + int64(g.Rows/8)
	}
	return n
}
