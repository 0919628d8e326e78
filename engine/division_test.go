package engine

import (
	"context"
	"testing"

	"github.com/stencildb/stencildb/generate"
	"github.com/stencildb/stencildb/table"
)

// Divisions of 64 bits, many to a record and many records to a thread. llvmpipe ends the loops of a
// thread after 65,535 turns, and division must take none.
func TestManyDivisionsAreExact(t *testing.T) {
	var tab *table.Table
	for _, g := range generate.All() {
		if g.Name == "tcpip" {
			var err error
			if tab, err = g.Generate(context.Background(), 20_000, 1, 0); err != nil {
				t.Fatal(err)
			}
		}
	}
	x := "(data_count * 1000003::bigint % 8190000000)"
	for _, where := range []string{
		x + " < 4000000000",
		x + " * 2 + " + x + " % 77 < 8000000000",
		x + " % 7 + " + x + " % 11 + " + x + " < 4000000000",
	} {
		var want string
		for _, name := range []string{"cpu", "classic", "fused", "compute"} {
			db := open(t, Options{Backend: name})
			if err := db.Add(tab); err != nil {
				t.Fatal(err)
			}
			r, err := Collect(db.Query(context.Background(), "SELECT COUNT(*) FROM "+tab.Name+" WHERE "+where))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			got := r.Rows[0][0].String()
			if name == "cpu" {
				want = got
			}
			if got != want {
				t.Errorf("%s counts %s, cpu %s: WHERE %s", name, got, want, where)
			}
		}
	}
}
