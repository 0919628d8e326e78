package engine

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// gather computes select items of selected rows of a table: columns from their codes,
// plain arithmetic in loops over vectors, what reads one column of few codes once a
// code, all else row by row.
type gather struct {
	table   *table.Table
	items   []plan.Item
	columns ingest.Columns
}

func newGather(t *table.Table, items []plan.Item) *gather {
	return &gather{table: t, items: items}
}

// batch computes the items of a block of rows. Where a row raises an error, it gives the
// rows before it and the error: that of the first such row, and in it of the first item.
func (g *gather) batch(m *memo, b table.Block) (batch, error) {
	v := &vectors{gather: g, memo: m, chunk: g.table.Chunks[b.Chunk], block: b}
	var out computed
	var failed error
	for i, item := range g.items {
		a, err := v.item(i, item.E)
		if err != nil {
			failed = err
			v.block = v.block.Cut(0, a.Len())
		}
		out = append(out, a)
	}
	if n := v.block.Len(); n == 0 {
		return nil, failed
	} else if failed != nil {
		for i, a := range out {
			out[i] = array.NewSlice(a, 0, int64(n))
		}
	}
	return out, failed
}

// computed is columns of values, of equal length.
type computed []arrow.Array

// Len implements batch.
func (c computed) Len() int { return c[0].Len() }

func (c computed) cut(i, j int) batch {
	out := make(computed, len(c))
	for k, a := range c {
		out[k] = array.NewSlice(a, int64(i), int64(j))
	}
	return out
}

// computed is the row as columns of a schema.
func (v valueRow) computed(schema *arrow.Schema) computed {
	var out computed
	for i, f := range schema.Fields() {
		b := array.NewBuilder(memory.DefaultAllocator, f.Type)
		ingest.AppendValue(b, v[i])
		out = append(out, b.NewArray())
		b.Release()
	}
	return out
}
