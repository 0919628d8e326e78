package index

import (
	"context"
	"fmt"
	"math/bits"
	"runtime"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/cpu/hashtable"
	"github.com/stencildb/stencildb/cpu/radixsort"
	"github.com/stencildb/stencildb/cpu/vector"
	"github.com/stencildb/stencildb/internal/parallel"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/table"
)

// Kinds are those of [New], the first the usual one.
var Kinds = []string{"sorted", "hash"}

// Index finds the rows of a segment that have a code. NULLs are not in it. It does not change, as its segment does
// not.
type Index struct {
	Name string
	of   finder
	rows []uint32 // in the order of their codes, or of the slots of a hash table
}

// finder finds where the rows of codes stand.
type finder interface {
	// Within calls do for where the rows stand whose codes are from lo to hi; ok is false where it cannot find them.
	Within(lo, hi uint64, do func(from, to int)) (ok bool)
	// Ranges writes where the rows of each code begin and end.
	Ranges(codes []uint64, from, to []uint32)
	Bytes() int
}

// New makes an index of one of [Kinds]. "sorted" is a tree over the codes in order, "hash" the table of the
// hash join, which finds single codes only.
func New(ctx context.Context, name, kind string, s *table.Segment) (*Index, error) {
	x := &Index{Name: name}
	var err error
	switch kind {
	case "sorted":
		if x.rows, err = sortedRows(ctx, s); err != nil {
			return nil, err
		}
		at := func(i int) uint64 { return s.Codes.At(int(x.rows[i])) }
		if s.Codes.Width() == 8 {
			x.of = sortedIndex[uint64]{newTree[uint64](len(x.rows), at)}
		} else {
			x.of = sortedIndex[uint32]{newTree[uint32](len(x.rows), at)}
		}
	case "hash":
		codes := hashtable.Keys{Numbers: table.Gather(s.Codes, table.Block{N: s.Rows()}, uint64(0))}
		for i := range codes.Numbers {
			if s.IsNull(i) {
				codes.SetNull(i)
			}
		}
		h, list := hashtable.NewPartitioned(codes.Rows())
		x.rows = make([]uint32, len(list))
		for i, k := range list {
			x.rows[i] = k.Row
		}
		x.of = h
	default:
		return nil, fmt.Errorf("cpu: no index of kind %q: take one of %s", kind, strings.Join(Kinds, ", "))
	}
	return x, ctx.Err()
}

// sortedRows are the rows that are not NULL, by their codes and then by their places.
func sortedRows(ctx context.Context, s *table.Segment) ([]uint32, error) {
	workers := runtime.GOMAXPROCS(0)
	sorter, ok := radixsort.New(workers, radixsort.Spec{KeyBits: []int{s.Bits}, PlaceBits: bits.Len(uint(s.Rows())), First: -1})
	if !ok {
		return nil, fmt.Errorf("cpu: codes of %d bits are too wide for an index", s.Bits)
	}
	var wg parallel.Group
	for w := range workers {
		lo, hi := s.Rows()*w/workers, s.Rows()*(w+1)/workers
		wg.Go(func() {
			for ; lo < hi && ctx.Err() == nil; lo += vector.BlockRows {
				b := table.Block{First: lo, N: min(vector.BlockRows, hi-lo)}
				codes, places := table.Gather(s.Codes, b, uint64(0)), make([]uint64, 0, b.N)
				n := 0
				for i := range b.N {
					if !s.IsNull(lo + i) {
						codes[n], places = codes[i], append(places, uint64(lo+i))
						n++
					}
				}
				sorter.Add(w, [][]uint64{codes[:n], places})
			}
		})
	}
	wg.Wait()
	places, err := sorter.Places(ctx)
	if err != nil {
		return nil, err
	}
	rows := make([]uint32, len(places))
	table.InParts(len(rows), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			rows[i] = uint32(places[i])
		}
	})
	return rows, nil
}

// Bytes estimates the memory that the index takes.
func (x *Index) Bytes() int { return 4*len(x.rows) + x.of.Bytes() }

// Rows is how many it has: those that are not NULL.
func (x *Index) Rows() int { return len(x.rows) }

// RowsOf lists the rows that have a code, ascending; the caller does not change the list.
func (x *Index) RowsOf(code uint64) (rows []uint32) {
	x.of.Within(code, code, func(from, to int) { rows = x.rows[from:to] })
	return rows
}

// Ordered lists the rows that are not NULL, those of one code side by side; the caller does not change the list.
func (x *Index) Ordered() []uint32 { return x.rows }

// Ranges writes where in [Index.Ordered] the rows of each code begin and end.
func (x *Index) Ranges(codes []uint64, from, to []uint32) { x.of.Ranges(codes, from, to) }

// Count is how many rows have a code in spans.
func (x *Index) Count(spans []predicate.Span) (n int, ok bool) {
	for _, s := range spans {
		if !x.of.Within(s.Lo, s.Hi, func(from, to int) { n += to - from }) {
			return 0, false
		}
	}
	return n, true
}

// Find lists, ascending, the n rows that have a code in spans, of so many of the segment.
func (x *Index) Find(spans []predicate.Span, n, rows int) []uint32 {
	out, runs := make([]uint32, 0, n), 0
	for _, s := range spans {
		x.of.Within(s.Lo, s.Hi, func(from, to int) {
			if out = append(out, x.rows[from:to]...); from < to {
				runs++
			}
			runs += int(min(1, s.Hi-s.Lo)) // the rows of one code stand in their order
		})
	}
	if runs <= 1 {
		return out
	}
	if n < rows/256 {
		slices.Sort(out)
		return out
	}
	found := table.NewBitmap(rows)
	for _, row := range out {
		found.Set(int(row))
	}
	out = out[:0]
	for w, m := range found {
		for ; m != 0; m &= m - 1 {
			out = append(out, uint32(64*w+bits.TrailingZeros64(m)))
		}
	}
	return out
}

// sortedIndex finds rows by a tree over their codes.
type sortedIndex[T uint32 | uint64] struct{ *tree[T] }

func (s sortedIndex[T]) Within(lo, hi uint64, do func(from, to int)) bool {
	from, to := s.first(lo), s.n
	if hi+1 != 0 {
		to = s.first(hi + 1)
	}
	do(from, to)
	return true
}

// Ranges writes where the rows of codes stand.
func (s sortedIndex[T]) Ranges(codes []uint64, from, to []uint32) {
	s.find(codes, from)
	next := make([]uint64, len(codes))
	for i, c := range codes {
		next[i] = c + 1
	}
	s.find(next, to)
	for i, c := range next {
		if c == 0 {
			to[i] = uint32(s.n)
		}
	}
}
