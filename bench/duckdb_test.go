//go:build duckdb

package bench

import (
	"slices"
	"testing"

	"github.com/stencildb/stencildb/table"
)

// DuckDB holds the same values: every operation has the same answer, over generated
// data in blocks that end in the middle, and over NULLs, negative numbers and chunks.
func TestDuckDBAnswersTheSame(t *testing.T) {
	b := table.NewBuilder("t", []table.Field{
		{Name: "a", Type: table.Type{Kind: table.SmallInt}}, {Name: "b", Type: table.Type{Kind: table.Integer}},
		{Name: "c", Type: table.Type{Kind: table.BigInt}}, {Name: "d", Type: table.Type{Kind: table.Integer}},
	}, 1000)
	for i := range 5001 {
		for c, v := range []int{i%601 - 300, i * 37 % 5003, -i << 33, i % 7} {
			if i%(11+c) == 0 {
				b.Column(c).Null()
			} else {
				b.Column(c).Int(int64(v))
			}
		}
		if err := b.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	for _, source := range []Source{Generated("uniform", 3), Generated("tcpip", 3), Loaded(b.Table())} {
		r, err := operationsSuite().Run(t.Context(), Config{
			Rows: []int{1, 10_001}, Backends: []string{"cpu"}, Peers: []string{"duckdb"}, Source: source, Rounds: 1,
		})
		if err != nil {
			t.Fatal(source.Data(), err)
		}
		if len(r.Skipped) > 0 || r.Reference != "duckdb" || !slices.Equal(r.systems(), []string{"cpu", "duckdb"}) {
			t.Errorf("%v: reference %s, skipped %v", source.Data(), r.Reference, r.Skipped)
		}
	}
}
