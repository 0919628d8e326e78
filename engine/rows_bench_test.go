package engine

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stencildb/stencildb/table"
)

// benchTable has two columns of 24 bits of 16.7 M rows.
func benchTable(b *testing.B) *table.Table {
	b.Helper()
	const n = 1 << 24
	t := &table.Table{Name: "t", Chunks: []*table.Chunk{{Rows: n}}}
	for _, name := range []string{"a", "b"} {
		rnd := rand.New(rand.NewPCG(uint64(name[0]), 0))
		codes := make([]uint32, n)
		for i := range codes {
			codes[i] = rnd.Uint32N(1 << 24)
		}
		f := table.Field{Name: name, Type: table.Type{Kind: table.BigInt}}
		t.Fields = append(t.Fields, f)
		t.Chunks[0].Segments = append(t.Chunks[0].Segments, &table.Segment{Type: f.Type, Base: table.OrdinalInt(0), Max: 1<<24 - 1, Bits: 24, Codes: table.Codes{U32: codes}})
	}
	return t
}

// BenchmarkBatches streams rows as Arrow batches.
func BenchmarkBatches(b *testing.B) {
	db, err := Open(Options{Backend: "cpu"})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	if err := db.Add(benchTable(b)); err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct{ name, sql string }{
		{"1 %", "SELECT a, b FROM t WHERE a < 167772"},
		{"10 %", "SELECT a, b FROM t WHERE a < 1677721"},
		{"all", "SELECT a, b FROM t"},
		{"10 % of a sum", "SELECT a + b FROM t WHERE a < 1677721"},
		{"limit", "SELECT a, b FROM t WHERE a < 1677721 LIMIT 10"},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				rows, err := db.Query(context.Background(), c.sql)
				if err != nil {
					b.Fatal(err)
				}
				n := int64(0)
				for batch, err := range rows.Batches() {
					if err != nil {
						b.Fatal(err)
					}
					n += batch.NumRows()
					batch.Release()
				}
				b.ReportMetric(float64(n), "rows")
			}
		})
	}
}
