package cost

import (
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
)

// widest is how wide the codes of a column are where they are widest, at least 1, and in host memory.
func widest(t *table.Table, col int) (bits, bytes int) {
	bits, bytes = 1, 1
	for _, c := range t.Chunks {
		if s := c.Segments[col]; s != nil {
			bits, bytes = max(bits, s.Bits), max(bytes, s.Codes.Width())
		}
	}
	return bits, bytes
}

// OfRows is the work that a fragment is expected to ask for over so many rows of a join that has yet to run. column says of which table a column
// of these is; nil where it is computed.
func OfRows(f *plan.Fragment, rows int, column func(col int) (t *table.Table, at int)) *Work {
	w := &Work{Rows: rows}
	c := ChunkWork{Rows: rows}
	item := func(class Class, scale float64, cols []int) (x Item) {
		x = Item{Class: class, Bits: 1, Bytes: 1, Scale: scale}
		for _, col := range cols {
			bits, bytes := 64, 8
			if t, at := column(col); t != nil {
				bits, bytes = widest(t, at)
			}
			x.Bits, x.Bytes = max(x.Bits, bits), max(x.Bytes, bytes)
		}
		return x
	}
	for _, e := range plan.Conjuncts(f.Where) {
		if cols := expr.Columns(e); len(cols) > 0 {
			c.Leaves = append(c.Leaves, item(Compare, 1, cols))
		}
	}
	selected := func(class Class) Class {
		if as, ok := of[class]; ok && f.Where != nil {
			return as
		}
		return class
	}
	for _, a := range f.Aggs {
		switch cols := a.Reads(); {
		case len(cols) == 0:
		case a.X != nil:
			c.Aggs = append(c.Aggs, item(selected(Products), float64(nodes(a.X))/productNodes, cols))
		default:
			c.Aggs = append(c.Aggs, item(selected(kindOf(a)), 1, cols))
		}
	}
	if g := f.Groups; g != nil {
		keys, cols := 0, []int(nil)
		for _, k := range g.Keys {
			for _, col := range expr.Columns(k) {
				keys, cols = keys+item(Groups, 1, []int{col}).Bits, append(cols, col)
			}
		}
		for _, a := range g.Aggs {
			cols = append(cols, a.Reads()...)
		}
		slices.Sort(cols)
		cols = slices.Compact(cols)
		class := Groups
		if most := physical.SlotLimit(rows, f.Bound != nil); keys >= 63 || uint64(1)<<keys > most {
			class = ManyGroups
		}
		c.Aggs = append(c.Aggs, item(class, float64(max(1, len(cols)))/groupColumns, cols))
	}
	if o := f.Order; o != nil {
		class, cols, bits := Sort, []int(nil), 0
		if o.Limit >= 0 && o.Limit < int64(rows/8) {
			class = TopRows
		}
		for _, k := range o.Keys {
			bits, cols = bits+item(Sort, 1, expr.Columns(k.E)).Bits, append(cols, expr.Columns(k.E)...)
		}
		x := item(class, 1, cols)
		x.Bits = min(64, bits)
		c.Aggs = append(c.Aggs, x)
	}
	w.Chunks = []ChunkWork{c}
	for _, col := range f.Reads() {
		x := item(Compare, 1, []int{col})
		w.Columns = append(w.Columns, Column{Col: col, Bytes: int64(rows) * int64(x.Bytes)})
	}
	return w
}
