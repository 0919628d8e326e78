package backends

import (
	"testing"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/oracle/harness"
	"github.com/stencildb/stencildb/table"
)

// Dates and timestamps end where PostgreSQL's do, whatever makes them. A column's arithmetic and casts
// are an error there on every backend, and a row before it is none.
func TestTheCalendarEnds(t *testing.T) {
	h := harness.Open(t)
	date := table.Type{Kind: table.Date}
	first, last := date.Limits()
	_, end := table.Type{Kind: table.Timestamp}.Limits()
	end /= table.MicrosPerDay // the last date that is a timestamp
	b := table.NewBuilder("calendar", []table.Field{{Name: "early", Type: date}, {Name: "late", Type: date}, {Name: "stamped", Type: date}}, 0)
	for i := range int64(100) {
		for c, v := range []int64{first + i, last - i, end - i} {
			b.Column(c).Int(v)
		}
		if err := b.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	tab := b.Table()
	h.Register(t, tab)
	for _, c := range []struct {
		where, fails string
		count        int64
	}{
		{"late + 0 > DATE '5874897-12-21'", "", 10},
		{"late - 99 < DATE '5874897-01-01'", "", 0},
		{"late + 1 > DATE '2000-01-01'", "date out of range", 0},
		{"early - 1 < DATE '2000-01-01'", "date out of range", 0},
		{"early + 1 < DATE '2000-01-01'", "", 100},
		{"late <= DATE '5874897-12-30' AND late + 1 > DATE '5874897-12-30'", "", 1},
		{"stamped::timestamp >= TIMESTAMP '294247-01-10'", "", 1},
		{"(stamped + 1)::timestamp > TIMESTAMP '2000-01-01'", "date out of range for timestamp", 0},
		{"late::timestamp > TIMESTAMP '2000-01-01'", "date out of range for timestamp", 0},
		{"stamped::timestamp + INTERVAL '1 day' > TIMESTAMP '2000-01-01'", "timestamp out of range", 0},
		{"early::timestamp - INTERVAL '1 microsecond' < TIMESTAMP '2000-01-01'", "timestamp out of range", 0},
	} {
		var err error
		if c.fails != "" {
			err = expr.Errorf(0, "%s", c.fails)
		}
		h.Backends(t, tab, "SELECT COUNT(*) FROM calendar WHERE "+c.where, []table.Value{table.Int(c.count)}, err)
	}
	h.Backends(t, tab, "SELECT MAX(late) + 1 FROM calendar", nil, expr.Errorf(0, "date out of range"))
}
