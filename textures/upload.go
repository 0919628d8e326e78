package textures

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"github.com/go-gl/gl/v4.5-core/gl"

	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/shaders"
)

// A ring: slots of a persistently mapped buffer. Goroutines fill those of the upload ring while
// the device takes the slots before. Of ringSlots slots, ringAhead are being
// filled or filled and the others are on their way. Large read-backs have one, too.
const (
	ringSlots = 16
	ringAhead = 12
	slotParts = 16 // what a goroutine fills at a time
)

// slotBytes is what a slot has. Where the CPU renders nothing crosses a bus, and the driver clears a buffer when it makes it: a small
// ring, whose slots hold the longest line of texels, and that is in the cores' caches, does.
func (s *Store) slotBytes() int {
	if s.ctx.Caps().Software {
		return 256 << 10
	}
	return 4 << 20
}

type ring struct {
	object
	slot   int // bytes of a slot
	memory unsafe.Pointer
	fence  [ringSlots]uintptr
	filled [ringSlots]sync.WaitGroup
	next   int
	sent   int64 // bytes, of all that went through
}

// needRing makes a ring at first use, which the host writes or reads.
func (s *Store) needRing(at **ring, access uint32) (*ring, error) {
	if *at != nil {
		return *at, nil
	}
	flags := access | gl.MAP_PERSISTENT_BIT | gl.MAP_COHERENT_BIT
	r := &ring{slot: s.slotBytes()}
	s.makeBuffer(&r.object, int64(ringSlots*r.slot), flags)
	r.memory = gl.MapNamedBufferRange(r.buffer, 0, ringSlots*r.slot, flags)
	err := s.ctx.Check("textures: map a ring")
	if err == nil && r.memory == nil {
		err = glctx.Fault(errors.New("textures: a ring for uploads or read-backs cannot be mapped"))
	}
	if err != nil {
		s.delete(&r.object)
		return nil, err
	}
	*at = r
	return r, nil
}

func (s *Store) closeRing(r *ring) {
	if r == nil {
		return
	}
	for _, f := range r.fence {
		if f != 0 {
			gl.DeleteSync(f)
		}
	}
	s.delete(&r.object)
}

// wait waits until the device has taken what was in a slot.
func (r *ring) wait(slot int) error {
	f := r.fence[slot]
	if f == 0 {
		return nil
	}
	const minute = 60_000_000_000
	state := gl.ClientWaitSync(f, gl.SYNC_FLUSH_COMMANDS_BIT, minute)
	gl.DeleteSync(f)
	r.fence[slot] = 0
	if state == gl.TIMEOUT_EXPIRED || state == gl.WAIT_FAILED {
		return glctx.Fault(fmt.Errorf("textures: the device did not take an upload, or give a read-back, within a minute (0x%x)", state))
	}
	return nil
}

// pump sends rows 0..rows-1 through the ring, step rows to a slot. fill writes rows
// from..to-1, from a multiple of 64 rows behind base, into the slot that begins with
// row base; it is called by several goroutines. submit then has the device take the
// slot's rows from the buffer at an offset in bytes; it is called in order, on this
// thread.
func (r *ring) pump(rows, step int, fill func(slot unsafe.Pointer, base, from, to int), submit func(offset, from, to int) error) error {
	pieces := (rows + step - 1) / step
	grain := ((step+slotParts-1)/slotParts + 63) / 64 * 64
	first := r.next
	r.next = (first + pieces) % ringSlots
	defer func() { // an error leaves some that are being filled
		for i := range r.filled {
			r.filled[i].Wait()
		}
	}()
	open := func(piece int) error {
		i, base := (first+piece)%ringSlots, piece*step
		if err := r.wait(i); err != nil {
			return err
		}
		slot, end := unsafe.Add(r.memory, i*r.slot), min(base+step, rows)
		if rows <= grain { // too little to hand over to goroutines
			fill(slot, base, base, end)
			return nil
		}
		for from := base; from < end; from += grain {
			r.filled[i].Go(func() { fill(slot, base, from, min(from+grain, end)) })
		}
		return nil
	}
	for piece := range min(ringAhead, pieces) {
		if err := open(piece); err != nil {
			return err
		}
	}
	for piece := range pieces {
		i := (first + piece) % ringSlots
		r.filled[i].Wait()
		if err := submit(i*r.slot, piece*step, min(piece*step+step, rows)); err != nil {
			return err
		}
		r.fence[i] = gl.FenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0)
		if next := piece + ringAhead; next < pieces {
			if err := open(next); err != nil {
				return err
			}
		}
	}
	return nil
}

// filler writes the texels or codes of rows from..to-1 to out; several goroutines call it.
type filler func(out unsafe.Pointer, from, to int)

// uploadTexture fills a texture over the rows of a shape through the ring, from a line on.
func (s *Store) uploadTexture(id uint32, sh Shape, f format, fill filler, line int) error {
	r, err := s.needRing(&s.ring, gl.MAP_WRITE_BIT)
	if err != nil {
		return err
	}
	if !s.ctx.Caps().Software && line == 0 {
		// A texture that is first touched by an upload begins in host memory (NVIDIA,
		// 0.25 s for each GiB more); one that the device has cleared does not.
		gl.ClearTexImage(id, 0, f.texel, f.kind, nil)
	}
	gl.BindBuffer(gl.PIXEL_UNPACK_BUFFER, r.buffer)
	defer gl.BindBuffer(gl.PIXEL_UNPACK_BUFFER, 0)
	gl.PixelStorei(gl.UNPACK_ALIGNMENT, 4)
	defer gl.PixelStorei(gl.UNPACK_ALIGNMENT, 1)
	// The offset in the buffer is told in texels to skip: as a pointer it may be taken
	// for one into Go's data, which cgo refuses.
	defer gl.PixelStorei(gl.UNPACK_SKIP_PIXELS, 0)
	return r.lines(sh, line, f.bytes, fill, func(offset, y, h int) error {
		gl.PixelStorei(gl.UNPACK_SKIP_PIXELS, int32(offset/f.bytes))
		gl.TextureSubImage2D(id, 0, 0, int32(y), int32(sh.Width), int32(h), f.texel, f.kind, nil)
		return nil
	})
}

// lines pumps the texels of a shape from a line on, lines at a time: submit takes h of them from line y on.
func (r *ring) lines(sh Shape, first, texel int, fill filler, submit func(offset, y, h int) error) error {
	lines, skip := max(1, r.slot/(texel*sh.Width)), first*sh.Width
	r.sent += int64(texel * (sh.Rows - skip))
	return r.pump(sh.Rows-skip, lines*sh.Width, func(slot unsafe.Pointer, base, from, to int) {
		fill(unsafe.Add(slot, (from-base)*texel), skip+from, skip+to)
	}, func(offset, from, to int) error {
		return submit(offset, first+from/sh.Width, (to-from+sh.Width-1)/sh.Width)
	})
}

// uploadDepths fills a depth texture, from a line on, from words with a depth in the upper 24 bits, by drawing:
// NVIDIA's driver takes depths as integers at 1 GB/s, drawn ones as fast as they cross the
// bus; both give the same integers. Software copies them, which is faster there.
func (s *Store) uploadDepths(t *Target, sh Shape, fill filler, line int) error {
	if s.ctx.Caps().Software {
		return s.uploadTexture(t.Texture, sh, depthStencil, fill, line)
	}
	r, err := s.needRing(&s.ring, gl.MAP_WRITE_BIT)
	if err != nil {
		return err
	}
	p, err := s.builders.Get(shaders.Load("depths.frag"))
	if err != nil {
		return err
	}
	// Reading the ring from fragments would take four times as long.
	var staging object
	s.makeBuffer(&staging, int64(ringSlots*r.slot), 0)
	defer s.delete(&staging)
	return s.Lend(func() error {
		gl.BindFramebuffer(gl.FRAMEBUFFER, t.Framebuffer)
		gl.UseProgram(p.ID)
		gl.Enable(gl.DEPTH_TEST)
		gl.DepthMask(true)
		return r.lines(sh, line, depthStencil.bytes, fill, func(offset, y, h int) error {
			bytes := depthStencil.bytes * h * sh.Width
			gl.CopyNamedBufferSubData(r.buffer, staging.buffer, offset, offset, bytes)
			gl.BindBufferRange(gl.SHADER_STORAGE_BUFFER, 0, staging.buffer, offset, bytes)
			gl.Viewport(0, int32(y), int32(sh.Width), int32(h))
			if err := p.Set([]shaders.Uniform{shaders.Int("width", int32(sh.Width)), shaders.Int("line", int32(y))}); err != nil {
				return err
			}
			gl.DrawArrays(gl.TRIANGLES, 0, 3)
			return nil
		})
	})
}

// stream sends what a block is made from through the ring, from a row of the window on, a multiple of runRows: bits to
// a row, whole runs of rows to a slot. take takes rows rows of the window from first on, a
// multiple of runRows, from the ring's buffer at an offset in bytes.
func (s *Store) stream(ref Block, bits, after int, take func(offset, first, rows int) error) error {
	r, err := s.needRing(&s.ring, gl.MAP_WRITE_BIT)
	if err != nil {
		return err
	}
	step := r.slot * 8 / bits / runRows * runRows
	first := ref.Window.From + after
	r.sent += int64(ref.Window.Rows-after) * int64(bits) / 8
	return r.pump(ref.Window.Rows-after, step, func(slot unsafe.Pointer, base, from, to int) {
		ref.fill(unsafe.Add(slot, (from-base)*bits/8), first+from, first+to)
	}, func(offset, from, to int) error { return take(offset, after+from, to-from) })
}
