package expr

import (
	"math"

	"github.com/stencildb/stencildb/expr/calendar"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

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
