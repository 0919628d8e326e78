package expr

import (
	"unsafe"

	"github.com/stencildb/stencildb/table"
)

// Arena is the memory that one goroutine computes vectors in, the same from block to block: Reset takes all of it back. A nil Arena makes
// each vector anew. Whoever keeps a text beyond the next Reset clones it, unless the arena keeps texts.
type Arena struct {
	KeepsTexts bool // the memory of texts is not used again

	ints   slabs[int64]
	floats slabs[float64]
	texts  slabs[string]
	places slabs[uint32]
	blocks slabs[byte] // in which texts are written
}

// slabs are slices that are used again.
type slabs[T any] struct {
	list [][]T
	used int
}

// take is room for n, which has what was in it before.
func (s *slabs[T]) take(n int) []T {
	if s.used == len(s.list) {
		s.list = append(s.list, nil)
	}
	at := &s.list[s.used]
	if s.used++; cap(*at) < n {
		*at = make([]T, n)
	}
	return (*at)[:n]
}

// Reset takes back the memory of all vectors.
func (a *Arena) Reset() {
	if a == nil {
		return
	}
	a.ints.used, a.floats.used, a.texts.used, a.places.used, a.blocks.used = 0, 0, 0, 0, 0
	if a.KeepsTexts {
		a.blocks.list = nil
	}
}

// Ints, floatsOf, textsOf and placesOf are room for n, which has what was in it before.
func (a *Arena) Ints(n int) []int64 {
	if a == nil {
		return make([]int64, n)
	}
	return a.ints.take(n)
}

func (a *Arena) floatsOf(n int) []float64 {
	if a == nil {
		return make([]float64, n)
	}
	return a.floats.take(n)
}

func (a *Arena) textsOf(n int) []string {
	if a == nil {
		return make([]string, n)
	}
	return a.texts.take(n)
}

func (a *Arena) placesOf(n int) []uint32 {
	if a == nil {
		return make([]uint32, n)
	}
	return a.places.take(n)
}

// room is [Room] that has what was in it before, for those who write each row.
func (a *Arena) room(t table.Type, n int) (x Vector) {
	x.arena = a
	switch {
	case t.IsFloat():
		x.Floats = a.floatsOf(n)
	case t.Kind == table.Varchar:
		x.Texts = a.textsOf(n)
	default:
		x.Ints = a.Ints(n)
	}
	return x
}

// cleared is [Room].
func (a *Arena) cleared(t table.Type, n int) Vector {
	x := a.room(t, n)
	clear(x.Floats)
	clear(x.Texts)
	clear(x.Ints)
	return x
}

const (
	blockBytes = 1 << 16 // of texts that are written one behind the other
	spareBytes = 1 << 10 // for which a block has room before a text begins
)

// textWriter writes texts one behind the other, so that not each is an allocation.
type textWriter struct {
	arena *Arena
	block []byte
}

// begin is what the next text is appended to.
func (w *textWriter) begin() []byte {
	if cap(w.block)-len(w.block) < spareBytes {
		if w.arena == nil {
			w.block = make([]byte, 0, blockBytes)
		} else {
			w.block = w.arena.blocks.take(blockBytes)[:0]
		}
	}
	return w.block
}

// end is the text that was appended.
func (w *textWriter) end(out []byte) string {
	from := len(w.block)
	if w.block = out; len(out) == from {
		return ""
	}
	return unsafe.String(&out[from], len(out)-from)
}
