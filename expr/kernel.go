package expr

import (
	"slices"

	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/table"
)

// kernel computes an operation in many rows at once, of its operands.
type kernel struct {
	// reads are the operands that it is given; of the others, which are constants, it knows the values. nil: all.
	reads []bool
	// whole says that it writes every row of out, which has what was in it before.
	whole bool
	// run writes to out, room for so many rows. ok is false where a row raises an error or its value has more than 64 bits.
	run func(operands []Vector, out Vector) (x Vector, ok bool)
}

// state is how computing one value ended.
type state uint8

const (
	valid state = iota
	null
	failed // with an error, or beyond 64 bits
)

func failedIf(b bool) state {
	if b {
		return failed
	}
	return valid
}

// element is a value as loops have it.
type element interface {
	int64 | float64 | string | intervalValue
}

// elements are the values of a vector.
func elements[X element](v *Vector) []X {
	var out any
	switch any(*new(X)).(type) {
	case int64:
		out = v.Ints
	case float64:
		out = v.Floats
	case string:
		out = v.Texts
	default:
		list := make([]intervalValue, len(v.Ints))
		for i, us := range v.Ints {
			if list[i].us = us; v.Spans != nil {
				list[i] = intervalValue{us - int64(v.Spans[i].Months)*table.MicrosPerMonth, v.Spans[i]}
			}
		}
		out = list
	}
	return out.([]X)
}

// write is room for the values that a kernel gives.
func write[Y element](out *Vector) (room []Y, done func() bool) {
	if _, ok := any(*new(Y)).(intervalValue); !ok {
		return elements[Y](out), func() bool { return true }
	}
	list := make([]intervalValue, len(out.Ints))
	return any(list).([]Y), func() bool {
		for i, v := range list {
			if !out.putInterval(i, v) {
				return false
			}
		}
		return true
	}
}

// operandsRead says that of n operands a kernel reads some, and knows the others.
func operandsRead(n int, reads ...int) []bool {
	out := make([]bool, n)
	for _, i := range reads {
		out[i] = true
	}
	return out
}

// each calls f for all rows with values and makes its NULLs.
func (x *Vector) each(n int, f func(i int) state) (ok bool) {
	own := x.Valid == nil // else it is an operand's
	for i := range n {
		if x.Valid != nil && x.IsNull(i) {
			continue
		}
		switch f(i) {
		case failed:
			return false
		case null:
			if !own {
				x.Valid, own = slices.Clone(x.Valid), true
			}
			x.SetNull(i)
		}
	}
	return true
}

// of1 is a function of operand i.
func of1[X, Y element](i int, f func(X) (Y, state)) kernel {
	return kernel{run: func(v []Vector, out Vector) (Vector, bool) {
		xs := elements[X](&v[i])
		ys, done := write[Y](&out)
		out.Valid = v[i].Valid
		if out.Valid == nil {
			for k, x := range xs {
				y, s := f(x)
				if s != valid {
					return of1Slowly(xs, ys, k, f, out, done)
				}
				ys[k] = y
			}
			return out, done()
		}
		return of1Slowly(xs, ys, 0, f, out, done)
	}}
}

// of1Slowly is of1 from row k on, with NULLs.
func of1Slowly[X, Y element](xs []X, ys []Y, k int, f func(X) (Y, state), out Vector, done func() bool) (Vector, bool) {
	ok := out.each(len(xs), func(i int) (s state) {
		if i >= k {
			ys[i], s = f(xs[i])
		}
		return s
	})
	return out, ok && done()
}

// of2 is a function of operands i and j.
func of2[A, B, Y element](i, j int, f func(A, B) (Y, state)) kernel {
	return kernel{run: func(v []Vector, out Vector) (Vector, bool) {
		as, bs := elements[A](&v[i]), elements[B](&v[j])
		ys, done := write[Y](&out)
		if out.Valid = Both(v[i].Valid, v[j].Valid); out.Valid == nil {
			bs := bs[:len(as)]
			k := 0
			for k < len(as) {
				y, s := f(as[k], bs[k])
				if s != valid {
					break
				}
				ys[k] = y
				k++
			}
			if k == len(as) {
				return out, done()
			}
		}
		ok := out.each(len(as), func(k int) (s state) {
			ys[k], s = f(as[k], bs[k])
			return s
		})
		return out, ok && done()
	}}
}

// of3 is a function of operands i, j and k.
func of3[A, B, C, Y element](i, j, k int, f func(A, B, C) (Y, state)) kernel {
	return kernel{run: func(v []Vector, out Vector) (Vector, bool) {
		as, bs, cs := elements[A](&v[i]), elements[B](&v[j]), elements[C](&v[k])
		ys, done := write[Y](&out)
		if out.Valid = Both(Both(v[i].Valid, v[j].Valid), v[k].Valid); out.Valid == nil {
			r := 0
			for r < len(as) {
				y, s := f(as[r], bs[r], cs[r])
				if s != valid {
					break
				}
				ys[r] = y
				r++
			}
			if r == len(as) {
				return out, done()
			}
		}
		ok := out.each(len(as), func(r int) (s state) {
			ys[r], s = f(as[r], bs[r], cs[r])
			return s
		})
		return out, ok && done()
	}}
}

// loop1 is a function of operand i that has a value for each one, also of what a NULL hides.
func loop1[X, Y element](i int, loop func(ys []Y, xs []X)) kernel {
	return kernel{whole: true, run: func(v []Vector, out Vector) (Vector, bool) {
		xs := elements[X](&v[i])
		loop(elements[Y](&out)[:len(xs)], xs)
		out.Valid = v[i].Valid
		return out, true
	}}
}

// loop2 is loop1 of operands i and j.
func loop2[A, B, Y element](i, j int, loop func(ys []Y, as []A, bs []B)) kernel {
	return kernel{whole: true, run: func(v []Vector, out Vector) (Vector, bool) {
		as := elements[A](&v[i])
		loop(elements[Y](&out)[:len(as)], as, elements[B](&v[j])[:len(as)])
		out.Valid = Both(v[i].Valid, v[j].Valid)
		return out, true
	}}
}

// sure is a kernel whose loop says that no row fails, also none that a NULL hides; where it does not, another one says which.
func sure[X, Y element](i int, loop func(ys []Y, xs []X) (ok bool), otherwise kernel) kernel {
	return kernel{reads: otherwise.reads, whole: true, run: func(v []Vector, out Vector) (Vector, bool) {
		xs := elements[X](&v[i])
		if loop(elements[Y](&out)[:len(xs)], xs) {
			out.Valid = v[i].Valid
			return out, true
		}
		return otherwise.run(v, out)
	}}
}

// written1 is a text of operand i, appended to what it is given.
func written1[X element](i int, f func(out []byte, x X) ([]byte, state)) kernel {
	return kernel{run: func(v []Vector, out Vector) (Vector, bool) {
		xs, w := elements[X](&v[i]), textWriter{arena: out.arena}
		out.Valid = v[i].Valid
		return out, out.each(len(xs), func(k int) state {
			text, s := f(w.begin(), xs[k])
			out.Texts[k] = w.end(text)
			return s
		})
	}}
}

// written2 is written1 of operands i and j.
func written2[A, B element](i, j int, f func(out []byte, a A, b B) ([]byte, state)) kernel {
	return kernel{run: func(v []Vector, out Vector) (Vector, bool) {
		as, bs, w := elements[A](&v[i]), elements[B](&v[j]), textWriter{arena: out.arena}
		out.Valid = Both(v[i].Valid, v[j].Valid)
		return out, out.each(len(as), func(k int) state {
			text, s := f(w.begin(), as[k], bs[k])
			out.Texts[k] = w.end(text)
			return s
		})
	}}
}

// written3 is written1 of operands i, j and k.
func written3[A, B, C element](i, j, k int, f func(out []byte, a A, b B, c C) ([]byte, state)) kernel {
	return kernel{run: func(v []Vector, out Vector) (Vector, bool) {
		as, bs, cs, w := elements[A](&v[i]), elements[B](&v[j]), elements[C](&v[k]), textWriter{arena: out.arena}
		out.Valid = Both(Both(v[i].Valid, v[j].Valid), v[k].Valid)
		return out, out.each(len(as), func(r int) state {
			text, s := f(w.begin(), as[r], bs[r], cs[r])
			out.Texts[r] = w.end(text)
			return s
		})
	}}
}

// never is a function without errors and NULLs of its own.
func never[X, Y element](f func(X) Y) func(X) (Y, state) {
	return func(x X) (Y, state) { return f(x), valid }
}

// only says which of n operands a kernel reads.
func (k kernel) only(n int, reads ...int) kernel {
	k.reads = operandsRead(n, reads...)
	return k
}

// boxed is an operation of values, which are NULL where it takes NULLs.
func boxed(types []table.Type, t table.Type, nulls bool, f func(v []table.Value) (table.Value, error)) kernel {
	return kernel{run: func(v []Vector, out Vector) (Vector, bool) {
		n := max(len(out.Ints), len(out.Floats), len(out.Texts))
		values := make([]table.Value, len(v))
		if !nulls {
			for i := range v {
				out.Valid = Both(out.Valid, v[i].Valid)
			}
		}
		return out, out.each(n, func(i int) state {
			for k := range v {
				values[k] = v[k].Value(i, types[k])
			}
			y, err := f(values)
			switch {
			case err != nil:
				return failed
			case y.Null:
				return null
			}
			y.Type = t
			return failedIf(!out.Put(i, y))
		})
	}}
}

// evaluated is a function as it is defined, a row after the other.
func evaluated(e *Call) kernel {
	return boxed(typesOf(e.Args), e.T, e.Fn.nulls, func(v []table.Value) (table.Value, error) { return e.Fn.eval(args{e, v, false}) })
}

func typesOf(list []Expr) []table.Type { return xslices.Map(list, Expr.Type) }

// holding is a kernel of a call that fails where a value passes the limits of the call's integer type.
func (k kernel) holding(e *Call) kernel {
	run := k.run
	k.run = func(v []Vector, out Vector) (Vector, bool) {
		x, ok := run(v, out)
		if !ok || x.within(e.T) {
			return x, ok
		}
		for i, k := range x.Ints {
			if !e.T.Holds(k) && !x.IsNull(i) {
				return x, false
			}
		}
		return x, true
	}
	return k
}

// by gives a function a kernel for all its calls.
func (f *Function) by(k kernel) *Function {
	f.kernel = func(*Call) kernel { return k }
	return f
}

// bound gives a function a kernel a call, by its constants; one without run where it has none for these.
func (f *Function) bound(to func(e *Call) kernel) *Function {
	f.kernel = to
	return f
}

// textAt is a constant text among the arguments of a call.
func (e *Call) textAt(i int) (s string, ok bool) {
	if i >= len(e.Args) {
		return "", true
	}
	c, ok := e.Args[i].(*Const)
	if !ok || c.V.Null || c.V.Type.Kind != table.Varchar {
		return "", false
	}
	return c.V.S, true
}
