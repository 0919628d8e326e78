package textures

import (
	"fmt"
	"unsafe"

	"github.com/go-gl/gl/v4.5-core/gl"
)

// Write copies words from host memory into a block of working memory, from word at on, in pieces through the upload ring. Passes
// before read what was there, passes after what is written; words may change when it returns, and the device is not waited for.
func (s *Store) Write(to Block, at int, words []uint32) error {
	switch {
	case to.Scratch == nil:
		return fmt.Errorf("textures: write: %s is no working memory", to.describe(s.table))
	case at < 0 || at+len(words) > to.Scratch.Words:
		return fmt.Errorf("textures: write: words %d to %d of a block of %d", at, at+len(words), to.Scratch.Words)
	case len(words) == 0:
		return nil
	}
	o, err := s.block(to)
	if err != nil {
		return err
	}
	r, err := s.needRing(&s.ring, gl.MAP_WRITE_BIT)
	if err != nil {
		return err
	}
	gl.MemoryBarrier(gl.BUFFER_UPDATE_BARRIER_BIT)
	u := sending{key: to.key(), after: at, rows: len(words), step: r.slot / 4, bits: 32, write: func(slot unsafe.Pointer, base, from, to int) {
		copy(unsafe.Slice((*uint32)(slot), r.slot/4)[from-base:], words[from:to])
	}}
	err = r.pump(u, func(offset, from, to int) error {
		gl.CopyNamedBufferSubData(r.buffer, o.buffer, offset, 4*(at+from), 4*(to-from))
		return nil
	})
	if err != nil {
		return err
	}
	return s.ctx.Check("textures: write " + to.describe(s.table))
}
