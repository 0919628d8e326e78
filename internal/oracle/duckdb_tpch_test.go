//go:build duckdb

package oracle

import (
	"context"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/bench"
	"github.com/stencildb/stencildb/glctx"
)

// refusedTPCH are the queries of TPC-H that stencildb cannot run yet, each with a part of its error.
var refusedTPCH = map[string]string{
	"q02": "a subquery is not supported",
	"q04": "EXISTS is not supported",
	"q07": "a subquery in FROM is not supported",
	"q08": "a subquery in FROM is not supported",
	"q09": "a subquery in FROM is not supported",
	"q11": "a subquery is not supported",
	"q13": "a subquery in FROM is not supported",
	"q15": "WITH is not supported",
	"q16": "a subquery is not supported",
	"q17": "a subquery is not supported",
	"q18": "a subquery is not supported",
	"q20": "a subquery is not supported",
	"q21": "EXISTS is not supported",
	"q22": "a subquery in FROM is not supported",
}

// TPC-H's queries at scale 0.01 have DuckDB's answers on cpu and on auto; the suite's error names one that has not.
func TestDuckDBAgreesOnTPCH(t *testing.T) {
	const rows = 60_000
	machine, err := bench.ReadMachine(glctx.Options{}, "test")
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
	refused := map[string]string{}
	for _, skip := range r.Skipped {
		refused[skip.Operation] = skip.Reason
	}
	for _, op := range s.Operations {
		reason, want := refused[op.Name], refusedTPCH[op.Name]
		if (reason == "") != (want == "") || !strings.Contains(reason, want) {
			t.Errorf("%s is refused with %q, and listed with %q", op.Name, reason, want)
		}
		for _, system := range systems {
			if runs := reason == "" || system == "duckdb"; (r.Find(op.Name, rows, system) != nil) != runs {
				t.Errorf("%s has run on %s: want %v", op.Name, system, runs)
			}
		}
	}
}
