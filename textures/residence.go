package textures

import (
	"fmt"
	"math/bits"
	"time"
	"unsafe"

	"github.com/go-gl/gl/v4.5-core/gl"

	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/table"
)

// block is a resident storage block.
type block struct {
	buffer uint32
	bytes  int64
	tick   uint64
}

// BindBlock makes a block resident, building it at first use, and binds it to a
// storage binding.
func (s *Store) BindBlock(binding uint32, ref Block) error {
	b, err := s.block(ref)
	if err != nil {
		return err
	}
	gl.BindBufferBase(gl.SHADER_STORAGE_BUFFER, binding, b.buffer)
	return nil
}

// Reside makes a block resident without binding it.
func (s *Store) Reside(ref Block) error {
	_, err := s.block(ref)
	return err
}

// ReadBlock copies the first words of a resident block back, after waiting for the
// dispatches that write it.
func (s *Store) ReadBlock(ref Block, words []uint32) error {
	b, ok := s.blocks[ref]
	if !ok {
		return fmt.Errorf("textures: %s is not resident", ref.describe())
	}
	if len(words) > 0 {
		gl.MemoryBarrier(gl.BUFFER_UPDATE_BARRIER_BIT)
		gl.GetNamedBufferSubData(b.buffer, 0, 4*len(words), unsafe.Pointer(&words[0]))
	}
	return s.ctx.Check("textures: read back " + ref.describe())
}

// TakeDispatched reports whether the store has run dispatches of its own since the
// last call, and left its program and its storage bindings behind.
func (s *Store) TakeDispatched() bool {
	d := s.dispatched
	s.dispatched = false
	return d
}

func (s *Store) block(ref Block) (*block, error) {
	if b, ok := s.blocks[ref]; ok {
		b.tick = s.tick
		return b, nil
	}
	if ref.Scratch != nil {
		return s.scratch(ref)
	}
	start := time.Now()
	n := max(16, ref.Bytes()) // a buffer of no bytes cannot be bound
	if limit := s.ctx.Caps().MaxStorageBlock; n > limit {
		return nil, fmt.Errorf("textures: %s take %d bytes, a storage block of the device at most %d", ref.describe(), n, limit)
	}
	what := ref.describe()
	if err := s.reserve(what, n); err != nil {
		return nil, err
	}
	b := &block{bytes: n, tick: s.tick}
	gl.CreateBuffers(1, &b.buffer)
	s.ctx.Track("buffer", 1)
	gl.NamedBufferStorage(b.buffer, int(n), nil, 0)
	s.blocks[ref] = b
	s.used += n
	err := s.ctx.Check("textures: allocate " + what)
	if err == nil {
		err = s.build(b, ref)
	}
	if e := s.ctx.Check("textures: upload " + what); err == nil {
		err = e
	}
	if err != nil {
		s.dropBlock(ref)
		return nil, err
	}
	s.upload += time.Since(start)
	return b, nil
}

// scratch takes working memory from the pool, or makes some.
func (s *Store) scratch(ref Block) (*block, error) {
	size := int64(1) << bits.Len64(uint64(max(64, ref.Bytes())-1))
	if ref.Bytes() > 1<<24 { // large ones are not rounded up to a power of two
		size = (ref.Bytes() + 1<<20 - 1) >> 20 << 20
	}
	free := s.pool[size]
	var b *block
	if n := len(free); n > 0 {
		b = free[n-1]
		s.pool[size] = free[:n-1]
		b.tick = s.tick
	} else {
		if err := s.reserve(ref.describe(), size); err != nil {
			return nil, err
		}
		b = &block{bytes: size, tick: s.tick}
		gl.CreateBuffers(1, &b.buffer)
		s.ctx.Track("buffer", 1)
		gl.NamedBufferStorage(b.buffer, int(size), nil, gl.DYNAMIC_STORAGE_BIT)
		s.used += size
		if err := s.ctx.Check("textures: allocate " + ref.describe()); err != nil {
			s.drop(b)
			return nil, err
		}
	}
	s.blocks[ref] = b
	init := ref.Scratch.Init
	if ref.Scratch.Zero && ref.Bytes() > int64(4*len(init)) {
		gl.ClearNamedBufferSubData(b.buffer, gl.R32UI, 4*len(init), int(ref.Bytes())-4*len(init), gl.RED_INTEGER, gl.UNSIGNED_INT, nil)
	}
	if len(init) > 0 {
		gl.NamedBufferSubData(b.buffer, 0, 4*len(init), unsafe.Pointer(&init[0]))
	}
	return b, s.ctx.Check("textures: " + ref.describe())
}

func (s *Store) drop(b *block) {
	gl.DeleteBuffers(1, &b.buffer)
	s.ctx.Track("buffer", -1)
	s.used -= b.bytes
}

func (s *Store) dropBlock(ref Block) {
	s.drop(s.blocks[ref])
	delete(s.blocks, ref)
}

// releaseScratch gives the working memory of a query back to the pool.
func (s *Store) releaseScratch() {
	for ref, b := range s.blocks {
		if ref.Scratch != nil {
			s.pool[b.bytes] = append(s.pool[b.bytes], b)
			delete(s.blocks, ref)
		}
	}
}

// build fills a block from the chunk's codes, through the upload ring and a staging
// buffer on the device.
func (s *Store) build(b *block, ref Block) error {
	if ref.Content == Planes && ref.Stored() == 0 {
		return nil
	}
	if err := s.needRing(); err != nil {
		return err
	}
	if ref.Content == Codes {
		return s.ring.stream(ref, func(slot int, first, rows, bytes int) error {
			gl.CopyNamedBufferSubData(s.ring.buffer, b.buffer, slot*slotBytes, first*CodeBytes(ref.Chunk.Segments[ref.Col]), bytes)
			return nil
		})
	}
	var staging uint32
	gl.CreateBuffers(1, &staging)
	gl.NamedBufferStorage(staging, slotBytes, nil, 0)
	defer gl.DeleteBuffers(1, &staging)
	if s.builders == nil {
		s.builders = shaders.NewCache(s.ctx)
	}
	var uniforms []shaders.Uniform
	source := shaders.LoadCompute("validity.comp")
	planes := 1
	if ref.Content == Planes {
		seg := ref.Chunk.Segments[ref.Col]
		source = shaders.LoadCompute("planes.comp", fmt.Sprintf("BYTES %d", CodeBytes(seg)), fmt.Sprintf("BITS %d", bits.Len32(ref.Stored())))
		planes = bits.OnesCount32(ref.Stored())
		uniforms = append(uniforms, shaders.Uint("stored", ref.Stored()))
	}
	p, err := s.builders.Get(source)
	if err != nil {
		return err
	}
	gl.UseProgram(p.ID)
	s.dispatched = true
	if err := p.Set(uniforms); err != nil {
		return err
	}
	gl.BindBufferBase(gl.SHADER_STORAGE_BUFFER, 0, staging)
	return s.ring.stream(ref, func(slot int, first, rows, bytes int) error {
		gl.CopyNamedBufferSubData(s.ring.buffer, staging, slot*slotBytes, 0, bytes)
		gl.MemoryBarrier(gl.SHADER_STORAGE_BARRIER_BIT)
		units := Units(rows)
		unit := 16 * planes * Units(1) // bytes a group takes
		gl.BindBufferRange(gl.SHADER_STORAGE_BUFFER, 1, b.buffer, first/GroupRows*unit, units/UnitsPerGroup*unit)
		if err := p.Set([]shaders.Uniform{shaders.Uint("units", uint32(units)), shaders.Uint("rows", uint32(rows))}); err != nil {
			return err
		}
		gl.DispatchCompute(uint32((units+63)/64), 1, 1)
		gl.MemoryBarrier(gl.SHADER_STORAGE_BARRIER_BIT | gl.BUFFER_UPDATE_BARRIER_BIT)
		return nil
	})
}

// stream hands the content that a block is made from to use, slot by slot of the
// ring: rows first..first+rows-1 of the window in the first bytes of the slot,
// first a multiple of GroupRows.
func (r *ring) stream(ref Block, use func(slot, first, rows, bytes int) error) error {
	seg := ref.Chunk.Segments[ref.Col]
	bitsPerRow := 8 * CodeBytes(seg)
	if ref.Content == Validity {
		bitsPerRow = 1
	}
	step := min(slotBytes*8/bitsPerRow, 64<<20) / GroupRows * GroupRows
	for first := 0; first < ref.Window.Rows; first += step {
		memory, slot, err := r.slot()
		if err != nil {
			return err
		}
		n := min(step, ref.Window.Rows-first)
		from := ref.Window.From + first
		fillBlock(unsafe.Slice((*byte)(unsafe.Pointer(&memory[0])), slotBytes), ref, seg, from, from+n)
		bytes := (Units(n) / UnitsPerGroup) * GroupRows * bitsPerRow / 8
		if ref.Content == Codes {
			bytes = n * bitsPerRow / 8
		}
		if err := use(slot, first, n, bytes); err != nil {
			return err
		}
		r.fence[slot] = gl.FenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0)
	}
	return nil
}

// fillBlock writes codes or validity bits of rows from..to-1.
func fillBlock(out []byte, ref Block, seg *table.Segment, from, to int) {
	if ref.Content == Validity {
		words := unsafe.Slice((*uint64)(unsafe.Pointer(&out[0])), len(out)/8)
		copy(words, seg.Valid[from/64:(to+63)/64])
		return
	}
	parallel(from, to, func(a, b int) {
		switch c := seg.Codes; {
		case c.U8 != nil:
			copy(out[a-from:], c.U8[a:b])
		case c.U16 != nil:
			copy(unsafe.Slice((*uint16)(unsafe.Pointer(&out[0])), len(out)/2)[a-from:], c.U16[a:b])
		case c.U32 != nil:
			copy(unsafe.Slice((*uint32)(unsafe.Pointer(&out[0])), len(out)/4)[a-from:], c.U32[a:b])
		default:
			words := unsafe.Slice((*uint32)(unsafe.Pointer(&out[0])), len(out)/4)[a-from:]
			shift := PartBits * ref.Part
			for i, v := range c.U64[a:b] {
				words[i] = uint32(v >> shift)
			}
		}
	})
}
