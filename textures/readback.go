package textures

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/go-gl/gl/v4.5-core/gl"

	"github.com/stencildb/stencildb/internal/parallel"
)

// read copies lines of a resident or new texture back, which wait for the passes that draw
// it; out has room for them.
func read[T uint32 | float32](s *Store, ref Ref, line, lines int, out []T) error {
	o, err := s.image(ref)
	if err != nil {
		return err
	}
	sh, _, f := ref.layout()
	if ref.Temp != nil {
		line += ref.Temp.Line
	}
	s.ctx.WaitForDevice()
	gl.GetTextureSubImage(o.texture, 0, 0, int32(line), 0, int32(sh.Width), int32(lines), 1, f.texel, f.words32(), int32(4*len(out)), gl.Ptr(out))
	s.completed = s.clock
	return s.ctx.Check("textures: read back " + ref.describe(s.table))
}

// words32 is the type of texels that are read back: floats as they are, others as integers of 32 bits.
func (f format) words32() uint32 {
	if f.kind == gl.FLOAT {
		return gl.FLOAT
	}
	return gl.UNSIGNED_INT
}

// Read returns the floats of the rows of a resident or new texture, texel by
// texel, for checks. Of a temporary texture those of all texels.
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

// ReadTexels copies the texels of a temporary texture back, line by line; it waits for the passes that draw it.
func (s *Store) ReadTexels(t *Temp, words []uint32) error {
	ref := Ref{Temp: t}
	if 4*len(words) < largeRead {
		return read(s, ref, 0, t.Height, words)
	}
	o, err := s.image(ref)
	if err != nil {
		return err
	}
	s.ctx.WaitForDevice()
	r, err := s.needRing(&s.down, gl.MAP_READ_BIT)
	if err != nil {
		return err
	}
	gl.BindBuffer(gl.PIXEL_PACK_BUFFER, r.buffer)
	defer gl.BindBuffer(gl.PIXEL_PACK_BUFFER, 0)
	defer gl.PixelStorei(gl.PACK_SKIP_PIXELS, 0) // see uploadTexture
	_, _, f := ref.layout()
	line := t.Width * t.Words
	return s.readRing(len(words), max(1, r.slot/4/line)*line, func(offset, at, n int) {
		gl.PixelStorei(gl.PACK_SKIP_PIXELS, int32(offset/4/t.Words))
		gl.GetTextureSubImage(o.texture, 0, 0, int32(t.Line+at/line), 0, int32(t.Width), int32(n/line), 1, f.texel, f.words32(), math.MaxInt32, nil)
	}, func(at int, part []uint32) { copy(words[at:], part) })
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
		s.completed = s.clock
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
	s.ctx.WaitForDevice()
	return o, nil
}

// ReadParts hands the first n words of a resident block to take, part by part. Each comes with
// the number of its first word, a multiple of 65,536. Several goroutines call take at a time, which keeps no words.
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

// largeRead is the number of bytes from which on a read-back goes through a ring. Into memory that the driver
// does not know it runs at 2 to 3 GB/s.
const largeRead = 2 << 20

// readLarge copies the first words of a buffer back through a ring; take is called on all cores.
func (s *Store) readLarge(o *object, all int, take func(at int, words []uint32)) error {
	r, err := s.needRing(&s.down, gl.MAP_READ_BIT)
	if err != nil {
		return err
	}
	return s.readRing(all, r.slot/4, func(offset, at, n int) { gl.CopyNamedBufferSubData(o.buffer, r.buffer, 4*at, offset, 4*n) }, take)
}

// readRing hands over words that go through the ring, step words to a slot. queue makes the device copy n words, from word at on, to an
// offset in bytes of the ring's buffer.
func (s *Store) readRing(all, step int, queue func(offset, at, n int), take func(at int, words []uint32)) error {
	r, clock := s.down, s.clock
	slots := (all + step - 1) / step
	begin := func(i int) {
		queue(i%ringSlots*r.slot, i*step, min(step, all-i*step))
		r.fence[i%ringSlots] = gl.FenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0)
	}
	for i := range min(ringSlots, slots) {
		begin(i)
	}
	for i := range slots {
		if err := r.wait(i % ringSlots); err != nil {
			return err
		}
		in := unsafe.Slice((*uint32)(unsafe.Add(r.memory, i%ringSlots*r.slot)), min(step, all-i*step))
		var parts parallel.Group
		for at := 0; at < len(in); at += r.slot / 4 / slotParts {
			parts.Go(func() { take(i*step+at, in[at:min(at+r.slot/4/slotParts, len(in))]) })
		}
		parts.Wait()
		if next := i + ringSlots; next < slots {
			begin(next)
		}
	}
	s.completed = clock
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
