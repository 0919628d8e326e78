package plan

import (
	"fmt"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// and conjoins: nested ANDs are flattened, constants folded, duplicates dropped,
// and the leaves over one column merged.
func (l *lowerer) and(kids ...*Pred) *Pred { return l.junction(And, kids) }

// or disjoins, likewise.
func (l *lowerer) or(kids ...*Pred) *Pred { return l.junction(Or, kids) }

func (l *lowerer) junction(op Op, in []*Pred) *Pred {
	kids := Flatten(op, in)
	if len(kids) > 1 {
		kids = dedupe(kids)
	}
	if len(kids) > 1 {
		if kids = l.mergeColumns(op, kids); kids == nil {
			return &Pred{Op: op.Dual().Neutral()}
		}
	}
	p := NewPred(op, kids)
	if len(kids) < 2 {
		return p
	}
	for _, k := range kids {
		p.size += 1 + k.size
	}
	if p.size > maxSize {
		l.tooComplex = true
		return falsePred
	}
	return p
}

// dedupe drops repeated leaves.
func dedupe(kids []*Pred) []*Pred {
	seen := map[string]bool{}
	var out []*Pred
	for _, k := range kids {
		if k.Op == Simple {
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
func (l *lowerer) spanPred(col int, s spanSet, hint expr.CmpOp, text string) *Pred {
	seg := l.seg(col)
	switch {
	case len(s) == 0 || seg.NonNull() == 0:
		return falsePred
	case s.all(seg.Max):
		return l.nullTest(col, false)
	case len(s) == 1:
		return l.named(spanLeaf(col, s[0], seg.Max, hint), text)
	}
	p, leaves := &Pred{Op: Or}, []Leaf(nil)
	if holes, ok := s.holes(seg.Max, MaxSpans); ok && len(holes) < len(s) {
		p.Op = And
		for _, h := range holes {
			leaves = append(leaves, &Compare{Col: col, Op: expr.NE, Code: h})
		}
	} else if len(s) > MaxSpans {
		return leafPred(&Members{Col: col, Spans: s, Text: text})
	} else {
		for _, x := range s {
			leaves = append(leaves, spanLeaf(col, x, seg.Max, expr.EQ))
		}
	}
	if len(leaves) == 1 {
		return l.named(leaves[0], text)
	}
	for _, leaf := range leaves {
		p.Kids = append(p.Kids, l.named(leaf, ""))
	}
	p.size = len(p.Kids)
	return p
}

// named gives a leaf over codes a text, where that is empty one in values.
func (l *lowerer) named(leaf Leaf, text string) *Pred {
	switch x := leaf.(type) {
	case *Compare:
		if x.Text = text; text == "" {
			x.Text = fmt.Sprintf("%s %v %s", l.name(x.Col), x.Op, literal(l.seg(x.Col).Decode(x.Code)))
		}
	case *Range:
		if x.Text = text; text == "" {
			lo, hi := l.seg(x.Col).Decode(x.Lo), l.seg(x.Col).Decode(x.Hi)
			x.Text = fmt.Sprintf("%s BETWEEN %s AND %s", l.name(x.Col), literal(lo), literal(hi))
		}
	}
	return leafPred(leaf)
}

func literal(v table.Value) string {
	if v.Type.IsInteger() {
		return v.String()
	}
	return (&expr.Const{V: v}).String()
}

// nullTest is "col IS NULL" or "col IS NOT NULL", folded where the segment decides it.
func (l *lowerer) nullTest(col int, null bool) *Pred {
	seg, text := l.seg(col), " IS NOT NULL"
	switch {
	case seg.Nulls == 0:
		return boolPred(!null)
	case seg.NonNull() == 0:
		return boolPred(null)
	case null:
		text = " IS NULL"
	}
	return leafPred(&NullTest{Col: col, Not: !null, Text: l.name(col) + text})
}

// InSpan is the predicate "col is not NULL and its code lies in a span".
func InSpan(t *table.Table, c *table.Chunk, col int, span Span) *Pred {
	return newLowerer(t, c).spanPred(col, spanSet{span}, expr.GE, "")
}
