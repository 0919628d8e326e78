package radixsort

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"slices"

	"github.com/stencildb/stencildb/internal/parallel"
	"github.com/stencildb/stencildb/internal/xslices"
)

// Sorter puts rows in the order of keys, whose values are unsigned codes, and of their places
// where all keys are alike. Those who call Add at the same time give different workers.
type Sorter interface {
	// Add takes rows: columns[k][i] is the code of key k in row i, and the last column has the
	// rows' places, ascending. A row is added once.
	Add(worker int, columns [][]uint64)
	// Most is the largest code of the first key that a row may have to be of use.
	Most(worker int) uint64
	// RowBytes is the memory that a row takes while it is sorted.
	RowBytes() int
	// Places ends the sorting: those of the rows, in the order of their keys.
	Places(ctx context.Context) ([]uint64, error)
}

// Spec is what a [Sorter] does.
type Spec struct {
	KeyBits []int // of the codes of the keys, the first key before the others
	// PlaceBits are the bits of places, at most 64.
	PlaceBits int
	// First is how many rows are wanted, negative for all. A sorter keeps a small multiple of them.
	First int64
	// Unique keys, the first ones, are not alike in two rows that are wanted: of rows with the
	// same there is the first. Then First is negative.
	Unique int
}

// New makes a sorter that has so many workers. ok is false where the keys have more bits
// than it can take.
func New(workers int, by Spec) (_ Sorter, ok bool) {
	all := by.PlaceBits
	for _, b := range by.KeyBits {
		all += b
	}
	switch words := (all + 63) / 64; {
	case words <= 1:
		return newSorter[[1]uint64](workers, by), true
	case words <= 2:
		return newSorter[[2]uint64](workers, by), true
	case words <= 4:
		return newSorter[[4]uint64](workers, by), true
	case words <= 16:
		return newSorter[[16]uint64](workers, by), true
	}
	return nil, false
}

// UpTo are the numbers below n: the places of n rows.
func UpTo[T uint32 | uint64](n int) []T {
	list := make([]T, n)
	for i := range list {
		list[i] = T(i)
	}
	return list
}

// record is the codes of a row's keys from the highest bit of its first word on. Its lowest bits are the
// row's place. As one number it orders as the rows do.
type record interface {
	[1]uint64 | [2]uint64 | [4]uint64 | [16]uint64
}

func compareRecords[R record](a, b R) int {
	for i := range len(a) {
		if c := cmp.Compare(a[i], b[i]); c != 0 {
			return c
		}
	}
	return 0
}

// samePrefix reports records with the same highest bits.
func samePrefix[R record](a, b R, bits int) bool {
	for i := 0; bits > 0; i, bits = i+1, bits-64 {
		if (a[i]^b[i])>>max(0, 64-bits) != 0 {
			return false
		}
	}
	return true
}

type sorter[R record] struct {
	Spec
	parts []sortPart[R] // one a worker
}

// sortPart is the rows of one worker.
type sortPart[R record] struct {
	runs [][]R // as they were added
	best []R   // where only the first rows are wanted: these, and others behind them
	last R     // the last of these, once there are as many
	full bool  // there are
}

func newSorter[R record](workers int, by Spec) Sorter {
	return &sorter[R]{by, make([]sortPart[R], workers)}
}

func (s *sorter[R]) RowBytes() int {
	var r R
	if len(r) > 2 { // see byWords
		return 8 * (2*len(r) + 4)
	}
	return 8 * 2 * len(r)
}

func (s *sorter[R]) Most(worker int) uint64 {
	if p := &s.parts[worker]; p.full && s.KeyBits[0] > 0 {
		return p.last[0] >> (64 - s.KeyBits[0])
	}
	return math.MaxUint64
}

func (s *sorter[R]) Add(worker int, columns [][]uint64) {
	p := &s.parts[worker]
	if s.First < 0 {
		p.runs = append(p.runs, s.pack(columns))
		return
	}
	if p.full {
		columns = s.useful(p, columns)
	}
	for _, r := range s.pack(columns) {
		room := max(4*int(s.First), 1<<13)
		if p.full {
			if compareRecords(r, p.last) >= 0 {
				continue
			}
			room = max(4*int(s.First), 1<<9) // the sooner the bound falls, the fewer rows come
		}
		if p.best = append(p.best, r); len(p.best) >= room {
			p.best = smallest(p.best, int(s.First))
			if p.full = s.First > 0; p.full {
				p.last = slices.MaxFunc(p.best, compareRecords[R])
			}
		}
	}
}

// useful are the rows whose first words are not beyond those of the rows wanted so far.
func (s *sorter[R]) useful(p *sortPart[R], columns [][]uint64) [][]uint64 {
	first := make([]uint64, len(columns[0]))
	at := 0
	for k, b := range s.KeyBits {
		if at >= 64 || b == 0 {
			continue
		}
		if shift := 64 - at - b; shift >= 0 {
			for i, c := range columns[k] {
				first[i] |= c << shift
			}
		} else {
			for i, c := range columns[k] {
				first[i] |= c >> -shift
			}
		}
		at += b
	}
	var rows []int
	for i, word := range first {
		if word <= p.last[0] {
			rows = append(rows, i)
		}
	}
	out := make([][]uint64, len(columns))
	for k := range columns {
		for _, i := range rows {
			out[k] = append(out[k], columns[k][i])
		}
	}
	return out
}

// pack makes records of columns of codes.
func (s *sorter[R]) pack(columns [][]uint64) []R {
	out := make([]R, len(columns[0]))
	at := 0 // bits that are taken
	for k, b := range s.KeyBits {
		if b == 0 {
			continue
		}
		word, shift := at/64, 64-at%64-b
		switch codes := columns[k]; {
		case shift >= 0:
			for i, c := range codes {
				out[i][word] |= c << shift
			}
		default: // on both sides of a word's end
			for i, c := range codes {
				out[i][word] |= c >> -shift
				out[i][word+1] |= c << (64 + shift)
			}
		}
		at += b
	}
	for i, c := range columns[len(s.KeyBits)] {
		out[i][len(out[i])-1] |= c
	}
	return out
}

// smallest moves the n smallest of a list to its front, in no order, and returns them.
func smallest[R record](list []R, n int) []R {
	if n > 0 {
		Quickselect(list, n-1, func(a, b R) bool { return compareRecords(a, b) < 0 })
	}
	return list[:n]
}

func (s *sorter[R]) Places(ctx context.Context) ([]uint64, error) {
	rows, ordered := s.rows()
	bits := s.PlaceBits
	for _, b := range s.KeyBits {
		bits += b
	}
	var err error
	if ordered { // then so are the places of those that are alike
		bits -= s.PlaceBits
	}
	if rows, err = s.sort(ctx, rows, bits, !ordered); err != nil {
		return nil, err
	}
	if s.Unique > 0 {
		bits = 0
		for _, b := range s.KeyBits[:s.Unique] {
			bits += b
		}
		rows = slices.CompactFunc(rows, func(a, b R) bool { return samePrefix(a, b, bits) })
	}
	if s.First >= 0 {
		rows = rows[:min(int64(len(rows)), s.First)]
	}
	places, mask := make([]uint64, len(rows)), uint64(1)<<s.PlaceBits-1
	s.each(ctx, len(rows), func(_, i, j int) {
		for ; i < j; i++ {
			places[i] = rows[i][len(rows[i])-1] & mask
		}
	})
	return places, ctx.Err()
}

// rows are all that were added. Where all are wanted, they are in the order of their places.
func (s *sorter[R]) rows() (list []R, ordered bool) {
	var runs [][]R
	for i := range s.parts {
		runs = append(runs, s.parts[i].runs...)
		list = append(list, s.parts[i].best...)
	}
	if s.First >= 0 {
		return list, false
	}
	mask := uint64(1)<<s.PlaceBits - 1
	place := func(run []R) uint64 { return run[0][len(run[0])-1] & mask }
	runs = slices.DeleteFunc(runs, func(run []R) bool { return len(run) == 0 })
	slices.SortFunc(runs, func(a, b []R) int { return cmp.Compare(place(a), place(b)) })
	n := xslices.Sum(runs, func(run []R) int { return len(run) })
	list = make([]R, 0, n)
	for i, run := range runs {
		list = append(list, run...)
		runs[i] = nil
	}
	s.parts = make([]sortPart[R], len(s.parts))
	return list, true
}

// digit is how many bits a pass of the radix sort orders by.
const digit = 8

// sort orders rows by their highest bits, or with whole by all of them. Rows that are equal in these bits
// keep their order. It goes over the digits from the last to the first.
func (s *sorter[R]) sort(ctx context.Context, rows []R, highest int, whole bool) ([]R, error) {
	var r R
	low := 64*len(r) - highest
	if whole {
		low = 0
	}
	switch digits := (64*len(r) - low + digit - 1) / digit; {
	case len(rows) < min(fewRecords, recordsPerDigit*digits):
		slices.SortFunc(rows, compareRecords[R])
		return rows, ctx.Err()
	case len(r) > 2:
		return s.byWords(ctx, rows, 0)
	}
	other := make([]R, len(rows))
	for at := low; at < 64*len(r); {
		word := len(r) - 1 - at/64
		if s.pass(ctx, rows, other, word, at%64) {
			rows, other = other, rows
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		at += min(digit, 64-at%64)
	}
	return rows, nil
}

// Up to so many records are sorted by comparing them, and no more for each digit that there is to sort by.
const (
	fewRecords      = 1 << 12
	recordsPerDigit = 1 << 7
)

// byWords orders long records by one word after the other, from a word on: few have more of
// these alike.
func (s *sorter[R]) byWords(ctx context.Context, rows []R, word int) ([]R, error) {
	heads := &sorter[[2]uint64]{parts: make([]sortPart[[2]uint64], len(s.parts))}
	order, out := make([][2]uint64, len(rows)), make([]R, len(rows))
	s.each(ctx, len(rows), func(_, i, j int) {
		for ; i < j; i++ {
			order[i] = [2]uint64{rows[i][word], uint64(i)}
		}
	})
	order, err := heads.sort(ctx, order, 64, false)
	if err != nil {
		return nil, err
	}
	s.each(ctx, len(rows), func(_, i, j int) {
		for ; i < j; i++ {
			out[i] = rows[order[i][1]]
		}
	})
	end := func(i int) int { // of the rows that have the word of row i
		n := 1
		for i+n < len(out) && order[i+n][0] == order[i][0] {
			n++
		}
		return i + n
	}
	s.each(ctx, len(out), func(_, i, j int) {
		for i > 0 && i < j && order[i][0] == order[i-1][0] { // they began in another part
			i++
		}
		for ; i < j; i = end(i) {
			if run := out[i:end(i)]; len(run) > 1 && len(run) < fewRecords {
				slices.SortFunc(run, compareRecords[R])
			}
		}
	})
	for i := 0; i < len(out) && ctx.Err() == nil; i = end(i) {
		if run := out[i:end(i)]; len(run) >= fewRecords && word+1 < len(run[0]) {
			sorted, err := s.byWords(ctx, run, word+1)
			if err != nil {
				return nil, err
			}
			copy(run, sorted)
		}
	}
	return out, ctx.Err()
}

// pass moves rows into another list in the order of one digit; false where they stand so.
func (s *sorter[R]) pass(ctx context.Context, from, to []R, word, shift int) (moved bool) {
	parts := len(s.parts)
	if len(from) < fewRecords { // each has one go over them
		parts = 1
	}
	places := make([][1 << digit]int, parts)
	s.each(ctx, len(from), func(w, i, j int) {
		n := &places[w]
		for _, r := range from[i:j] {
			n[r[word]>>shift&(1<<digit-1)]++
		}
	})
	next := 0
	for d := range 1 << digit {
		start := next
		for w := range places {
			next, places[w][d] = next+places[w][d], next
		}
		if next-start == len(from) {
			return false
		}
	}
	s.each(ctx, len(from), func(w, i, j int) {
		at := &places[w]
		for _, r := range from[i:j] {
			d := r[word] >> shift & (1<<digit - 1)
			to[at[d]] = r
			at[d]++
		}
	})
	return true
}

// each has all workers go over n rows, a part each in pieces that end soon after ctx has.
func (s *sorter[R]) each(ctx context.Context, n int, do func(worker, i, j int)) {
	const piece = 1 << 18
	if n < fewRecords { // others take longer to wake
		do(0, 0, n)
		return
	}
	var wg parallel.Group
	workers := len(s.parts)
	for w := range workers {
		wg.Go(func() {
			for i, end := n*w/workers, n*(w+1)/workers; i < end && ctx.Err() == nil; i += piece {
				do(w, i, min(i+piece, end))
			}
		})
	}
	wg.Wait()
}

// Width is the bits of codes up to most.
func Width(most uint64) int { return bits.Len64(most) }
