package engine

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"sync"

	"github.com/stencildb/stencildb/table"
)

// uniformBits is the width of the paper's data_count, and half the middle of the uniform
// columns' range.
const (
	uniformBits = 19
	half        = 1 << (uniformBits - 1)
)

// fresh is the number of columns whose uploads are timed.
const fresh = 5

// uniformColumn is a column of uniform values: integers of so many bits from 0 on, or
// floats in 0..1.
type uniformColumn struct {
	name string
	kind table.Kind
	bits int
}

// uniformColumns are those of a table for measurements: n, a to d, w, r, x, and fresh0 to
// fresh4.
func uniformColumns() []uniformColumn {
	list := []uniformColumn{{"n", table.Integer, 7}, {"w", table.BigInt, 40}, {"r", table.Real, 0}, {"x", table.Double, 0}}
	for _, name := range []string{"a", "b", "c", "d"} {
		list = append(list, uniformColumn{name, table.Integer, uniformBits})
	}
	for i := range fresh {
		list = append(list, uniformColumn{fmt.Sprintf("fresh%d", i), table.Integer, uniformBits})
	}
	return list
}

// synthetic makes a table for measurements. Each chunk has so many rows.
func synthetic(name string, rows, chunks int) *table.Table {
	t := &table.Table{Name: name}
	columns := uniformColumns()
	for _, c := range columns {
		t.Fields = append(t.Fields, table.Field{Name: c.name, Type: table.Type{Kind: c.kind}})
	}
	var wg sync.WaitGroup
	for i := range chunks {
		chunk := &table.Chunk{Rows: rows, Segments: make([]*table.Segment, len(columns))}
		t.Chunks = append(t.Chunks, chunk)
		for col, c := range columns {
			wg.Go(func() { chunk.Segments[col] = c.segment(rows, rand.New(rand.NewPCG(uint64(col), uint64(i)))) })
		}
	}
	wg.Wait()
	return t
}

// segment draws the column. The first two rows have the smallest and the largest code, so
// that the width is what was asked for.
func (c uniformColumn) segment(rows int, r *rand.Rand) *table.Segment {
	base := table.OrdinalInt(0)
	last := base + 1<<c.bits - 1
	draw := func() uint64 { return base + r.Uint64N(1<<c.bits) }
	switch c.kind {
	case table.Real:
		base, last = uint64(table.OrdinalFloat32(0)), uint64(table.OrdinalFloat32(math.Nextafter32(1, 0)))
		draw = func() uint64 { return uint64(table.OrdinalFloat32(r.Float32())) }
	case table.Double:
		base, last = table.OrdinalFloat64(0), table.OrdinalFloat64(math.Nextafter(1, 0))
		draw = func() uint64 { return table.OrdinalFloat64(r.Float64()) }
	}
	codes := make([]uint64, rows)
	for i := range codes {
		codes[i] = draw() - base
	}
	copy(codes, []uint64{0, last - base})
	s := &table.Segment{Type: table.Type{Kind: c.kind}, Base: base, Max: last - base, Bits: bits.Len64(last - base)}
	s.Codes = table.Narrow(codes, s.Bits)
	return s
}
