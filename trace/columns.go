package trace

import (
	"slices"
	"strconv"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
)

// Column is the values of a column at the cells' first records.
type Column struct {
	Name   string        `json:"name"`
	Type   string        `json:"type"`
	Chunks []ColumnChunk `json:"chunks"`
}

// ColumnChunk is the values of a chunk: a cell has value and code number Index[cell]
// of Values and Codes, code "" for NULL.
type ColumnChunk struct {
	Bits   int `json:"bits"`
	Values int `json:"values"` // an image of text
	Codes  int `json:"codes"`  // an image of text
	Index  int `json:"index"`  // an image
}

// columnsOf lists the columns that a statement reads.
func columnsOf(q *plan.Query) []int {
	cols := expr.Columns(q.Where)
	for _, a := range q.Aggs {
		if a.Col >= 0 {
			cols = append(cols, a.Col)
		}
	}
	slices.Sort(cols)
	return slices.Compact(cols)
}

// columns keeps what the statement's columns hold.
func (t *tracer) columns() error {
	for _, col := range columnsOf(t.plan) {
		f := t.plan.Table.Field(col)
		c := &Column{Name: f.Name, Type: f.Type.String()}
		for i, chunk := range t.plan.Table.Chunks {
			seg := chunk.Segments[col]
			out := ColumnChunk{Bits: seg.Bits}
			index, at := []uint32{}, map[string]uint32{}
			var values, codes []string
			for _, row := range t.trace.Grids[i].cells {
				code := ""
				if !seg.IsNull(row) {
					code = strconv.FormatUint(seg.Codes.At(row), 10)
				}
				n, ok := at[code]
				if !ok {
					n = uint32(len(values))
					at[code] = n
					values, codes = append(values, seg.Value(row).String()), append(codes, code)
				}
				index = append(index, n)
			}
			for _, part := range []struct {
				place *int
				of    any
			}{{&out.Index, narrow(index)}, {&out.Values, values}, {&out.Codes, codes}} {
				var err error
				if *part.place, err = t.images.add(part.of); err != nil {
					return err
				}
			}
			c.Chunks = append(c.Chunks, out)
		}
		t.trace.Columns = append(t.trace.Columns, c)
	}
	return nil
}
