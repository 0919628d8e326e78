package plan

import (
	"cmp"
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// spanSet is an ascending list of disjoint, not adjacent spans of codes.
type spanSet []Span

// normalize sorts spans and merges those that overlap or touch.
func normalize(in []Span) spanSet {
	s := slices.Clone(in)
	slices.SortFunc(s, func(a, b Span) int { return cmp.Compare(a.Lo, b.Lo) })
	var out spanSet
	for _, x := range s {
		if n := len(out); n > 0 && (x.Lo <= out[n-1].Hi || x.Lo-1 == out[n-1].Hi) {
			out[n-1].Hi = max(out[n-1].Hi, x.Hi)
			continue
		}
		out = append(out, x)
	}
	return out
}

// complement returns the codes of 0..top that are not in s.
func (s spanSet) complement(top uint64) spanSet {
	var out spanSet
	next := uint64(0)
	for _, x := range s {
		if x.Lo > next {
			out = append(out, Span{next, x.Lo - 1})
		}
		if x.Hi >= top {
			return out
		}
		next = x.Hi + 1
	}
	return append(out, Span{next, top})
}

// Has reports whether a code lies in one of the spans: the last one that starts at or
// below it is the only one to hold it.
func (m *Members) Has(code uint64) bool {
	lo, hi := 0, len(m.Spans)
	for lo < hi {
		if mid := (lo + hi) / 2; m.Spans[mid].Lo <= code {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo > 0 && code <= m.Spans[lo-1].Hi
}

func (s spanSet) all(top uint64) bool { return len(s) == 1 && s[0] == Span{0, top} }

// holes returns the codes that s leaves out, when there are at most limit and each
// stands alone.
func (s spanSet) holes(top uint64, limit int) ([]uint64, bool) {
	if len(s) > limit+1 {
		return nil, false
	}
	var out []uint64
	for _, x := range s.complement(top) {
		if x.Lo != x.Hi {
			return nil, false
		}
		out = append(out, x.Lo)
	}
	return out, len(out) <= limit
}

// leafSet is what a leaf over one column's codes, of which top is the largest, says.
func leafSet(leaf Leaf, top uint64) columnSet {
	switch x := leaf.(type) {
	case *Compare:
		var list []Span
		if x.Op.Holds(-1) && x.Code > 0 {
			list = append(list, Span{0, x.Code - 1})
		}
		if x.Op.Holds(0) {
			list = append(list, Span{x.Code, x.Code})
		}
		if x.Op.Holds(1) && x.Code < top {
			list = append(list, Span{x.Code + 1, top})
		}
		return columnSet{codes: normalize(list)}
	case *Range:
		return columnSet{codes: spanSet{{x.Lo, x.Hi}}}
	case *Members:
		return columnSet{codes: x.Spans}
	case *NullTest:
		if !x.Not {
			return columnSet{null: true}
		}
	}
	return columnSet{codes: spanSet{{0, top}}}
}

// spanLeaf makes the leaf for one span, not all of 0..top. The hint is the
// operator the user wrote: a prefix or suffix keeps its strictness.
func spanLeaf(col int, x Span, top uint64, hint expr.CmpOp) Leaf {
	directed := hint != expr.EQ && hint != expr.NE
	strict := hint == expr.LT || hint == expr.GT
	switch {
	case x.Lo == x.Hi && !(directed && (x.Lo == 0 || x.Hi == top)):
		return &Compare{Col: col, Op: expr.EQ, Code: x.Lo}
	case x.Lo == 0 && strict:
		return &Compare{Col: col, Op: expr.LT, Code: x.Hi + 1}
	case x.Lo == 0:
		return &Compare{Col: col, Op: expr.LE, Code: x.Hi}
	case x.Hi == top && strict:
		return &Compare{Col: col, Op: expr.GT, Code: x.Lo - 1}
	case x.Hi == top:
		return &Compare{Col: col, Op: expr.GE, Code: x.Lo}
	}
	return &Range{Col: col, Lo: x.Lo, Hi: x.Hi}
}

// Spans are the codes of the one column that decide a predicate, where it holds for all rows that
// have one of them and for no others; ok is false where it reads more than that. NULLs have none.
func (p *Pred) Spans(c *table.Chunk) (col int, spans []Span, ok bool) {
	switch p.Op {
	case Simple:
		switch p.Leaf.(type) {
		case *Compare, *Range, *Members:
			col = p.Leaf.Columns()[0]
			return col, leafSet(p.Leaf, c.Segments[col].Max).codes, true
		}
	case Or:
		for i, k := range p.Kids {
			of, list, ok := k.Spans(c)
			if !ok || i > 0 && of != col {
				return 0, nil, false
			}
			col, spans = of, append(spans, list...)
		}
		return col, normalize(spans), true
	}
	return 0, nil, false
}
