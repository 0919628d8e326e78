package cpu

import (
	"cmp"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/stencildb/stencildb/table"
)

// joinIndex finds the rows of the build side that have a number. These have been put in order:
// those of one number stand together.
type joinIndex interface {
	// find writes where the rows of each number begin and end.
	find(of keyNumbers, from, to []uint32)
}

// keyed is a row of the build side with its number.
type keyed struct {
	key uint64
	row uint32
}

// newJoinIndex makes an index of rows and says in what order these stand in it, and whether no two have the
// same number. Where all that matters is whether it has a number, there may be no order.
func newJoinIndex(way string, of keyNumbers, lo, hi uint64, exists bool) (x joinIndex, name string, order []uint32, unique bool) {
	rows := len(of.of) - of.nulls()
	dense := rows > 0 && densely(rows, lo, hi)
	if dense && (way == "auto" || way == "perfect" || way == "index") {
		x, order, unique := newPerfectIndex(of, lo, hi, rows, exists)
		return x, "perfect hash", order, unique
	}
	list := of.keyed()
	if way == "merge" {
		x, name = newMergeIndex(list, lo, hi), "merge"
	} else {
		x, list = newHashIndex(list)
		name = "hash"
	}
	var again atomic.Bool
	order = make([]uint32, len(list))
	table.InParts(len(list), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			order[i] = list[i].row
			if i > 0 && list[i].key == list[i-1].key {
				again.Store(true)
			}
		}
	})
	return x, name, order, !again.Load()
}

// densely reports that a bit for each number of a range is little for so many rows.
func densely(rows int, lo, hi uint64) bool { return hi-lo < max(1<<22, 256*uint64(rows)) }

func (k keyNumbers) isNull(i int) bool { return k.null != nil && k.null.Get(i) }

// nulls is how many rows have no number.
func (k keyNumbers) nulls() int { return k.nullsIn(0, len(k.of)) }

// nullsIn is nulls of the rows from lo, a multiple of 64, to before hi.
func (k keyNumbers) nullsIn(lo, hi int) (n int) {
	if k.null == nil {
		return 0
	}
	for w := lo / 64; w < hi/64; w++ {
		n += bits.OnesCount64(k.null[w])
	}
	if rest := hi % 64; rest > 0 { // a bitmap of a block may say something of what lies behind it
		n += bits.OnesCount64(k.null[hi/64] & (1<<rest - 1))
	}
	return n
}

// keyed are the rows that have a number.
func (k keyNumbers) keyed() []keyed {
	const piece = 1 << 16
	at := make([]int, (len(k.of)+piece-1)/piece+1) // where the rows of each piece go
	for p := range at[1:] {
		lo, hi := p*piece, min(len(k.of), (p+1)*piece)
		at[p+1] = at[p] + hi - lo - k.nullsIn(lo, hi)
	}
	list := make([]keyed, at[len(at)-1])
	inPartitions(len(at)-1, func(p int) {
		to := list[at[p]:at[p]]
		for i := p * piece; i < min(len(k.of), (p+1)*piece); i++ {
			if !k.isNull(i) {
				to = append(to, keyed{k.of[i], uint32(i)})
			}
		}
	})
	return list
}

// perfectIndex has a bit for each number of a range, set where a row has it. How many are set before it is
// the number's rank, and by rank it has where the rows begin; they end where those of the next one begin.
type perfectIndex struct {
	lo    uint64
	has   table.Bitmap // one more bit, for what lies outside
	ranks []uint32     // of the first bit of each word
	start []uint32     // nil where each number has one row
	count uint32       // of the numbers
}

// newPerfectIndex makes it by counting, a prefix sum, and writing each row to its place, which is left out where
// all that matters is whether it has a number.
func newPerfectIndex(of keyNumbers, lo, hi uint64, rows int, exists bool) (x *perfectIndex, order []uint32, unique bool) {
	x = &perfectIndex{lo: lo, has: table.NewBitmap(int(hi - lo + 2))}
	x.ranks = make([]uint32, len(x.has))
	table.InParts(len(of.of), func(from, to int) {
		for i := from; i < to; i++ {
			if !of.isNull(i) {
				k := of.of[i] - lo
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
		table.InParts(len(of.of), func(from, to int) {
			for i := from; i < to; i++ {
				if !of.isNull(i) {
					order[x.rank(of.of[i]-lo)] = uint32(i)
				}
			}
		})
		return x, order, true
	}
	x.start = make([]uint32, x.count+1)
	parts, bounds := split(of.keyed(), func(k uint64) uint64 { return k - lo }, bits.Len64(hi-lo))
	inPartitions(len(bounds)-1, func(p int) {
		for _, k := range parts[bounds[p]:bounds[p+1]] {
			x.start[x.rank(k.key-lo)+1]++
		}
	})
	sum := uint32(0)
	for i, n := range x.start {
		sum += n
		x.start[i] = sum
	}
	at := slices.Clone(x.start)
	inPartitions(len(bounds)-1, func(p int) {
		for _, k := range parts[bounds[p]:bounds[p+1]] {
			place := &at[x.rank(k.key-lo)]
			order[*place] = k.row
			*place++
		}
	})
	return x, order, false
}

// rank is how many smaller numbers have rows.
func (x *perfectIndex) rank(k uint64) uint32 {
	return x.ranks[k>>6] + uint32(bits.OnesCount64(x.has[k>>6]&(1<<(k&63)-1)))
}

func (x *perfectIndex) find(of keyNumbers, from, to []uint32) {
	outside := 64*uint64(len(x.has)) - 1
	for i, k := range of.of {
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
	of.nothing(from, to)
}

// ranksOf writes the ranks of the codes of a column, each plus add, noRow for those without a row, and returns
// how many have one.
func ranksOf[C uint8 | uint16 | uint32 | uint64](x *perfectIndex, codes []C, of ids, add uint64, out []uint32) (n int) {
	outside := 64*uint64(len(x.has)) - 1
	if of.list == nil {
		for i, c := range codes[of.first : of.first+len(out)] {
			k := min(uint64(c)+add, outside)
			word := x.has[k>>6]
			bit := word >> (k & 63) & 1
			out[i] = (x.ranks[k>>6] + uint32(bits.OnesCount64(word&(1<<(k&63)-1)))) | (uint32(bit) - 1)
			n += int(bit)
		}
		return n
	}
	for i, row := range of.list[:len(out)] {
		k := min(uint64(codes[row])+add, outside)
		word := x.has[k>>6]
		bit := word >> (k & 63) & 1
		out[i] = (x.ranks[k>>6] + uint32(bits.OnesCount64(word&(1<<(k&63)-1)))) | (uint32(bit) - 1)
		n += int(bit)
	}
	return n
}

// partners is ranksOf of any column of one chunk.
func (x *perfectIndex) partners(c *joinColumn, of ids, out []uint32) int {
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
func (x *perfectIndex) codes(c *joinColumn) table.Bitmap {
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
func candidates(in table.Bitmap, c table.Codes, of ids, n int) []uint32 {
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

func inBitmap[C uint8 | uint16 | uint32 | uint64](in table.Bitmap, codes []C, of ids, n int) []uint32 {
	out, found := make([]uint32, n), 0
	if of.list == nil {
		for i, c := range codes[of.first : of.first+n] {
			out[found] = uint32(i)
			found += int(in[c>>6] >> (c & 63) & 1)
		}
		return out[:found]
	}
	for i, row := range of.list[:n] {
		c := codes[row]
		out[found] = uint32(i)
		found += int(in[c>>6] >> (c & 63) & 1)
	}
	return out[:found]
}

// nothing is found of rows without a number.
func (k keyNumbers) nothing(from, to []uint32) {
	for w, m := range k.null {
		for ; m != 0; m &= m - 1 {
			if i := 64*w + bits.TrailingZeros64(m); i < len(from) {
				from[i], to[i] = 0, 0
			}
		}
	}
}

// hashIndex is a hash table for each partition of the rows by the upper bits of their numbers'
// hashes. Each has a power of two of slots; a number stands in the first free one from the place of
// its hash on.
type hashIndex struct {
	shift  int // of a hash, for the partition
	tables []hashTable
}

type hashTable struct {
	mask  uint64
	slots []hashSlot
}

// hashSlot is a number and where its rows are; free where it has none.
type hashSlot struct {
	key      uint64
	from, to uint32
}

func hashOf(k uint64) uint64 {
	k *= 0x9e3779b97f4a7c15
	return k ^ k>>32
}

func newHashIndex(list []keyed) (*hashIndex, []keyed) {
	parts, bounds := split(list, func(k uint64) uint64 { return hashOf(k) }, 64)
	n := len(bounds) - 1
	x := &hashIndex{64 - bits.Len(uint(n-1)), make([]hashTable, n)}
	out := make([]keyed, len(list))
	inPartitions(n, func(p int) {
		part := parts[bounds[p]:bounds[p+1]]
		x.tables[p] = newHashTable(part, out, uint32(bounds[p]))
	})
	return x, out
}

// newHashTable is a table of the numbers of a part, whose rows it puts into out, those of a number side by side, from a place on.
func newHashTable(part, out []keyed, at uint32) (t hashTable) {
	t.mask = uint64(1)<<bits.Len(uint(len(part)+len(part)/2)) - 1 // at most two thirds are taken
	t.slots = make([]hashSlot, t.mask+1)
	for _, k := range part {
		s := t.slot(k.key)
		s.key = k.key
		s.to++ // how many there are, for now
	}
	for i := range t.slots {
		s := &t.slots[i]
		n := s.to
		s.from, s.to = at, at
		at += n
		if n == 0 {
			s.from = 1 // free
			s.to = 0
		}
	}
	for _, k := range part {
		s := t.found(k.key)
		out[s.to] = k
		s.to++
	}
	return t
}

// slot is where a number stands, or may be put, while the rows are counted.
func (t *hashTable) slot(key uint64) *hashSlot {
	for i := hashOf(key) & t.mask; ; i = (i + 1) & t.mask {
		if s := &t.slots[i]; s.to == 0 || s.key == key {
			return s
		}
	}
}

// found is the slot of a number, or a free one.
func (t *hashTable) found(key uint64) *hashSlot {
	for i := hashOf(key) & t.mask; ; i = (i + 1) & t.mask {
		if s := &t.slots[i]; s.from > s.to || s.key == key {
			return s
		}
	}
}

func (x *hashIndex) find(of keyNumbers, from, to []uint32) {
	for i, k := range of.of {
		if s := x.tables[hashOf(k)>>x.shift].found(k); s.from > s.to {
			from[i], to[i] = 0, 0
		} else {
			from[i], to[i] = s.from, s.to
		}
	}
	of.nothing(from, to)
}

// mergeIndex is the numbers in order. The numbers that are looked for are put in order too, and the
// matching ranges are located going through both.
type mergeIndex []keyed

func newMergeIndex(list []keyed, lo, hi uint64) mergeIndex {
	parts, bounds := split(list, func(k uint64) uint64 { return k - lo }, bits.Len64(hi-lo))
	inPartitions(len(bounds)-1, func(p int) {
		slices.SortFunc(parts[bounds[p]:bounds[p+1]], func(a, b keyed) int {
			return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.row, b.row))
		})
	})
	copy(list, parts)
	return mergeIndex(list)
}

func (x mergeIndex) find(of keyNumbers, from, to []uint32) {
	order := make([]keyed, len(of.of))
	for i, k := range of.of {
		order[i] = keyed{k, uint32(i)}
	}
	slices.SortFunc(order, func(a, b keyed) int { return cmp.Compare(a.key, b.key) })
	at := 0
	for i := 0; i < len(order); {
		key := order[i].key
		at = x.reach(at, key)
		end := at
		for end < len(x) && x[end].key == key {
			end++
		}
		for ; i < len(order) && order[i].key == key; i++ {
			from[order[i].row], to[order[i].row] = uint32(at), uint32(end)
		}
		at = end
	}
	of.nothing(from, to)
}

// reach is the first place from at on with a number of at least key, found in steps that grow.
func (x mergeIndex) reach(at int, key uint64) int {
	step := 1
	for at+step < len(x) && x[at+step].key < key {
		at, step = at+step, 2*step
	}
	rest := x[at:min(len(x), at+step+1)]
	i, _ := slices.BinarySearchFunc(rest, key, func(k keyed, key uint64) int { return cmp.Compare(k.key, key) })
	return at + i
}

// fewKeyed is up to how many rows are not split.
const fewKeyed = 1 << 15

// split puts rows in partitions by the upper bits of a number of so many bits that is made of their
// keys, in their order within each, on all cores: counts, a prefix sum, and each row to its place.
func split(list []keyed, number func(uint64) uint64, width int) (out []keyed, bounds []int) {
	parts := 1
	for parts < 1<<min(width, 12) && len(list)/parts > fewKeyed {
		parts *= 2
	}
	if parts == 1 {
		return slices.Clone(list), []int{0, len(list)}
	}
	shift := width - bits.Len(uint(parts-1))
	const pieces = 64
	counts := make([][]int, pieces)
	piece := func(i int) []keyed { return list[len(list)*i/pieces : len(list)*(i+1)/pieces] }
	inPartitions(pieces, func(i int) {
		counts[i] = make([]int, parts)
		for _, k := range piece(i) {
			counts[i][number(k.key)>>shift]++
		}
	})
	at := 0
	for p := range parts {
		bounds = append(bounds, at)
		for i := range counts {
			counts[i][p], at = at, at+counts[i][p]
		}
	}
	out = make([]keyed, len(list))
	inPartitions(pieces, func(i int) {
		for _, k := range piece(i) {
			place := &counts[i][number(k.key)>>shift]
			out[*place] = k
			*place++
		}
	})
	return out, append(bounds, at)
}
