package plan

import (
	"slices"
	"strings"

	"github.com/stencildb/stencildb/expr"
)

// mergeColumns merges the leaves over each column that has several. It returns
// nil when the junction is decided: FALSE for AND, TRUE for OR.
func (l *lowerer) mergeColumns(op Op, kids []*Pred) []*Pred {
	group := map[int][]int{} // column -> kids over it alone
	var order []int
	for i, k := range kids {
		col, ok := columnOf(k)
		if !ok && op == And {
			col, ok = alternativesOver(k)
		}
		if !ok {
			continue
		}
		if group[col] == nil {
			order = append(order, col)
		}
		group[col] = append(group[col], i)
	}
	replaced := make([][]*Pred, len(kids))
	for i, k := range kids {
		replaced[i] = []*Pred{k}
	}
	changed := false
	for _, col := range order {
		idx := group[col]
		if len(idx) == 1 {
			continue
		}
		var leaves []*Pred
		for _, i := range idx {
			leaves = append(leaves, kids[i])
			replaced[i] = nil
		}
		merged, decided := l.mergeOr(col, leaves)
		if op == And {
			merged, decided = l.mergeAnd(col, leaves)
		}
		if decided {
			return nil
		}
		replaced[idx[0]] = merged
		changed = true
	}
	if op == And {
		changed = l.dropNotNull(replaced) || changed
	}
	if !changed {
		return kids
	}
	var out []*Pred
	for _, r := range replaced {
		for _, k := range r {
			if k.Op == op {
				out = append(out, k.Kids...)
			} else {
				out = append(out, k)
			}
		}
	}
	return out
}

// columnOf returns the column of a leaf over one column's codes.
func columnOf(p *Pred) (col int, ok bool) {
	if p.Op != IsLeaf {
		return 0, false
	}
	if _, program := p.Leaf.(*Program); program {
		return 0, false
	}
	return p.Leaf.Columns()[0], true
}

// alternativesOver returns the column of a disjunction of leaves over one column.
func alternativesOver(p *Pred) (col int, ok bool) {
	if p.Op != Or {
		return 0, false
	}
	for i, k := range p.Kids {
		c, ok := columnOf(k)
		if !ok || i > 0 && c != col {
			return 0, false
		}
		col = c
	}
	return col, true
}

// dropNotNull drops IS NOT NULL tests of columns that another leaf reads: that
// leaf is never TRUE for a NULL.
func (l *lowerer) dropNotNull(kids [][]*Pred) bool {
	read := map[int]bool{}
	for _, ks := range kids {
		for _, k := range ks {
			if k.Op != IsLeaf {
				continue
			}
			if _, ok := k.Leaf.(*NullTest); !ok {
				for _, c := range k.Leaf.Columns() {
					read[c] = true
				}
			}
		}
	}
	changed := false
	for i, ks := range kids {
		if len(ks) != 1 || ks[0].Op != IsLeaf {
			continue
		}
		if n, ok := ks[0].Leaf.(*NullTest); ok && n.Not && read[n.Col] {
			kids[i], changed = nil, true
		}
	}
	return changed
}

func texts(leaves []*Pred, sep string) string {
	var parts []string
	for _, k := range leaves {
		parts = append(parts, k.Leaf.String())
	}
	return strings.Join(parts, sep)
}

// mergeAnd intersects leaves over one column. Inequalities (<>) stay leaves of
// their own unless they fall outside or on the edge of what is left.
func (l *lowerer) mergeAnd(col int, leaves []*Pred) (out []*Pred, decided bool) {
	top := l.seg(col).Max
	var isNull, notNull *Pred
	var set spanSet
	var used, unequal, either []*Pred
	for _, k := range leaves {
		if k.Op == Or {
			either = append(either, k)
			continue
		}
		_, s, ok := spansOf(k.Leaf, top)
		c, cmp := k.Leaf.(*Compare)
		_, test := k.Leaf.(*NullTest)
		switch {
		case !ok:
			isNull = k
		case test:
			notNull = k
		case cmp && c.Op == expr.NE:
			unequal = append(unequal, k)
		case used == nil:
			set, used = s, []*Pred{k}
		default:
			set, used = set.intersect(s), append(used, k)
		}
	}
	if isNull != nil && (used != nil || unequal != nil || notNull != nil) {
		return nil, true
	}
	rest, never := l.usefulAlternatives(either, isNull, slices.Concat(used, unequal), top)
	switch {
	case never:
		return nil, true
	case isNull != nil:
		return append(rest, isNull), false
	case used == nil && unequal == nil && notNull != nil:
		return append(rest, notNull), false
	case used == nil:
		return append(unequal, rest...), false
	}
	for _, k := range unequal {
		code := k.Leaf.(*Compare).Code
		hole := spanSet{{code, code}}
		if cut := set.intersect(hole.complement(top)); len(cut) <= len(set) {
			if set.contains(code) {
				set, used = cut, append(used, k)
			}
			continue
		}
		rest = append(rest, k)
	}
	if len(set) == 0 {
		return nil, true
	}
	for _, k := range used {
		if _, s, _ := spansOf(k.Leaf, top); equalSpans(s, set) {
			return append([]*Pred{k}, rest...), false
		}
	}
	p := l.spanPred(col, set, hintOf(used), texts(used, " AND "))
	return append([]*Pred{p}, rest...), false
}

// usefulAlternatives drops the disjunctions over a column that the other leaves
// over it imply. never is true when one of them contradicts those leaves.
func (l *lowerer) usefulAlternatives(either []*Pred, isNull *Pred, others []*Pred, top uint64) (rest []*Pred, never bool) {
	set := spanSet{{0, top}}
	if len(either) > 0 {
		for _, k := range others {
			_, s, _ := spansOf(k.Leaf, top)
			set = set.intersect(s)
		}
	}
	for _, e := range either {
		var spans []Span
		null := false
		for _, k := range e.Kids {
			if _, s, ok := spansOf(k.Leaf, top); ok {
				spans = append(spans, s...)
			} else {
				null = true
			}
		}
		both := set.intersect(normalize(spans))
		switch {
		case isNull != nil && null, len(others) > 0 && equalSpans(both, set):
		case isNull != nil, len(others) > 0 && len(both) == 0:
			return nil, true
		default:
			rest = append(rest, e)
		}
	}
	return rest, false
}

// mergeOr unites leaves over one column where that makes them fewer.
func (l *lowerer) mergeOr(col int, leaves []*Pred) (out []*Pred, decided bool) {
	seg := l.seg(col)
	var isNull *Pred
	var spans []Span
	var used []*Pred
	for _, k := range leaves {
		_, s, ok := spansOf(k.Leaf, seg.Max)
		if !ok {
			isNull = k
			continue
		}
		spans, used = append(spans, s...), append(used, k)
	}
	set := normalize(spans)
	if set.all(seg.Max) && isNull != nil {
		return nil, true
	}
	if len(used) > 0 && set.all(seg.Max) {
		p := l.notNullCol(col)
		return []*Pred{p}, p.Op == True
	}
	out = used
	if p := l.spanPred(col, set, hintOf(used), texts(used, " OR ")); len(used) > 1 && leafCount(p) < len(used) {
		out = []*Pred{p}
		for _, k := range used {
			if _, s, _ := spansOf(k.Leaf, seg.Max); equalSpans(s, set) {
				out = []*Pred{k}
			}
		}
	}
	if isNull != nil {
		out = append(out, isNull)
	}
	return out, false
}
