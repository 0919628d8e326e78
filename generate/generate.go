// Package generate makes tables of synthetic data: uniform columns, and data shaped like
// the 2004 paper's TCP/IP trace and census. The same arguments give the same table on every
// machine.
package generate

import (
	"context"
	"fmt"
	"math/bits"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/stencildb/stencildb/table"
)

// Generator makes a table of synthetic data.
type Generator struct {
	Name        string
	Doc         string // what the data are, and their distributions
	DefaultRows int
	cols        []genColumn
}

// genColumn is one generated attribute. fill writes the ordinals of the rows from
// first on; nulls, where not nil, says which rows are NULL. Both depend on key
// (the seed's, mixed) and the row's number only, so that the data are the same
// whatever the chunks, the goroutines and the machine. All arithmetic is on
// integers: that of floating point may differ between machines in its last bit.
type genColumn struct {
	name  string
	typ   table.Type
	lo    uint64 // the smallest ordinal that can occur
	hi    uint64 // the largest
	fill  func(key, first uint64, rows uint64, ords []uint64)
	nulls func(key, row uint64) bool
}

// All lists the generators in the order in which to show them.
func All() []Generator { return []Generator{uniform(), tcpip(), census()} }

// Find returns the generator of that name.
func Find(name string) (Generator, error) {
	var names []string
	for _, g := range All() {
		if g.Name == name {
			return g, nil
		}
		names = append(names, g.Name)
	}
	return Generator{}, fmt.Errorf("no generator %q: there are %s", name, strings.Join(names, ", "))
}

// Columns lists the columns' names.
func (g Generator) Columns() []string {
	var names []string
	for _, c := range g.cols {
		names = append(names, c.name)
	}
	return names
}

// Generate makes rows rows in chunks of chunkRows (0: [table.MaxChunkRows]), of
// the named columns only, or of all when none is named. The same arguments give
// the same table everywhere. It works on all cores; the codes are written at
// their final width, so that 268,435,456 rows of 19 bits take 1 GiB a column. When
// ctx ends it stops and returns the reason.
func (g Generator) Generate(ctx context.Context, rows int, seed uint64, chunkRows int, columns ...string) (*table.Table, error) {
	if rows < 0 {
		return nil, fmt.Errorf("%s: %d rows: want 0 or more", g.Name, rows)
	}
	if chunkRows <= 0 {
		chunkRows = table.MaxChunkRows
	}
	var cols []genColumn
	for _, c := range g.cols {
		if len(columns) == 0 || slices.Contains(columns, c.name) {
			cols = append(cols, c)
		}
	}
	for _, n := range columns {
		if !slices.Contains(g.Columns(), n) {
			return nil, fmt.Errorf("%s has no column %q: there are %s", g.Name, n, strings.Join(g.Columns(), ", "))
		}
	}
	t := &table.Table{Name: g.Name}
	for _, c := range cols {
		t.Fields = append(t.Fields, table.Field{Name: c.name, Type: c.typ})
	}
	key := mix(seed)
	for first := 0; first < rows; first += chunkRows {
		n := min(chunkRows, rows-first)
		ch := &table.Chunk{Rows: n}
		for _, c := range cols {
			ch.Segments = append(ch.Segments, c.segment(ctx, key, uint64(first), uint64(rows), n))
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
		t.Chunks = append(t.Chunks, ch)
	}
	return t, nil
}

// RowBytes is the host memory that one row of all columns takes.
func (g Generator) RowBytes() int {
	n := 0
	for _, c := range g.cols {
		switch width := bits.Len64(c.hi - c.lo); {
		case width <= 8:
			n++
		case width <= 16:
			n += 2
		case width <= 32:
			n += 4
		default:
			n += 8
		}
	}
	return n
}

// genBlock is how many rows are generated at a time: few enough to stay in cache,
// a multiple of 64 so that goroutines share no word of validity.
const genBlock = 4096

// segment makes n rows from row first on. rows is the number of the whole table.
// It leaves off early when ctx ends.
func (c *genColumn) segment(ctx context.Context, key, first, rows uint64, n int) *table.Segment {
	s := &table.Segment{Type: c.typ}
	if c.nulls != nil {
		s.Valid = table.NewBitmap(n)
	}
	switch width := bits.Len64(c.hi - c.lo); {
	case width <= 8:
		s.Codes.U8 = fillCodes[uint8](ctx, c, s, key, first, rows, n)
	case width <= 16:
		s.Codes.U16 = fillCodes[uint16](ctx, c, s, key, first, rows, n)
	case width <= 32:
		s.Codes.U32 = fillCodes[uint32](ctx, c, s, key, first, rows, n)
	default:
		s.Codes.U64 = fillCodes[uint64](ctx, c, s, key, first, rows, n)
	}
	return s
}

// genStats is what one goroutine saw: its smallest and largest code, and NULLs.
type genStats struct {
	lo, hi uint64
	nulls  int
}

// fillCodes writes codes from c.lo, then shifts them down to the smallest that
// occurs, and sets the rest of s.
func fillCodes[T uint8 | uint16 | uint32 | uint64](ctx context.Context, c *genColumn, s *table.Segment, key, first, rows uint64, n int) []T {
	codes := make([]T, n)
	stats := parallel(n, func(from, to int, st *genStats) {
		var ords [genBlock]uint64
		for ; from < to && ctx.Err() == nil; from += genBlock {
			block := ords[:min(genBlock, to-from)]
			c.fill(key, first+uint64(from), rows, block)
			for i, o := range block {
				if s.Valid != nil {
					if c.nulls(key, first+uint64(from+i)) {
						st.nulls++
						continue
					}
					s.Valid.Set(from + i)
				}
				code := o - c.lo
				st.lo, st.hi = min(st.lo, code), max(st.hi, code)
				codes[from+i] = T(code)
			}
		}
	})
	s.Nulls = stats.nulls
	if s.Nulls == 0 {
		s.Valid = nil
	}
	if s.Nulls == n {
		return codes
	}
	if lo := stats.lo; lo > 0 {
		parallel(n, func(from, to int, _ *genStats) {
			for i := from; i < to; i++ {
				if s.Valid == nil || s.Valid.Get(i) {
					codes[i] -= T(lo)
				}
			}
		})
	}
	s.Base, s.Max = c.lo+stats.lo, stats.hi-stats.lo
	s.Bits = bits.Len64(s.Max)
	return codes
}

// parallel runs work on all cores over slices of 0..n that begin at multiples of
// genBlock, and merges what they saw.
func parallel(n int, work func(from, to int, st *genStats)) genStats {
	workers := runtime.GOMAXPROCS(0)
	share := (n/workers + genBlock) / genBlock * genBlock
	all := make([]genStats, workers)
	var wg sync.WaitGroup
	for w := range workers {
		from, to := w*share, min((w+1)*share, n)
		all[w].lo = ^uint64(0)
		if from >= to {
			continue
		}
		wg.Go(func() {
			st := genStats{lo: ^uint64(0)}
			work(from, to, &st)
			all[w] = st
		})
	}
	wg.Wait()
	sum := all[0]
	for _, st := range all[1:] {
		sum.lo, sum.hi, sum.nulls = min(sum.lo, st.lo), max(sum.hi, st.hi), sum.nulls+st.nulls
	}
	return sum
}

// mix scrambles 64 bits (the finaliser of SplitMix64: Steele, Lea, Flood, "Fast
// splittable pseudorandom number generators", OOPSLA 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// random is 64 random bits for a row; streams differ in the last argument.
func random(key, row, stream uint64) uint64 {
	return mix(mix(key+stream*0xd1342543de82ef95) + row*0x9e3779b97f4a7c15)
}

// each makes a fill function of a function of the row.
func each(value func(key, row uint64) int64) func(key, first, rows uint64, ords []uint64) {
	return func(key, first, _ uint64, ords []uint64) {
		for i := range ords {
			ords[i] = table.OrdinalInt(value(key, first+uint64(i)))
		}
	}
}

// integers describes an integer column with values lo..hi.
func integers(name string, kind table.Kind, lo, hi int64, value func(key, row uint64) int64) genColumn {
	return genColumn{
		name: name, typ: table.Type{Kind: kind},
		lo: table.OrdinalInt(lo), hi: table.OrdinalInt(hi),
		fill: each(value),
	}
}
