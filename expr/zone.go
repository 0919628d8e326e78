package expr

import (
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	_ "time/tzdata" // the zones, for machines that have none

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
		return a.shifted(-instantOffset(zone, table.FloorDiv(a.v[1].I, 1e6)))
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
	m := momentOf(a.v[1])
	m.us += seconds * 1e6
	return a.timestamp(m)
}

// offsets are how many seconds the clocks of a zone are ahead of UTC at a second of Unix time.
type offsets func(second int64) int64

// instantOffset is that at a second of the zone's own clocks. A time that comes twice is the later one. A
// time that the clocks leave out has the offset before the gap, as in PostgreSQL.
func instantOffset(zone offsets, second int64) int64 {
	const day = 24 * 60 * 60
	if after := zone(second + day); zone(second-after) == after {
		return after
	}
	return zone(second - day)
}

// hoursAhead are the abbreviations that PostgreSQL has for zones, of those that are no names of zones, or
// names of another meaning.
var hoursAhead = map[string]int64{
	"utc": 0, "gmt": 0, "z": 0, "wet": 0, "west": 1, "bst": 1, "cet": 1, "cest": 2, "met": 1, "eet": 2, "eest": 3, "msk": 3, "jst": 9,
	"est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7, "mdt": -6, "pst": -8, "pdt": -7,
}

// zones are those that were asked for, by name: [*time.Location], nil where there is none, which
// takes long to find out.
var zones struct {
	of    sync.Map
	count atomic.Int64
}

// location is the zone of a name; nil where there is none.
func location(name string) (loc *time.Location) {
	if kept, known := zones.of.Load(name); known {
		return kept.(*time.Location)
	}
	if name != "" && name != "Local" { // which are names in Go alone
		loc, _ = time.LoadLocation(name) // nil with an error
	}
	const most = 1024
	if zones.count.Add(1) > most {
		zones.of.Clear()
		zones.count.Store(1)
	}
	zones.of.Store(name, loc)
	return loc
}

// zone is the first argument: a zone's name, or an interval.
func (a args) zone() (offsets, error) {
	v := a.v[0]
	fixed := func(ahead int64) (offsets, error) { return func(int64) int64 { return ahead }, nil }
	switch {
	case v.Type.Kind == table.Interval && v.Months == 0 && v.I%1e6 == 0 && math.Abs(float64(v.I)) < table.MicrosPerDay:
		return fixed(v.I / 1e6)
	case v.Type.Kind == table.Interval:
		return nil, Coded(sqlstate.DatetimeOverflow, a.P, "the interval %s is no distance from UTC", v)
	case v.Type.Kind != table.Varchar:
		return nil, Coded(sqlstate.InvalidParameterValue, a.P, "a time zone is a name or an interval, not %s", v.Type)
	}
	if hours, ok := hoursAhead[strings.ToLower(v.S)]; ok {
		return fixed(hours * 3600)
	}
	loc := location(v.S)
	if loc == nil {
		return nil, Coded(sqlstate.InvalidParameterValue, a.P, "time zone %q not recognized; write a name such as 'Europe/Berlin', 'UTC', or INTERVAL '2 hours'", v.S)
	}
	return func(second int64) int64 {
		_, ahead := time.Unix(second, 0).In(loc).Zone()
		return int64(ahead)
	}, nil
}
