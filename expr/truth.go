package expr

import (
	"cmp"
	"slices"

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
	out := make([]int64, v.rows.Len())
	for i := range out {
		if holds(i) {
			out[i] = 1
		}
	}
	return Vector{Ints: out}
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
	var holds [3]int64 // for less, equal, greater
	for i := range holds {
		if e.Op.Holds(i - 1) {
			holds[i] = 1
		}
	}
	out = Vector{Ints: make([]int64, l.Len()), Valid: Both(l.Valid, r.Valid)}
	for i, x := range l.Ints {
		out.Ints[i] = holds[cmp.Compare(x, r.Ints[i])+1]
	}
	for i, x := range l.Floats {
		out.Ints[i] = holds[table.CompareFloat(x, r.Floats[i])+1]
	}
	for i, x := range l.Texts {
		out.Ints[i] = holds[cmp.Compare(x, r.Texts[i])+1]
	}
	return out, true
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
	out = Vector{Ints: make([]int64, len(lo.Ints))}
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
	out := make([]uint32, v.rows.Len())
	for i := range out {
		out[i] = uint32(i)
	}
	return out
}

// junction is AND (decisive 0) or OR (decisive 1): an operand is computed of the rows that those
// before it leave undecided.
func (v vectors) junction(kids []Expr, decisive int64) (out Vector, ok bool) {
	rest := v.places()
	out.Ints = fill(len(rest), 1-decisive)
	unknown := make([]bool, len(rest))
	for _, k := range kids {
		x, ok := v.at(rest).of(k)
		if !ok {
			return out, false
		}
		left := rest[:0:0]
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
	rest := v.places()
	out = nulls(e.T, len(rest))
	take := func(of []uint32, value Expr) (left []uint32, ok bool) {
		if t := value.Type(); t.Kind != e.T.Kind && !(t.IsInteger() && e.T.IsInteger()) || t.Scale != e.T.Scale {
			return nil, false
		}
		x, ok := v.at(of).of(value)
		for i, p := range of {
			if !ok || x.IsNull(i) {
				left = append(left, p)
				continue
			}
			out.Valid[p/8] |= 1 << (p % 8)
			out.take(int(p), &x, i)
		}
		return left, ok
	}
	i := 0
	if e.Fn == Case {
		for ; i+1 < len(e.Args) && len(rest) > 0; i += 2 {
			when, ok := v.at(rest).of(e.Args[i])
			if !ok {
				return out, false
			}
			var yes, no []uint32
			for k, p := range rest {
				if when.Ints[k] != 0 && !when.IsNull(k) {
					yes = append(yes, p)
				} else {
					no = append(no, p)
				}
			}
			if _, ok = take(yes, e.Args[i+1]); !ok {
				return out, false
			}
			rest = no
		}
	}
	for ; i < len(e.Args) && len(rest) > 0; i++ { // ELSE, or those of COALESCE
		if rest, ok = take(rest, e.Args[i]); !ok {
			return out, false
		}
	}
	if !slices.ContainsFunc(out.Valid[:out.Len()/8], func(b byte) bool { return b != 0xff }) && out.Len()%8 == 0 {
		out.Valid = nil
	}
	return out, true
}
