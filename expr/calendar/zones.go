package calendar

import (
	"strings"
	"sync"
	"sync/atomic"
	"time"
	_ "time/tzdata" // the zones, for machines that have none
)

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

// Zone is the zone of a name or an abbreviation; ok is false where there is none.
func Zone(name string) (zone Offsets, ok bool) {
	if hours, ok := hoursAhead[strings.ToLower(name)]; ok {
		return func(int64) int64 { return hours * 3600 }, true
	}
	loc := location(name)
	return func(second int64) int64 {
		_, ahead := time.Unix(second, 0).In(loc).Zone()
		return int64(ahead)
	}, loc != nil
}

// Offsets are how many seconds the clocks of a zone are ahead of UTC at a second of Unix time.
type Offsets func(second int64) int64

// OffsetThere is that at a second of the zone's own clocks. A time that comes twice is the later one. A
// time that the clocks leave out has the offset before the gap, as in PostgreSQL.
func OffsetThere(zone Offsets, second int64) int64 {
	const day = 24 * 60 * 60
	if after := zone(second + day); zone(second-after) == after {
		return after
	}
	return zone(second - day)
}
