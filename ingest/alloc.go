package ingest

import (
	"fmt"
	"math"
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow/memory"
)

// cappedAllocator refuses allocations that only a corrupt length asks for. It
// panics, the one way out that arrow-go's allocators have; load recovers.
type cappedAllocator struct {
	memory.Allocator
	most  int
	limit int64  // of memory; 0 for none
	over  *int64 // the limit, once a piece was larger: arrow-go says nothing of why it ends
}

// allocator returns an allocator for decoding the loader's input: no single piece
// is larger than 64 times the file, 128 MiB at the least, as what we write needs for texts that repeat, unless the file
// is trusted, nor than the memory allowed.
func (l *loader) allocator() cappedAllocator {
	a := cappedAllocator{Allocator: memory.NewGoAllocator(), most: int(max(l.file.Size()*64, 2*groupText)), over: &l.file.over}
	if l.opts.Trusted {
		a.most = math.MaxInt32
	}
	if l.opts.MemoryLimit > 0 {
		a.limit = max(l.opts.MemoryLimit, 1<<20)
	}
	return a
}

func (a cappedAllocator) check(n int) {
	switch {
	case n < 0 || n > a.most:
		panic(damage(fmt.Sprintf("it asks for a piece of %s", size(int64(n)))))
	case a.limit > 0 && int64(n) > a.limit:
		atomic.StoreInt64(a.over, a.limit)
		panic(&MemoryError{a.limit})
	}
}

func (a cappedAllocator) Allocate(n int) []byte {
	a.check(n)
	return a.Allocator.Allocate(n)
}

func (a cappedAllocator) Reallocate(n int, b []byte) []byte {
	a.check(n)
	return a.Allocator.Reallocate(n, b)
}

// reusing is an allocator of pages and of what record readers give: large pieces are used again,
// as they are, since all of them is written before it is read.
type reusing struct{ cappedAllocator }

// free are the pieces that can be used again, by the logarithm of their size.
var free [25]sync.Pool

// sizeClass is where in free pieces of n bytes are; 0: they are not kept.
func sizeClass(n int) int {
	if n < 1<<14 || n > 1<<24 {
		return 0
	}
	return bits.Len(uint(n - 1))
}

func (a reusing) Allocate(n int) []byte {
	k := sizeClass(n)
	if k == 0 {
		return a.cappedAllocator.Allocate(n)
	}
	a.check(n)
	if b, ok := free[k].Get().(*[]byte); ok {
		return (*b)[:n]
	}
	return make([]byte, n, 1<<k)
}

// Reallocate leaves the piece before to the garbage collector: values of a page may point
// into it.
func (a reusing) Reallocate(n int, b []byte) []byte {
	if n <= cap(b) {
		return b[:n]
	}
	out := a.Allocate(n)
	copy(out, b)
	return out
}

func (a reusing) Free(b []byte) {
	if k := sizeClass(cap(b)); k > 0 && cap(b) == 1<<k {
		free[k].Put(&b)
	}
}
