package interval

import (
	"math/big"

	"github.com/stencildb/stencildb/table"
)

// Sum adds up months, days and microseconds.
type Sum struct{ Months, Days, Micros big.Int }

// Of is a sum.
func Of(months, days, us int64) *Sum {
	s := &Sum{}
	s.Months.SetInt64(months)
	s.Days.SetInt64(days)
	s.Micros.SetInt64(us)
	return s
}

// AddValue adds an interval, or takes it away.
func (s *Sum) AddValue(v table.Value, sign int64) {
	for to, n := range map[*big.Int]int64{&s.Months: int64(v.Months), &s.Days: v.Days(), &s.Micros: v.Clock()} {
		to.Add(to, new(big.Int).Mul(big.NewInt(sign), big.NewInt(n)))
	}
}

// Value is the interval of a sum; ok is false where it is out of range.
func (s *Sum) Value() (v table.Value, ok bool) {
	v.Type = table.Type{Kind: table.Interval}
	all := new(big.Int).Mul(&s.Days, big.NewInt(table.MicrosPerDay))
	all.Add(all, &s.Micros)
	v.I = all.Int64()
	carried := new(big.Int).Sub(big.NewInt(v.I/table.MicrosPerDay), &s.Days)
	v.Months, v.Carried = int32(s.Months.Int64()), int32(carried.Int64())
	return v, all.IsInt64() && s.Micros.IsInt64() && s.Months.Cmp(big.NewInt(int64(v.Months))) == 0 && carried.Cmp(big.NewInt(int64(v.Carried))) == 0
}

// addYears adds years, a part of one in months, rounded.
func (s *Sum) addYears(n *big.Rat) {
	s.Months.Add(&s.Months, Nearest(n.Mul(n, big.NewRat(12, 1))))
}

// addMonths adds months, a part of one in days and microseconds.
func (s *Sum) addMonths(n *big.Rat) {
	s.addDays(Times(30, WholeOf(&s.Months, n)))
}

// addDays adds days, a part of one in microseconds.
func (s *Sum) addDays(n *big.Rat) {
	s.AddMicros(Times(table.MicrosPerDay, WholeOf(&s.Days, n)))
}

// AddMicros adds microseconds, rounded, halves to the even one.
func (s *Sum) AddMicros(n *big.Rat) { s.Micros.Add(&s.Micros, Nearest(n)) }

// WholeOf adds the whole part of n and returns the rest.
func WholeOf(to *big.Int, n *big.Rat) *big.Rat {
	whole := new(big.Int).Quo(n.Num(), n.Denom())
	to.Add(to, whole)
	return new(big.Rat).Sub(n, new(big.Rat).SetInt(whole))
}

// Times is k times n, which it overwrites.
func Times(k int64, n *big.Rat) *big.Rat { return n.Mul(n, new(big.Rat).SetInt64(k)) }

// Nearest is the nearest integer, of two the even one.
func Nearest(n *big.Rat) *big.Int {
	twice := new(big.Int).Lsh(n.Num(), 1)
	q, r := new(big.Int).DivMod(twice.Add(twice, n.Denom()), new(big.Int).Lsh(n.Denom(), 1), new(big.Int))
	if r.Sign() == 0 && q.Bit(0) == 1 {
		q.Sub(q, big.NewInt(1))
	}
	return q
}

// Add adds so many of a unit.
func (s *Sum) Add(n *big.Rat, unit Unit) {
	switch {
	case unit.years > 0:
		s.addYears(Times(unit.years, n))
	case unit.months > 0:
		s.addMonths(Times(unit.months, n))
	case unit.days > 0:
		s.addDays(Times(unit.days, n))
	default:
		s.AddMicros(Times(unit.us, n))
	}
}
