package expr

import (
	"math"
	"strconv"

	"github.com/stencildb/stencildb/expr/calendar"
	"github.com/stencildb/stencildb/expr/format"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// to_char, to_date and to_timestamp: times by patterns. Names are English.
func init() {
	for _, kind := range []string{"timestamp", "date"} {
		define("to_char("+kind+",text) text!", func(a args) (table.Value, error) {
			p := format.NewTimePattern(a.v[1].S)
			if name := p.Unshown(); name != "" {
				return a.failAs(sqlstate.FeatureNotSupported, "%s is not supported in the pattern of a time", name)
			}
			return table.Str(string(p.Append(nil, calendar.Of(a.v[0])))), nil
		}).bound(func(e *Call) kernel {
			pattern, ok := e.textAt(1)
			p := format.NewTimePattern(pattern)
			if !ok || p.Unshown() != "" {
				return kernel{}
			}
			isDate := e.Args[0].Type().Kind == table.Date
			if names, which := p.Names(); names != nil { // which need not be written
				if isDate {
					return of1(0, never(func(x int64) string { return names[which(calendar.Moment{Day: x})] })).only(2, 0)
				}
				return of1(0, never(func(x int64) string { return names[which(calendar.At(x))] })).only(2, 0)
			}
			return written1(0, func(out []byte, x int64) ([]byte, state) {
				m := calendar.Moment{Day: x}
				if !isDate {
					m = calendar.At(x)
				}
				return p.Append(out, m), valid
			}).only(2, 0)
		})
	}
	define("to_date(text,text) date!", func(a args) (table.Value, error) {
		m, err := a.momentRead()
		if err == nil && !a.T.Holds(m.Day) {
			err = Raised(a.P, OutOfRange(a.T))
		}
		return table.Value{Type: a.T, Null: err != nil, I: m.Day}, err
	}).bound(func(e *Call) kernel {
		return readKernel(e, func(m calendar.Moment) (int64, state) { return m.Day, failedIf(!e.T.Holds(m.Day)) })
	})
	define("to_timestamp(text,text) timestamp!", func(a args) (table.Value, error) {
		m, err := a.momentRead()
		if err != nil {
			return table.Null(a.T), err
		}
		return a.timestamp(m)
	}).bound(func(e *Call) kernel { return readKernel(e, timestampOf) })
}

// Numbers by patterns.
func init() {
	define("to_number(text,text) numeric!", func(a args) (table.Value, error) {
		p, err := format.NewNumberPattern(a.v[1].S)
		if err != nil {
			return table.Null(a.T), ErrorAt(a.P, err)
		}
		u, err := p.Read(a.v[0].S, a.T.Scale)
		if err != nil {
			return table.Null(a.T), ErrorAt(a.P, err)
		}
		return a.decimal(u)
	}).typed = func(args []Expr) table.Type {
		t := table.Type{Kind: table.Decimal, Precision: 38, Scale: 10}
		if c, ok := args[1].(*Const); ok && !c.V.Null {
			p, _ := format.NewNumberPattern(c.V.S)
			t.Scale = min(p.Digits(), 38)
		}
		return t
	}
	define("to_char(double,text) text!", func(a args) (table.Value, error) {
		// As many digits as PostgreSQL. They are rounded as those of a NUMERIC: an AVG and a quotient are that there.
		return a.shownBy(func(p *format.NumberPattern) string {
			u, scale, _ := table.ParseNumber(strconv.FormatFloat(a.v[0].F, 'e', 14, 64))
			return p.Decimal(u, scale, true)
		})
	})
	define("to_char(real,text) text!", func(a args) (table.Value, error) {
		return a.shownBy(func(p *format.NumberPattern) string { return p.Real(a.v[0].F) })
	})
	define("to_char(numeric,text) text!", func(a args) (table.Value, error) {
		return a.shownBy(func(p *format.NumberPattern) string { return p.Decimal(a.v[0].Unscaled(), a.v[0].Type.Scale, false) })
	})
}

// shownBy is the first argument, a number, by the pattern of the second.
func (a args) shownBy(write func(p *format.NumberPattern) string) (table.Value, error) {
	if v := a.v[0]; v.Type.IsFloat() && (math.IsNaN(v.F) || math.IsInf(v.F, 0)) { // which PostgreSQL writes in several ways
		return a.failAs(sqlstate.InvalidParameterValue, "a number that is not finite has no digits to format")
	}
	p, err := format.NewNumberPattern(a.v[1].S)
	if err != nil {
		return table.Null(a.T), ErrorAt(a.P, err)
	}
	return table.Str(write(p)), nil
}

// readKernel reads texts by a constant pattern.
func readKernel(e *Call, of func(m calendar.Moment) (int64, state)) kernel {
	text, ok := e.textAt(1)
	if !ok {
		return kernel{}
	}
	p := format.NewTimePattern(text)
	return of1(0, func(s string) (int64, state) {
		m, err := p.Read(s)
		if err != nil {
			return 0, failed
		}
		return of(m)
	}).only(2, 0)
}

// momentRead reads the first argument by the pattern of the second.
func (a args) momentRead() (calendar.Moment, error) {
	m, err := format.NewTimePattern(a.v[1].S).Read(a.v[0].S)
	if err != nil {
		err = ErrorAt(a.P, err)
	}
	return m, err
}
