package source

import (
	"fmt"
	"math"
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow/memory"
)

// CappedAllocator refuses allocations that only a corrupt length asks for. It
// panics, the one way out that arrow-go's allocators have; load recovers.
type CappedAllocator struct {
	memory.Allocator
	most  int
	limit int64  // of memory; 0 for none
	over  *int64 // the limit, once a piece was larger: arrow-go says nothing of why it ends
}

// Largest is the size of the largest piece.
func (a CappedAllocator) Largest() int { return a.most }

func (a CappedAllocator) check(n int) {
	switch {
	case n < 0 || n > a.most:
		panic(Damage(fmt.Sprintf("it asks for a piece of %s", ShowSize(int64(n)))))
	case a.limit > 0 && int64(n) > a.limit:
		atomic.StoreInt64(a.over, a.limit)
		panic(&MemoryError{a.limit})
	}
}

func (a CappedAllocator) Allocate(n int) []byte {
	a.check(n)
	return a.Allocator.Allocate(n)
}

func (a CappedAllocator) Reallocate(n int, b []byte) []byte {
	a.check(n)
	return a.Allocator.Reallocate(n, b)
}

// Allocator returns an allocator for decoding the loader's input. No single piece
// is larger than the memory allowed. Unless the file is trusted, none is larger than 64 times the file, or than LeastAllocation.
func (l *Loader) Allocator() CappedAllocator {
	a := CappedAllocator{Allocator: memory.NewGoAllocator(), most: int(max(l.Input.Size()*64, LeastAllocation)), over: &l.Input.over}
	if l.Options.Trusted {
		a.most = math.MaxInt32
	}
	if l.Options.MemoryLimit > 0 {
		a.limit = max(l.Options.MemoryLimit, 1<<20)
	}
	return a
}

// PageAllocator returns an allocator of pages for decoding the loader's input.
func (l *Loader) PageAllocator() PageAllocator { return PageAllocator{l.Allocator()} }

// LeastAllocation is the largest piece that decoding a file of any size may ask for: what we write needs it for texts that repeat.
const LeastAllocation = 128 << 20

// PageAllocator is an allocator of pages and of what record readers give. Large pieces are used again,
// as they are, since all of them is written before it is read.
type PageAllocator struct{ CappedAllocator }

func (a PageAllocator) Allocate(n int) []byte {
	k := sizeClass(n)
	if k == 0 {
		return a.CappedAllocator.Allocate(n)
	}
	a.check(n)
	if b, ok := free[k].Get().(*[]byte); ok {
		return (*b)[:n]
	}
	return make([]byte, n, 1<<k)
}

// Reallocate leaves the piece before to the garbage collector: values of a page may point
// into it.
func (a PageAllocator) Reallocate(n int, b []byte) []byte {
	if n <= cap(b) {
		return b[:n]
	}
	out := a.Allocate(n)
	copy(out, b)
	return out
}

func (a PageAllocator) Free(b []byte) {
	if k := sizeClass(cap(b)); k > 0 && cap(b) == 1<<k {
		free[k].Put(&b)
	}
}

// free are the pieces that can be used again, by the logarithm of their size.
var free [25]sync.Pool

// sizeClass is where in free pieces of n bytes are; 0: they are not kept.
func sizeClass(n int) int {
	if n < 1<<14 || n > 1<<24 {
		return 0
	}
	return bits.Len(uint(n - 1))
}
