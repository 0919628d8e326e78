package expr

import (
	"github.com/stencildb/stencildb/table"
)

// truth computes a condition: 1, 0 or NULL.
func (v vectors) truth(e Expr) (x Vector, ok bool) {
	switch e := e.(type) {
	case *Compare:
		return v.compare(e)
	case *Between:
		return v.between(e)
	case *And:
		return v.junction(e.Kids, 0)
	case *Or:
		return v.junction(e.Kids, 1)
	case *Not:
		if x, ok = v.of(e.X); !ok {
			return x, false
		}
		for i := range x.Ints {
			x.Ints[i] ^= 1
		}
		return x, true
	case *IsNull:
		if x, ok = v.of(e.X); !ok {
			return x, false
		}
		return v.tests(func(i int) bool { return x.IsNull(i) != e.Not }), true
	case *IsTruth:
		if x, ok = v.of(e.X); !ok {
			return x, false
		}
		return v.tests(func(i int) bool {
			is := IsUnknown
			if !x.IsNull(i) {
				is = Truth(x.Ints[i] ^ 1) // IsTrue is 0, IsFalse 1
			}
			return (is == e.Want) != e.Not
		}), true
	}
	return x, false
}

// tests is a truth value a row.
func (v vectors) tests(holds func(i int) bool) Vector {
	out := v.rows.Memory().Ints(v.rows.Len())
	for i := range out {
		out[i] = truth(holds(i))
	}
	return Vector{Ints: out, arena: v.rows.Memory()}
}

// compare is a comparison of values of one kind.
func (v vectors) compare(e *Compare) (out Vector, ok bool) {
	l, ok := v.of(e.L)
	if !ok {
		return out, false
	}
	r, ok := v.of(e.R)
	if !ok {
		return out, false
	}
	return compared(e, l, r)
}

// compared is the comparison of two vectors.
func compared(e *Compare, l, r Vector) (out Vector, ok bool) {
	lt, rt := e.L.Type(), e.R.Type()
	if l, r, ok = Aligned(l, r, max(0, rt.Scale-lt.Scale), max(0, lt.Scale-rt.Scale)); !ok {
		return out, false
	}
	out = Vector{Ints: l.arena.Ints(l.Len()), Valid: Both(l.Valid, r.Valid), arena: l.arena}
	op := e.Op
	if op == GT || op == LE { // of the other side
		l, r = r, l
	}
	equal, flip := op == EQ || op == NE, truth(op == NE || op == GE || op == LE)
	switch {
	case l.Floats != nil:
		compareFloats(out.Ints, l.Floats, r.Floats[:len(l.Floats)], equal, flip)
	case l.Texts != nil:
		compareOrdered(out.Ints, l.Texts, r.Texts[:len(l.Texts)], equal, flip)
	default:
		compareOrdered(out.Ints, l.Ints, r.Ints[:len(l.Ints)], equal, flip)
	}
	return out, true
}

// compareOrdered writes whether values are equal, or else less, 1 for TRUE, or the opposite of it where flip is 1.
func compareOrdered[T int64 | string](to []int64, l, r []T, equal bool, flip int64) {
	if equal {
		for i, x := range l {
			to[i] = truth(x == r[i]) ^ flip
		}
		return
	}
	for i, x := range l {
		to[i] = truth(x < r[i]) ^ flip
	}
}

// compareFloats is compareOrdered of doubles: NaN equals itself and is above all others.
func compareFloats(to []int64, l, r []float64, equal bool, flip int64) {
	if equal {
		for i, x := range l {
			to[i] = (truth(x == r[i]) | truth(x != x)&truth(r[i] != r[i])) ^ flip
		}
		return
	}
	for i, x := range l {
		to[i] = (truth(x < r[i]) | truth(x == x)&truth(r[i] != r[i])) ^ flip
	}
}

// between is X >= Lo and X <= Hi.
func (v vectors) between(e *Between) (out Vector, ok bool) {
	var parts [3]Vector
	for i, k := range []Expr{e.X, e.Lo, e.Hi} {
		if parts[i], ok = v.of(k); !ok {
			return out, false
		}
	}
	lo, ok1 := compared(&Compare{Op: GE, L: e.X, R: e.Lo}, parts[0], parts[1])
	hi, ok2 := compared(&Compare{Op: LE, L: e.X, R: e.Hi}, parts[0], parts[2])
	if !ok1 || !ok2 {
		return out, false
	}
	out = v.rows.Memory().cleared(e.Type(), len(lo.Ints))
	for i := range out.Ints {
		no := lo.Ints[i] == 0 && !lo.IsNull(i) || hi.Ints[i] == 0 && !hi.IsNull(i)
		switch {
		case !no && (lo.IsNull(i) || hi.IsNull(i)):
			out.SetNull(i)
		case no == e.Not:
			out.Ints[i] = 1
		}
	}
	return out, true
}

// at is the same over some rows.
func (v vectors) at(places []uint32) vectors {
	if len(places) == v.rows.Len() {
		return v
	}
	return vectors{v.rows.Some(places)}
}

// places are those of all rows of the block.
func (v vectors) places() []uint32 {
	out := v.rows.Memory().placesOf(v.rows.Len())
	for i := range out {
		out[i] = uint32(i)
	}
	return out
}

// junction is AND (decisive 0) or OR (decisive 1): an operand is computed of the rows that those
// before it leave undecided.
func (v vectors) junction(kids []Expr, decisive int64) (out Vector, ok bool) {
	rest := v.places()
	out = v.rows.Memory().room(boolean, len(rest))
	fill(out.Ints, 1-decisive)
	unknown := make([]bool, len(rest))
	for _, k := range kids {
		x, ok := v.at(rest).of(k)
		if !ok {
			return out, false
		}
		left := rest[:0] // what is left stands before what is looked at
		for i, p := range rest {
			switch {
			case x.IsNull(i):
				unknown[p] = true
			case x.Ints[i] == decisive:
				out.Ints[p], unknown[p] = decisive, false
				continue
			}
			left = append(left, p)
		}
		rest = left
	}
	for p, u := range unknown {
		if u {
			out.SetNull(p)
		}
	}
	return out, true
}

// choice is CASE or COALESCE: a value is computed of the rows that need it.
func (v vectors) choice(e *Call) (out Vector, ok bool) {
	c := choosing{vectors: v, to: e.T, out: v.rows.Memory().room(e.T, v.rows.Len())}
	rest := v.places()
	i := 0
	if e.Fn == Case {
		for ; i+1 < len(e.Args) && len(rest) > 0; i += 2 {
			when, ok := v.at(rest).of(e.Args[i])
			if !ok {
				return out, false
			}
			yes, no := c.divided(rest, &when)
			if nulls, ok := c.take(yes, e.Args[i+1]); !ok {
				return out, false
			} else {
				c.setNull(nulls)
			}
			rest = no
		}
	}
	for ; i < len(e.Args) && len(rest) > 0; i++ { // ELSE, or those of COALESCE
		if rest, ok = c.take(rest, e.Args[i]); !ok {
			return out, false
		}
	}
	c.setNull(rest)
	return c.out, true
}

// choosing is a vector whose rows are taken from others.
type choosing struct {
	vectors
	to  table.Type
	out Vector
}

// setNull makes rows NULL.
func (c *choosing) setNull(places []uint32) {
	for _, p := range places {
		c.out.SetNull(int(p))
	}
}

// divided are the places of which a condition is TRUE, and the others.
func (c *choosing) divided(places []uint32, when *Vector) (yes, no []uint32) {
	yes, no = c.rows.Memory().placesOf(len(places)), c.rows.Memory().placesOf(len(places))
	y := 0
	for k, p := range places { // without a branch: each goes to both, and one of them goes on
		t := int(when.Ints[k])
		if when.Valid != nil {
			t &= int(when.Valid[k/8] >> (k % 8))
		}
		yes[y], no[k-y] = p, p
		y += t & 1
	}
	return yes[:y], no[:len(places)-y]
}

// take gives rows their values; left are those of which it is NULL.
func (c *choosing) take(places []uint32, value Expr) (left []uint32, ok bool) {
	if t := value.Type(); t.Kind != c.to.Kind && !(t.IsInteger() && c.to.IsInteger()) || t.Scale != c.to.Scale {
		return nil, false
	}
	if len(places) == 0 {
		return nil, true
	}
	if k, ok := value.(*Const); ok && (k.V.Null || k.V.Big == nil && c.to.Kind != table.Interval) {
		if k.V.Null {
			return places, true
		}
		for _, p := range places {
			c.out.Put(int(p), k.V)
		}
		return nil, true
	}
	n := c.out.Len()
	_, column := value.(*Column)
	all := len(places) == n || column && 4*len(places) >= n // which is read faster as a whole than in places
	from := c.vectors
	if !all {
		from = c.at(places)
	}
	x, ok := from.of(value)
	switch {
	case !ok:
		return nil, false
	case len(places) == n && x.Valid == nil && c.out.Valid == nil && x.Highs == nil:
		c.out = x
		return nil, true
	case x.Spans != nil && c.out.Spans == nil:
		c.out.Spans = make([]table.Span, n)
	}
	at := places // of the values in x
	if !all {
		at = nil
	}
	if x.Valid != nil {
		kept, of := c.rows.Memory().placesOf(len(places))[:0], c.rows.Memory().placesOf(len(places))[:0]
		for i, p := range places {
			k := uint32(i)
			if all {
				k = p
			}
			if x.IsNull(int(k)) {
				left = append(left, p)
				continue
			}
			kept, of = append(kept, p), append(of, k)
		}
		places, at = kept, of
	}
	switch {
	case x.Floats != nil:
		scatter(c.out.Floats, places, x.Floats, at)
	case x.Texts != nil:
		scatter(c.out.Texts, places, x.Texts, at)
	default:
		scatter(c.out.Ints, places, x.Ints, at)
		if x.Spans != nil {
			scatter(c.out.Spans, places, x.Spans, at)
		} else if c.out.Spans != nil {
			for _, p := range places {
				c.out.Spans[p] = table.Span{}
			}
		}
	}
	return left, true
}

// scatter writes values of some places to others; at is nil of the first ones.
func scatter[T any](to []T, places []uint32, from []T, at []uint32) {
	if at == nil {
		from = from[:len(places)]
		for i, p := range places {
			to[p] = from[i]
		}
		return
	}
	at = at[:len(places)]
	for i, p := range places {
		to[p] = from[at[i]]
	}
}
