package hsu

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"unsafe"

	"github.com/stencildb/stencildb/papers/lab"
)

// Records are records in host memory, a slice a column.
type Records [][]int32

// N is the number of records.
func (r Records) N() int {
	if len(r) == 0 {
		return 0
	}
	return len(r[0])
}

// record is record i.
func (r Records) record(i int) []int32 {
	list := make([]int32, len(r))
	for c := range r {
		list[c] = r[c][i]
	}
	return list
}

// rows are the records at places.
func (r Records) rows(places []int) Records {
	out := make(Records, len(r))
	for c := range r {
		out[c] = make([]int32, len(places))
		for i, at := range places {
			out[c][i] = r[c][at]
		}
	}
	return out
}

// words and integers are the same memory.
func words(list []int32) []uint32 {
	return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(list))), len(list))
}

func integers(list []uint32) []int32 {
	return unsafe.Slice((*int32)(unsafe.Pointer(unsafe.SliceData(list))), len(list))
}

// Columns are those of the text's data (section 4.2.1), by their places: unique, group and random.
var Columns = []string{"c1", "c2", "c3"}

// The places of the columns.
const (
	C1 = iota
	C2
	C3
)

// The data: the number of groups, and the largest random number.
const (
	groups  = 100
	largest = 65_535
)

// Data are n records as in section 4.2.1. c1 is a permutation of 1..n, c2 one of 100 groups, c3 a number from 1 to 65,535.
func Data(n int, seed uint64) Records {
	random := rand.New(rand.NewPCG(seed, 4))
	r := Records{make([]int32, n), make([]int32, n), make([]int32, n)}
	for i, x := range random.Perm(n) {
		r[C1][i], r[C2][i], r[C3][i] = int32(x+1), 1+random.Int32N(groups), 1+random.Int32N(largest)
	}
	return r
}

// holds evaluates a condition in infix for record i, by recursive descent.
func (r Records) holds(infix []Token, i int) bool {
	at := 0
	next := func(k Kind) bool {
		if at < len(infix) && infix[at].Kind == k {
			at++
			return true
		}
		return false
	}
	var either func() bool
	one := func() (v bool) {
		if next(LeftParenthesis) {
			v = either()
			next(RightParenthesis)
			return v
		}
		t := infix[at]
		at++
		return comparisons[t.Compare].holds(r[t.Column][i], t.Value)
	}
	both := func() bool {
		v := one()
		for next(And) {
			v = one() && v
		}
		return v
	}
	either = func() bool {
		v := both()
		for next(Or) {
			v = both() || v
		}
		return v
	}
	return either()
}

// Select is the selection in plain Go, as are the next.
func (r Records) Select(where []Token) Records {
	var places []int
	for i := range r.N() {
		if r.holds(where, i) {
			places = append(places, i)
		}
	}
	return r.rows(places)
}

// Sort are the records in the order of a column.
func (r Records) Sort(key int) Records {
	places := make([]int, r.N())
	for i := range places {
		places[i] = i
	}
	slices.SortStableFunc(places, func(a, b int) int { return cmp.Compare(r[key][a], r[key][b]) })
	return r.rows(places)
}

// Group are the groups in order, each with its aggregate.
func (r Records) Group(group, value int, f Aggregate) Records {
	type state struct{ sum, count, least, most int32 }
	of := map[int32]state{}
	for i, g := range r[group] {
		s, seen := of[g]
		v := r[value][i]
		if !seen {
			s.least, s.most = v, v
		}
		of[g] = state{s.sum + v, s.count + 1, min(s.least, v), max(s.most, v)}
	}
	out := Records{{}, {}}
	for g, s := range of {
		v := map[Aggregate]int32{Sum: s.sum, Count: s.count, Min: s.least, Max: s.most, Avg: s.sum / s.count}[f]
		out[0], out[1] = append(out[0], g), append(out[1], v)
	}
	return out.Sort(0)
}

// Update is the update in place.
func (r Records) Update(where []Token, column int, value int32) {
	for i := range r.N() {
		if r.holds(where, i) { // column may be of the condition: of this record only
			r[column][i] = value
		}
	}
}

// Delete are the records that stay.
func (r Records) Delete(where []Token) Records {
	var places []int
	for i := range r.N() {
		if !r.holds(where, i) {
			places = append(places, i)
		}
	}
	return r.rows(places)
}

// Digest is that of records in any order; by a column, when it is one, the order of that counts, too.
func (r Records) Digest(by int) lab.Digest {
	mixed := make([]uint32, r.N())
	for i := range mixed {
		x := uint32(0)
		for c := range r {
			x = (x ^ uint32(r[c][i])) * 0x9e3779b1
			x ^= x >> 15
		}
		mixed[i] = x
	}
	d := lab.Unordered(mixed)
	if by >= 0 {
		order := lab.Ordered(words(r[by]))
		d[0], d[1] = d[0]+order[0], d[1]^order[1]
	}
	return d
}
