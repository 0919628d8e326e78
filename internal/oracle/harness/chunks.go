package harness

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stencildb/stencildb/internal/benchsize"
	"github.com/stencildb/stencildb/table"
)

// ChunkTables are tables of so many chunks each.
func ChunkTables(b *testing.B, chunks ...int) (tables []*table.Table) {
	rows := benchsize.Rows(b, 1<<24)
	for _, n := range chunks {
		tables = append(tables, inChunks(rows, n))
	}
	return tables
}

// Median is that of some times, in ms.
func Median(times []time.Duration) float64 {
	slices.Sort(times)
	return times[len(times)/2].Seconds() * 1e3
}

// inChunks is a table of x, y and s, of 19 bits, and f, in n chunks.
func inChunks(rows, n int) *table.Table {
	integer, float := table.Type{Kind: table.BigInt}, table.Type{Kind: table.Real}
	t := &table.Table{Name: "t", Fields: []table.Field{{Name: "x", Type: integer}, {Name: "y", Type: integer}, {Name: "s", Type: integer}, {Name: "f", Type: float}}}
	rng := rand.New(rand.NewPCG(1, 1))
	for c := range n {
		ch := &table.Chunk{Rows: rows / n}
		for col := range t.Fields[:3] {
			seg := &table.Segment{Type: integer, Base: table.OrdinalInt(0), Bits: 19, Max: 1<<19 - 1, Codes: table.Codes{U32: make([]uint32, ch.Rows)}}
			if col == 1 {
				seg.Base += uint64(1000*c + c*c)
			}
			for i := range seg.Codes.U32 {
				seg.Codes.U32[i] = rng.Uint32() >> 13
			}
			ch.Segments = append(ch.Segments, seg)
		}
		zero := uint64(table.OrdinalFloat32(0))
		f := &table.Segment{Type: float, Base: zero, Bits: 30, Max: uint64(table.OrdinalFloat32(1)) - zero, Codes: table.Codes{U32: make([]uint32, ch.Rows)}}
		for i := range f.Codes.U32 {
			f.Codes.U32[i] = table.OrdinalFloat32(rng.Float32()) - uint32(zero)
		}
		ch.Segments = append(ch.Segments, f)
		t.Chunks = append(t.Chunks, ch)
	}
	return t
}
