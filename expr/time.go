package expr

import (
	"math"
	"math/big"
	"slices"

	"github.com/stencildb/stencildb/expr/calendar"
	"github.com/stencildb/stencildb/expr/format"
	"github.com/stencildb/stencildb/expr/interval"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// Functions of dates, timestamps and intervals.
func init() {
	for _, kind := range []string{"timestamp", "date", "interval"} {
		extract := define("extract(text,"+kind+") numeric!", func(a args) (table.Value, error) {
			us, err := a.part()
			if err != nil {
				return table.Null(a.T), err
			}
			return a.decimal(us.Quo(us, table.Pow10(6-a.T.Scale)))
		}).bound(func(e *Call) kernel { return partKernel(e, false) }).as(from)
		extract.rises = byUnit("year", "isoyear", "decade", "century", "millennium", "epoch")
		extract.typed = func(args []Expr) table.Type {
			t := table.Type{Kind: table.Decimal, Precision: 38, Scale: 6}
			if c, ok := args[0].(*Const); ok && !c.V.Null {
				t.Scale = calendar.Fractions[calendar.Unit(c.V.S)]
			}
			return t
		}
		part := define("date_part(text,"+kind+") double!", func(a args) (table.Value, error) {
			us, err := a.part()
			if err != nil {
				return table.Null(a.T), err
			}
			f, _ := new(big.Rat).SetFrac(us, table.Pow10(6)).Float64()
			return table.Float(f), nil
		}).bound(func(e *Call) kernel { return partKernel(e, true) })
		part.rises = extract.rises
	}
	define("date_trunc(text,timestamp) timestamp!", func(a args) (table.Value, error) {
		to, ok := calendar.Truncation(calendar.Unit(a.v[0].S))
		if !ok {
			return table.Null(a.T), a.noSpan()
		}
		return a.timestamp(to(calendar.Of(a.v[1])))
	}).bound(func(e *Call) kernel {
		unit, ok := e.textAt(0)
		to, known := calendar.Truncation(calendar.Unit(unit))
		if !ok || !known {
			return kernel{}
		}
		k := of1(1, func(us int64) (int64, state) { return timestampOf(to(calendar.At(us))) }).only(2, 1)
		if floor := calendar.DayFloors[calendar.Unit(unit)]; floor != nil {
			return sure(1, floor.OfTimes, k)
		}
		return sure(1, clockFloor(calendar.ClockUnits[calendar.Unit(unit)]), k)
	}).rises = func(*Call) int { return 1 }
	define("make_date(integer,integer,integer) date!", func(a args) (table.Value, error) {
		day, err := a.day()
		return table.Value{Type: a.T, Null: err != nil, I: day}, err
	}).by(of3(0, 1, 2, dayOf))
	define("make_timestamp(integer,integer,integer,integer,integer,double) timestamp!", func(a args) (table.Value, error) {
		day, err := a.day()
		if err != nil {
			return table.Null(a.T), err
		}
		us, ok := calendar.ClockOf(a.v[3].I, a.v[4].I, a.v[5].F)
		if !ok {
			return a.failAs(sqlstate.DatetimeOverflow, "time field value out of range: %d:%02d:%02v", a.v[3].I, a.v[4].I, a.v[5])
		}
		return a.timestamp(calendar.Moment{Day: day, Micros: us})
	}).by(kernel{run: func(v []Vector, out Vector) (Vector, bool) {
		for i := range v {
			out.Valid = Both(out.Valid, v[i].Valid)
		}
		return out, out.each(len(out.Ints), func(i int) (s state) {
			day, s := dayOf(v[0].Ints[i], v[1].Ints[i], v[2].Ints[i])
			us, ok := calendar.ClockOf(v[3].Ints[i], v[4].Ints[i], v[5].Floats[i])
			if s != valid || !ok {
				return failed
			}
			out.Ints[i], s = timestampOf(calendar.Moment{Day: day, Micros: us})
			return s
		})
	}})
	define("to_timestamp(double) timestamp!", func(a args) (table.Value, error) {
		us := math.RoundToEven(a.v[0].F * 1e6)
		if !(math.Abs(us) < 1<<62) {
			return a.raise(OutOfRange(a.T))
		}
		return a.timestamp(calendar.Moment{Micros: int64(us)})
	}).by(sure(0, func(ys []int64, xs []float64) bool {
		first, _ := table.Type{Kind: table.Timestamp}.Limits()
		ok := true
		for i, seconds := range xs {
			us := math.RoundToEven(seconds * 1e6)
			ok = ok && us >= float64(first) && us < 1<<62
			ys[i] = int64(us)
		}
		return ok
	}, of1(0, func(seconds float64) (int64, state) {
		us := math.RoundToEven(seconds * 1e6)
		if !(math.Abs(us) < 1<<62) {
			return 0, failed
		}
		return timestampOf(calendar.Moment{Micros: int64(us)})
	})))
	for _, kind := range []string{"timestamp", "date", "interval"} {
		define("isfinite("+kind+") boolean", func(args) (table.Value, error) { return table.Bool(true), nil }).by(kernel{run: func(v []Vector, out Vector) (Vector, bool) {
			fill(out.Ints, 1) // there is no infinity
			out.Valid = v[0].Valid
			return out, true
		}})
	}
	define("overlaps(timestamp,timestamp,timestamp,timestamp) boolean", overlap).nulls = true
	define("date_bin(interval,timestamp,timestamp) timestamp!", func(a args) (table.Value, error) {
		stride, x, origin := a.v[0], a.v[1].I, a.v[2].I
		switch {
		case stride.Months != 0:
			return a.failAs(sqlstate.InvalidParameterValue, "timestamps cannot be binned into intervals containing months or years")
		case stride.I <= 0:
			return a.failAs(sqlstate.InvalidParameterValue, "stride must be greater than zero")
		}
		since, ok, _ := IntOp(Sub, x, origin)
		if !ok {
			return a.raise(OutOfRange(intervalType))
		}
		return a.timestamp(calendar.Moment{Micros: x - (since - table.FloorDiv(since, stride.I)*stride.I)})
	}).by(of3(0, 1, 2, func(stride intervalValue, x, origin int64) (int64, state) {
		since, ok, _ := IntOp(Sub, x, origin)
		if !ok || stride.Months != 0 || stride.us <= 0 {
			return 0, failed
		}
		return timestampOf(calendar.Moment{Micros: x - (since - table.FloorDiv(since, stride.us)*stride.us)})
	})).rises = func(*Call) int { return 1 }
}

// overlap reports whether two periods have a moment in common, of which each has its start and not
// its end, unless they are the same. An end may come before its start; of one that is NULL the other
// counts as the start.
func overlap(a args) (table.Value, error) {
	period := func(x, y table.Value) (from, to table.Value) {
		if x.Null || !y.Null && y.I < x.I {
			return y, x
		}
		return x, y
	}
	from, to := period(a.v[0], a.v[1])
	other, end := period(a.v[2], a.v[3])
	switch {
	case from.Null || other.Null:
		return table.Null(boolean), nil
	case from.I > other.I:
		from, to, other, end = other, end, from, to
	}
	switch {
	case to.Null || from.I == other.I && end.Null:
		return table.Null(boolean), nil
	case from.I == other.I || other.I < to.I:
		return table.Bool(true), nil
	case end.Null:
		return table.Null(boolean), nil
	}
	return table.Bool(false), nil
}

// day is that of a year, a month and a day, the first arguments.
func (a args) day() (int64, error) {
	y, m, d := a.v[0].I, a.v[1].I, a.v[2].I
	day, ok := calendar.DayOf(y, m, d)
	if !ok {
		return 0, Coded(sqlstate.DatetimeOverflow, a.P, "date field value out of range: %d-%02d-%02d", y, m, d)
	}
	if t := (table.Type{Kind: table.Date}); !t.Holds(day) {
		return 0, Raised(a.P, OutOfRange(t))
	}
	return day, nil
}

// dayOf is civilDay of a DATE.
func dayOf(y, m, d int64) (int64, state) {
	day, ok := calendar.DayOf(y, m, d)
	return day, failedIf(!ok || !table.Type{Kind: table.Date}.Holds(day))
}

// byUnit says that a function of a unit and a time rises with the time for some units.
func byUnit(units ...string) func(c *Call) int {
	return func(c *Call) int {
		if unit, ok := c.Args[0].(*Const); ok && slices.Contains(units, calendar.Unit(unit.V.S)) {
			return 1
		}
		return -1
	}
}

// part is the part of the second argument that the first names, in millionths.
func (a args) part() (*big.Int, error) {
	unit, v := calendar.Unit(a.v[0].S), a.v[1]
	if v.Type.Kind == table.Interval {
		of, clock := calendar.ClockParts[unit]
		months, calendar := calendar.MonthParts[unit]
		switch {
		case clock:
			return inMillionths(unit, of(v.Clock())), nil
		case calendar:
			return big.NewInt(months(int64(v.Months)) * 1_000_000), nil
		case unit == "day":
			return big.NewInt(v.Days() * 1_000_000), nil
		case unit == "epoch": // a year has 365.25 days
			us := new(big.Int).Mul(big.NewInt(int64(v.Months)/12), big.NewInt(1461*table.MicrosPerDay/4))
			us.Add(us, big.NewInt(int64(v.Months)%12*table.MicrosPerMonth))
			return us.Add(us, big.NewInt(v.I)), nil
		}
		return nil, a.noUnit(v.Type)
	}
	m := calendar.Of(v)
	if of, ok := calendar.DayParts[unit]; ok {
		return big.NewInt(of.Of(m.Day) * 1_000_000), nil
	}
	of, clock := calendar.ClockParts[unit]
	switch {
	case unit == "epoch":
		us := new(big.Int).Mul(big.NewInt(m.Day), big.NewInt(table.MicrosPerDay))
		return us.Add(us, big.NewInt(m.Micros)), nil
	case unit == "julian" && v.Type.Kind == table.Date:
		return big.NewInt((m.Day + calendar.JulianEpoch) * 1_000_000), nil
	case clock && (v.Type.Kind != table.Date || a.Fn.Name == "date_part"): // which reads a date as a timestamp
		return inMillionths(unit, of(m.Micros)), nil
	}
	return nil, a.noUnit(v.Type)
}

// inMillionths is a part of a time of day.
func inMillionths(unit string, n int64) *big.Int {
	return new(big.Int).Mul(big.NewInt(n), table.Pow10(6-calendar.Fractions[unit]))
}

// noUnit is the error of a unit that a type has not: one that another type has, or none.
func (a args) noUnit(t table.Type) error {
	unit := calendar.Unit(a.v[0].S)
	_, day := calendar.DayParts[unit]
	_, clock := calendar.ClockParts[unit]
	return a.unitError(t, day || clock || unit == "epoch" || unit == "julian")
}

// noSpan is the error of a unit that no time is truncated to: one of a type of its own, or none.
func (a args) noSpan() error {
	_, ok := calendar.Truncation(calendar.Unit(a.v[0].S))
	return a.unitError(a.T, ok)
}

func (a args) unitError(t table.Type, known bool) error {
	if known {
		return Coded(sqlstate.FeatureNotSupported, a.P, "unit %q not supported for type %s", a.v[0].S, t)
	}
	return Coded(sqlstate.InvalidParameterValue, a.P, "unit %q not recognized for type %s", a.v[0].S, t)
}

// timestamp is the TIMESTAMP of a moment.
func (a args) timestamp(m calendar.Moment) (table.Value, error) {
	t := table.Type{Kind: table.Timestamp}
	us, s := timestampOf(m)
	if s == failed {
		return a.raise(OutOfRange(t))
	}
	return table.Value{Type: t, I: us}, nil
}

// timestampOf is the TIMESTAMP of a moment, where there is one.
func timestampOf(m calendar.Moment) (int64, state) {
	over := int64(0)
	if m.Micros < 0 || m.Micros >= table.MicrosPerDay {
		over = table.FloorDiv(m.Micros, table.MicrosPerDay)
	}
	day := m.Day + over
	const most = math.MaxInt64/table.MicrosPerDay - 1
	if day > most || day < -most {
		us, ok, _ := IntOp(Mul, day, table.MicrosPerDay)
		us, fits, _ := IntOp(Add, us, m.Micros-over*table.MicrosPerDay)
		return us, failedIf(!ok || !fits || !table.Type{Kind: table.Timestamp}.Holds(us))
	}
	us := day*table.MicrosPerDay + m.Micros - over*table.MicrosPerDay
	return us, failedIf(!table.Type{Kind: table.Timestamp}.Holds(us))
}

// AT TIME ZONE, which is the function timezone(zone, x). A timestamp is taken for the time on the
// clocks of the zone, and becomes UTC.
func init() {
	define("timezone(each,timestamp) timestamp!", func(a args) (table.Value, error) {
		zone, err := a.zone()
		if err != nil {
			return table.Null(a.T), err
		}
		return a.shifted(-calendar.OffsetThere(zone, table.FloorDiv(a.v[1].I, 1e6)))
	})
	InZone = define("timezone(each,timestamp) timestamp!", func(a args) (table.Value, error) {
		zone, err := a.zone()
		if err != nil {
			return table.Null(a.T), err
		}
		return a.shifted(zone(table.FloorDiv(a.v[1].I, 1e6)))
	})
}

// InZone is timezone(zone, x) of an instant, which in PostgreSQL is a timestamp with time zone. UTC
// becomes the time on the clocks of the zone.
var InZone *Function

// shifted is the second argument, some seconds later.
func (a args) shifted(seconds int64) (table.Value, error) {
	m := calendar.Of(a.v[1])
	m.Micros += seconds * 1e6
	return a.timestamp(m)
}

// zone is the first argument: a zone's name, or an interval.
func (a args) zone() (calendar.Offsets, error) {
	v := a.v[0]
	fixed := func(ahead int64) (calendar.Offsets, error) { return func(int64) int64 { return ahead }, nil }
	switch {
	case v.Type.Kind == table.Interval && v.Months == 0 && v.I%1e6 == 0 && math.Abs(float64(v.I)) < table.MicrosPerDay:
		return fixed(v.I / 1e6)
	case v.Type.Kind == table.Interval:
		return nil, Coded(sqlstate.DatetimeOverflow, a.P, "the interval %s is no distance from UTC", v)
	case v.Type.Kind != table.Varchar:
		return nil, Coded(sqlstate.InvalidParameterValue, a.P, "a time zone is a name or an interval, not %s", v.Type)
	}
	ahead, ok := calendar.Zone(v.S)
	if !ok {
		return nil, Coded(sqlstate.InvalidParameterValue, a.P, "time zone %q not recognized; write a name such as 'Europe/Berlin', 'UTC', or INTERVAL '2 hours'", v.S)
	}
	return ahead, nil
}

// Intervals made of parts, cut off behind one, and written by a pattern. Of an interval months, days and time of
// day are apart. They come behind the forms of times, which are preferred where a text may be either.
func init() {
	define("make_interval(integer,integer,integer,integer,integer,integer,double) interval!", func(a args) (table.Value, error) {
		var s interval.Sum
		for i, unit := range []string{"years", "months", "weeks", "days", "hours", "mins"} {
			s.Add(new(big.Rat).SetInt64(a.v[i].I), *interval.Named(unit))
		}
		seconds := new(big.Rat).SetFloat64(a.v[6].F)
		if seconds == nil {
			return a.raise(OutOfRange(a.T))
		}
		s.Add(seconds, *interval.Named("secs"))
		return a.interval(&s)
	})
	define("date_trunc(text,interval) interval!", func(a args) (table.Value, error) {
		unit, v := calendar.Unit(a.v[0].S), a.v[1]
		if us, ok := calendar.ClockUnits[unit]; ok {
			clock := v.Clock() - v.Clock()%us
			if unit == "day" {
				clock = 0
			}
			return a.interval(interval.Of(int64(v.Months), v.Days(), clock))
		}
		months, ok := calendar.MonthUnits[unit]
		if !ok {
			return table.Null(a.T), a.noSpan()
		}
		return a.interval(interval.Of(int64(v.Months-v.Months%months), 0, 0))
	})
	define("to_char(interval,text) text!", func(a args) (table.Value, error) {
		v := a.v[0]
		text, err := format.NewTimePattern(a.v[1].S).Interval(int64(v.Months), v.Days(), v.Clock())
		if err != nil {
			return table.Null(a.T), ErrorAt(a.P, err)
		}
		return table.Str(text), nil
	})
}
