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

// KthLargest returns the k-th largest value of a column over the selection (paper,
// routine 4.5); k is at least 1 and at most the number of selected non-NULL values.
func (g *Group) KthLargest(col int, k uint64) (table.Value, error) { return g.kth(col, k, true) }

// KthSmallest returns the k-th smallest value, with the comparison inverted.
func (g *Group) KthSmallest(col int, k uint64) (table.Value, error) { return g.kth(col, k, false) }

// Kth implements plan.Selection.
func (g *Group) Kth(col int, k uint64, largest bool) (table.Value, error) {
	return g.kth(col, k, largest)
}

// search is a k-th search in progress. It finds the code x bit by bit from the
// top: with
//
//	largest:  count(attribute >= x + 2^i) > k - 1
//	smallest: count(attribute <  x + 2^i) <= k - 1
//
// bit i of x is set.
type search struct {
	*Group
	col     int
	k       uint64
	largest bool
	op      expr.CmpOp // >= or <
	routine string
	notNull []uint64 // by chunk
	// For codes of several limbs: the common code space and how far it got.
	base   uint64
	limbs  int
	found  []found
	states []candidates
}

func (g *Group) kth(col int, k uint64, largest bool) (table.Value, error) {
	s := &search{Group: g, col: col, k: k, largest: largest, op: expr.GE, routine: "KthLargest"}
	if !largest {
		s.op, s.routine = expr.LT, "KthSmallest"
	}
	for _, p := range g.parts {
		n, err := p.countNotNull(col)
		if err != nil {
			return table.Value{}, err
		}
		s.notNull = append(s.notNull, n)
	}
	space := plan.NewSpace(g.table, col)
	wide := false
	for i, c := range g.table.Chunks {
		wide = wide || s.live(i) && textures.Limbs(c.Segments[col].Bits) > 1
	}
	if !wide {
		x, err := s.narrow(space)
		if err != nil || !g.run.Executes() {
			return table.Null(g.table.Fields[col].Type), err
		}
		return space.Value(x), nil
	}
	return s.wide(space)
}

// live reports whether a chunk takes part in the search.
func (s *search) live(chunk int) bool {
	return s.notNull[chunk] > 0 || !s.run.Executes()
}

// set decides bit i: the paper's Lemma 1.
func (s *search) set(count uint64) bool {
	if s.largest {
		return count > s.k-1
	}
	return count <= s.k-1
}

// side says in words what a pass of the search counts.
func (s *search) side() string {
	if s.largest {
		return "at or above the tentative value"
	}
	return "below the tentative value"
}

// nullPlace is where the copy puts NULLs so that the search does not count them.
func (s *search) nullPlace() uint64 {
	if s.largest {
		return 0 // thresholds are at least 1
	}
	return textures.NullLimb
}

// narrow searches codes of at most 24 bits: one copy, then one pass a bit. Chunks
// translate the common threshold into their own codes.
func (s *search) narrow(space *plan.Space) (uint64, error) {
	name := expr.Ident(s.table.Fields[s.col].Name)
	if !s.run.Executes() {
		return 0, s.explain(space.Bits())
	}
	var x uint64
	for i := space.Bits() - 1; i >= 0; i-- {
		t := x + 1<<i
		label := fmt.Sprintf("%s bit %d: Compare(%s %v %v)", s.routine, i, name, s.op, label(space, t))
		n, err := s.count(func(chunk int) (pass.Count, error) { return s.narrowCount(space, chunk, t, label) })
		if err != nil {
			return 0, err
		}
		if s.set(n) {
			x = t
		}
	}
	return x, nil
}

// label writes a threshold as a value where it is one.
func label(space *plan.Space, code uint64) string {
	if code > space.Max() {
		return fmt.Sprintf("code %d", code)
	}
	return (&expr.Const{V: space.Value(code)}).String()
}

// count adds the counts of all live chunks; they are in flight together.
func (s *search) count(one func(chunk int) (pass.Count, error)) (uint64, error) {
	var flight []pass.Count
	for i := range s.parts {
		if !s.live(i) {
			continue
		}
		c, err := one(i)
		if err != nil {
			return 0, err
		}
		flight = append(flight, c)
	}
	var n uint64
	for _, c := range flight {
		k, err := c.Wait()
		if err != nil {
			return 0, err
		}
		n += k
	}
	return n, nil
}

func (s *search) narrowCount(space *plan.Space, chunk int, t uint64, label string) (pass.Count, error) {
	if len(s.parts) > 1 { // the paper's one chunk draws every bit
		local, ok := space.Local(s.parts[chunk].eval.Segment(s.col), t)
		switch all := pass.Known(s.notNull[chunk]); {
		case !ok && s.largest, ok && local == 0 && !s.largest:
			return pass.Known(0), nil
		case !ok, local == 0:
			return all, nil
		}
		t = local
	}
	p := s.parts[chunk]
	sel, err := p.selection()
	if err != nil {
		return nil, err
	}
	if err := p.eval.CopyToDepth(s.col, 0, s.nullPlace()); err != nil {
		return nil, err
	}
	return p.eval.CountLimb(sel.Test(), label, "selected records "+s.side(), s.op, t)
}

// explain records the search as one symbolic pass a chunk.
func (s *search) explain(width int) error {
	name := expr.Ident(s.table.Fields[s.col].Name)
	for _, p := range s.parts {
		sel, err := p.selection()
		if err != nil {
			return err
		}
		limbs := textures.Limbs(p.eval.Segment(s.col).Bits)
		for limb := limbs - 1; limb >= 0; limb-- {
			if err := p.eval.CopyToDepth(s.col, limb, s.nullPlace()); err != nil {
				return err
			}
			attr, top := name, width-1
			if limbs > 1 {
				attr, top = fmt.Sprintf("%s.%d", name, limb), min(textures.LimbBits, width-textures.LimbBits*limb)-1
			}
			_, err := s.run.Run(&pass.Pass{Name: fmt.Sprintf("%s: Compare(%s %v x + 2^i), i = %d..0", s.routine, attr, s.op, top),
				Counts: "selected records " + s.side() + "; each count decides bit i of x", Target: p.eval.Target(),
				Stencil: sel.Test(), Depth: pass.Depth{Test: true}, Count: true, Symbolic: true})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// found is a limb of the answer that is known.
type found struct {
	limb  int
	value uint64
}

// candidates is how far a chunk's candidates have been narrowed.
type candidates struct {
	gen     int  // of the selection they were made from
	marked  bool // the scratch bit holds them; else they are the selection
	applied int  // limbs of search.found
}

// wide searches codes of several limbs: the top limb first; then the candidates
// are the records that have it, k is reduced by the records beyond it, and the
// next limb follows. Chunks with different minima are copied with an offset into
// one code space.
func (s *search) wide(space *plan.Space) (table.Value, error) {
	typ := s.table.Fields[s.col].Type
	if typ.Kind == table.Varchar && len(s.parts) > 1 {
		return table.Value{}, &plan.Declined{Why: s.routine + " over a VARCHAR of more than 2^24 distinct values takes one chunk"}
	}
	width := space.Bits()
	s.limbs, s.states = textures.Limbs(width), make([]candidates, len(s.parts))
	if typ.Kind != table.Varchar {
		s.base = table.Ordinal(space.Value(0))
	}
	if !s.run.Executes() {
		return table.Null(typ), s.explain(width)
	}
	var x uint64
	for limb := s.limbs - 1; limb >= 0; limb-- {
		v, err := s.limb(width, limb)
		if err != nil {
			return table.Value{}, err
		}
		x |= v << (textures.LimbBits * limb)
	}
	return space.Value(x), nil
}

// limb finds one limb of the answer and narrows the candidates to it.
func (s *search) limb(width, limb int) (uint64, error) {
	name := fmt.Sprintf("%s.%d", expr.Ident(s.table.Fields[s.col].Name), limb)
	over := func(label, counts string, op expr.CmpOp, t uint64) (uint64, error) {
		return s.count(func(chunk int) (pass.Count, error) {
			test, err := s.ready(chunk, limb)
			if err != nil {
				return nil, err
			}
			return s.parts[chunk].eval.CountLimb(test, label, counts, op, t)
		})
	}
	var x uint64
	for i := min(textures.LimbBits, width-textures.LimbBits*limb) - 1; i >= 0; i-- {
		t := x + 1<<i
		label := fmt.Sprintf("%s bit %d: Compare(%s %v %d)", s.routine, textures.LimbBits*limb+i, name, s.op, t)
		n, err := over(label, "candidates "+s.side(), s.op, t)
		if err != nil {
			return 0, err
		}
		if s.set(n) {
			x = t
		}
	}
	if limb == 0 {
		return x, nil
	}
	beyond := expr.GT
	if !s.largest {
		beyond = expr.LT
	}
	n, err := over(fmt.Sprintf("%s: Compare(%s %v %d)", s.routine, name, beyond, x), "candidates beyond this limb", beyond, x)
	if err != nil {
		return 0, err
	}
	s.k -= n
	s.found = append(s.found, found{limb, x})
	return x, nil
}

// ready prepares a chunk for counting over one limb: its candidates are marked and
// the limb is in the depth buffer. It returns the candidates' stencil test.
func (s *search) ready(chunk, limb int) (pass.Stencil, error) {
	p, st := s.parts[chunk], &s.states[chunk]
	sel, err := p.selection()
	if err != nil {
		return pass.Stencil{}, err
	}
	if st.gen != p.gen {
		*st = candidates{gen: p.gen}
	}
	name := expr.Ident(s.table.Fields[s.col].Name)
	if p.eval.Segment(s.col).Nulls > 0 && !st.marked {
		err := s.copy(p, limb)
		if err == nil {
			err = p.eval.Mark(sel.Test(), s.routine+": Compare("+name+" IS NOT NULL)", expr.LT, textures.NullLimb)
		}
		if err != nil {
			return pass.Stencil{}, err
		}
		st.marked = true
	}
	for _, f := range s.found[st.applied:] {
		if err := s.copy(p, f.limb); err != nil {
			return pass.Stencil{}, err
		}
		label := fmt.Sprintf("%s: Compare(%s.%d = %d)", s.routine, name, f.limb, f.value)
		if st.marked {
			err = p.eval.Narrow(label, expr.EQ, f.value)
		} else {
			err = p.eval.Mark(sel.Test(), label, expr.EQ, f.value)
		}
		if err != nil {
			return pass.Stencil{}, err
		}
		st.marked = true
		st.applied++
	}
	if st.marked {
		return predicates.Candidates(), s.copy(p, limb)
	}
	return sel.Test(), s.copy(p, limb)
}

// copy brings a limb of the common code space to the depth buffer.
func (s *search) copy(p *part, limb int) error {
	if len(s.parts) == 1 {
		return p.eval.CopyToDepth(s.col, limb, textures.NullLimb)
	}
	return p.eval.CopyShifted(s.col, limb, s.limbs, p.eval.Segment(s.col).Base-s.base, textures.NullLimb)
}
