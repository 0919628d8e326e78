package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/compute"
	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/generate"
	"github.com/stencildb/stencildb/testdata"
)

// openTPCH opens the tables of TPC-H at scale 0.01.
func openTPCH(t *testing.T, o engine.Options) *engine.DB {
	t.Helper()
	db, err := engine.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	list, err := generate.Databases()[1].Tables(0.01)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range list {
		tab, err := g.Generate(context.Background(), g.DefaultRows, 1, 0)
		if err == nil {
			err = db.Add(tab)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return db
}

// The queries of TPC-H that compute answers in one sweep over the largest table, and what is joined there on cpu.
var sweptTPCH = []string{"q03", "q04", "q05", "q07", "q08", "q10", "q11", "q12", "q14", "q18", "q19", "q22"}

// TestTPCHOnCompute compares compute's answers with cpu's, twice, and says which queries are sweeps over stars.
func TestTPCHOnCompute(t *testing.T) {
	onCPU, onCompute := openTPCH(t, engine.Options{Backend: "cpu"}), openTPCH(t, engine.Options{Backend: "compute"})
	answer := func(db *engine.DB, sql string) string {
		r, err := engine.Collect(db.Query(context.Background(), sql))
		if err != nil {
			return err.Error()
		}
		var rows []string
		for _, row := range r.Rows {
			rows = append(rows, fmt.Sprint(row))
		}
		if !strings.Contains(sql, "ORDER BY") {
			slices.Sort(rows)
		}
		return strings.Join(rows, "\n")
	}
	var swept []string
	for _, q := range testdata.TPCH(0.01) {
		want := answer(onCPU, q.SQL)
		for range 2 {
			if got := answer(onCompute, q.SQL); got != want {
				t.Errorf("%s:\n got %.400s\nwant %.400s", q.Name, got, want)
			}
		}
		x, err := onCompute.Explain(context.Background(), q.SQL, engine.ExplainOptions{Analyze: true})
		if err != nil {
			t.Errorf("%s: %v", q.Name, err)
			continue
		}
		if slices.ContainsFunc(x.Steps, func(s engine.Step) bool { g, ok := s.Op.(compute.Group); return ok && len(g.Star) > 0 }) {
			swept = append(swept, q.Name)
		}
	}
	if !slices.Equal(swept, sweptTPCH) {
		t.Errorf("swept: %q, want %q", swept, sweptTPCH)
	}
}
