package stats

import (
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// KeyColumns are the keys of one side of a join where they are columns of one table; of others the table is nil.
type KeyColumns struct {
	Table   *table.Table
	Columns []int
}

// KeyColumns are the keys by which a join finds partners, of its left and of its right side; keyed is false where there are none.
func (e *Estimates) KeyColumns(n *plan.Join) (sides [2]KeyColumns, keyed bool) {
	keys, _ := e.joinKeys(n)
	for i, list := range [2][]expr.Expr{keys.onLeft, keys.onRight} {
		in, side := n.Inputs()[i], &sides[i]
		for k, x := range list {
			c, column := x.(*expr.Column)
			if !column {
				*side = KeyColumns{}
				break
			}
			t, at := e.Column(in, c.Index)
			if t == nil || k > 0 && t != side.Table {
				*side = KeyColumns{}
				break
			}
			side.Table, side.Columns = t, append(side.Columns, at)
		}
	}
	return sides, len(keys.onLeft) > 0
}

// Column is the column of a table that a column of a node is; nil where it is computed, or has not been read.
func (e *Estimates) Column(n plan.Node, col int) (t *table.Table, at int) {
	o := e.origin(n, col)
	if o.scan == nil {
		return nil, 0
	}
	if t = e.Table(o.scan); t == nil || len(t.Chunks) > 0 && t.Chunks[0].Segments[o.col] == nil {
		return nil, 0
	}
	return t, o.col
}
