package expr

import (
	"math"
	"math/big"
	"slices"
	"strings"
	"time"

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
		}).as(from)
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
		})
		part.rises = extract.rises
	}
	define("date_trunc(text,timestamp) timestamp!", truncated).rises = func(*Call) int { return 1 }
	define("make_date(integer,integer,integer) date!", func(a args) (table.Value, error) {
		day, err := a.day()
		return table.Value{Type: a.T, Null: err != nil, I: day}, err
	})
	define("make_timestamp(integer,integer,integer,integer,integer,double) timestamp!", func(a args) (table.Value, error) {
		day, err := a.day()
		if err != nil {
			return table.Null(a.T), err
		}
		h, m, s := a.v[3].I, a.v[4].I, math.RoundToEven(a.v[5].F*1e6)
		if h < 0 || h > 24 || m < 0 || m > 59 || !(s >= 0 && s <= 60e6) || (h*60+m)*60_000_000+int64(s) > table.MicrosPerDay {
			return a.fail("time field value out of range: %d:%02d:%02v", h, m, a.v[5])
		}
		return a.timestamp(moment{day, (h*60+m)*60_000_000 + int64(s)})
	})
	define("to_timestamp(double) timestamp!", func(a args) (table.Value, error) {
		us := math.RoundToEven(a.v[0].F * 1e6)
		if !(math.Abs(us) < 1<<62) {
			return a.fail("%s", OutOfRange(a.T))
		}
		return a.timestamp(moment{us: int64(us)})
	})
	for _, kind := range []string{"timestamp", "date", "interval"} {
		define("isfinite("+kind+") boolean", func(args) (table.Value, error) { return table.Bool(true), nil }) // there is no infinity
	}
	define("overlaps(timestamp,timestamp,timestamp,timestamp) boolean", overlap).nulls = true
	define("date_bin(interval,timestamp,timestamp) timestamp!", func(a args) (table.Value, error) {
		stride, x, origin := a.v[0], a.v[1].I, a.v[2].I
		switch {
		case stride.Months != 0:
			return a.fail("timestamps cannot be binned into intervals containing months or years")
		case stride.I <= 0:
			return a.fail("stride must be greater than zero")
		}
		since, ok, _ := IntOp(Sub, x, origin)
		if !ok {
			return a.fail("%s", OutOfRange(intervalType))
		}
		return a.timestamp(moment{us: x - (since - table.FloorDiv(since, stride.I)*stride.I)})
	}).rises = func(*Call) int { return 1 }
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
	if y < 0 {
		y++ // 1 BC is the year 0
	} else if y == 0 {
		m = 0
	}
	if m < 1 || m > 12 || y > 1e7 || y < -1e7 || d < 1 || d > int64(table.DaysInMonth(y, int(m))) {
		return 0, Errorf(a.P, "date field value out of range: %d-%02d-%02d", a.v[0].I, a.v[1].I, d)
	}
	day := table.DaysFromCivil(y, int(m), int(d))
	if t := (table.Type{Kind: table.Date}); !t.Holds(day) {
		return 0, Errorf(a.P, "%s", OutOfRange(t))
	}
	return day, nil
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
	day := table.FloorDiv(v.I, table.MicrosPerDay)
	return moment{day, v.I - day*table.MicrosPerDay}
}

// clockParts are the parts of a time of day, in microseconds.
var clockParts = map[string]func(us int64) int64{
	"microsecond": func(us int64) int64 { return us % 60_000_000 * 1_000_000 },
	"millisecond": func(us int64) int64 { return us % 60_000_000 * 1000 },
	"second":      func(us int64) int64 { return us % 60_000_000 },
	"minute":      func(us int64) int64 { return us / 60_000_000 % 60 * 1_000_000 },
	"hour":        func(us int64) int64 { return us / 3_600_000_000 * 1_000_000 },
}

// dayParts are the parts of a day of the calendar.
var dayParts = map[string]func(day int64) int64{
	"day":     func(day int64) int64 { _, _, d := table.CivilFromDays(day); return int64(d) },
	"month":   func(day int64) int64 { _, m, _ := table.CivilFromDays(day); return int64(m) },
	"quarter": func(day int64) int64 { _, m, _ := table.CivilFromDays(day); return int64(m+2) / 3 },
	"year":    func(day int64) int64 { return withoutZero(yearOf(day)) },
	"decade":  func(day int64) int64 { return table.FloorDiv(yearOf(day), 10) },
	"century": func(day int64) int64 { return span(yearOf(day), 100) },
	"millennium": func(day int64) int64 {
		return span(yearOf(day), 1000)
	},
	"dow":     func(day int64) int64 { return int64(utc(day).Weekday()) },
	"isodow":  func(day int64) int64 { return (int64(utc(day).Weekday())+6)%7 + 1 },
	"doy":     func(day int64) int64 { return int64(utc(day).YearDay()) },
	"week":    func(day int64) int64 { _, w := utc(day).ISOWeek(); return int64(w) },
	"isoyear": func(day int64) int64 { y, _ := utc(day).ISOWeek(); return withoutZero(int64(y)) },
}

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

func utc(day int64) time.Time { return time.Unix(day*24*60*60, 0).UTC() }

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
			return big.NewInt(of(v.Clock())), nil
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
		return big.NewInt(of(m.day) * 1_000_000), nil
	}
	of, clock := clockParts[unit]
	switch {
	case unit == "epoch":
		us := new(big.Int).Mul(big.NewInt(m.day), big.NewInt(table.MicrosPerDay))
		return us.Add(us, big.NewInt(m.us)), nil
	case unit == "julian" && v.Type.Kind == table.Date:
		return big.NewInt((m.day + julianEpoch) * 1_000_000), nil
	case clock && (v.Type.Kind != table.Date || a.Fn.Name == "date_part"): // which reads a date as a timestamp
		return big.NewInt(of(m.us)), nil
	}
	return nil, a.noUnit(v.Type)
}

func (a args) noUnit(t table.Type) error {
	return Errorf(a.P, "unit %q not recognized for type %s", a.v[0].S, t)
}

// clockUnits are units of a time of day in microseconds.
var clockUnits = map[string]int64{"microsecond": 1, "millisecond": 1000, "second": 1_000_000, "minute": 60_000_000, "hour": 3_600_000_000, "day": table.MicrosPerDay}

// truncated is a timestamp at the beginning of a unit.
func truncated(a args) (table.Value, error) {
	unit, m := unitNamed(a.v[0].S), momentOf(a.v[1])
	y, month, _ := table.CivilFromDays(m.day)
	first := func(y int64, month int) moment { return moment{day: table.DaysFromCivil(y, month, 1)} }
	if us, ok := clockUnits[unit]; ok {
		m.us -= m.us % us
	} else {
		switch unit {
		case "week":
			m = moment{day: m.day - dayParts["isodow"](m.day) + 1}
		case "month":
			m = first(y, month)
		case "quarter":
			m = first(y, (month-1)/3*3+1)
		case "year":
			m = first(y, 1)
		case "decade":
			m = first(table.FloorDiv(y, 10)*10, 1)
		case "century":
			m = first(table.FloorDiv(y-1, 100)*100+1, 1)
		case "millennium":
			m = first(table.FloorDiv(y-1, 1000)*1000+1, 1)
		default:
			return table.Null(a.T), a.noUnit(a.T)
		}
	}
	return a.timestamp(m)
}
