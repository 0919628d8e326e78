package slab

import (
	"sync"
	"unsafe"
)

// Rows is how many integers a slab has room for.
const Rows = 1 << 16

// slabs are those that nobody uses: *[Rows]uint64.
var slabs sync.Pool

// New is memory for n integers, with anything in it. New memory costs as much as the values that
// are written to it: [Free] gives it back. A few integers, and more than Rows, have memory
// of their own size, which is not given back.
func New(n int) []uint64 {
	if n < Rows/4 || n > Rows {
		return make([]uint64, n)
	}
	if s, ok := slabs.Get().(*[Rows]uint64); ok {
		return s[:n]
	}
	return make([]uint64, n, Rows)
}

// Free gives a slab back, which nobody reads from then on. Memory that is none is left alone.
func Free(s []uint64) {
	if cap(s) != Rows {
		return
	}
	if s = s[:Rows]; poison {
		for i := range s {
			s[i] = 0xdead_dead_dead_dead
		}
	}
	slabs.Put((*[Rows]uint64)(unsafe.Pointer(&s[0])))
}
