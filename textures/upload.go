package textures

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"unsafe"

	"github.com/go-gl/gl/v4.5-core/gl"

	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/table"
)

// The upload ring: persistently mapped pixel buffers that several goroutines fill
// with limbs while the device copies the previous one into the texture.
const (
	ringSlots = 3
	slotBytes = 16 << 20
)

type ring struct {
	buffer uint32
	memory unsafe.Pointer
	fence  [ringSlots]uintptr
	next   int
}

func newRing(ctx *glctx.Context) (*ring, error) {
	r := &ring{}
	const flags = gl.MAP_WRITE_BIT | gl.MAP_PERSISTENT_BIT | gl.MAP_COHERENT_BIT
	gl.CreateBuffers(1, &r.buffer)
	ctx.Track("buffer", 1)
	gl.NamedBufferStorage(r.buffer, ringSlots*slotBytes, nil, flags)
	r.memory = gl.MapNamedBufferRange(r.buffer, 0, ringSlots*slotBytes, flags)
	err := ctx.Check("textures: map the upload ring")
	if err == nil && r.memory == nil {
		err = errors.New("textures: the upload ring cannot be mapped")
	}
	if err != nil {
		r.close(ctx)
		return nil, err
	}
	return r, nil
}

// needRing makes the upload ring at first use.
func (s *Store) needRing() (err error) {
	if s.ring == nil {
		s.ring, err = newRing(s.ctx)
	}
	return err
}

func (r *ring) close(ctx *glctx.Context) {
	for i, f := range r.fence {
		if f != 0 {
			gl.DeleteSync(f)
			r.fence[i] = 0
		}
	}
	gl.DeleteBuffers(1, &r.buffer) // unmaps
	ctx.Track("buffer", -1)
}

// slot waits until the next slot of the ring is free and returns its floats.
func (r *ring) slot() ([]float32, int, error) {
	i := r.next
	r.next = (i + 1) % ringSlots
	if f := r.fence[i]; f != 0 {
		const second = 1_000_000_000
		state := gl.ClientWaitSync(f, gl.SYNC_FLUSH_COMMANDS_BIT, 60*second)
		gl.DeleteSync(f)
		r.fence[i] = 0
		if state == gl.TIMEOUT_EXPIRED || state == gl.WAIT_FAILED {
			return nil, 0, fmt.Errorf("textures: the device did not take an upload within a minute (0x%x)", state)
		}
	}
	p := unsafe.Add(r.memory, i*slotBytes)
	return unsafe.Slice((*float32)(p), slotBytes/4), i, nil
}

// upload fills a texture of ch channels with the limbs of a ref, some lines at a
// time.
func (r *ring) upload(id uint32, ref Ref, sh Shape, ch int) error {
	_, format := formats(ch)
	lines := max(1, slotBytes/(4*ch*sh.Width))
	gl.BindBuffer(gl.PIXEL_UNPACK_BUFFER, r.buffer)
	defer gl.BindBuffer(gl.PIXEL_UNPACK_BUFFER, 0)
	gl.PixelStorei(gl.UNPACK_ALIGNMENT, 4)
	for y := 0; y < sh.Height; y += lines {
		floats, slot, err := r.slot()
		if err != nil {
			return err
		}
		h := min(lines, sh.Height-y)
		from, to := y*sh.Width, min((y+h)*sh.Width, sh.Rows)
		fillParallel(floats, ref, ch, from, to)
		gl.TextureSubImage2D(id, 0, 0, int32(y), int32(sh.Width), int32(h), format, gl.FLOAT, unsafe.Add(nil, slot*slotBytes))
		r.fence[slot] = gl.FenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0)
	}
	return nil
}

// fillParallel writes the texels of rows from..to-1 to the start of out, with as
// many goroutines as there is work for.
func fillParallel(out []float32, ref Ref, ch, from, to int) {
	parallel(from, to, func(a, b int) { fillRows(out[(a-from)*ch:(b-from)*ch], ref, ch, a, b) })
}

// parallel calls fill for parts of rows from..to-1, with as many goroutines as
// there is work for.
func parallel(from, to int, fill func(a, b int)) {
	const least = 64 << 10
	n := to - from
	workers := max(1, min(runtime.GOMAXPROCS(0), n/least))
	var wg sync.WaitGroup
	for w := range workers {
		a, b := from+n*w/workers, from+n*(w+1)/workers
		wg.Go(func() { fill(a, b) })
	}
	wg.Wait()
}

func fillRows(out []float32, ref Ref, ch, from, to int) {
	if ref.Packed {
		for c, col := range ref.Cols {
			if col < 0 {
				for i := c; i < len(out); i += ch {
					out[i] = 0
				}
				continue
			}
			fillLimb(out[c:], ref.Chunk.Segments[col], ch, 0, from, to)
		}
		return
	}
	seg := ref.Chunk.Segments[ref.Cols[0]]
	for c := range ch {
		limb := c
		if ref.High {
			limb = 2
		}
		fillLimb(out[c:], seg, ch, limb, from, to)
	}
}

// fillLimb writes one limb of rows from..to-1 to every stride-th float.
func fillLimb(out []float32, s *table.Segment, stride, limb, from, to int) {
	switch c := s.Codes; {
	case c.U8 != nil:
		spread(out, c.U8[from:to], stride, limb)
	case c.U16 != nil:
		spread(out, c.U16[from:to], stride, limb)
	case c.U32 != nil:
		spread(out, c.U32[from:to], stride, limb)
	default:
		spread(out, c.U64[from:to], stride, limb)
	}
	if s.Valid == nil {
		return
	}
	for i := from; i < to; i++ {
		if !s.Valid.Get(i) {
			out[(i-from)*stride] = NullLimb
		}
	}
}

func spread[T uint8 | uint16 | uint32 | uint64](out []float32, codes []T, stride, limb int) {
	if stride == 1 && limb == 0 && unsafe.Sizeof(T(0)) <= 2 {
		for i, c := range codes {
			out[i] = float32(c)
		}
		return
	}
	shift := uint(LimbBits * limb)
	for i, c := range codes {
		out[i*stride] = float32(uint32(uint64(c)>>shift) & (1<<LimbBits - 1))
	}
}
