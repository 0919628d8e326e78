package lower

import (
	"fmt"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/table"
)

// and conjoins: nested ANDs are flattened, constants folded, duplicates dropped,
// and the leaves over one column merged.
func (l *lowerer) and(kids ...*predicate.Pred) *predicate.Pred {
	return l.fold(predicate.And, kids)
}

// or disjoins, likewise.
func (l *lowerer) or(kids ...*predicate.Pred) *predicate.Pred { return l.fold(predicate.Or, kids) }

func (l *lowerer) fold(op predicate.Op, in []*predicate.Pred) *predicate.Pred {
	kids := predicate.FoldPreds(op, in)
	if len(kids) > 1 {
		kids = dedupe(kids)
	}
	if len(kids) > 1 {
		if kids = l.mergeColumns(op, kids); kids == nil {
			return &predicate.Pred{Op: op.Dual().Neutral()}
		}
	}
	p := predicate.NewPred(op, kids)
	if len(kids) < 2 {
		return p
	}
	for _, k := range kids {
		p.Size += 1 + k.Size
	}
	if p.Size > maxSize {
		l.tooComplex = true
		return predicate.Never
	}
	return p
}

// dedupe drops repeated leaves.
func dedupe(kids []*predicate.Pred) []*predicate.Pred {
	seen := map[string]bool{}
	var out []*predicate.Pred
	for _, k := range kids {
		if k.Op == predicate.Simple {
			if key := k.Key(); seen[key] {
				continue
			} else {
				seen[key] = true
			}
		}
		out = append(out, k)
	}
	return out
}

// spanPred makes the predicate "col is not NULL and its code is in s". The text is
// the user's and names the whole; where several leaves come out, each is named in
// values.
func (l *lowerer) spanPred(col int, s predicate.SpanSet, hint expr.CmpOp, text string) *predicate.Pred {
	seg := l.seg(col)
	switch {
	case len(s) == 0 || seg.NonNull() == 0:
		return predicate.Never
	case s.All(seg.Max):
		return l.nullTest(col, false)
	case len(s) == 1:
		return l.withLeafText(predicate.SpanLeaf(col, s[0], seg.Max, hint), text)
	}
	p, leaves := &predicate.Pred{Op: predicate.Or}, []predicate.Leaf(nil)
	if holes, ok := s.Holes(seg.Max, predicate.MaxSpans); ok && len(holes) < len(s) {
		p.Op = predicate.And
		for _, h := range holes {
			leaves = append(leaves, &predicate.Compare{Col: col, Op: expr.NE, Code: h})
		}
	} else if len(s) > predicate.MaxSpans {
		return predicate.NewLeaf(&predicate.Members{Col: col, Spans: s, Text: text})
	} else {
		for _, x := range s {
			leaves = append(leaves, predicate.SpanLeaf(col, x, seg.Max, expr.EQ))
		}
	}
	if len(leaves) == 1 {
		return l.withLeafText(leaves[0], text)
	}
	for _, leaf := range leaves {
		p.Kids = append(p.Kids, l.withLeafText(leaf, ""))
	}
	p.Size = len(p.Kids)
	return p
}

// withLeafText gives a leaf over codes a text, where that is empty one in values.
func (l *lowerer) withLeafText(leaf predicate.Leaf, text string) *predicate.Pred {
	switch x := leaf.(type) {
	case *predicate.Compare:
		if x.Text = text; text == "" {
			x.Text = fmt.Sprintf("%s %v %s", l.name(x.Col), x.Op, literal(l.seg(x.Col).Decode(x.Code)))
		}
	case *predicate.Range:
		if x.Text = text; text == "" {
			lo, hi := l.seg(x.Col).Decode(x.Lo), l.seg(x.Col).Decode(x.Hi)
			x.Text = fmt.Sprintf("%s BETWEEN %s AND %s", l.name(x.Col), literal(lo), literal(hi))
		}
	}
	return predicate.NewLeaf(leaf)
}

func literal(v table.Value) string {
	if v.Type.IsInteger() {
		return v.String()
	}
	return (&expr.Const{V: v}).String()
}

// nullTest is "col IS NULL" or "col IS NOT NULL", folded where the segment decides it.
func (l *lowerer) nullTest(col int, null bool) *predicate.Pred {
	seg, text := l.seg(col), " IS NOT NULL"
	switch {
	case seg.Nulls == 0:
		return predicate.Constant(!null)
	case seg.NonNull() == 0:
		return predicate.Constant(null)
	case null:
		text = " IS NULL"
	}
	return predicate.NewLeaf(&predicate.NullTest{Col: col, Not: !null, Text: l.name(col) + text})
}

// InSpan is the predicate "col is not NULL and its code lies in a span".
func InSpan(t *table.Table, c *table.Chunk, col int, span predicate.Span) *predicate.Pred {
	return newLowerer(t, c).spanPred(col, predicate.SpanSet{span}, expr.GE, "")
}
