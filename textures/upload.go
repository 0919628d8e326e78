package textures

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/go-gl/gl/v4.5-core/gl"

	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/parallel"
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

// slotBytes is what a slot has. Where the CPU renders, nothing crosses a bus, and the driver clears a buffer when it makes it. There
// a small ring in the cores' caches is enough, whose slots hold the longest line of texels.
func slotBytes(ctx *glctx.Context) int {
	if ctx.Caps().Software {
		return 256 << 10
	}
	return 4 << 20
}

type ring struct {
	object
	slot   int // bytes of a slot
	memory unsafe.Pointer
	fence  [ringSlots]uintptr
	filled [ringSlots]parallel.Group
	opened int        // slots that have been filled, or are being filled
	taken  int        // of them: what the device was told to take
	queue  []*sending // what is sent now, or comes next, and what is expected after it
	sent   int64      // bytes, of all that went through
}

// needRing makes a ring at first use, which the host writes or reads.
func (s *Store) needRing(at **ring, access uint32) (*ring, error) {
	if *at != nil {
		return *at, nil
	}
	flags := access | gl.MAP_PERSISTENT_BIT | gl.MAP_COHERENT_BIT
	r := &ring{slot: s.slot}
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
	r.forget()
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

// pump sends something through the ring, and goes on to what is expected. submit has the device take rows from..to-1 from the buffer at
// an offset in bytes; it is called in order, on this thread.
func (r *ring) pump(u sending, submit func(offset, from, to int) error) error {
	if len(r.queue) == 0 || !r.queue[0].is(u) {
		r.forget()
		r.queue = []*sending{&u}
	}
	now := r.queue[0]
	for from := 0; from < u.rows; from += u.step {
		i := r.taken % ringSlots
		err := r.fill(now)
		if err == nil {
			r.filled[i].Wait()
			err = submit(i*r.slot, from, min(from+u.step, u.rows))
		}
		if err != nil {
			r.forget()
			return err
		}
		r.fence[i] = gl.FenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0)
		r.taken++
	}
	r.queue = r.queue[1:]
	return r.fill(nil)
}

// fill has goroutines fill free slots with what is queued. It waits for the device to free slots for what is sent now, not
// for what is expected after it (nil: nothing is sent now).
func (r *ring) fill(now *sending) error {
	for _, u := range r.queue {
		for ; u.opened < u.rows; u.opened += u.step {
			i := r.opened % ringSlots
			if r.opened-r.taken == ringAhead || u != now && !r.free(i) {
				return nil
			}
			if err := r.wait(i); err != nil {
				return err
			}
			r.opened++
			slot, base := unsafe.Add(r.memory, i*r.slot), u.opened
			end := min(base+u.step, u.rows)
			grain := max(64, u.grain)
			grain = ((u.step+slotParts-1)/slotParts + grain - 1) / grain * grain
			if u.rows <= grain { // too little to hand over to goroutines
				u.write(slot, base, base, end)
				continue
			}
			for from := base; from < end; from += grain {
				r.filled[i].Go(func() { u.write(slot, base, from, min(from+grain, end)) })
			}
		}
	}
	return nil
}

// free reports whether the device has taken what was in a slot.
func (r *ring) free(slot int) bool {
	f := r.fence[slot]
	return f == 0 || gl.ClientWaitSync(f, 0, 0) != gl.TIMEOUT_EXPIRED
}

// forget drops what is queued: the slots that have been filled with it are filled again.
func (r *ring) forget() {
	for ; r.opened > r.taken; r.opened-- {
		r.filled[(r.opened-1)%ringSlots].Wait()
	}
	r.queue = nil
}

// uploadTexture fills a texture of a shape with what is read of it, through the ring, from a line on.
func (s *Store) uploadTexture(id uint32, of Readable, sh Shape, f format, line int) error {
	r, err := s.needRing(&s.ring, gl.MAP_WRITE_BIT)
	if err != nil {
		return err
	}
	if !s.ctx.Caps().Software && line == 0 {
		// A texture that is first touched by an upload begins in host memory (NVIDIA, 0.25 s for each GiB
		// more). One that the device has cleared does not.
		gl.ClearTexImage(id, 0, f.texel, f.kind, nil)
	}
	gl.BindBuffer(gl.PIXEL_UNPACK_BUFFER, r.buffer)
	defer gl.BindBuffer(gl.PIXEL_UNPACK_BUFFER, 0)
	gl.PixelStorei(gl.UNPACK_ALIGNMENT, 4)
	defer gl.PixelStorei(gl.UNPACK_ALIGNMENT, 1)
	// The offset in the buffer is given in texels to skip. As a pointer it may be taken for one into Go's
	// data, which cgo refuses.
	defer gl.PixelStorei(gl.UNPACK_SKIP_PIXELS, 0)
	return s.stream(of, line, func(offset, from, to int) error {
		y, h := sh.lines(from, to)
		gl.PixelStorei(gl.UNPACK_SKIP_PIXELS, int32(offset/f.bytes))
		gl.TextureSubImage2D(id, 0, 0, int32(y), int32(sh.Width), int32(h), f.texel, f.kind, nil)
		return nil
	})
}

// uploadDepths fills a depth texture, from a line on, by drawing, from words with a depth in the upper 24 bits.
// NVIDIA's driver takes depths as integers at 1 GB/s, and drawn ones as fast as they cross the bus. Both give
// the same integers. Software copies them, which is faster there.
func (s *Store) uploadDepths(t *Target, of TargetRef, line int) error {
	if s.ctx.Caps().Software {
		return s.uploadTexture(t.Texture, of, of.Shape, depthStencil, line)
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
		sh := of.Shape
		return s.stream(of, line, func(offset, from, to int) error {
			y, h := sh.lines(from, to)
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
