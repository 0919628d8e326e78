package engine

import (
	"bytes"
	"iter"
	"slices"

	"github.com/stencildb/stencildb/cpu/aggregation"
	"github.com/stencildb/stencildb/engine/externalsort"
	"github.com/stencildb/stencildb/engine/sortkey"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/ingest/arrays"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// takesInOrder reports an aggregation with order statistics or string_agg(). Each of these can be computed of the rows in an order of its
// own, and the other aggregates need few words of a group.
func takesInOrder(n *plan.Aggregate) bool {
	rest, _ := withoutOrdered(n)
	return slices.ContainsFunc(n.Aggs, aggregation.IsOrdered) && (aggregation.NewGroups(rest) != nil || splits(rest)) &&
		!slices.ContainsFunc(n.Aggs, func(a expr.Aggregate) bool {
			return aggregation.IsOrdered(a) && !externalsort.Supports(orderFor(n, a).Keys)
		})
}

// withoutOrdered is an aggregation without the aggregates that [aggregation.Ordered] computes. It counts their values instead, behind all
// other aggregates. places are the numbers of the aggregates.
func withoutOrdered(n *plan.Aggregate) (rest *plan.Aggregate, places []int) {
	rest = &plan.Aggregate{Keys: n.Keys}
	for i, a := range n.Aggs {
		if aggregation.IsOrdered(a) {
			i += len(n.Aggs)
			if a.Kind == expr.StringAgg { // which is of rows whose number it need not know
				a = expr.Aggregate{Kind: expr.CountAll, Col: -1, P: a.P}
			} else {
				a = expr.Aggregate{Kind: expr.Count, Col: a.Col, X: a.X, Name: a.Name, Table: a.Table, Arg: a.Arg, Distinct: a.Distinct, Filter: a.Filter, P: a.P}
			}
		}
		rest.Aggs, places = append(rest.Aggs, a), append(places, i)
	}
	return rest, places
}

// orderFor is the order in which the values of an aggregate come, group by group.
func orderFor(n *plan.Aggregate, a expr.Aggregate) *plan.Sort {
	s := &plan.Sort{Limit: -1}
	for _, e := range n.Keys {
		s.Keys = append(s.Keys, expr.SortKey{E: e})
	}
	if a.Kind != expr.StringAgg {
		s.Keys = append(s.Keys, expr.SortKey{E: distinctOf(a)})
	}
	for _, k := range a.Order {
		k.E = filtered(a, k.E)
		s.Keys = append(s.Keys, k)
	}
	if len(s.Keys) == 0 { // that of the rows
		s.Keys = []expr.SortKey{{E: &expr.Const{V: table.Int(0), P: a.P}}}
	}
	return s
}

// groupOrdered is group of an aggregation that [takesInOrder], of few groups with many rows. The rows are sorted for each operand, and come
// group by group.
func (b *beyond) groupOrdered(n *plan.Aggregate, parts iter.Seq2[*execution, error], yield func(batch, error) bool) error {
	rest, places := withoutOrdered(n)
	found := &foundGroups{n: &plan.Aggregate{Keys: n.Keys, Aggs: slices.Concat(n.Aggs, n.Aggs), Having: n.Having}, rows: map[string][]table.Value{}}
	err := b.group(rest, parts, mostLevels, func(in batch, _ error) bool {
		found.put(valuesOf(in, rest.Fields()), places)
		return true
	})
	if err != nil {
		return err
	}
	operands := map[string][]int{} // the aggregates of a text that tells them apart
	var names []string
	for i, a := range n.Aggs {
		if !aggregation.IsOrdered(a) {
			continue
		}
		name := a.String()
		if a.Kind != expr.StringAgg {
			name = expr.Identity(distinctOf(a))
		}
		if operands[name] == nil {
			names = append(names, name)
		}
		operands[name] = append(operands[name], i)
	}
	for _, name := range names {
		if err := b.ordered(n, operands[name], parts, found); err != nil {
			return err
		}
	}
	return found.give(func(rows batch, err error) bool {
		return yield(valueRows{rows.(valueRows)[0][:len(n.Keys)+len(n.Aggs)]}, err)
	})
}

// ordered finds aggregates of one operand, by their numbers, of rows that it sorts.
func (b *beyond) ordered(n *plan.Aggregate, aggs []int, parts iter.Seq2[*execution, error], found *foundGroups) error {
	a := n.Aggs[aggs[0]]
	by := orderFor(n, a)
	var items []plan.Item
	var keys []sortkey.Key
	for i, k := range by.Keys {
		items, keys = append(items, plan.Item{E: k.E}), append(keys, sortkey.Key{SortKey: k, Column: i})
	}
	of := len(n.Keys) // the column of the values, behind which there are separators
	if a.Kind == expr.StringAgg {
		of = len(items)
		items = append(items, plan.Item{E: distinctOf(a)}, plan.Item{E: filtered(a, a.Separator)})
	}
	m := b.sortMerge(b.spill, by, keys, b.budget, externalsort.MaxRuns, int64(32*len(items)+16))
	rows, err := b.inOrder(m, by, items, parts)
	if err != nil {
		return err
	}
	fields := (&plan.Aggregate{Keys: n.Keys}).Fields()
	var group []table.Value
	list := make([]*aggregation.Ordered, len(aggs))
	begin := func(keys []table.Value) {
		group = found.of(keys)
		for i, at := range aggs {
			list[i] = aggregation.NewOrdered(n.Aggs[at], int(group[len(n.Keys)+len(n.Aggs)+at].I))
		}
	}
	end := func() (err error) {
		for i, at := range aggs {
			if group != nil && err == nil {
				group[len(n.Keys)+at], err = list[i].Value()
			}
		}
		return err
	}
	if len(n.Keys) == 0 { // there is a group of no rows
		begin(nil)
	}
	var last []byte
	for rows, err := range rows {
		if err != nil {
			return err
		}
		groups := sortkey.BytesOf(rows, keys[:len(n.Keys)], 0)
		value := arrays.Values(rows[of], items[of].E.Type())
		separator := func(int) table.Value { return table.Value{} }
		if a.Kind == expr.StringAgg {
			separator = arrays.Values(rows[of+1], items[of+1].E.Type())
		}
		for i := range rows.Len() {
			if key := groups.Of(i); group == nil || !bytes.Equal(key, last) && len(n.Keys) > 0 {
				if err := end(); err != nil {
					return err
				}
				begin(valuesOf(rows.cut(i, i+1).(computed)[:len(n.Keys)], fields)[0])
				last = append(last[:0], key...)
			}
			if rows[of].IsNull(i) {
				continue
			}
			v, between := value(i), separator(i)
			for _, o := range list {
				if err := o.Add(v, between.S); err != nil {
					return err
				}
			}
		}
		released([]computed{rows})
	}
	return end()
}
