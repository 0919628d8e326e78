package sharedscan

import (
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan/predicate"
)

// codeSet is a set of the codes of a column, and of NULL. Membership changes at each of the cuts, which
// ascend, and no code below the first is in it.
type codeSet struct {
	cuts []uint64
	null bool
}

// everyCode is all but NULL.
var everyCode = codeSet{cuts: []uint64{0}}

// span is the codes lo..hi.
func span(lo, hi uint64) codeSet {
	if hi == ^uint64(0) {
		return codeSet{cuts: []uint64{lo}}
	}
	return codeSet{cuts: []uint64{lo, hi + 1}}
}

// not is what is not in the set.
func (s codeSet) not() codeSet {
	if len(s.cuts) > 0 && s.cuts[0] == 0 {
		return codeSet{s.cuts[1:], !s.null}
	}
	return codeSet{append([]uint64{0}, s.cuts...), !s.null}
}

// and is what is in both sets.
func (s codeSet) and(o codeSet) codeSet {
	both := codeSet{null: s.null && o.null}
	a, b, in := s.cuts, o.cuts, false
	inA, inB := false, false
	for len(a)+len(b) > 0 {
		var at uint64
		if len(b) == 0 || len(a) > 0 && a[0] <= b[0] {
			at = a[0]
		} else {
			at = b[0]
		}
		if len(a) > 0 && a[0] == at {
			a, inA = a[1:], !inA
		}
		if len(b) > 0 && b[0] == at {
			b, inB = b[1:], !inB
		}
		if in != (inA && inB) {
			in = !in
			both.cuts = append(both.cuts, at)
		}
	}
	return both
}

// setOf is the set of the codes of one column that pass a leaf, where it is one.
func setOf(l predicate.Leaf) (col int, s codeSet, ok bool) {
	switch l := l.(type) {
	case *predicate.Compare:
		var s codeSet
		switch l.Op {
		case expr.EQ, expr.NE:
			s = span(l.Code, l.Code)
		case expr.LE, expr.GT:
			s = span(0, l.Code)
		case expr.LT, expr.GE:
			s = span(0, l.Code).and(span(l.Code, l.Code).not())
		}
		if l.Op == expr.NE || l.Op == expr.GT || l.Op == expr.GE {
			s = s.not().and(everyCode)
		}
		return l.Col, s, true
	case *predicate.Range:
		return l.Col, span(l.Lo, l.Hi), true
	case *predicate.NullTest:
		if l.Not {
			return l.Col, everyCode, true
		}
		return l.Col, codeSet{null: true}, true
	case *predicate.Members:
		var s codeSet
		for _, x := range l.Spans { // ascending, disjoint, not adjacent
			s.cuts = append(s.cuts, span(x.Lo, x.Hi).cuts...)
		}
		return l.Col, s, true
	}
	return 0, codeSet{}, false
}

// clause is a predicate as sets by column. A record passes if its codes are in every set of all and, where there is an
// any, not in every set of any. So all is a conjunction, and any, by De Morgan, a disjunction of what is not in its
// sets.
type clause struct {
	never    bool
	all, any map[int]codeSet
}

// clauseOf writes a predicate as sets, where that is possible. It is a conjunction of conditions over one column each,
// and of at most one disjunction of conditions over one column each.
func clauseOf(p *predicate.Pred) (c clause, ok bool) {
	switch p.Op {
	case predicate.False:
		return clause{never: true}, true
	case predicate.True:
		return clause{}, true
	case predicate.Simple:
		col, s, ok := setOf(p.Leaf)
		return clause{all: map[int]codeSet{col: s}}, ok
	}
	for i, k := range p.Kids {
		next, ok := clauseOf(k)
		if !ok {
			return clause{}, false
		}
		switch {
		case i == 0:
			c = next
		case p.Op == predicate.And:
			c, ok = c.and(next)
		default:
			c, ok = c.or(next)
		}
		if !ok {
			return clause{}, false
		}
	}
	return c, true
}

// and is the conjunction, where it is a clause.
func (c clause) and(o clause) (clause, bool) {
	if c.never || o.never {
		return clause{never: true}, true
	}
	if c.any != nil && o.any != nil {
		return clause{}, false
	}
	both := clause{all: met(c.all, o.all), any: c.any}
	if o.any != nil {
		both.any = o.any
	}
	return both, true
}

// or is the disjunction, where it is a clause.
func (c clause) or(o clause) (clause, bool) {
	switch {
	case c.never:
		return o, true
	case o.never:
		return c, true
	}
	a, ok := c.denied()
	b, also := o.denied()
	if !ok || !also {
		return clause{}, false
	}
	any := met(a, b)
	if len(any) == 1 {
		for col, s := range any {
			return clause{all: map[int]codeSet{col: s.not()}}, true
		}
	}
	return clause{any: any}, true
}

// denied are the sets of which a record is in each where it does not pass; not ok where that takes more.
func (c clause) denied() (sets map[int]codeSet, ok bool) {
	switch {
	case len(c.all) == 0 && c.any != nil:
		return c.any, true
	case len(c.all) == 1 && c.any == nil:
		for col, s := range c.all {
			return map[int]codeSet{col: s.not()}, true
		}
	}
	return nil, false
}

// met are the sets of both by column.
func met(a, b map[int]codeSet) map[int]codeSet {
	all := map[int]codeSet{}
	for col, s := range a {
		all[col] = s
	}
	for col, s := range b {
		if before, ok := all[col]; ok {
			s = before.and(s)
		}
		all[col] = s
	}
	return all
}
