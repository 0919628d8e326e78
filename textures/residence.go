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

// BindImage makes a block resident and binds it to an image unit, to be read as a
// buffer of uvec4.
func (s *Store) BindImage(unit uint32, ref Block) error {
	b, err := s.block(ref)
	if err != nil {
		return err
	}
	s.view(b)
	gl.BindImageTexture(unit, b.texture, 0, false, 0, gl.READ_ONLY, gl.RGBA32UI)
	return s.ctx.Check("textures: " + ref.describe(s.fields) + " as an image")
}

// Reside makes a block resident without binding it.
func (s *Store) Reside(ref Block) error {
	_, err := s.block(ref)
	return err
}

// ReadBlock copies the first words of a resident block back, after waiting for the
// dispatches that write it.
func (s *Store) ReadBlock(ref Block, words []uint32) error {
	b, ok := s.blocks[ref.key()]
	if !ok {
		return fmt.Errorf("textures: %s is not resident", ref.describe(s.fields))
	}
	if len(words) > 0 {
		gl.MemoryBarrier(gl.BUFFER_UPDATE_BARRIER_BIT)
		s.ctx.Settle()
		gl.GetNamedBufferSubData(b.buffer, 0, 4*len(words), unsafe.Pointer(&words[0]))
	}
	return s.ctx.Check("textures: read back " + ref.describe(s.fields))
}

// TakeDispatched reports whether the store has run dispatches of its own since the
// last call, and left its program and its storage bindings behind.
func (s *Store) TakeDispatched() bool {
	d := s.dispatched
	s.dispatched = false
	return d
}

func (s *Store) block(ref Block) (*object, error) {
	key := ref.key()
	if b, ok := s.blocks[key]; ok {
		s.touch(&b.entry)
		return b, nil
	}
	if ref.Scratch != nil {
		return s.scratch(ref)
	}
	start := time.Now()
	n := max(16, ref.Bytes()) // a buffer of no bytes cannot be bound
	if limit := s.ctx.Caps().MaxStorageBlock; n > limit {
		return nil, fmt.Errorf("textures: %s take %d bytes, a storage block of the device at most %d", ref.describe(s.fields), n, limit)
	}
	what := ref.describe(s.fields)
	if err := s.reserve(what, ref.Chunk, n); err != nil {
		return nil, err
	}
	b := &object{entry: entry{kind: ref.Content.kind(), segments: []*table.Segment{key.segment}, bytes: n}, buffer: s.makeBuffer(n, 0)}
	s.blocks[key] = b
	s.keep(&b.entry, func() { s.delete(b); delete(s.blocks, key) })
	err := s.ctx.Check("textures: allocate " + what)
	if err == nil {
		err = s.build(b, ref)
	}
	if e := s.ctx.Check("textures: upload " + what); err == nil {
		err = e
	}
	if err != nil {
		b.free()
		return nil, err
	}
	s.upload += time.Since(start)
	return b, nil
}

// scratch takes working memory from what is kept, or makes some.
func (s *Store) scratch(ref Block) (*object, error) {
	b, err := s.buffer(ref.describe(s.fields), ref.Bytes(), ref.Scratch.Init, ref.Scratch.Zero)
	if err != nil {
		return nil, err
	}
	lend(s, s.blocks, ref.key(), b)
	return b, s.ctx.Check("textures: " + ref.describe(s.fields))
}

// build fills a block from the chunk's codes. Codes are copied from the upload ring
// as they are; planes and validity are made from them by a program.
func (s *Store) build(b *object, ref Block) error {
	seg := ref.Chunk.Segments[ref.Col]
	width := 8 * CodeBytes(seg) // bits to a row
	if ref.Content == Validity {
		width = 1
	}
	if ref.Content == Codes {
		return s.stream(ref, width, func(offset, first, rows int) error {
			gl.CopyNamedBufferSubData(s.ring.buffer, b.buffer, offset, first*width/8, rows*width/8)
			return nil
		})
	}
	planes := 1
	if ref.Content == Planes {
		if planes = bits.OnesCount32(ref.Stored()); planes == 0 {
			return nil
		}
	}
	p, err := s.builder(ref)
	if err != nil {
		return err
	}
	gl.UseProgram(p.ID)
	s.dispatched = true
	err = s.stream(ref, width, func(offset, first, rows int) error {
		units := Units(rows)
		groups, from := units/builderLocal, 0
		if s.readsImages() { // and a work group costs more than its rows
			groups = min(groups, 4*max(1, s.ctx.Caps().Multiprocessors))
			from = offset / max(4, width/2) // of the program's words: four codes, or 32 bits
			s.view(&s.ring.object)
			gl.BindImageTexture(0, s.ring.texture, 0, false, 0, gl.READ_ONLY, gl.RGBA32UI)
		} else {
			gl.BindBufferRange(gl.SHADER_STORAGE_BUFFER, 0, s.ring.buffer, offset, units/UnitsPerGroup*GroupRows*width/8)
		}
		gl.BindBufferRange(gl.SHADER_STORAGE_BUFFER, 1, b.buffer, int(planeBytes(first, planes)), int(planeBytes(rows, planes)))
		if err := p.Set([]shaders.Uniform{shaders.Uint("units", uint32(units)), shaders.Uint("rows", uint32(rows)), shaders.Uint("from", uint32(from))}); err != nil {
			return err
		}
		gl.DispatchCompute(uint32(groups), 1, 1)
		return nil
	})
	gl.MemoryBarrier(gl.SHADER_STORAGE_BARRIER_BIT | gl.BUFFER_UPDATE_BARRIER_BIT)
	return err
}

// readsImages reports whether the upload ring is read as an image: in software, if it
// is not too large for one.
func (s *Store) readsImages() bool {
	caps := s.ctx.Caps()
	return caps.Software && ringSlots*slotBytes <= 16*caps.Limits["MAX_TEXTURE_BUFFER_SIZE"]
}

// builderLocal is the number of threads of a work group that makes blocks.
const builderLocal = 64

// builder returns the program that makes a block.
func (s *Store) builder(ref Block) (*shaders.Program, error) {
	if s.builders == nil {
		s.builders = shaders.NewCache(s.ctx)
	}
	get := func(file string, defines ...string) (*shaders.Program, error) {
		defines = append(defines, fmt.Sprintf("LOCAL %d", builderLocal))
		if s.readsImages() {
			defines = append(defines, "SOFTWARE")
		}
		return s.builders.Get(shaders.JoinCompute([]string{"units.glsl", file}, defines...))
	}
	if ref.Content == Validity {
		return get("validity.comp")
	}
	p, err := get("planes.comp", append(CodeDefines(ref.Chunk.Segments[ref.Col]), fmt.Sprintf("BITS %d", bits.Len32(ref.Stored())))...)
	if err != nil {
		return nil, err
	}
	return p, p.Set([]shaders.Uniform{shaders.Uint("stored", ref.Stored())})
}
