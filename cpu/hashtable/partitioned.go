package hashtable

import (
	"math/bits"
	"unsafe"

	"github.com/stencildb/stencildb/internal/ordered"
	"github.com/stencildb/stencildb/internal/xslices"
)

// Partitioned finds the rows of a key: a [RowTable] for each partition of the rows by the upper bits of their keys' hashes.
type Partitioned struct {
	shift  int // of a hash, for the partition
	tables []RowTable
}

// RowTable finds the rows of a key in a list in which those of one key stand together. It has a power of two of slots, and a key stands
// in the first free one from the place of its hash on.
type RowTable struct {
	mask  uint64
	slots []hashSlot
}

// hashSlot is a key and where its rows stand in the list; free where from is above to.
type hashSlot struct {
	key      uint64
	From, To uint32
}

// hashOf spreads keys over the lower bits, for a slot, and the upper ones, for a partition.
func hashOf(k uint64) uint64 {
	k *= 0x9e3779b97f4a7c15
	return k ^ k>>32
}

// NewPartitioned makes the tables, and the list of the rows in their order.
func NewPartitioned(list []Row) (*Partitioned, []Row) {
	parts, bounds := Split(list, func(k uint64) uint64 { return hashOf(k) }, 64)
	n := len(bounds) - 1
	x := &Partitioned{64 - bits.Len(uint(n-1)), make([]RowTable, n)}
	out := make([]Row, len(list))
	ordered.Each(n, func(p int) {
		part := parts[bounds[p]:bounds[p+1]]
		x.tables[p] = NewRowTable(part, out, uint32(bounds[p]))
	})
	return x, out
}

// NewRowTable makes a table of the rows of a part. It writes the rows to out from a place on, those of a key side by
// side.
func NewRowTable(part, out []Row, at uint32) (t RowTable) {
	t.mask = uint64(1)<<bits.Len(uint(len(part)+len(part)/2)) - 1 // at most two thirds are taken
	t.slots = make([]hashSlot, t.mask+1)
	for _, k := range part {
		s := t.slot(k.Key)
		s.key = k.Key
		s.To++ // how many there are, for now
	}
	for i := range t.slots {
		s := &t.slots[i]
		n := s.To
		s.From, s.To = at, at
		at += n
		if n == 0 {
			s.From = 1 // free
			s.To = 0
		}
	}
	for _, k := range part {
		s := t.Find(k.Key)
		out[s.To] = k
		s.To++
	}
	return t
}

// slot is where a key stands, or may be put, while the rows are counted.
func (t *RowTable) slot(key uint64) *hashSlot {
	for i := hashOf(key) & t.mask; ; i = (i + 1) & t.mask {
		if s := &t.slots[i]; s.To == 0 || s.key == key {
			return s
		}
	}
}

// Find is the slot of a key, or a free one.
func (t *RowTable) Find(key uint64) *hashSlot {
	for i := hashOf(key) & t.mask; ; i = (i + 1) & t.mask {
		if s := &t.slots[i]; s.From > s.To || s.key == key {
			return s
		}
	}
}

// Find writes where the rows of each key begin and end, both 0 for none.
func (x *Partitioned) Find(of Keys, from, to []uint32) {
	for i, k := range of.Numbers {
		if s := x.tables[hashOf(k)>>x.shift].Find(k); s.From > s.To {
			from[i], to[i] = 0, 0
		} else {
			from[i], to[i] = s.From, s.To
		}
	}
	of.ClearNulls(from, to)
}

// Ranges is find of keys of which none is NULL.
func (x *Partitioned) Ranges(codes []uint64, from, to []uint32) {
	x.Find(Keys{Numbers: codes}, from, to)
}

// mostKeys of a range are looked up one by one.
const mostKeys = 16

// Within calls do for where the rows of each key from lo to hi stand; ok is false where there are too many keys.
func (x *Partitioned) Within(lo, hi uint64, do func(from, to int)) (ok bool) {
	if hi-lo >= mostKeys {
		return false
	}
	for i := range hi - lo + 1 {
		if s := x.tables[hashOf(lo+i)>>x.shift].Find(lo + i); s.From <= s.To {
			do(int(s.From), int(s.To))
		}
	}
	return true
}

// Bytes is the memory that the slots take.
func (x *Partitioned) Bytes() int {
	return xslices.Sum(x.tables, func(t RowTable) int { return len(t.slots) * int(unsafe.Sizeof(hashSlot{})) })
}
