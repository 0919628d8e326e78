package expr

import (
	"math"

	"github.com/stencildb/stencildb/expr/calendar"
	"github.com/stencildb/stencildb/table"
)

// clockFloor writes timestamps without what is behind a unit of the time of day. It is not ok where one is near to the first timestamp.
func clockFloor(unit int64) func(ys, xs []int64) (ok bool) {
	if unit == 1 {
		return func(ys, xs []int64) bool { return copy(ys, xs) == len(xs) }
	}
	return func(ys, xs []int64) bool {
		if widest(xs) >= 1<<57 { // some 4,000 years from 1970: the first one is 4714 BC
			return false
		}
		d, bias := dividerBy(uint64(unit)), 1<<58/unit*unit
		for i, us := range xs {
			ys[i] = int64(d.of(uint64(us+bias)))*unit - bias
		}
		return true
	}
}

// daysOf writes the days of timestamps.
func daysOf(ys, xs []int64) {
	for i, us := range xs {
		ys[i] = table.FloorDiv(us, table.MicrosPerDay)
	}
}

// remainder is a modulo m, from 0 on.
func remainder(a, m int64) int64 {
	r := a % m
	return r + m&(r>>63)
}

// clockLoops write the parts of timestamps that are of the time of day, see [calendar.ClockParts].
var clockLoops = map[string]func(ys, xs []int64){
	"second": func(ys, xs []int64) {
		for i, us := range xs {
			ys[i] = remainder(us, 60_000_000)
		}
	},
	"minute": func(ys, xs []int64) {
		for i, us := range xs {
			ys[i] = remainder(us, 3_600_000_000) / 60_000_000
		}
	},
	"hour": func(ys, xs []int64) {
		for i, us := range xs {
			ys[i] = remainder(us, table.MicrosPerDay) / 3_600_000_000
		}
	},
}

func init() {
	clockLoops["microsecond"], clockLoops["millisecond"] = clockLoops["second"], clockLoops["second"]
}

// partKernel is EXTRACT of a constant unit of a time, or date_part, which is a double.
func partKernel(e *Call, double bool) kernel {
	name, ok := e.textAt(0)
	unit, t := calendar.Unit(name), e.Args[1].Type()
	if !ok || t.Kind == table.Interval {
		return kernel{}
	}
	var loop func(ys, xs []int64)
	part, day := calendar.DayParts[unit]
	clock, time := clockLoops[unit]
	switch isDate := t.Kind == table.Date; {
	case day && isDate:
		loop = func(ys, xs []int64) {
			copy(ys, xs)
			part.OfDays(ys)
		}
	case day:
		loop = func(ys, xs []int64) {
			daysOf(ys, xs)
			part.OfDays(ys)
		}
	case unit == "epoch" && isDate:
		return partOf(sure(1, multiplied(table.MicrosPerDay, math.MaxInt64), of1(1, func(day int64) (int64, state) {
			us, fits, _ := IntOp(Mul, day, table.MicrosPerDay)
			return us, failedIf(!fits)
		})), unit, double)
	case unit == "epoch":
		loop = func(ys, xs []int64) { copy(ys, xs) }
	case unit == "julian" && isDate:
		loop = func(ys, xs []int64) {
			for i, day := range xs {
				ys[i] = day + calendar.JulianEpoch
			}
		}
	case time && !isDate:
		loop = clock
	case time && double:
		loop = func(ys, _ []int64) { clear(ys) }
	default:
		return kernel{}
	}
	return partOf(loop1(1, loop), unit, double)
}

// partOf is a kernel of the parts of a unit, or of these as doubles.
func partOf(k kernel, unit string, double bool) kernel {
	if !double {
		return k.only(2, 1)
	}
	inDouble := toDouble(calendar.Fractions[unit])
	return kernel{whole: true, run: func(v []Vector, out Vector) (Vector, bool) {
		part, ok := k.run(v, Vector{Ints: out.arena.Ints(len(out.Floats)), arena: out.arena})
		if !ok {
			return out, false
		}
		return inDouble.run([]Vector{part}, out)
	}}.only(2, 1)
}
