package aggregates

import (
	"fmt"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/predicates"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// attribute is a column of the selected records as a k-th search compares it: a code
// space that the chunks share, and one limb of it at a time.
type attribute struct {
	*Selection
	col      int
	smallest bool
	space    *plan.Space
	notNull  []uint64 // selected values, by chunk
	// limbs is 0 where the codes of every chunk have one limb: then each chunk is asked
	// in codes of its own. Else the shared space is cut into limbs, and the search
	// goes down from the top one.
	limbs  int
	limb   int          // that is searched
	found  uint64       // the limbs above it, in place
	beyond uint64       // values that these limbs alone put beyond the answer
	states []candidates // by chunk
}

// candidates is how far a chunk's candidates, the records that have the limbs found so
// far, have been marked.
type candidates struct {
	gen    int  // of the selection they were made from
	marked bool // the scratch bit holds them; else they are the selection
	limb   int  // the lowest limb that they have been compared by
}

func (s *Selection) attribute(col int, smallest bool) (*attribute, error) {
	a := &attribute{Selection: s, col: col, smallest: smallest, space: plan.NewSpace(s.table, col)}
	var err error
	if a.notNull, err = s.notNulls(col); err != nil {
		return nil, err
	}
	for i, c := range s.table.Chunks {
		if a.notNull[i] > 0 && textures.Limbs(c.Segments[col].Bits) > 1 {
			a.limbs = textures.Limbs(a.space.Bits())
		}
	}
	if a.limbs > 0 && len(s.parts) > 1 && s.table.Fields[col].Type.Kind == table.Varchar {
		return nil, &plan.Declined{Why: "the k-th value of a VARCHAR of more than 2^24 distinct values takes one chunk"}
	}
	a.limb, a.states = a.limbs-1, make([]candidates, len(s.parts))
	return a, nil
}

// count returns how many selected values are at or above code t, or below it where the
// smallest are searched. Bit i is the lowest of t; those above it have been found.
func (a *attribute) count(t uint64, i int) (uint64, error) {
	for ; a.limb > i/textures.LimbBits; a.limb-- {
		if err := a.leave(textures.Limb(t, a.limb)); err != nil {
			return 0, err
		}
	}
	step := pass.KthLargest{Attribute: a.name(), Smallest: a.smallest, Top: a.space.Bits() - 1, Bit: i, Code: t, Value: fmt.Sprintf("code %d", t)}
	if t <= a.space.Max() {
		step.Value = (&expr.Const{V: a.space.Value(t)}).String()
	}
	if a.limbs == 0 {
		return a.sum(func(chunk int) (pass.Count, error) { return a.compare(chunk, step) })
	}
	step.Top, step.LimbCode = min(step.Top, textures.LimbBits*(a.limb+1)-1), textures.Limb(t, a.limb)
	n, err := a.sum(func(chunk int) (pass.Count, error) { return a.compareLimb(chunk, step, step.Cmp(), step.LimbCode) })
	return a.beyond + n, err
}

// name names the attribute, or its limb.
func (a *attribute) name() pass.Attribute {
	return pass.Attribute{Name: expr.Ident(a.table.Fields[a.col].Name), Col: a.col, Limb: max(0, a.limb), Limbs: max(1, a.limbs)}
}

// sum adds the counts of the chunks that have values.
func (a *attribute) sum(one func(chunk int) (pass.Count, error)) (n uint64, err error) {
	list, err := a.each(func(chunk int, _ *part) (pass.Count, error) {
		if a.notNull[chunk] == 0 {
			return pass.Known(0), nil
		}
		return one(chunk)
	})
	for _, k := range list {
		n += k
	}
	return n, err
}

// compare counts a chunk's values by a tentative value, in codes of its own.
func (a *attribute) compare(chunk int, step pass.KthLargest) (pass.Count, error) {
	t := step.Code
	if len(a.parts) > 1 { // the paper's one chunk draws every bit
		local, ok := a.space.Local(a.parts[chunk].eval.Segment(a.col), t)
		switch {
		case ok && local > 0:
			t = local
		case ok == a.smallest:
			return pass.Known(0), nil
		default:
			return pass.Known(a.notNull[chunk]), nil
		}
	}
	p := a.parts[chunk]
	sel, err := p.selection()
	if err != nil {
		return nil, err
	}
	null := uint64(0) // NULLs where they are not counted: thresholds are at least 1
	if a.smallest {
		null = textures.NullLimb
	}
	if err := p.eval.CopyToDepth(a.col, 0, null); err != nil {
		return nil, err
	}
	return p.eval.CountLimb(sel.Test(), step, step.Cmp(), t)
}

// leave ends the search of a limb: the values beyond the one that was found are
// counted, and the candidates are those that have it.
func (a *attribute) leave(found uint64) error {
	op := pass.Candidates{Attribute: a.name(), Smallest: a.smallest, Cmp: expr.GT, Code: found}
	if a.smallest {
		op.Cmp = expr.LT
	}
	n, err := a.sum(func(chunk int) (pass.Count, error) { return a.compareLimb(chunk, op, op.Cmp, op.Code) })
	a.beyond += n
	a.found |= found << (textures.LimbBits * a.limb)
	return err
}

// compareLimb counts a chunk's candidates by the limb that is searched.
func (a *attribute) compareLimb(chunk int, op pass.Op, cmp expr.CmpOp, code uint64) (pass.Count, error) {
	p, st := a.parts[chunk], &a.states[chunk]
	sel, err := p.selection()
	if err != nil {
		return nil, err
	}
	if st.gen != p.gen {
		*st = candidates{gen: p.gen, limb: a.limbs}
	}
	if p.eval.Segment(a.col).Nulls > 0 && !st.marked {
		err := a.mark(p, st, sel, pass.Candidates{Attribute: a.name(), Cmp: expr.LT, Code: textures.NullLimb})
		if err != nil {
			return nil, err
		}
	}
	for ; st.limb > a.limb+1; st.limb-- {
		of := a.name()
		of.Limb = st.limb - 1
		if err := a.mark(p, st, sel, pass.Candidates{Attribute: of, Cmp: expr.EQ, Code: textures.Limb(a.found, of.Limb)}); err != nil {
			return nil, err
		}
	}
	test := sel.Test()
	if st.marked {
		test = predicates.Candidates()
	}
	if err := a.copy(p, a.limb); err != nil {
		return nil, err
	}
	return p.eval.CountLimb(test, op, cmp, code)
}

// mark marks the candidates that are left of a chunk.
func (a *attribute) mark(p *part, st *candidates, sel *predicates.Selection, op pass.Candidates) error {
	op.Smallest = a.smallest
	if err := a.copy(p, op.Limb); err != nil {
		return err
	}
	if st.marked {
		return p.eval.Narrow(op)
	}
	st.marked = true
	return p.eval.Mark(sel.Test(), op)
}

// copy brings a limb of the shared code space to the depth buffer.
func (a *attribute) copy(p *part, limb int) error {
	if len(a.parts) == 1 {
		return p.eval.CopyToDepth(a.col, limb, textures.NullLimb)
	}
	base := table.Ordinal(a.space.Value(0))
	return p.eval.CopyShifted(a.col, limb, a.limbs, p.eval.Segment(a.col).Base-base, textures.NullLimb)
}
