package sqlite

import (
	"context"
	"fmt"
	"testing"

	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/internal/oracle/harness"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/testdata"
)

// flights are statements over flights, one for each routine and for
// what it is combined with; PostgreSQL and SQLite read them alike.
var flights = []string{
	"SELECT COUNT(*) FROM flights",
	"SELECT COUNT(*), SUM(delay), MIN(delay), MAX(delay), MIN(time), MAX(time) FROM flights",
	"SELECT COUNT(*), SUM(distance) FROM flights WHERE delay > 0",
	"SELECT COUNT(*), SUM(delay) FROM flights WHERE delay BETWEEN -5 AND 60",
	"SELECT COUNT(*), MAX(distance) - MIN(distance) FROM flights WHERE delay NOT BETWEEN -20 AND 300",
	"SELECT COUNT(*), SUM(distance) FROM flights WHERE delay > 30 AND distance < 500 AND time >= 6.5",
	"SELECT COUNT(*), MIN(time) FROM flights WHERE (delay > 60 OR distance > 2000) AND (time < 6 OR time > 20)",
	"SELECT COUNT(*), SUM(delay), SUM(distance) FROM flights WHERE delay < -30 AND distance > 100 OR delay > 200 AND distance < 100",
	"SELECT COUNT(*), MAX(delay) FROM flights WHERE 3 * delay - distance > 100",
	"SELECT COUNT(*), SUM(delay) FROM flights WHERE CAST(delay AS INTEGER) * delay + 3 * CAST(delay AS INTEGER) * distance < 1000000",
	"SELECT COUNT(*), SUM(distance) FROM flights WHERE distance % 7 = 3 AND delay / 15 = 2",
	"SELECT COUNT(*), SUM(delay) FROM flights WHERE delay IN (-3, 0, 7, 11, 13, 17, 19, 23, 59)",
	"SELECT COUNT(*), SUM(delay) FROM flights WHERE NOT (delay IN (0, 1, 2) OR distance < 1000)",
	"SELECT COUNT(*), MIN(delay), MAX(time) FROM flights WHERE time = 7.5 OR time IS NULL",
	"SELECT COUNT(*), MAX(time) FROM flights WHERE time < delay",
	"SELECT COUNT(*), MIN(distance) FROM flights WHERE delay = distance",
	"SELECT COUNT(*), SUM(distance) * 2 - COUNT(*) FROM flights WHERE (delay > 100) = (distance > 1000)",
	"SELECT COUNT(*), COUNT(time), MIN(delay) FROM flights WHERE delay > 32767 OR distance < 0",
}

// Statements over two chunks of flights have SQLite's answers; so have the paper's other
// aggregates, under selections from nothing to everything.
func TestSQLiteAgreesOnTheFlights(t *testing.T) {
	h := harness.Open(t)
	tab, err := ingest.Load(context.Background(), "flights", ingest.Source{Path: "flights.parquet", Data: testdata.Flights200k}, ingest.Options{ChunkRows: 20_000})
	if err != nil {
		t.Fatal(err)
	}
	tab = tab.With(tab.Chunks[:2]...)
	h.Register(t, tab)
	p := open(t, dialect{})
	if err := p.Load(tab); err != nil {
		t.Fatal(err)
	}
	for _, text := range flights {
		h.CheckText(t, tab, text, p)
	}
	for _, where := range []string{"delay < -1000", "delay = 1", "delay > 10 AND distance < 400", "distance >= 300", "delay > -1000"} {
		for _, column := range []string{"delay", "distance", "time"} {
			checkAggregates(t, h, tab, column, where, p)
		}
	}
	t.Log(&h.Tally)
}

// checkAggregates compares the aggregates that SQLite has no word for.
func checkAggregates(t *testing.T, h *harness.Harness, tab *table.Table, column, where string, p *harness.Peer) {
	t.Helper()
	text := fmt.Sprintf("SELECT COUNT(*), selectivity(), AVG(%[1]s), MEDIAN(%[1]s), percentile_disc(0.99) WITHIN GROUP (ORDER BY %[1]s), "+
		"percentile_disc(0.3) WITHIN GROUP (ORDER BY %[1]s DESC), kth_largest(%[1]s, 2), kth_smallest(%[1]s, 100) FROM %[2]s WHERE %[3]s",
		column, tab.Name, where)
	q, err := harness.Bind(tab, text)
	if err != nil {
		t.Fatal(err)
	}
	h.Check(t, tab, plan.Fragments(q)[0], p)
}
