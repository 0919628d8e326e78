package predicate

import (
	"cmp"
	"slices"

	"github.com/stencildb/stencildb/expr"
)

// SpanSet is an ascending list of disjoint, not adjacent spans of codes.
type SpanSet []Span

// Complement returns the codes of 0..top that are not in s.
func (s SpanSet) Complement(top uint64) SpanSet {
	var out SpanSet
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

// All reports that s has every code of 0..top.
func (s SpanSet) All(top uint64) bool { return len(s) == 1 && s[0] == Span{0, top} }

// Holes returns the codes that s leaves out, when there are at most limit and each
// stands alone.
func (s SpanSet) Holes(top uint64, limit int) ([]uint64, bool) {
	if len(s) > limit+1 {
		return nil, false
	}
	var out []uint64
	for _, x := range s.Complement(top) {
		if x.Lo != x.Hi {
			return nil, false
		}
		out = append(out, x.Lo)
	}
	return out, len(out) <= limit
}

// NormalizeSpans sorts spans and merges those that overlap or touch.
func NormalizeSpans(in []Span) SpanSet {
	s := slices.Clone(in)
	slices.SortFunc(s, func(a, b Span) int { return cmp.Compare(a.Lo, b.Lo) })
	var out SpanSet
	for _, x := range s {
		if n := len(out); n > 0 && (x.Lo <= out[n-1].Hi || x.Lo-1 == out[n-1].Hi) {
			out[n-1].Hi = max(out[n-1].Hi, x.Hi)
			continue
		}
		out = append(out, x)
	}
	return out
}

// SetOfLeaf is what a leaf over one column's codes, of which top is the largest, says.
func SetOfLeaf(leaf Leaf, top uint64) ColumnSet {
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
		return ColumnSet{Codes: NormalizeSpans(list)}
	case *Range:
		return ColumnSet{Codes: SpanSet{{x.Lo, x.Hi}}}
	case *Members:
		return ColumnSet{Codes: x.Spans}
	case *NullTest:
		if !x.Not {
			return ColumnSet{Null: true}
		}
	}
	return ColumnSet{Codes: SpanSet{{0, top}}}
}

// SpanLeaf makes the leaf for one span, not all of 0..top. The hint is the
// operator the user wrote: a prefix or suffix keeps its strictness.
func SpanLeaf(col int, x Span, top uint64, hint expr.CmpOp) Leaf {
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

// ColumnSet is a condition over one column: the codes that satisfy it, and whether NULL
// does.
type ColumnSet struct {
	Codes SpanSet
	Null  bool
}

// Equal reports that both sets have the same codes, and NULL both or neither.
func (s ColumnSet) Equal(t ColumnSet) bool { return s.Null == t.Null && slices.Equal(s.Codes, t.Codes) }

func (s ColumnSet) complement(top uint64) ColumnSet {
	return ColumnSet{s.Codes.Complement(top), !s.Null}
}

// CombineSets is the AND or OR of sets of codes up to top.
func CombineSets(op Op, sets []ColumnSet, top uint64) (out ColumnSet) {
	for _, s := range sets {
		if op == And {
			s = s.complement(top)
		}
		out.Codes, out.Null = append(out.Codes, s.Codes...), out.Null || s.Null
	}
	if out.Codes = NormalizeSpans(out.Codes); op == And {
		return out.complement(top)
	}
	return out
}
