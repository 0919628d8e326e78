package expr

import (
	"slices"

	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/table"
)

// Reader tells how the values of a column are read: of place i into the place of some value.
type Reader func(column int) func(i int, to *table.Value)

// Rows reads the rows of a chunk.
func Rows(c *table.Chunk) Reader {
	return func(column int) func(i int, to *table.Value) {
		s := c.Segments[column]
		return func(i int, to *table.Value) {
			*to = table.Value{}
			s.Read(i, to)
		}
	}
}

// Codes reads the codes of a segment in their order, of an expression that reads its column alone.
func Codes(s *table.Segment) Reader {
	return func(int) func(i int, to *table.Value) {
		return func(i int, to *table.Value) { *to = s.Decode(uint64(i)) }
	}
}

// Nulls reads a NULL of a segment's column.
func Nulls(s *table.Segment) Reader {
	return func(int) func(i int, to *table.Value) {
		return func(_ int, to *table.Value) { *to = table.Null(s.Type) }
	}
}

// At evaluates an expression at places of what is read, by its definition. wide is as in [Env].
func At(e Expr, read Reader, wide bool) func(i int) (table.Value, error) {
	at, columns := 0, Columns(e)
	readers := xslices.Map(columns, func(k int) func(i int, to *table.Value) { return read(k) })
	env := &Env{Column: func(k int) (v table.Value) {
		i, _ := slices.BinarySearch(columns, k)
		readers[i](at, &v)
		return v
	}}
	if wide {
		env.Agg = func(int) table.Value { return table.Value{Null: true} }
	}
	return func(i int) (table.Value, error) {
		at = i
		return Eval(e, env)
	}
}
