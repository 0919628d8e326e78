package table

import (
	"sync"
	"unsafe"
)

// SlabRows is how many integers a slab has room for.
const SlabRows = 1 << 16

// slabs are those that nobody uses: *[SlabRows]uint64.
var slabs sync.Pool

// NewSlab is memory for n integers, with anything in it. New memory costs as much as the values that
// are written to it: [FreeSlab] gives it back. A few integers, and more than SlabRows, have memory
// of their own size, which is not given back.
func NewSlab(n int) []uint64 {
	if n < SlabRows/4 || n > SlabRows {
		return make([]uint64, n)
	}
	if s, ok := slabs.Get().(*[SlabRows]uint64); ok {
		return s[:n]
	}
	return make([]uint64, n, SlabRows)
}

// FreeSlab gives a slab back, which nobody reads from then on. Memory that is none is left alone.
func FreeSlab(s []uint64) {
	if cap(s) != SlabRows {
		return
	}
	if s = s[:SlabRows]; poison {
		for i := range s {
			s[i] = 0xdead_dead_dead_dead
		}
	}
	slabs.Put((*[SlabRows]uint64)(unsafe.Pointer(&s[0])))
}
