package join

import (
	"cmp"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/stencildb/stencildb/cpu/hashtable"
	"github.com/stencildb/stencildb/internal/ordered"
	"github.com/stencildb/stencildb/table"
)

// joinIndex finds the rows of the build side that have a number. These have been put in order:
// those of one number stand together.
type joinIndex interface {
	// Find writes where the rows of each number begin and end.
	Find(of hashtable.Keys, from, to []uint32)
}

// newJoinIndex makes an index of rows and says in what order these stand in it, and whether no two have the
// same number. Where all that matters is whether it has a number, there may be no order.
func newJoinIndex(way string, of hashtable.Keys, lo, hi uint64, exists bool) (x joinIndex, name string, order []uint32, unique bool) {
	rows := len(of.Numbers) - of.Nulls()
	dense := rows > 0 && densely(rows, lo, hi)
	if dense && (way == "auto" || way == "perfect" || way == "index") {
		x, order, unique := newPerfectIndex(of, lo, hi, rows, exists)
		return x, "perfect hash", order, unique
	}
	list := of.Rows()
	if way == "merge" {
		x, name = newMergeIndex(list, lo, hi), "merge"
	} else {
		x, list = hashtable.NewPartitioned(list)
		name = "hash"
	}
	var again atomic.Bool
	order = make([]uint32, len(list))
	table.InParts(len(list), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			order[i] = list[i].Row
			if i > 0 && list[i].Key == list[i-1].Key {
				again.Store(true)
			}
		}
	})
	return x, name, order, !again.Load()
}

// densely reports that a bit for each number of a range is little for so many rows.
func densely(rows int, lo, hi uint64) bool { return hi-lo < max(1<<22, 256*uint64(rows)) }

// perfectIndex has a bit for each number of a range, set where a row has it. The number of set bits before it
// is its rank. By rank it has where the rows of a number begin; they end where those of the next one begin.
type perfectIndex struct {
	lo    uint64
	has   table.Bitmap // one more bit, for what lies outside
	ranks []uint32     // of the first bit of each word
	start []uint32     // nil where each number has one row
	count uint32       // of the numbers
}

// newPerfectIndex makes it by counting, a prefix sum, and moving each row to its place. With exists only the
// numbers matter, and no row is moved.
func newPerfectIndex(of hashtable.Keys, lo, hi uint64, rows int, exists bool) (x *perfectIndex, order []uint32, unique bool) {
	x = &perfectIndex{lo: lo, has: table.NewBitmap(int(hi - lo + 2))}
	x.ranks = make([]uint32, len(x.has))
	table.InParts(len(of.Numbers), func(from, to int) {
		for i := from; i < to; i++ {
			if !of.IsNull(i) {
				k := of.Numbers[i] - lo
				atomic.OrUint64(&x.has[k>>6], 1<<(k&63)) // others may have numbers of the word
			}
		}
	})
	for w, word := range x.has {
		x.ranks[w] = x.count
		x.count += uint32(bits.OnesCount64(word))
	}
	if exists {
		return x, nil, false
	}
	order = make([]uint32, rows)
	if int(x.count) == rows {
		table.InParts(len(of.Numbers), func(from, to int) {
			for i := from; i < to; i++ {
				if !of.IsNull(i) {
					order[x.rank(of.Numbers[i]-lo)] = uint32(i)
				}
			}
		})
		return x, order, true
	}
	x.start = make([]uint32, x.count+1)
	parts, bounds := hashtable.Split(of.Rows(), func(k uint64) uint64 { return k - lo }, bits.Len64(hi-lo))
	ordered.Each(len(bounds)-1, func(p int) {
		for _, k := range parts[bounds[p]:bounds[p+1]] {
			x.start[x.rank(k.Key-lo)+1]++
		}
	})
	sum := uint32(0)
	for i, n := range x.start {
		sum += n
		x.start[i] = sum
	}
	at := slices.Clone(x.start)
	ordered.Each(len(bounds)-1, func(p int) {
		for _, k := range parts[bounds[p]:bounds[p+1]] {
			place := &at[x.rank(k.Key-lo)]
			order[*place] = k.Row
			*place++
		}
	})
	return x, order, false
}

// rank is how many smaller numbers have rows.
func (x *perfectIndex) rank(k uint64) uint32 {
	return x.ranks[k>>6] + uint32(bits.OnesCount64(x.has[k>>6]&(1<<(k&63)-1)))
}

func (x *perfectIndex) Find(of hashtable.Keys, from, to []uint32) {
	outside := 64*uint64(len(x.has)) - 1
	for i, k := range of.Numbers {
		if k = min(k-x.lo, outside); x.has[k>>6]>>(k&63)&1 == 0 {
			from[i], to[i] = 0, 0
			continue
		}
		r := x.rank(k)
		if x.start == nil {
			from[i], to[i] = r, r+1
		} else {
			from[i], to[i] = x.start[r], x.start[r+1]
		}
	}
	of.ClearNulls(from, to)
}

// ranksOf writes the ranks of the codes of a column, each plus add, NoRow for those without a row, and returns
// how many have one.
func ranksOf[C uint8 | uint16 | uint32 | uint64](x *perfectIndex, codes []C, of IDs, add uint64, out []uint32) (n int) {
	outside := 64*uint64(len(x.has)) - 1
	if of.List == nil {
		for i, c := range codes[of.first : of.first+len(out)] {
			k := min(uint64(c)+add, outside)
			word := x.has[k>>6]
			bit := word >> (k & 63) & 1
			out[i] = (x.ranks[k>>6] + uint32(bits.OnesCount64(word&(1<<(k&63)-1)))) | (uint32(bit) - 1)
			n += int(bit)
		}
		return n
	}
	for i, row := range of.List[:len(out)] {
		k := min(uint64(codes[row])+add, outside)
		word := x.has[k>>6]
		bit := word >> (k & 63) & 1
		out[i] = (x.ranks[k>>6] + uint32(bits.OnesCount64(word&(1<<(k&63)-1)))) | (uint32(bit) - 1)
		n += int(bit)
	}
	return n
}

// partners is ranksOf of any column of one chunk.
func (x *perfectIndex) partners(c *Column, of IDs, out []uint32) int {
	add := c.Base - x.lo
	switch s := c.chunks[0].Codes; {
	case s.U8 != nil:
		return ranksOf(x, s.U8, of, add, out)
	case s.U16 != nil:
		return ranksOf(x, s.U16, of, add, out)
	case s.U32 != nil:
		return ranksOf(x, s.U32, of, add, out)
	default:
		return ranksOf(x, s.U64, of, add, out)
	}
}

// mostCandidates is the largest code of a column for which there is a bitmap of those with partners.
const mostCandidates = 1 << 26

// codes are those of a column of one chunk that have a row; nil where most do, or where there are too many.
func (x *perfectIndex) codes(c *Column) table.Bitmap {
	if 2*uint64(x.count) > c.Max || c.Max >= mostCandidates {
		return nil
	}
	out := table.NewBitmap(int(c.Max) + 1)
	for w, word := range x.has {
		for ; word != 0; word &= word - 1 {
			if code := x.lo + uint64(64*w+bits.TrailingZeros64(word)) - c.Base; code <= c.Max {
				out.Set(int(code))
			}
		}
	}
	return out
}

// candidates are the places of those of n rows whose codes are in a bitmap.
func candidates(in table.Bitmap, c table.Codes, of IDs, n int) []uint32 {
	switch {
	case c.U8 != nil:
		return inBitmap(in, c.U8, of, n)
	case c.U16 != nil:
		return inBitmap(in, c.U16, of, n)
	case c.U32 != nil:
		return inBitmap(in, c.U32, of, n)
	default:
		return inBitmap(in, c.U64, of, n)
	}
}

func inBitmap[C uint8 | uint16 | uint32 | uint64](in table.Bitmap, codes []C, of IDs, n int) []uint32 {
	out, found := make([]uint32, n), 0
	if of.List == nil {
		for i, c := range codes[of.first : of.first+n] {
			out[found] = uint32(i)
			found += int(in[c>>6] >> (c & 63) & 1)
		}
		return out[:found]
	}
	for i, row := range of.List[:n] {
		c := codes[row]
		out[found] = uint32(i)
		found += int(in[c>>6] >> (c & 63) & 1)
	}
	return out[:found]
}

// mergeIndex is the numbers in order. The numbers that are looked for are put in order too, and the
// matching ranges are located going through both.
type mergeIndex []hashtable.Row

func newMergeIndex(list []hashtable.Row, lo, hi uint64) mergeIndex {
	parts, bounds := hashtable.Split(list, func(k uint64) uint64 { return k - lo }, bits.Len64(hi-lo))
	ordered.Each(len(bounds)-1, func(p int) {
		slices.SortFunc(parts[bounds[p]:bounds[p+1]], func(a, b hashtable.Row) int {
			return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Row, b.Row))
		})
	})
	copy(list, parts)
	return mergeIndex(list)
}

func (x mergeIndex) Find(of hashtable.Keys, from, to []uint32) {
	order := make([]hashtable.Row, len(of.Numbers))
	for i, k := range of.Numbers {
		order[i] = hashtable.Row{Key: k, Row: uint32(i)}
	}
	slices.SortFunc(order, func(a, b hashtable.Row) int { return cmp.Compare(a.Key, b.Key) })
	at := 0
	for i := 0; i < len(order); {
		key := order[i].Key
		at = x.reach(at, key)
		end := at
		for end < len(x) && x[end].Key == key {
			end++
		}
		for ; i < len(order) && order[i].Key == key; i++ {
			from[order[i].Row], to[order[i].Row] = uint32(at), uint32(end)
		}
		at = end
	}
	of.ClearNulls(from, to)
}

// reach is the first place from at on with a number of at least key, found in steps that grow.
func (x mergeIndex) reach(at int, key uint64) int {
	step := 1
	for at+step < len(x) && x[at+step].Key < key {
		at, step = at+step, 2*step
	}
	rest := x[at:min(len(x), at+step+1)]
	i, _ := slices.BinarySearchFunc(rest, key, func(k hashtable.Row, key uint64) int { return cmp.Compare(k.Key, key) })
	return at + i
}
