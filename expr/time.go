package expr

import (
	"math"
	"math/big"
	"slices"
	"strings"

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
				t.Scale = fractions[unitNamed(c.V.S)]
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
		to, ok := truncatedTo(unitNamed(a.v[0].S))
		if !ok {
			return table.Null(a.T), a.noSpan()
		}
		return a.timestamp(to(momentOf(a.v[1])))
	}).bound(func(e *Call) kernel {
		unit, ok := e.textAt(0)
		to, known := truncatedTo(unitNamed(unit))
		if !ok || !known {
			return kernel{}
		}
		k := of1(1, func(us int64) (int64, state) { return timestampOf(to(momentAt(us))) }).only(2, 1)
		if floor := dayFloors[unitNamed(unit)]; floor != nil {
			return sure(1, floor.ofTimes, k)
		}
		return sure(1, clockFloor(clockUnits[unitNamed(unit)]), k)
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
		us, ok := clockOf(a.v[3].I, a.v[4].I, a.v[5].F)
		if !ok {
			return a.failAs(sqlstate.DatetimeOverflow, "time field value out of range: %d:%02d:%02v", a.v[3].I, a.v[4].I, a.v[5])
		}
		return a.timestamp(moment{day, us})
	}).by(kernel{run: func(v []Vector, out Vector) (Vector, bool) {
		for i := range v {
			out.Valid = Both(out.Valid, v[i].Valid)
		}
		return out, out.each(len(out.Ints), func(i int) (s state) {
			day, s := dayOf(v[0].Ints[i], v[1].Ints[i], v[2].Ints[i])
			us, ok := clockOf(v[3].Ints[i], v[4].Ints[i], v[5].Floats[i])
			if s != valid || !ok {
				return failed
			}
			out.Ints[i], s = timestampOf(moment{day, us})
			return s
		})
	}})
	define("to_timestamp(double) timestamp!", func(a args) (table.Value, error) {
		us := math.RoundToEven(a.v[0].F * 1e6)
		if !(math.Abs(us) < 1<<62) {
			return a.raise(OutOfRange(a.T))
		}
		return a.timestamp(moment{us: int64(us)})
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
		return timestampOf(moment{us: int64(us)})
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
		return a.timestamp(moment{us: x - (since - table.FloorDiv(since, stride.I)*stride.I)})
	}).by(of3(0, 1, 2, func(stride interval, x, origin int64) (int64, state) {
		since, ok, _ := IntOp(Sub, x, origin)
		if !ok || stride.Months != 0 || stride.us <= 0 {
			return 0, failed
		}
		return timestampOf(moment{us: x - (since - table.FloorDiv(since, stride.us)*stride.us)})
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
	day, ok := civilDay(y, m, d)
	if !ok {
		return 0, Coded(sqlstate.DatetimeOverflow, a.P, "date field value out of range: %d-%02d-%02d", y, m, d)
	}
	if t := (table.Type{Kind: table.Date}); !t.Holds(day) {
		return 0, Raised(a.P, OutOfRange(t))
	}
	return day, nil
}

// civilDay is the day of a year, a month and a day, where there is one; a year below 0 is BC.
func civilDay(y, m, d int64) (day int64, ok bool) {
	if y < 0 {
		y++ // 1 BC is the year 0
	} else if y == 0 {
		m = 0
	}
	if m < 1 || m > 12 || y > 1e7 || y < -1e7 || d < 1 || d > 28 && d > int64(table.DaysInMonth(y, int(m))) {
		return 0, false
	}
	return table.DaysFromCivil(y, int(m), int(d)), true
}

// dayOf is civilDay of a DATE.
func dayOf(y, m, d int64) (int64, state) {
	day, ok := civilDay(y, m, d)
	return day, failedIf(!ok || !table.Type{Kind: table.Date}.Holds(day))
}

// clockOf is a time of day in microseconds, where there is one.
func clockOf(h, m int64, seconds float64) (us int64, ok bool) {
	s := math.RoundToEven(seconds * 1e6)
	if h < 0 || h > 24 || m < 0 || m > 59 || !(s >= 0 && s <= 60e6) || (h*60+m)*60_000_000+int64(s) > table.MicrosPerDay {
		return 0, false
	}
	return (h*60+m)*60_000_000 + int64(s), true
}

// byUnit says that a function of a unit and a time rises with the time for some units.
func byUnit(units ...string) func(c *Call) int {
	return func(c *Call) int {
		if unit, ok := c.Args[0].(*Const); ok && slices.Contains(units, unitNamed(unit.V.S)) {
			return 1
		}
		return -1
	}
}

// fractions are the digits after the point of what EXTRACT gives.
var fractions = map[string]int{"second": 6, "millisecond": 3, "epoch": 6}

// unitNamed is the name of a unit of time in lower case and the singular.
func unitNamed(s string) string {
	switch s = strings.ToLower(s); s {
	case "centuries":
		return "century"
	case "millennia":
		return "millennium"
	}
	return strings.TrimSuffix(s, "s")
}

// moment is a day of the calendar and the microseconds since it began.
type moment struct{ day, us int64 }

func momentOf(v table.Value) moment {
	if v.Type.Kind == table.Date {
		return moment{day: v.I}
	}
	return momentAt(v.I)
}

// momentAt is a TIMESTAMP.
func momentAt(us int64) moment {
	day := table.FloorDiv(us, table.MicrosPerDay)
	return moment{day, us - day*table.MicrosPerDay}
}

// clockParts are the parts of a time of day, with as many digits after the point as [fractions] says.
var clockParts = map[string]func(us int64) int64{
	"microsecond": func(us int64) int64 { return us % 60_000_000 },
	"millisecond": func(us int64) int64 { return us % 60_000_000 },
	"second":      func(us int64) int64 { return us % 60_000_000 },
	"minute":      func(us int64) int64 { return us / 60_000_000 % 60 },
	"hour":        func(us int64) int64 { return us / 3_600_000_000 },
}

// dayParts are the parts of a day of the calendar.
var dayParts = map[string]*dayPart{
	"day":     partOfDays(func(day int64) int64 { _, _, d := table.CivilFromDays(day); return int64(d) }),
	"month":   partOfDays(func(day int64) int64 { _, m, _ := table.CivilFromDays(day); return int64(m) }),
	"quarter": partOfDays(func(day int64) int64 { _, m, _ := table.CivilFromDays(day); return int64(m+2) / 3 }),
	"year":    partOfDays(func(day int64) int64 { return withoutZero(yearOf(day)) }),
	"decade":  partOfDays(func(day int64) int64 { return table.FloorDiv(yearOf(day), 10) }),
	"century": partOfDays(func(day int64) int64 { return span(yearOf(day), 100) }),
	"millennium": partOfDays(func(day int64) int64 {
		return span(yearOf(day), 1000)
	}),
	"dow":     partOfDays(dayOfWeek),
	"isodow":  partOfDays(func(day int64) int64 { return isoWeekday(day) }),
	"doy":     partOfDays(func(day int64) int64 { return day - table.DaysFromCivil(yearOf(day), 1, 1) + 1 }),
	"week":    partOfDays(func(day int64) int64 { d := thursday(day); return (d-table.DaysFromCivil(yearOf(d), 1, 1))/7 + 1 }),
	"isoyear": partOfDays(func(day int64) int64 { return withoutZero(yearOf(thursday(day))) }),
}

// dayOfWeek is 0 of a Sunday: 1970-01-01 was a Thursday.
func dayOfWeek(day int64) int64 { return day + 4 - 7*table.FloorDiv(day+4, 7) }

// isoWeekday is 1 of a Monday, 7 of a Sunday.
func isoWeekday(day int64) int64 { return day + 3 - 7*table.FloorDiv(day+3, 7) + 1 }

// thursday is that of the week of a day, which begins on a Monday: the week belongs to its year.
func thursday(day int64) int64 { return day - isoWeekday(day) + 4 }

// monthParts are the parts of an interval's months.
var monthParts = map[string]func(months int64) int64{
	"month":      func(m int64) int64 { return m % 12 },
	"quarter":    func(m int64) int64 { return m%12/3 + 1 },
	"year":       func(m int64) int64 { return m / 12 },
	"decade":     func(m int64) int64 { return m / 120 },
	"century":    func(m int64) int64 { return m / 1200 },
	"millennium": func(m int64) int64 { return m / 12000 },
}

// julianEpoch is the Julian day of 1970-01-01.
const julianEpoch = 2440588

func yearOf(day int64) int64 { y, _, _ := table.CivilFromDays(day); return y }

// withoutZero is a year, -1 for 1 BC.
func withoutZero(year int64) int64 {
	if year <= 0 {
		year--
	}
	return year
}

// span is in which century, or span of so many years, a year lies; there is none of number 0.
func span(year, years int64) int64 { return withoutZero(table.FloorDiv(year-1, years) + 1) }

// part is the part of the second argument that the first names, in millionths.
func (a args) part() (*big.Int, error) {
	unit, v := unitNamed(a.v[0].S), a.v[1]
	if v.Type.Kind == table.Interval {
		of, clock := clockParts[unit]
		months, calendar := monthParts[unit]
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
	m := momentOf(v)
	if of, ok := dayParts[unit]; ok {
		return big.NewInt(of.of(m.day) * 1_000_000), nil
	}
	of, clock := clockParts[unit]
	switch {
	case unit == "epoch":
		us := new(big.Int).Mul(big.NewInt(m.day), big.NewInt(table.MicrosPerDay))
		return us.Add(us, big.NewInt(m.us)), nil
	case unit == "julian" && v.Type.Kind == table.Date:
		return big.NewInt((m.day + julianEpoch) * 1_000_000), nil
	case clock && (v.Type.Kind != table.Date || a.Fn.Name == "date_part"): // which reads a date as a timestamp
		return inMillionths(unit, of(m.us)), nil
	}
	return nil, a.noUnit(v.Type)
}

// inMillionths is a part of a time of day.
func inMillionths(unit string, n int64) *big.Int {
	return new(big.Int).Mul(big.NewInt(n), table.Pow10(6-fractions[unit]))
}

// noUnit is the error of a unit that a type has not: one that another type has, or none.
func (a args) noUnit(t table.Type) error {
	unit := unitNamed(a.v[0].S)
	_, day := dayParts[unit]
	_, clock := clockParts[unit]
	return a.unitError(t, day || clock || unit == "epoch" || unit == "julian")
}

// noSpan is the error of a unit that no time is truncated to: one of a type of its own, or none.
func (a args) noSpan() error {
	_, ok := truncatedTo(unitNamed(a.v[0].S))
	return a.unitError(a.T, ok)
}

func (a args) unitError(t table.Type, known bool) error {
	if known {
		return Coded(sqlstate.FeatureNotSupported, a.P, "unit %q not supported for type %s", a.v[0].S, t)
	}
	return Coded(sqlstate.InvalidParameterValue, a.P, "unit %q not recognized for type %s", a.v[0].S, t)
}

// clockUnits are units of a time of day in microseconds.
var clockUnits = map[string]int64{"microsecond": 1, "millisecond": 1000, "second": 1_000_000, "minute": 60_000_000, "hour": 3_600_000_000, "day": table.MicrosPerDay}

// dayFloors are the first days of the units of the calendar.
var dayFloors = map[string]*dayFloor{
	"week":       floorOfDays(func(day int64) int64 { return day - isoWeekday(day) + 1 }),
	"month":      firstOf(func(y int64, month int) (int64, int) { return y, month }),
	"quarter":    firstOf(func(y int64, month int) (int64, int) { return y, (month-1)/3*3 + 1 }),
	"year":       firstOfYears(1, 0),
	"decade":     firstOfYears(10, 0),
	"century":    firstOfYears(100, 1),
	"millennium": firstOfYears(1000, 1),
}

// firstOf is the first day of a month that follows from that of a day.
func firstOf(of func(y int64, month int) (int64, int)) *dayFloor {
	return floorOfDays(func(day int64) int64 {
		y, month, _ := table.CivilFromDays(day)
		y, month = of(y, month)
		return table.DaysFromCivil(y, month, 1)
	})
}

// firstOfYears is the first day of so many years, which are counted from one on.
func firstOfYears(n, from int64) *dayFloor {
	return firstOf(func(y int64, _ int) (int64, int) { return table.FloorDiv(y-from, n)*n + from, 1 })
}

// truncatedTo is how a moment becomes the beginning of its unit.
func truncatedTo(unit string) (to func(m moment) moment, ok bool) {
	if us, ok := clockUnits[unit]; ok {
		return func(m moment) moment { return moment{m.day, m.us - m.us%us} }, true
	}
	floor, ok := dayFloors[unit]
	return func(m moment) moment { return moment{day: floor.of(m.day)} }, ok
}

// timestamp is the TIMESTAMP of a moment.
func (a args) timestamp(m moment) (table.Value, error) {
	t := table.Type{Kind: table.Timestamp}
	us, s := timestampOf(m)
	if s == failed {
		return a.raise(OutOfRange(t))
	}
	return table.Value{Type: t, I: us}, nil
}

// timestampOf is the TIMESTAMP of a moment, where there is one.
func timestampOf(m moment) (int64, state) {
	over := int64(0)
	if m.us < 0 || m.us >= table.MicrosPerDay {
		over = table.FloorDiv(m.us, table.MicrosPerDay)
	}
	day := m.day + over
	const most = math.MaxInt64/table.MicrosPerDay - 1
	if day > most || day < -most {
		us, ok, _ := IntOp(Mul, day, table.MicrosPerDay)
		us, fits, _ := IntOp(Add, us, m.us-over*table.MicrosPerDay)
		return us, failedIf(!ok || !fits || !table.Type{Kind: table.Timestamp}.Holds(us))
	}
	us := day*table.MicrosPerDay + m.us - over*table.MicrosPerDay
	return us, failedIf(!table.Type{Kind: table.Timestamp}.Holds(us))
}
