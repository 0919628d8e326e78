package planner

import (
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/pipeline"
)

// indexShare is the part of a table's rows up to which an index that is no key finds them. Reading more one by one takes longer than a sweep.
const indexShare = 1. / 64

// scan begins a pipeline with the rows of a table, some of which a condition above may leave out.
func (p *planner) scan(n *plan.Scan, where expr.Expr, need []int) *stream {
	rows := p.Rows(n)
	if l := p.lookup(n, where, rows, need); l != nil {
		found := rows * p.Selectivity(n, where)
		if l.Unique {
			found = min(rows, 1)
		}
		return source(l, found, len(n.Columns), need)
	}
	prunes := pruning(where)
	if p.Batches != nil && p.Batches(n) {
		return source(&pipeline.Batches{Table: n.Table, As: n.As, Columns: need, Of: n.Columns, Prunes: prunes}, rows, len(n.Columns), need)
	}
	return source(&pipeline.Scan{Table: n.Table, As: n.As, Columns: need, Of: n.Columns, Prunes: prunes}, rows, len(n.Columns), need)
}

// pruning are the parts of a condition by which statistics of chunks leave these out: a column beside constants.
func pruning(where expr.Expr) (list []expr.Expr) {
	for _, c := range plan.Conjuncts(where) {
		switch c := c.(type) {
		case *expr.Compare:
			if _, _, ok := columnAndConstant(c); ok {
				list = append(list, c)
			}
		case *expr.Between:
			_, column := c.X.(*expr.Column)
			if column && !c.Not && isConstant(c.Lo) && isConstant(c.Hi) {
				list = append(list, c)
			}
		case *expr.In:
			if _, column := c.X.(*expr.Column); column && !c.Not {
				list = append(list, c)
			}
		case *expr.IsNull:
			if _, column := c.X.(*expr.Column); column {
				list = append(list, c)
			}
		}
	}
	return list
}

func isConstant(e expr.Expr) bool {
	_, ok := e.(*expr.Const)
	return ok
}

// columnAndConstant are the sides of a comparison of a column with a constant.
func columnAndConstant(c *expr.Compare) (*expr.Column, *expr.Const, bool) {
	for _, sides := range [][2]expr.Expr{{c.L, c.R}, {c.R, c.L}} {
		column, isColumn := sides[0].(*expr.Column)
		constant, isConst := sides[1].(*expr.Const)
		if isColumn && isConst {
			return column, constant, true
		}
	}
	return nil, nil, false
}

// lookup is how an index finds the rows of a table that a condition selects; nil where none does, or they are too many.
func (p *planner) lookup(n *plan.Scan, where expr.Expr, rows float64, need []int) *pipeline.Lookup {
	if p.Indexes == nil || where == nil {
		return nil
	}
	given := map[int]*expr.Const{}
	for _, c := range plan.Conjuncts(where) {
		if plan.CanRaise(c) { // rows without the key must not come to it unseen
			break
		}
		if eq, ok := c.(*expr.Compare); ok && eq.Op == expr.EQ {
			if column, v, ok := columnAndConstant(eq); ok && !v.V.Null {
				given[column.Index] = v
			}
		}
	}
	for _, x := range p.Indexes(n) {
		l := &pipeline.Lookup{Table: n.Table, As: n.As, Columns: need, Of: n.Columns, Index: x.Name}
		for _, c := range x.Columns {
			v := given[c]
			if v == nil {
				break
			}
			l.By, l.Values = append(l.By, c), append(l.Values, v)
		}
		l.Unique = x.Unique && len(l.By) == len(x.Columns)
		if l.Unique || !x.Unique && len(l.By) > 0 && p.Selectivity(n, where) <= indexShare && rows > 0 {
			return l
		}
	}
	return nil
}
