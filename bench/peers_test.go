//go:build duckdb || sqlite

package bench

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stencildb/stencildb/bench/peer"
	"github.com/stencildb/stencildb/bench/workload"
	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/table"
)

// Peers hold the same values, so every operation and every figure has the same answer. The data are
// generated, in blocks that end in the middle. There are NULLs, negative numbers, floating-point
// numbers, timestamps and chunks.
func TestDuckDBAndOtherPeersAnswerTheSame(t *testing.T) {
	integers := mixed(t, table.SmallInt, table.Integer, table.BigInt, table.Integer)
	others := mixed(t, table.SmallInt, table.Real, table.Double, table.Timestamp)
	for _, source := range []workload.Source{workload.Generated("uniform", 3), workload.Generated("tcpip", 3), source(t, integers), source(t, others)} {
		for _, s := range []Suite{suite(t, "operations"), suite(t, "paper")} {
			r, err := s.Run(t.Context(), Config{
				Rows: []int{1, 5_001}, Backends: []string{"cpu"}, Peers: peer.BuiltIn(), Source: source, Rounds: 1,
			})
			if err != nil {
				t.Fatal(source.Data, err)
			}
			for _, skip := range r.Skipped {
				if skip.System == allSystems { // a polynomial of wide values
					continue
				}
				if skip.System != "sqlite" || skip.Reason != "cannot run this: column x3 of type timestamp without time zone is not loaded" {
					t.Errorf("%v: skipped %+v", r.Data, skip)
				}
			}
			for _, peer := range peer.BuiltIn() {
				if !slices.Contains(r.Systems(), peer) {
					t.Errorf("%v: no results of %s", r.Data, peer)
				}
			}
		}
	}
}

// DuckDB has the answers to statements of a user's: of all types, with NULLs, in order and without.
func TestDuckDBAnswersStatements(t *testing.T) {
	text := "id,name,amount,day,seen,ok,real\n"
	for i := range 40 {
		name, amount, real := fmt.Sprintf("n%d", i%4), fmt.Sprintf("%d.25", i*37%11), fmt.Sprintf("%de-1", i)
		switch {
		case i%7 == 0:
			name, amount = "", ""
		case i == 9:
			real = "NaN"
		}
		text += fmt.Sprintf("%d,%s,%s,2024-02-%02d,2024-02-%02d 10:%02d:00,%v,%s\n", i, name, amount, 1+i%29, 1+i%5, i, i%3 == 0, real)
	}
	r, err := statements(t, `SELECT * FROM t; SELECT name, SUM(amount), AVG(id), COUNT(*) FROM t GROUP BY name ORDER BY name DESC;
		SELECT id / 7, amount FROM t ORDER BY amount DESC, 1 LIMIT 9; SELECT DISTINCT ok, day FROM t;
		SELECT AVG(real), MAX(seen), MIN(day), bool_or(ok), stddev(amount) FROM t WHERE id > 9; SELECT name FROM t WHERE name LIKE 'N%';
		SELECT seen, real FROM t ORDER BY id % 3, seen OFFSET 5; SELECT seen - INTERVAL '1 day', day + 1 FROM t WHERE ok; SELECT id FROM t LIMIT 3;
		SELECT kth_largest(id, 3) FROM t`,
		NamedFile{"t", ingest.Source{Path: "t.csv", Data: []byte(text)}}).Run(t.Context(), Config{Backends: []string{"cpu"}, Peers: peer.BuiltIn(), Rounds: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, skip := range r.Skipped {
		if skip.System == "duckdb" && skip.Operation != "q10" {
			t.Errorf("skipped %+v", skip)
		}
	}
}

// mixed is a table of columns of those kinds, with NULLs and negative numbers, in
// chunks.
func mixed(t *testing.T, kinds ...table.Kind) *table.Table {
	var fields []table.Field
	for i, k := range kinds {
		fields = append(fields, table.Field{Name: []string{"x0", "x1", "x2", "x3"}[i], Type: table.Type{Kind: k}})
	}
	b := table.NewBuilder("t", fields, 1000)
	for i := range 5001 {
		for c, v := range []int{i%601 - 300, i * 37 % 5003, -i << 33, i % 7} {
			col := b.Column(c)
			switch {
			case i%(11+c) == 0:
				col.Null()
			case fields[c].Type.IsFloat():
				col.Float(float64(v) / 7)
			default:
				col.Int(int64(v))
			}
		}
		if err := b.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	return b.Table()
}
