package ingest

import (
	"fmt"

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
