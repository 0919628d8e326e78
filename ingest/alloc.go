package ingest

import (
	"fmt"
	"math/bits"
	"sync"

	"github.com/apache/arrow-go/v18/arrow/memory"
)

// cappedAllocator refuses allocations that only a corrupt length asks for. It
// panics, the one way out that arrow-go's allocators have; load recovers.
type cappedAllocator struct {
	memory.Allocator
	most int
}

// allocator returns an allocator for decoding the loader's input: no single piece
// is larger than 64 times the file, 64 MiB at the least, nor than the memory
// allowed.
func (l *loader) allocator() cappedAllocator {
	most := max(l.file.Size()*64, 64<<20)
	if l.opts.MemoryLimit > 0 {
		most = min(most, max(l.opts.MemoryLimit, 1<<20))
	}
	return cappedAllocator{memory.NewGoAllocator(), int(most)}
}

func (a cappedAllocator) check(n int) {
	if n < 0 || n > a.most {
		panic(damage(fmt.Sprintf("it asks for a piece of %s", size(int64(n)))))
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
