package expr

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/stencildb/stencildb/expr/match"
	"github.com/stencildb/stencildb/table"
)

// plainCast is a conversion between numbers, times and truth values.
func plainCast(e *Cast) (k kernel, ok bool) {
	from, to := e.X.Type(), e.To
	holds := func(x int64) (int64, state) { return x, failedIf(!to.Holds(x)) }
	switch {
	case from.Kind == table.Varchar || from.Kind == table.Interval || to.Kind == table.Interval || from.Scale > 18 || to.Scale > 18:
		return k, false
	case to.Kind == table.Boolean && (from.IsInteger() || from.Kind == table.Boolean):
		return of1(0, never(func(x int64) int64 { return truth(x != 0) })), true
	case to.IsInteger() && (from.IsInteger() || from.Kind == table.Boolean):
		return sure(0, copied(to), of1(0, holds)), true
	case to.IsInteger() && from.Kind == table.Decimal:
		unit := table.Pow10(from.Scale).Int64()
		k := of1(0, func(x int64) (int64, state) { return holds(nearestTo(x, unit)) })
		if unit == 1 {
			return sure(0, copied(to), k), true
		}
		return sure(0, halfAway.dividing(unit, to), k), true
	case to.IsInteger() && from.IsFloat():
		return sure(0, toWhole(to), of1(0, func(x float64) (int64, state) {
			f := math.RoundToEven(x)
			if !(f >= -0x1p63 && f < 0x1p63) {
				return 0, failed
			}
			return holds(int64(f))
		})), true
	case to.Kind == table.Decimal && from.IsExact():
		k := of1(0, scaling(from.Scale, to))
		_, most := to.Limits()
		d := to.Scale - from.Scale
		if d >= 0 {
			return sure(0, multiplied(table.Pow10(d).Int64(), most), k), true
		}
		divide := halfAway.divide(table.Pow10(-d).Int64())
		return sure(0, func(ys, xs []int64) bool { return divide(ys, xs) && nearerThan(ys, most) }, k), true
	case to.Kind == table.Double && from.IsExact():
		return toDouble(from.Scale), true
	case to.Kind == table.Real && from.IsExact():
		return of1(0, never(func(x int64) float64 { return exactToFloat(table.Value{Type: from, I: x}, true) })), true
	case to.Kind == table.Double && from.IsFloat():
		return loop1(0, func(ys, xs []float64) { copy(ys, xs) }), true
	case to.Kind == table.Real && from.IsFloat():
		return of1(0, func(x float64) (float64, state) {
			f, wrong := Round32(x)
			return f, failedIf(wrong != nil)
		}), true
	case to.Kind == table.Timestamp && from.Kind == table.Date:
		return of1(0, func(x int64) (int64, state) {
			us, fits, _ := IntOp(Mul, x, table.MicrosPerDay)
			return us, failedIf(!fits || !to.Holds(us))
		}), true
	case to.Kind == table.Date && from.Kind == table.Timestamp:
		return loop1(0, func(ys, xs []int64) {
			for i, x := range xs {
				ys[i] = table.FloorDiv(x, table.MicrosPerDay)
			}
		}), true
	case to.Kind == from.Kind && from.Kind != table.Decimal && !from.IsFloat():
		return loop1(0, func(ys, xs []int64) { copy(ys, xs) }), true
	}
	return k, false
}

// toDouble is integers of a scale as doubles.
func toDouble(scale int) kernel {
	unit, _ := new(big.Float).SetInt(table.Pow10(scale)).Float64() // up to 10^22 it is exact
	return sure(0, quotientsBy(unit), of1(0, func(x int64) (float64, state) {
		if scale > 0 && (x > 1<<53 || x < -1<<53) {
			return exactToFloat(table.Value{Type: table.Type{Kind: table.Decimal, Scale: scale}, I: x}, false), valid
		}
		return float64(x) / unit, valid
	}))
}

// nearestTo is x / unit rounded, halves away from zero.
func nearestTo(x, unit int64) int64 {
	q, r := x/unit, x%unit
	if r >= unit-r && r > 0 {
		q++
	} else if r < 0 && -r >= unit+r {
		q--
	}
	return q
}

// scaling brings integers of one scale to a DECIMAL, see [castDecimal].
func scaling(scale int, to table.Type) func(x int64) (int64, state) {
	most := int64(math.MaxInt64)
	if to.Precision > 0 && to.Precision < 18 {
		most = table.Pow10(to.Precision).Int64() - 1
	}
	within := func(x int64) (int64, state) { return x, failedIf(x > most || x < -most) }
	if most == math.MaxInt64 {
		within = func(x int64) (int64, state) { return x, valid }
	}
	d := to.Scale - scale
	unit := table.Pow10(max(d, -d)).Int64()
	switch {
	case d == 0:
		return within
	case d < 0:
		return func(x int64) (int64, state) { return within(nearestTo(x, unit)) }
	}
	return func(x int64) (int64, state) {
		y, fits, _ := IntOp(Mul, x, unit)
		if !fits {
			return 0, failed
		}
		return within(y)
	}
}

// castKernel is any conversion.
func castKernel(e *Cast) kernel {
	from, to := e.X.Type(), e.To
	switch {
	case from.Kind == table.Varchar && to.Kind == table.Varchar:
		return loop1(0, func(ys, xs []string) { copy(ys, xs) })
	case from.Kind == table.Varchar && to.IsFloat():
		return of1(0, func(s string) (float64, state) {
			if n, digits, ok := plainNumber(s); ok {
				f := float64(n) / powersOfTen[digits] // both are exact, so it is rounded once
				if to.Kind == table.Double {
					return f, valid
				}
				if math.Float64bits(f)&(1<<29-1) != 1<<28 { // not halfway between two of single precision, where the first rounding counts
					return float64(float32(f)), valid
				}
			}
			_, f, err := table.Parse(to, strings.Trim(s, Blanks), true)
			return f, failedIf(err != nil)
		})
	case from.Kind == table.Varchar && to.Kind == table.Decimal:
		return of1(0, func(s string) (int64, state) {
			if n, ok := table.ParsePlain(strings.Trim(s, Blanks), to.Scale); ok && (to.Precision == 0 || to.Precision >= 18) {
				return n, valid
			}
			v, err := castText(s, to, false, e.P)
			return v.I, failedIf(err != nil)
		})
	case from.Kind == table.Varchar && to.Kind != table.Interval:
		return of1(0, func(s string) (int64, state) {
			if to.IsInteger() {
				if n, digits, ok := plainNumber(s); ok && digits == 0 {
					return n, failedIf(!to.Holds(n))
				}
			}
			i, _, err := table.Parse(to, strings.Trim(s, Blanks), true)
			return i, failedIf(err != nil)
		})
	case to.Kind == table.Varchar && from.IsFloat():
		return written1(0, func(out []byte, x float64) ([]byte, state) {
			return table.Value{Type: from, F: x}.AppendTo(out), valid
		})
	case to.Kind == table.Varchar && from.IsInteger():
		return written1(0, func(out []byte, x int64) ([]byte, state) { return strconv.AppendInt(out, x, 10), valid })
	case to.Kind == table.Varchar && from.Kind != table.Interval:
		return written1(0, func(out []byte, x int64) ([]byte, state) {
			return table.Value{Type: from, I: x}.AppendTo(out), valid
		})
	}
	return boxed([]table.Type{from}, to, false, func(v []table.Value) (table.Value, error) { return cast(v[0], to, false, e.P) })
}

// plainNumber is an integer that a text of at most 15 digits and no blanks has, and how many of these stand behind its point.
func plainNumber(s string) (n int64, digits int, ok bool) {
	b, point := s, -1
	if b != "" && b[0] == '-' {
		b = b[1:]
	}
	if b == "" || len(b) > 16 || b[0] == '0' && len(b) == 1 && len(s) > 1 { // -0
		return 0, 0, false
	}
	for i := range len(b) {
		c := b[i] - '0'
		switch {
		case c < 10:
			n = 10*n + int64(c)
		case b[i] == '.' && point < 0 && i > 0 && i < len(b)-1:
			point = i
		default:
			return 0, 0, false
		}
	}
	if point >= 0 {
		digits = len(b) - 1 - point
	} else if len(b) > 15 {
		return 0, 0, false
	}
	if len(s) > len(b) {
		if n == 0 {
			return 0, 0, false // -0.0
		}
		n = -n
	}
	return n, digits, true
}

// inKernel looks for values in a list.
func inKernel(e *In) kernel {
	t := e.X.Type()
	texts, ints, unknown, plain := map[string]bool{}, map[int64]bool{}, false, t.Kind == table.Varchar || !t.IsFloat()
	for _, c := range e.List {
		switch {
		case c.V.Null:
			unknown = true
		case t.Kind == table.Varchar:
			texts[c.V.S] = true
		default:
			ints[c.V.I] = true
			plain = plain && c.V.Big == nil && c.V.Months == 0 && c.V.Type.Scale == t.Scale
		}
	}
	is := func(found bool) (int64, state) {
		if !found && unknown {
			return 0, null
		}
		return truth(found != e.Not), valid
	}
	switch {
	case !plain || t.Kind == table.Interval:
		return boxed([]table.Type{t}, boolean, false, func(v []table.Value) (table.Value, error) { return inList(v[0], e), nil })
	case t.Kind == table.Varchar:
		return of1(0, func(s string) (int64, state) { return is(texts[s]) })
	}
	return of1(0, func(x int64) (int64, state) { return is(ints[x]) })
}

// likeKernel matches texts.
func likeKernel(e *Like) kernel {
	m, err := match.CompileLike(e.Pattern, e.Escape, e.Fold)
	return of1(0, func(s string) (int64, state) {
		if err != nil {
			return 0, failed
		}
		return truth(m.Match(s) != e.Not), valid
	})
}
