package engine

import (
	"fmt"
	"iter"
	"math/big"
	"slices"

	"github.com/stencildb/stencildb/cpu/aggregation"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// splits reports an aggregation whose aggregates of DISTINCT values can each be computed separately. Once equal values have been left out,
// a few words of a group are enough.
func splits(n *plan.Aggregate) bool {
	rest := &plan.Aggregate{Keys: n.Keys}
	some := false
	for _, a := range n.Aggs {
		if a.Distinct {
			if a.Y != nil || len(a.Order) > 0 {
				return false
			}
			a.Distinct, a.Filter, some = false, nil, true
		}
		rest.Aggs = append(rest.Aggs, a)
	}
	return some && aggregation.NewGroups(rest) != nil
}

// distinctOf is what an aggregate is of different values of: NULL, which counts for none, where its FILTER is not TRUE.
func distinctOf(a expr.Aggregate) expr.Expr { return filtered(a, a.Argument()) }

// filtered is an expression that is NULL where the FILTER of an aggregate is not TRUE.
func filtered(a expr.Aggregate, x expr.Expr) expr.Expr {
	if a.Filter == nil {
		return x
	}
	return expr.NewCall(expr.Case, []expr.Expr{a.Filter, x, &expr.Const{V: table.Null(x.Type()), P: a.P}}, a.P)
}

// groupSplit is group of an aggregation that [splits], of few groups with many different values. One pass over the parts computes
// the aggregates of all rows. Another pass computes those of the different values of one operand, and groups by the keys and the
// operand.
func (b *beyond) groupSplit(n *plan.Aggregate, parts iter.Seq2[*execution, error], yield func(batch, error) bool) error {
	found := &foundGroups{n: n, rows: map[string][]table.Value{}}
	keys := len(n.Keys)
	plain, places := &plan.Aggregate{Keys: n.Keys}, []int(nil)
	operands := map[string][]int{} // by what they are of, the aggregates of different values
	var names []string
	for i, a := range n.Aggs {
		if !a.Distinct {
			plain.Aggs, places = append(plain.Aggs, a), append(places, i)
			continue
		}
		name := expr.Identity(distinctOf(a))
		if operands[name] == nil {
			names = append(names, name)
		}
		operands[name] = append(operands[name], i)
	}
	if len(plain.Aggs) > 0 {
		err := b.group(plain, parts, 0, func(in batch, _ error) bool {
			found.put(valuesOf(in, plain.Fields()), places)
			return true
		})
		if err != nil {
			return err
		}
	}
	for _, name := range names {
		of := distinctOf(n.Aggs[operands[name][0]])
		pairs := &plan.Aggregate{Keys: append(slices.Clone(n.Keys), of)}
		sums := &plan.Aggregate{}
		var fields []table.Field
		for i, k := range pairs.Keys {
			c := &expr.Column{Index: i, Name: fmt.Sprint("key ", i), T: k.Type(), P: k.Pos()}
			if fields = append(fields, table.Field{Name: c.Name, Type: c.T}); i < keys {
				sums.Keys = append(sums.Keys, c)
			}
		}
		for _, i := range operands[name] {
			a := n.Aggs[i]
			a.Distinct, a.Filter = false, nil
			sums.Aggs = append(sums.Aggs, a.Map(func(expr.Expr) expr.Expr {
				return &expr.Column{Index: keys, Name: fields[keys].Name, T: of.Type(), P: a.P}
			}))
		}
		total := aggregation.NewGroups(sums)
		some := table.NewBuilder("", fields, 0)
		add := func() error {
			t := some.Table()
			some = table.NewBuilder("", fields, 0)
			_, err := total.Add(b.ctx, t, blocksOf(t))
			return err
		}
		var failed error
		err := b.group(pairs, parts, 0, func(in batch, _ error) bool {
			if failed = appendAll(some, valuesOf(in, fields), fields); failed == nil && some.Rows() >= 1<<16 {
				failed = add()
			}
			return failed == nil
		})
		if failed == nil && err == nil {
			failed = add()
		}
		if failed != nil {
			return failed
		}
		if err != nil {
			return err
		}
		for in, err := range total.Rows(b.ctx, &table.Table{Fields: fields}) {
			if err != nil {
				return err
			}
			found.put(in, operands[name])
		}
	}
	return found.give(yield)
}

// foundGroups are groups whose aggregates are found one after the other.
type foundGroups struct {
	n     *plan.Aggregate
	rows  map[string][]table.Value // by what tells the keys apart: these, and the aggregates
	order []string
}

// put takes in rows of keys, and behind them aggregates of these numbers.
func (g *foundGroups) put(in valueRows, aggs []int) {
	keys := len(g.n.Keys)
	for _, row := range in {
		to := g.of(row[:keys])
		for i, at := range aggs {
			to[keys+at] = row[keys+i]
		}
	}
}

// of is the row of a group.
func (g *foundGroups) of(keys []table.Value) []table.Value {
	id := ""
	for _, v := range keys {
		text := ""
		switch {
		case v.Null:
		case v.Type.Kind == table.Interval: // equal ones have other days
			text = fmt.Sprint(table.Ordinal(v))
		case v.Type.Kind == table.Decimal: // and equal numbers other digits
			text = new(big.Rat).SetFrac(v.Unscaled(), table.Pow10(v.Type.Scale)).RatString()
		default:
			if v.F == 0 {
				v.F = 0 // -0 is the same key
			}
			text = v.String()
		}
		id += fmt.Sprint(v.Null, len(text), " ", text)
	}
	if g.rows[id] == nil {
		g.rows[id] = append(slices.Clone(keys), make([]table.Value, len(g.n.Aggs))...)
		g.order = append(g.order, id)
	}
	return g.rows[id]
}

// give gives those that HAVING holds for.
func (g *foundGroups) give(yield func(batch, error) bool) error {
	for _, id := range g.order {
		row := g.rows[id]
		if n := g.n; n.Having != nil {
			at := func(i int) table.Value { return row[i] }
			if v, err := expr.Eval(n.Having, &expr.Env{Column: at, Agg: at}); err != nil {
				return err
			} else if v.Null || v.I == 0 {
				continue
			}
		}
		if !yield(valueRows{row}, nil) {
			return errStopped
		}
	}
	return nil
}

// blocksOf are the rows of a table, a block a chunk.
func blocksOf(t *table.Table) iter.Seq2[table.Block, error] {
	return func(yield func(table.Block, error) bool) {
		for i, c := range t.Chunks {
			if !yield(table.Block{Chunk: i, N: c.Rows}, nil) {
				return
			}
		}
	}
}
