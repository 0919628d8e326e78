package ingest_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stencildb/stencildb/generate"
	"github.com/stencildb/stencildb/ingest"
)

// numericCSV is text of several integer columns and one of doubles.
func numericCSV(rows int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	b.WriteString("a,b,c,d,e\n")
	for range rows {
		fmt.Fprintf(&b, "%d,%d,%d,%d,%.3f\n", r.IntN(1<<19), r.IntN(1<<30), r.IntN(100), r.Int64N(1<<40), r.Float64()*1000)
	}
	return b.Bytes()
}

func BenchmarkCSVNumeric(b *testing.B) {
	data := numericCSV(200_000)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := ingest.Load(context.Background(), "t", ingest.Source{Format: ingest.CSV, Data: data}, ingest.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCSVText(b *testing.B) {
	var buf bytes.Buffer
	buf.WriteString("city,day,n\n")
	for i := range 200_000 {
		fmt.Fprintf(&buf, "\"city, number %d\",2024-01-%02d,%d\n", i%5000, i%28+1, i)
	}
	b.SetBytes(int64(buf.Len()))
	for b.Loop() {
		if _, err := ingest.Load(context.Background(), "t", ingest.Source{Format: ingest.CSV, Data: buf.Bytes()}, ingest.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkGenerate(b *testing.B) {
	for _, g := range generate.All() {
		b.Run(g.Name, func(b *testing.B) {
			const rows = 1 << 22
			for b.Loop() {
				if _, err := g.Generate(context.Background(), rows, 1, 0); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
		})
	}
	b.Run("uniform.a", func(b *testing.B) {
		g, err := generate.Find("uniform")
		if err != nil {
			b.Fatal(err)
		}
		const rows = 1 << 24
		for b.Loop() {
			if _, err := g.Generate(context.Background(), rows, 1, 0, "a"); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
	})
}
