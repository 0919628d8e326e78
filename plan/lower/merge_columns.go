package lower

import (
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/plan/predicate"
)

// overColumn returns what a predicate says of the one column of which it reads the codes.
func (l *lowerer) overColumn(p *predicate.Pred) (col int, s predicate.ColumnSet, ok bool) {
	if p.Op == predicate.Simple {
		switch p.Leaf.(type) {
		case *predicate.Computed, *predicate.Scalar, *predicate.Match:
			return 0, s, false
		}
		col = p.Leaf.Columns()[0]
		return col, predicate.SetOfLeaf(p.Leaf, l.seg(col).Max), true
	}
	var sets []predicate.ColumnSet
	for i, k := range p.Kids {
		c, t, ok := l.overColumn(k)
		if !ok || i > 0 && c != col {
			return 0, s, false
		}
		col, sets = c, append(sets, t)
	}
	return col, predicate.CombineSets(p.Op, sets, l.seg(col).Max), true
}

// mergeColumns merges the kids over each column that has several. It returns
// nil when the junction is decided: FALSE for AND, TRUE for OR.
func (l *lowerer) mergeColumns(op predicate.Op, kids []*predicate.Pred) []*predicate.Pred {
	sets := make([]predicate.ColumnSet, len(kids))
	groups := map[int][]int{} // column -> kids over it alone
	read := map[int]bool{}    // by computed leaves, which are never TRUE for a NULL
	replaced := make([][]*predicate.Pred, len(kids))
	for i, k := range kids {
		replaced[i] = []*predicate.Pred{k}
		if col, s, ok := l.overColumn(k); ok {
			sets[i] = s
			groups[col] = append(groups[col], i)
		} else if _, scalar := k.Leaf.(*predicate.Scalar); k.Op == predicate.Simple && !scalar {
			for _, c := range k.Leaf.Columns() {
				read[c] = true
			}
		}
	}
	for col, group := range groups {
		if len(group) == 1 {
			n, ok := kids[group[0]].Leaf.(*predicate.NullTest)
			if ok && n.Not && op == predicate.And && read[col] {
				replaced[group[0]] = nil
			}
			continue
		}
		var some []*predicate.Pred
		var someSets []predicate.ColumnSet
		for _, i := range group {
			some, someSets, replaced[i] = append(some, kids[i]), append(someSets, sets[i]), nil
		}
		merged, decided := l.mergeColumn(op, col, some, someSets)
		if decided {
			return nil
		}
		replaced[group[0]] = merged
	}
	out := kids[:0:0]
	for _, k := range slices.Concat(replaced...) {
		if k.Op == op {
			out = append(out, k.Kids...)
		} else {
			out = append(out, k)
		}
	}
	return out
}

// fewKids is for how many kids over a column each is looked at for what it adds.
const fewKids = 16

// mergeColumn leaves out of the kids over a column what the others say already, and makes
// one predicate of all where that has fewer leaves.
func (l *lowerer) mergeColumn(op predicate.Op, col int, kids []*predicate.Pred, sets []predicate.ColumnSet) (out []*predicate.Pred, decided bool) {
	top := l.seg(col).Max
	all := predicate.CombineSets(op, sets, top)
	if i := slices.IndexFunc(sets, all.Equal); i >= 0 {
		return kids[i : i+1], false
	}
	words := &predicate.Pred{Op: op, Kids: kids}
	p := l.spanPred(col, all.Codes, firstInequality(kids), words.String())
	switch {
	case all.Null && all.Codes.All(top):
		p = predicate.Always
	case all.Null:
		p = predicate.Combine(predicate.Or, p, l.nullTest(col, true))
	}
	switch p.Op {
	case op.Dual().Neutral():
		return nil, true
	case op.Neutral():
		return nil, false
	}
	for i := len(kids) - 1; i >= 0 && len(kids) <= fewKids; i-- {
		others := slices.Delete(slices.Clone(sets), i, i+1)
		if predicate.CombineSets(op, others, top).Equal(all) {
			kids, sets = slices.Delete(slices.Clone(kids), i, i+1), others
		}
	}
	n := xslices.Sum(kids, leafCount)
	if leafCount(p) < n {
		return []*predicate.Pred{p}, false
	}
	return kids, false
}

// leafCount counts the leaves of a predicate; one of many spans counts as so many.
func leafCount(p *predicate.Pred) (n int) {
	if _, members := p.Leaf.(*predicate.Members); members {
		return predicate.MaxSpans + 1
	}
	n = xslices.Sum(p.Kids, leafCount)
	return max(n, 1)
}

// firstInequality is the first inequality among leaves over a column.
func firstInequality(kids []*predicate.Pred) expr.CmpOp {
	for _, k := range kids {
		if c, ok := k.Leaf.(*predicate.Compare); ok && c.Op != expr.NE {
			return c.Op
		}
	}
	return expr.EQ
}
