package calendar

import (
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

// DayPart is a part of a day of the calendar.
type DayPart struct {
	compute func(day int64) int64
	known   func() []int16
}

// Of is the part of a day.
func (p *DayPart) Of(day int64) int64 {
	if k := uint64(day - firstKnownDay); k < knownDays {
		return int64(p.known()[k])
	}
	return p.compute(day)
}

// OfDays replaces days by their parts.
func (p *DayPart) OfDays(days []int64) {
	known := p.known()[:knownDays]
	for i, day := range days {
		if k := uint64(day - firstKnownDay); k < knownDays {
			days[i] = int64(known[k])
		} else {
			days[i] = p.compute(day)
		}
	}
}

func partOfDays(compute func(day int64) int64) *DayPart {
	return &DayPart{compute, knownOfDays[int16](compute)}
}

// DayFloor is the first day of a month, or of so many.
type DayFloor struct {
	compute func(day int64) int64
	known   func() []int32
}

// OfTimes writes the timestamps of the first days. It is not ok where one may be no timestamp.
func (f *DayFloor) OfTimes(ys, xs []int64) (ok bool) {
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

func (f *DayFloor) of(day int64) int64 {
	if k := uint64(day - firstKnownDay); k < knownDays {
		return int64(f.known()[k])
	}
	return f.compute(day)
}

func floorOfDays(compute func(day int64) int64) *DayFloor {
	return &DayFloor{compute, knownOfDays[int32](compute)}
}
