package expr

import (
	"math"
	"sync"

	"github.com/stencildb/stencildb/table"
)

// The days from 1900 to 2100, of which what the calendar says is computed once.
const (
	firstKnownDay = -25567
	knownDays     = 73414
)

// knownOfDays are what a function says of the days from [firstKnownDay] on, computed when they are asked for first.
func knownOfDays[T int16 | int32](of func(day int64) int64) func() []T {
	return sync.OnceValue(func() []T {
		list := make([]T, knownDays)
		for i := range list {
			list[i] = T(of(firstKnownDay + int64(i)))
		}
		return list
	})
}

// dayPart is a part of a day of the calendar.
type dayPart struct {
	compute func(day int64) int64
	known   func() []int16
}

func partOfDays(compute func(day int64) int64) *dayPart {
	return &dayPart{compute, knownOfDays[int16](compute)}
}

// of is the part of a day.
func (p *dayPart) of(day int64) int64 {
	if k := uint64(day - firstKnownDay); k < knownDays {
		return int64(p.known()[k])
	}
	return p.compute(day)
}

// ofDays replaces days by their parts.
func (p *dayPart) ofDays(days []int64) {
	known := p.known()[:knownDays]
	for i, day := range days {
		if k := uint64(day - firstKnownDay); k < knownDays {
			days[i] = int64(known[k])
		} else {
			days[i] = p.compute(day)
		}
	}
}

// dayFloor is the first day of a month, or of so many.
type dayFloor struct {
	compute func(day int64) int64
	known   func() []int32
}

func floorOfDays(compute func(day int64) int64) *dayFloor {
	return &dayFloor{compute, knownOfDays[int32](compute)}
}

// ofTimes writes the timestamps of the first days. It is not ok where one may be no timestamp.
func (f *dayFloor) ofTimes(ys, xs []int64) (ok bool) {
	known := f.known()[:knownDays]
	for i, us := range xs {
		k := uint64(table.FloorDiv(us, table.MicrosPerDay) - firstKnownDay)
		if k >= knownDays {
			return false
		}
		ys[i] = int64(known[k]) * table.MicrosPerDay
	}
	return true
}

func (f *dayFloor) of(day int64) int64 {
	if k := uint64(day - firstKnownDay); k < knownDays {
		return int64(f.known()[k])
	}
	return f.compute(day)
}

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

// clockLoops write the parts of timestamps that are of the time of day, see [clockParts].
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
	unit, t := unitNamed(name), e.Args[1].Type()
	if !ok || t.Kind == table.Interval {
		return kernel{}
	}
	var loop func(ys, xs []int64)
	part, day := dayParts[unit]
	clock, time := clockLoops[unit]
	switch isDate := t.Kind == table.Date; {
	case day && isDate:
		loop = func(ys, xs []int64) {
			copy(ys, xs)
			part.ofDays(ys)
		}
	case day:
		loop = func(ys, xs []int64) {
			daysOf(ys, xs)
			part.ofDays(ys)
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
				ys[i] = day + julianEpoch
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
	inDouble := toDouble(fractions[unit])
	return kernel{whole: true, run: func(v []Vector, out Vector) (Vector, bool) {
		part, ok := k.run(v, Vector{Ints: out.arena.Ints(len(out.Floats)), arena: out.arena})
		if !ok {
			return out, false
		}
		return inDouble.run([]Vector{part}, out)
	}}.only(2, 1)
}
