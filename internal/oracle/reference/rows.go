package reference

import (
	"fmt"
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// Rows computes the rows of a bound query one by one: WHERE for all of them, then the keys of ORDER BY. A
// plain sort of values orders the rows by these. Then it computes the items in order, for as many rows as are
// wanted. Rows before an error of an item are returned with it. The items of DISTINCT are computed of all
// rows, and those that remain are ordered.
func Rows(tab *table.Table, tree plan.Node) (out [][]table.Value, err error) {
	limit, offset := int64(-1), int64(0)
	if l, ok := tree.(*plan.Limit); ok {
		limit, offset, tree = l.Count, l.Offset, l.Input
	}
	if limit == 0 {
		return nil, nil // nothing is evaluated
	}
	var keys []expr.SortKey
	sorted := func() {
		if s, ok := tree.(*plan.Sort); ok {
			keys, tree = s.Keys, s.Input
		}
	}
	sorted()
	d, distinct := tree.(*plan.Distinct)
	if distinct {
		tree = d.Input
	}
	p := tree.(*plan.Project)
	tree = p.Input
	sorted()
	selected, err := selectedRows(tab, tree.(*plan.Fragment).Where)
	if err == nil && distinct {
		selected, err = distinctRows(selected, p)
	}
	if err == nil {
		err = inOrder(selected, keys)
	}
	if err != nil {
		return nil, err
	}
	for i, env := range selected {
		if limit >= 0 && int64(i) >= offset+limit {
			break
		}
		row, err := itemsOf(p, env)
		if err != nil {
			return out, err
		}
		if int64(i) >= offset {
			out = append(out, row)
		}
	}
	return out, nil
}

// selectedRows are the rows of a table for which a condition, unless it is nil, is TRUE.
func selectedRows(tab *table.Table, where expr.Expr) (selected []*expr.Env, err error) {
	for _, c := range tab.Chunks {
		for row := range c.Rows {
			if !c.IsLive(row) {
				continue
			}
			env := &expr.Env{Column: func(i int) table.Value { return c.Segments[i].Value(row) }}
			if where != nil {
				v, err := expr.Eval(where, env)
				if err != nil {
					return nil, err
				}
				if v.Null || v.I == 0 {
					continue
				}
			}
			selected = append(selected, env)
		}
	}
	return selected, nil
}

// itemsOf computes the select list of a row, which it is itself behind DISTINCT. DECIMALs
// have up to 38 digits.
func itemsOf(p *plan.Project, env *expr.Env) (row []table.Value, err error) {
	for i, item := range p.Items {
		e := item.E
		if env.Agg != nil {
			e = &expr.AggRef{Index: i}
		}
		v, err := narrow(expr.Eval(e, wide(env)))
		if err != nil {
			return nil, err
		}
		row = append(row, v)
	}
	return row, nil
}

// wide lets DECIMALs have as many digits as they take.
func wide(env *expr.Env) *expr.Env {
	if env.Agg != nil {
		return env
	}
	return &expr.Env{Column: env.Column, Agg: env.Column}
}

// distinctRows are the select lists of rows, of those that are alike the first.
func distinctRows(rows []*expr.Env, p *plan.Project) (out []*expr.Env, err error) {
	seen := map[string]bool{}
	for _, env := range rows {
		row, err := itemsOf(p, env)
		if err != nil {
			return nil, err
		}
		text := ""
		for _, v := range row {
			if v.F == 0 {
				v.F = 0 // not -0
			}
			text += fmt.Sprintf("%v %q,", v.Null, v)
		}
		if seen[text] {
			continue
		}
		seen[text] = true
		at := func(i int) table.Value { return row[i] }
		out = append(out, &expr.Env{Column: at, Agg: at})
	}
	return out, nil
}

// inOrder sorts rows by keys; those that are alike keep their order.
func inOrder(rows []*expr.Env, keys []expr.SortKey) error {
	values := map[*expr.Env][]table.Value{}
	for _, env := range rows {
		for _, k := range keys {
			v, err := narrow(expr.Eval(k.E, wide(env)))
			if err != nil {
				return err
			}
			values[env] = append(values[env], v)
		}
	}
	slices.SortStableFunc(rows, func(a, b *expr.Env) int {
		for i, k := range keys {
			x, y := values[a][i], values[b][i]
			c := 0
			switch {
			case x.Null && y.Null:
			case x.Null != y.Null:
				if c = 1; x.Null == k.NullsFirst {
					c = -1
				}
			case k.Desc:
				c = table.Compare(y, x)
			default:
				c = table.Compare(x, y)
			}
			if c != 0 {
				return c
			}
		}
		return 0
	})
	return nil
}
