// Package generate makes tables of synthetic data. They are uniform columns, a wide table of them, the Wisconsin benchmark's, data like
// the 2004 paper's TCP/IP trace and census. Others are the tables of the Star Schema Benchmark and of
// TPC-H. The same arguments give the same table on every machine.
package generate

import (
	"context"
	"fmt"
	"iter"
	"math/bits"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/stencildb/stencildb/internal/parallel"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/table"
)

// Generator makes a table of synthetic data.
type Generator struct {
	Name        string
	Doc         string // what the data are, and their distributions
	DefaultRows int
	cols        []genColumn
}

// genColumn is one generated attribute. code gives the code of a row's value, its ordinal less lo. null,
// where not nil, says which rows are NULL. Both depend on the row only, so that the data are the same
// whatever the chunks, the goroutines and the machine. All arithmetic is on integers: that of floating point
// may differ between machines in its last bit.
type genColumn struct {
	name   string
	typ    table.Type
	lo, hi uint64 // the smallest ordinal that can occur, and the largest
	code   func(r row) uint64
	null   func(r row) bool
	// dict are the words that codes of a VARCHAR stand for, sorted.
	dict []string
	// text gives the values of a VARCHAR of which most rows have one of their own, instead of code.
	text func(r row) string
}

// row is row n of a table of so many; key is that of the seed, mixed.
type row struct{ key, n, rows uint64 }

// random is 64 random bits for the row; streams differ.
func (r row) random(stream uint64) uint64 {
	return mix(mix(r.key+stream*0xd1342543de82ef95) + r.n*0x9e3779b97f4a7c15)
}

// Random is 64 random bits for a row of data that other packages make, as those of a table's rows are. They depend on the seed, the row
// and the stream alone.
func Random(seed, n, stream uint64) uint64 { return row{key: mix(seed), n: n}.random(stream) }

// All lists the generators in the order in which to show them.
func All() []Generator { return []Generator{uniform(), tcpip(), census(), lineorder(), wisconsin()} }

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
	var names []string
	for _, c := range g.cols {
		names = append(names, c.name)
		if len(columns) == 0 || slices.Contains(columns, c.name) {
			cols = append(cols, c)
		}
	}
	for _, n := range columns {
		if !slices.Contains(names, n) {
			return nil, fmt.Errorf("%s has no column %q: there are %s", g.Name, n, strings.Join(names, ", "))
		}
	}
	g.cols = cols
	t := &table.Table{Name: g.Name, Fields: g.Fields()}
	for first := 0; first < rows; first += chunkRows {
		ch, err := g.chunk(ctx, rows, seed, first, min(chunkRows, rows-first))
		if err != nil {
			return nil, err
		}
		t.Chunks = append(t.Chunks, ch)
	}
	return t, nil
}

// Fields are the columns.
func (g Generator) Fields() (list []table.Field) {
	return xslices.Map(g.cols, func(c genColumn) table.Field { return table.Field{Name: c.name, Type: c.typ} })
}

// Chunks makes the rows of Generate one chunk after the other, as many at a time as there are cores: for
// tables larger than memory. When ctx ends it gives the reason and stops.
func (g Generator) Chunks(ctx context.Context, rows int, seed uint64, chunkRows int) iter.Seq2[*table.Chunk, error] {
	type made struct {
		chunk *table.Chunk
		err   error
	}
	return func(yield func(*table.Chunk, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		var ahead []chan made
		for first := 0; first < rows || len(ahead) > 0; {
			for ; first < rows && len(ahead) < runtime.GOMAXPROCS(0); first += chunkRows {
				next, first := make(chan made, 1), first // the loop's goes on meanwhile
				parallel.Go(func() {
					ch, err := g.chunk(ctx, rows, seed, first, min(chunkRows, rows-first))
					next <- made{ch, err}
				}, func(p *parallel.Panic) { next <- made{nil, p} })
				ahead = append(ahead, next)
			}
			m := <-ahead[0]
			if ahead = ahead[1:]; !yield(m.chunk, m.err) || m.err != nil {
				return
			}
		}
	}
}

// chunk makes n of rows rows from the first on.
func (g Generator) chunk(ctx context.Context, rows int, seed uint64, first, n int) (*table.Chunk, error) {
	ch := &table.Chunk{Rows: n}
	for _, c := range g.cols {
		ch.Segments = append(ch.Segments, c.segment(ctx, row{mix(seed), uint64(first), uint64(rows)}, n))
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return ch, nil
}

// RowBytes is the host memory that one row of all columns takes.
func (g Generator) RowBytes() (n int) {
	for _, c := range g.cols {
		if c.text != nil {
			n += textBytes
		}
		n += table.Narrow([]uint64{0}, bits.Len64(c.hi-c.lo)).Bytes()
	}
	return n
}

// segment makes n rows from the first on. It leaves off early when ctx ends.
func (c *genColumn) segment(ctx context.Context, first row, n int) *table.Segment {
	if c.text != nil {
		c = c.ranked(first, n)
	}
	s := &table.Segment{Type: c.typ}
	if c.null != nil {
		s.Valid = table.NewBitmap(n)
	}
	switch width := bits.Len64(c.hi - c.lo); {
	case width <= 8:
		s.Codes.U8 = fillCodes[uint8](ctx, c, s, first, n)
	case width <= 16:
		s.Codes.U16 = fillCodes[uint16](ctx, c, s, first, n)
	case width <= 32:
		s.Codes.U32 = fillCodes[uint32](ctx, c, s, first, n)
	default:
		s.Codes.U64 = fillCodes[uint64](ctx, c, s, first, n)
	}
	if c.dict != nil && s.NonNull() > 0 && ctx.Err() == nil {
		onlyUsed(s, c.dict)
	}
	return s
}

// textBytes is about what a text of its own takes.
const textBytes = 40

// ranked is a column of texts with the dictionary of n rows from the first on.
func (c *genColumn) ranked(first row, n int) *genColumn {
	list := make([]string, n)
	inShares(n, func(from, to int) {
		for r := first; from < to; from++ {
			r.n = first.n + uint64(from)
			list[from] = c.text(r)
		}
	})
	dict := slices.Clone(list)
	slices.Sort(dict)
	dict = slices.Compact(dict)
	code := func(r row) uint64 {
		at, _ := slices.BinarySearch(dict, list[r.n-first.n])
		return uint64(at)
	}
	return &genColumn{name: c.name, typ: c.typ, hi: uint64(max(len(dict), 1) - 1), code: code, dict: dict}
}

// onlyUsed gives a segment, whose codes with its base are places in a dictionary, a dictionary of the words in it.
func onlyUsed(s *table.Segment, dict []string) {
	place := make([]int, s.Max+1)
	for i := range s.Rows() {
		place[s.Codes.At(i)] = 1
	}
	for code, used := range place {
		if place[code] = len(s.Dict); used != 0 {
			s.Dict = append(s.Dict, dict[s.Base+uint64(code)])
		}
	}
	if len(s.Dict) < len(place) {
		codes := make([]uint64, s.Rows())
		for i := range codes {
			codes[i] = uint64(place[s.Codes.At(i)])
		}
		s.Codes = table.Narrow(codes, bits.Len(uint(len(s.Dict)-1)))
	}
	s.Base, s.Max = 0, uint64(len(s.Dict)-1)
	s.Bits = bits.Len64(s.Max)
}

// fillCodes writes codes from c.lo, then shifts them down to the smallest that
// occurs, and sets the rest of s.
func fillCodes[T uint8 | uint16 | uint32 | uint64](ctx context.Context, c *genColumn, s *table.Segment, first row, n int) []T {
	codes := make([]T, n)
	lowest, highest := ^uint64(0), uint64(0)
	var mu sync.Mutex
	inShares(n, func(from, to int) {
		lo, hi, nulls := ^uint64(0), uint64(0), 0
		for r := first; from < to && (from%genBlock != 0 || ctx.Err() == nil); from++ {
			r.n = first.n + uint64(from)
			if s.Valid != nil {
				if c.null(r) {
					nulls++
					continue
				}
				s.Valid.Set(from)
			}
			code := c.code(r)
			lo, hi = min(lo, code), max(hi, code)
			codes[from] = T(code)
		}
		mu.Lock()
		lowest, highest, s.Nulls = min(lowest, lo), max(highest, hi), s.Nulls+nulls
		mu.Unlock()
	})
	if s.Nulls == 0 {
		s.Valid = nil
	}
	if s.Nulls == n {
		return codes
	}
	if lowest > 0 {
		inShares(n, func(from, to int) {
			for i := from; i < to; i++ {
				if s.Valid == nil || s.Valid.Get(i) {
					codes[i] -= T(lowest)
				}
			}
		})
	}
	s.Base, s.Max = c.lo+lowest, highest-lowest
	s.Bits = bits.Len64(s.Max)
	return codes
}

// genBlock is after how many rows a goroutine looks whether to go on: a multiple of 64, so
// that goroutines share no word of validity.
const genBlock = 4096

// inShares runs work on all cores over slices of 0..n that begin at multiples of
// genBlock.
func inShares(n int, work func(from, to int)) {
	share := (n/runtime.GOMAXPROCS(0) + genBlock) / genBlock * genBlock
	var wg parallel.Group
	for from := 0; from < n; from += share {
		wg.Go(func() { work(from, min(from+share, n)) })
	}
	wg.Wait()
}

// mix scrambles 64 bits (the finaliser of SplitMix64: Steele, Lea, Flood, "Fast
// splittable pseudorandom number generators", OOPSLA 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// words describes a VARCHAR column whose values are of a list: value gives a place in it.
func words(name string, list []string, value func(row) int) genColumn {
	sorted := slices.Sorted(slices.Values(list))
	ranks := make([]uint64, len(list))
	for i, w := range list {
		at, _ := slices.BinarySearch(sorted, w)
		ranks[i] = uint64(at)
	}
	return genColumn{name: name, typ: table.Type{Kind: table.Varchar}, hi: uint64(len(list) - 1), dict: sorted,
		code: func(r row) uint64 { return ranks[value(r)] }}
}

// texts describes a VARCHAR column of which most rows have a value of their own.
func texts(name string, value func(row) string) genColumn {
	return genColumn{name: name, typ: table.Type{Kind: table.Varchar}, text: value}
}

// integers describes an integer column with values lo..hi.
func integers(name string, kind table.Kind, lo, hi int64, value func(row) int64) genColumn {
	return genColumn{name: name, typ: table.Type{Kind: kind}, lo: table.OrdinalInt(lo), hi: table.OrdinalInt(hi),
		code: func(r row) uint64 { return uint64(value(r) - lo) }}
}
