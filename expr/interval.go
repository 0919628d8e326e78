package expr

import (
	"math/big"

	"github.com/stencildb/stencildb/table"
)

// Arithmetic with intervals: months first, ending on the last day of a shorter month, then the rest;
// a day has 24 hours. What moves a DATE rises with it; a time of day later than another may end
// before it, on the last day of a month.
func init() {
	for _, op := range []struct {
		name string
		sign int64
	}{{"+", 1}, {"-", -1}} {
		move := func(a args) (table.Value, error) {
			m := momentOf(a.v[0])
			return a.moved(m, op.sign, a.v[1])
		}
		define(op.name+"(date,interval) timestamp!/", move).as(infix)
		define(op.name+"(timestamp,interval) timestamp!", move).as(infix)
		define(op.name+"(interval,interval) interval!", func(a args) (table.Value, error) {
			var s sum
			for i, sign := range []int64{1, op.sign} {
				s.months.Add(&s.months, big.NewInt(sign*int64(a.v[i].Months)))
				s.us.Add(&s.us, new(big.Int).Mul(big.NewInt(sign), big.NewInt(a.v[i].I)))
			}
			return s.value(a.P)
		}).as(infix)
	}
	for op, sign := range map[ArithOp]string{Mul: "*", Div: "/"} {
		define(sign+"(interval,double) interval!", scaled(op)).as(infix)
		define(sign+"(interval,numeric) interval!", scaled(op)).as(infix)
	}
	define("age(timestamp,timestamp) interval!", age)
	define("justify_hours(interval) interval", func(a args) (table.Value, error) { return a.v[0], nil }) // 24 hours are a day anyway
	define("justify_days(interval) interval!", func(a args) (table.Value, error) { return a.justified(table.MicrosPerDay) })
	define("justify_interval(interval) interval!", func(a args) (table.Value, error) { return a.justified(1) })
}

// justified is an interval with a month in the place of each 30 days, and of one sign as far as
// units of so many microseconds go.
func (a args) justified(unit int64) (table.Value, error) {
	v := a.v[0]
	months, us := int64(v.Months)+v.I/microsPerMonth, v.I%microsPerMonth
	switch whole := us / unit; {
	case months > 0 && whole < 0:
		months, us = months-1, us+microsPerMonth
	case months < 0 && whole > 0:
		months, us = months+1, us-microsPerMonth
	}
	var s sum
	s.months.SetInt64(months)
	s.us.SetInt64(us)
	return s.value(a.P)
}

// sum adds up months and microseconds.
type sum struct{ months, us big.Int }

// value is the interval of a sum.
func (s *sum) value(pos int) (table.Value, error) {
	v := table.Value{Type: intervalType, Months: int32(s.months.Int64()), I: s.us.Int64()}
	if !s.us.IsInt64() || !s.months.IsInt64() || int64(v.Months) != s.months.Int64() {
		return table.Null(intervalType), Errorf(pos, "%s", OutOfRange(intervalType))
	}
	return v, nil
}

var intervalType = table.Type{Kind: table.Interval}

const microsPerMonth = 30 * table.MicrosPerDay // of a part of a month

// addMonths adds months, a part of one in days and microseconds.
func (s *sum) addMonths(n *big.Rat) {
	whole := new(big.Int).Quo(n.Num(), n.Denom())
	s.months.Add(&s.months, whole)
	rest := new(big.Rat).Sub(n, new(big.Rat).SetInt(whole))
	s.addMicros(rest.Mul(rest, new(big.Rat).SetInt64(microsPerMonth)))
}

// addMicros adds microseconds, rounded, halves to the even one.
func (s *sum) addMicros(n *big.Rat) {
	twice := new(big.Int).Lsh(n.Num(), 1)
	q, r := new(big.Int).DivMod(twice.Add(twice, n.Denom()), new(big.Int).Lsh(n.Denom(), 1), new(big.Int))
	if r.Sign() == 0 && q.Bit(0) == 1 {
		q.Sub(q, big.NewInt(1))
	}
	s.us.Add(&s.us, q)
}

// moved is a moment with an interval added, or taken away.
func (a args) moved(m moment, sign int64, by table.Value) (table.Value, error) {
	day := m.day
	if by.Months != 0 {
		y, month, d := table.CivilFromDays(day)
		n := y*12 + int64(month-1) + sign*int64(by.Months)
		y, month = table.FloorDiv(n, 12), int(n-12*table.FloorDiv(n, 12))+1
		day = table.DaysFromCivil(y, month, min(d, table.DaysInMonth(y, month)))
	}
	// Days and microseconds apart: of both operands they may be more than 64 bits.
	days, us := sign*(by.I/table.MicrosPerDay), m.us+sign*(by.I%table.MicrosPerDay)
	return a.timestamp(moment{day + days, us})
}

// Next is a BIGINT or a TIMESTAMP with a step added, which is an INTERVAL for the second.
func Next(v, step table.Value) (table.Value, error) {
	if v.Type.Kind != table.Timestamp {
		v.I += step.I
		return v, nil
	}
	day := table.FloorDiv(v.I, table.MicrosPerDay)
	a := args{Call: &Call{T: v.Type, P: -1}}
	return a.moved(moment{day, v.I - day*table.MicrosPerDay}, 1, step)
}

// timestamp is the TIMESTAMP of a moment.
func (a args) timestamp(m moment) (table.Value, error) {
	t := table.Type{Kind: table.Timestamp}
	day := m.day + table.FloorDiv(m.us, table.MicrosPerDay)
	us, ok, _ := IntOp(Mul, day, table.MicrosPerDay)
	us, fits, _ := IntOp(Add, us, m.us-table.FloorDiv(m.us, table.MicrosPerDay)*table.MicrosPerDay)
	if !ok || !fits || !t.Holds(us) {
		return a.fail("%s", OutOfRange(t))
	}
	return table.Value{Type: t, I: us}, nil
}

// scaled is an interval times a number, or divided by it.
func scaled(op ArithOp) func(args) (table.Value, error) {
	return func(a args) (table.Value, error) {
		f := new(big.Rat)
		if by := a.v[1]; by.Type.Kind == table.Decimal {
			f.SetFrac(by.Unscaled(), table.Pow10(by.Type.Scale))
		} else {
			f = f.SetFloat64(by.F)
		}
		switch {
		case f == nil:
			return a.fail("%s", OutOfRange(a.T))
		case op == Div && f.Sign() == 0:
			return a.fail(MsgDivisionByZero)
		case op == Div:
			f.Inv(f)
		}
		var s sum
		s.addMonths(new(big.Rat).Mul(new(big.Rat).SetInt64(int64(a.v[0].Months)), f))
		s.addMicros(new(big.Rat).Mul(new(big.Rat).SetInt64(a.v[0].I), f))
		return s.value(a.P)
	}
}

// age is the difference of two timestamps in years, months, days and time of day.
func age(a args) (table.Value, error) {
	late, early, sign := momentOf(a.v[0]), momentOf(a.v[1]), int64(1)
	if a.v[0].I < a.v[1].I {
		late, early, sign = early, late, -1
	}
	y, m, d := table.CivilFromDays(late.day)
	y0, m0, d0 := table.CivilFromDays(early.day)
	months, days, us := (y-y0)*12+int64(m-m0), int64(d-d0), late.us-early.us
	if us < 0 {
		us += table.MicrosPerDay
		days--
	}
	if days < 0 { // borrows the days of the month of the earlier one
		days += int64(table.DaysInMonth(y0, m0))
		months--
	}
	var s sum
	s.months.SetInt64(sign * months)
	s.us.SetInt64(sign * (days*table.MicrosPerDay + us))
	return s.value(a.P)
}
