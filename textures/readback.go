package textures

import (
	"fmt"
	"sync"
	"unsafe"

	"github.com/go-gl/gl/v4.5-core/gl"
)

// read copies lines of a resident or new texture back, which wait for the passes that draw
// it; out has room for them.
func read[T uint32 | float32](s *Store, ref Ref, line, lines int, out []T) error {
	o, err := s.image(ref)
	if err != nil {
		return err
	}
	sh, _, f := ref.layout()
	kind := uint32(gl.UNSIGNED_INT)
	if f.kind == gl.FLOAT {
		kind = gl.FLOAT
	}
	if ref.Temp != nil {
		line += ref.Temp.Line
	}
	s.ctx.Settle()
	gl.GetTextureSubImage(o.texture, 0, 0, int32(line), 0, int32(sh.Width), int32(lines), 1, f.texel, kind, int32(4*len(out)), gl.Ptr(out))
	s.settled = s.clock
	return s.ctx.Check("textures: read back " + ref.describe(s.table))
}

// Read returns the floats of the rows of a resident or new texture, texel by
// texel, for checks; of a temporary texture those of all texels.
func (s *Store) Read(ref Ref) ([]float32, error) {
	sh, _, f := ref.layout()
	all := make([]float32, sh.Width*sh.Height*f.words)
	err := read(s, ref, 0, sh.Height, all)
	if ref.Temp == nil {
		all = all[:sh.Rows*f.words]
	}
	return all, err
}

// ReadLine reads line y of a resident texture back, all of its texels: integers as
// they are, and floats, which hold integers, as these.
func (s *Store) ReadLine(ref Ref, y int) ([]uint32, error) {
	sh, _, f := ref.layout()
	out := make([]uint32, sh.Width*f.words)
	if f.kind != gl.FLOAT {
		return out, read(s, ref, y, 1, out)
	}
	floats := make([]float32, len(out))
	err := read(s, ref, y, 1, floats)
	for i, v := range floats {
		out[i] = uint32(max(0, v))
	}
	return out, err
}

// ReadTexels copies the texels of a temporary texture of four words each back, line
// by line; it waits for the passes that draw it.
func (s *Store) ReadTexels(t *Temp, words []uint32) error {
	return read(s, Ref{Temp: t}, 0, t.Height, words)
}

// ReadBlock copies the first words of a resident block back, after waiting for the dispatches
// that write it.
func (s *Store) ReadBlock(ref Block, words []uint32) error {
	o, err := s.written(ref)
	switch {
	case err != nil:
		return err
	case 4*len(words) >= largeRead:
		return s.readLarge(o, len(words), func(at int, part []uint32) { copy(words[at:], part) })
	case len(words) > 0:
		gl.GetNamedBufferSubData(o.buffer, 0, 4*len(words), unsafe.Pointer(&words[0]))
		s.settled = s.clock
	}
	return s.ctx.Check("textures: read back " + ref.describe(s.table))
}

// written is a resident block, as the dispatches before leave it.
func (s *Store) written(ref Block) (*object, error) {
	o := s.objects[ref.key()]
	if o == nil {
		return nil, fmt.Errorf("textures: %s is not resident", ref.describe(s.table))
	}
	gl.MemoryBarrier(gl.BUFFER_UPDATE_BARRIER_BIT)
	s.ctx.Settle()
	return o, nil
}

// ReadParts hands the first n words of a resident block to take, part by part, each with the
// number of its first word, a multiple of 65,536. Several goroutines call take at a time, which keeps no words.
func (s *Store) ReadParts(ref Block, n int, take func(at int, words []uint32)) error {
	if 4*n < largeRead {
		words := make([]uint32, n)
		if err := s.ReadBlock(ref, words); err != nil {
			return err
		}
		take(0, words)
		return nil
	}
	o, err := s.written(ref)
	if err != nil {
		return err
	}
	return s.readLarge(o, n, take)
}

// largeRead is the number of bytes from which on a read-back goes through a ring: into memory
// that the driver does not know it runs at 2 to 3 GB/s.
const largeRead = 2 << 20

// readLarge copies the first words of a buffer back through a ring; take is called on all cores.
func (s *Store) readLarge(o *object, all int, take func(at int, words []uint32)) error {
	r, err := s.needRing(&s.down, gl.MAP_READ_BIT)
	if err != nil {
		return err
	}
	words, clock := r.slot/4, s.clock
	slots := (all + words - 1) / words
	queue := func(i int) {
		gl.CopyNamedBufferSubData(o.buffer, r.buffer, i*r.slot, i%ringSlots*r.slot, 4*min(words, all-i*words))
		r.fence[i%ringSlots] = gl.FenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0)
	}
	for i := range min(ringSlots, slots) {
		queue(i)
	}
	for i := range slots {
		if err := r.wait(i % ringSlots); err != nil {
			return err
		}
		in := unsafe.Slice((*uint32)(unsafe.Add(r.memory, i%ringSlots*r.slot)), min(words, all-i*words))
		var parts sync.WaitGroup
		for at := 0; at < len(in); at += words / slotParts {
			parts.Go(func() { take(i*words+at, in[at:min(at+words/slotParts, len(in))]) })
		}
		parts.Wait()
		if next := i + ringSlots; next < slots {
			queue(next)
		}
	}
	s.settled = clock
	return s.ctx.Check("textures: read back through the ring")
}

// Depth reads back the depth values of the rows, as window depth 0..1.
func (t *Target) Depth() []float32 {
	sh := t.Ref.Shape
	all := make([]float32, sh.Width*sh.Height)
	gl.GetTextureImage(t.Texture, 0, gl.DEPTH_COMPONENT, gl.FLOAT, int32(4*len(all)), gl.Ptr(all))
	return all[:sh.Rows]
}

// Stencil reads back the stencil values of the rows.
func (t *Target) Stencil() []uint8 {
	sh := t.Ref.Shape
	all := make([]uint8, sh.Width*sh.Height)
	gl.PixelStorei(gl.PACK_ALIGNMENT, 1)
	gl.BindFramebuffer(gl.READ_FRAMEBUFFER, t.Framebuffer)
	gl.ReadPixels(0, 0, int32(sh.Width), int32(sh.Height), gl.STENCIL_INDEX, gl.UNSIGNED_BYTE, gl.Ptr(all))
	return all[:sh.Rows]
}
