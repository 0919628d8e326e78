package trace

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/stencildb/stencildb/expr"
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

// asNamed are the columns that the statement reads, in the order in which it names them; those of its
// rows come first.
func (t *tracer) asNamed() []int {
	at := map[int]int{}
	name := func(col, place int) {
		if before, ok := at[col]; !ok || place < before {
			at[col] = place
		}
	}
	names := func(e expr.Expr) {
		expr.Walk(e, func(e expr.Expr) {
			if c, ok := e.(*expr.Column); ok {
				name(c.Index, c.P)
			}
		})
	}
	for _, col := range t.plan.Columns {
		name(col, -1)
	}
	for _, a := range t.plan.Aggs {
		for _, col := range a.Reads() {
			name(col, a.P)
		}
	}
	names(t.plan.Where)
	list := t.plan.Reads()
	slices.SortFunc(list, func(a, b int) int { return cmp.Or(cmp.Compare(at[a], at[b]), cmp.Compare(a, b)) })
	return list
}

// columns keeps what the columns hold that the statement reads.
func (t *tracer) columns() {
	for _, col := range t.asNamed() {
		f := t.plan.Table.Field(col)
		c := &Column{Name: f.Name, Type: f.Type.String()}
		for i, chunk := range t.plan.Table.Chunks {
			seg := chunk.Segments[col]
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
			c.Chunks = append(c.Chunks, ColumnChunk{seg.Bits, t.images.add(values), t.images.add(codes), t.images.add(narrow(index))})
		}
		if len(c.Chunks) == 0 {
			c.Chunks = []ColumnChunk{{0, t.images.add([]string{}), t.images.add([]string{}), t.images.add(narrow([]uint32{}))}}
		}
		t.trace.Columns = append(t.trace.Columns, c)
	}
}
