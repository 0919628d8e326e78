//go:build duckdb

package duckdb

import (
	"context"
	"testing"

	"github.com/stencildb/stencildb/bench"
	"github.com/stencildb/stencildb/bench/report"
	"github.com/stencildb/stencildb/glctx"
)

// TPC-H's queries at scale 0.01 have DuckDB's answers on cpu and on auto; the suite's error names one that has not.
func TestDuckDBAgreesOnTPCH(t *testing.T) {
	const rows = 60_000
	machine, err := report.ReadMachine(glctx.Options{}, "test")
	if err != nil {
		t.Fatal(err)
	}
	s, err := bench.FindSuite("tpch")
	if err != nil {
		t.Fatal(err)
	}
	systems := []string{"cpu", "auto", "duckdb"}
	r, err := s.Run(context.Background(), bench.Config{Rows: []int{rows}, Backends: systems[:2], Peers: systems[2:], Rounds: 1, Machine: machine})
	if err != nil {
		t.Fatal(err)
	}
	for _, skip := range r.Skipped {
		t.Errorf("%s is refused: %s", skip.Operation, skip.Reason)
	}
	for _, op := range s.Operations {
		for _, system := range systems {
			if x := r.Find(op.Name, rows, system); x == nil {
				t.Errorf("%s has not run on %s", op.Name, system)
			}
		}
	}
}
