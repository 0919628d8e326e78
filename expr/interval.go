package expr

import (
	"math"
	"math/big"

	"github.com/stencildb/stencildb/expr/calendar"
	"github.com/stencildb/stencildb/expr/interval"
	"github.com/stencildb/stencildb/table"
)

// Arithmetic with intervals: months, days and time of day each for themselves. The other operand moves by the months first, ending on the
// last day of a shorter month, then by the rest. A day has 24 hours. What moves a DATE rises with it; a time of day later than another may
// end before it, on the last day of a month.
func init() {
	for _, op := range []struct {
		name string
		sign int64
	}{{"+", 1}, {"-", -1}} {
		move := func(a args) (table.Value, error) {
			return a.timestamp(calendar.Moved(calendar.Of(a.v[0]), op.sign, int64(a.v[1].Months), a.v[1].I))
		}
		define(op.name+"(date,interval) timestamp!/", move).by(of2(0, 1, func(day int64, by intervalValue) (int64, state) {
			return timestampOf(calendar.Moved(calendar.Moment{Day: day}, op.sign, int64(by.Months), by.us))
		})).as(infix)
		define(op.name+"(timestamp,interval) timestamp!", move).by(of2(0, 1, func(us int64, by intervalValue) (int64, state) {
			return timestampOf(calendar.Moved(calendar.At(us), op.sign, int64(by.Months), by.us))
		})).as(infix)
		define(op.name+"(interval,interval) interval!", func(a args) (table.Value, error) {
			var s interval.Sum
			for i, sign := range []int64{1, op.sign} {
				s.AddValue(a.v[i], sign)
			}
			return a.interval(&s)
		}).by(of2(0, 1, func(x, y intervalValue) (intervalValue, state) { return x.plus(op.sign, y) })).as(infix)
	}
	for op, sign := range map[ArithOp]string{Mul: "*", Div: "/"} {
		define(sign+"(interval,double) interval!", scaled(op)).by(of2(0, 1, func(x intervalValue, by float64) (intervalValue, state) { return x.times(op, by) })).as(infix)
		define(sign+"(interval,numeric) interval!", scaled(op)).bound(func(e *Call) kernel {
			t := e.Args[1].Type()
			return of2(0, 1, func(x intervalValue, by int64) (intervalValue, state) {
				return x.times(op, exactToFloat(table.Value{Type: t, I: by}, false))
			})
		}).as(infix)
	}
	for name, part := range map[string]func(v table.Value) int64{
		"months": func(v table.Value) int64 { return int64(v.Months) }, "days": table.Value.Days, "clock": table.Value.Clock,
	} {
		define("interval_"+name+"(interval) bigint", func(a args) (table.Value, error) { return table.Int(part(a.v[0])), nil }).as(hidden)
	}
	define("interval_of(numeric,numeric,numeric) interval!", func(a args) (table.Value, error) {
		var s interval.Sum
		for i, to := range []*big.Int{&s.Months, &s.Days, &s.Micros} {
			to.Set(a.v[i].Unscaled())
		}
		return a.interval(&s)
	}).as(hidden)
	define("age(timestamp,timestamp) interval!", age).by(of2(0, 1, func(x, y int64) (intervalValue, state) { return intervalOf(calendar.Age(x, y)) }))
	define("justify_hours(interval) interval", func(a args) (table.Value, error) {
		v := a.v[0]
		v.Carried = 0
		return v, nil
	})
	define("justify_days(interval) interval!", func(a args) (table.Value, error) {
		v := a.v[0]
		months, days := justified(int64(v.Months), v.Days(), 30)
		return a.interval(interval.Of(months, days, v.Clock()))
	})
	define("justify_interval(interval) interval!", func(a args) (table.Value, error) {
		months, us := justified(int64(a.v[0].Months), a.v[0].I, table.MicrosPerMonth)
		return a.interval(interval.Of(months, us/table.MicrosPerDay, us%table.MicrosPerDay))
	})
}

// interval is the INTERVAL of a sum.
func (a args) interval(s *interval.Sum) (table.Value, error) {
	v, ok := s.Value()
	if !ok {
		return a.raise(OutOfRange(intervalType))
	}
	return v, nil
}

// justified is months and a rest with a month in the place of each so many units of the rest, and both of one sign.
func justified(months, rest, perMonth int64) (int64, int64) {
	months, rest = months+rest/perMonth, rest%perMonth
	switch {
	case months > 0 && rest < 0:
		return months - 1, rest + perMonth
	case months < 0 && rest > 0:
		return months + 1, rest - perMonth
	}
	return months, rest
}

// Next is a number with a step of its type added, or a TIMESTAMP with an INTERVAL. Behind the type's last value it is an error.
func Next(v, step table.Value) (table.Value, error) {
	if v.Type.Kind != table.Timestamp {
		sum, fits, _ := IntOp(Add, v.I, step.I)
		if !fits || v.Big != nil || step.Big != nil || !v.Type.Holds(sum) {
			return Eval(&Arith{Op: Add, L: &Const{V: v, P: -1}, R: &Const{V: step, P: -1}, T: v.Type, P: -1}, &Env{})
		}
		v.I = sum
		return v, nil
	}
	a := args{Call: &Call{T: v.Type, P: -1}}
	return a.timestamp(calendar.Moved(calendar.At(v.I), 1, int64(step.Months), step.I))
}

// intervalOf is an interval of months, days and microseconds, where there is one.
func intervalOf(months, days, us int64) (v intervalValue, s state) {
	all, fits, _ := IntOp(Mul, days, table.MicrosPerDay)
	all, ok, _ := IntOp(Add, all, us)
	carried := all/table.MicrosPerDay - days
	v = intervalValue{all, table.Span{Months: int32(months), Carried: int32(carried)}}
	return v, failedIf(!fits || !ok || int64(v.Months) != months || int64(v.Carried) != carried)
}

func (v intervalValue) days() int64 { return v.us/table.MicrosPerDay - int64(v.Carried) }

func (v intervalValue) clock() int64 {
	return v.us%table.MicrosPerDay + int64(v.Carried)*table.MicrosPerDay
}

// plus is the sum with another, or the difference.
func (v intervalValue) plus(sign int64, w intervalValue) (intervalValue, state) {
	clock, ok, _ := IntOp(Add, v.clock(), sign*w.clock())
	if !ok || w.clock() == math.MinInt64 {
		return v, failed
	}
	return intervalOf(int64(v.Months)+sign*int64(w.Months), v.days()+sign*w.days(), clock)
}

// times is [scaled] where months and days stay whole.
func (v intervalValue) times(op ArithOp, by float64) (intervalValue, state) {
	n := int64(by)
	if op != Mul || float64(n) != by || n > 1<<31 || n < -1<<31 {
		x, err := scaled(op)(args{&Call{T: intervalType, P: -1}, []table.Value{{Type: intervalType, I: v.us, Span: v.Span}, table.Float(by)}, false})
		return intervalValue{x.I, x.Span}, failedIf(err != nil)
	}
	const exact = 1 << 53
	months, days := int64(v.Months)*n, v.days()*n
	clock, ok, _ := IntOp(Mul, v.clock(), n)
	if !ok || clock > exact || clock < -exact || days > exact || days < -exact { // floating point would round
		return v, failed
	}
	return intervalOf(months, days, clock)
}

// scaled is an interval times a number, or divided by it. As in PostgreSQL each part is computed in floating point,
// so that three thirds of a month are one.
func scaled(op ArithOp) func(args) (table.Value, error) {
	return func(a args) (table.Value, error) {
		by := a.v[1].F
		if a.v[1].Type.Kind == table.Decimal {
			by = exactToFloat(a.v[1], false)
		}
		if op == Div && by == 0 {
			return a.raise(DivisionByZero)
		}
		fits := !math.IsNaN(by) && !math.IsInf(by, 0)
		part := func(n int64) *big.Rat {
			f := float64(n) * by
			if op == Div {
				f = float64(n) / by
			}
			exact := new(big.Rat).SetFloat64(f)
			if exact == nil {
				fits = false
				return new(big.Rat)
			}
			return exact
		}
		var s interval.Sum
		days := interval.Times(30, interval.WholeOf(&s.Months, part(int64(a.v[0].Months)))) // a part of a month, as in PostgreSQL to six decimals
		days = new(big.Rat).SetFrac(interval.Nearest(interval.Times(1_000_000, days)), big.NewInt(1_000_000))
		rest := interval.WholeOf(&s.Days, part(a.v[0].Days()))
		rest.Add(rest, interval.WholeOf(&s.Days, days))
		us := new(big.Rat).SetInt(interval.Nearest(interval.Times(table.MicrosPerDay, rest))) // two parts of a day may be a whole one
		us = interval.Times(table.MicrosPerDay, interval.WholeOf(&s.Days, us.Quo(us, new(big.Rat).SetInt64(table.MicrosPerDay))))
		s.AddMicros(us.Add(us, part(a.v[0].Clock())))
		if !fits {
			return a.raise(OutOfRange(a.T))
		}
		return a.interval(&s)
	}
}

// age is the difference of two timestamps in years, months, days and time of day.
func age(a args) (table.Value, error) {
	return a.interval(interval.Of(calendar.Age(a.v[0].I, a.v[1].I)))
}
