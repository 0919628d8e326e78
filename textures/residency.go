package textures

import (
	"fmt"
	"math/bits"

	"github.com/go-gl/gl/v4.5-core/gl"

	"github.com/stencildb/stencildb/shaders"
)

// BindBlocks makes blocks resident, building them at first use, and binds each but the zero
// Block to the storage binding of its place. Where images is set, all but the first to the
// image unit, too, to be read as buffers of uvec4.
func (s *Store) BindBlocks(blocks []Block, images bool) error {
	list := make([]*object, len(blocks))
	for i, b := range blocks { // all resident first: building one binds others
		if b.None() {
			continue
		}
		var err error
		if list[i], err = s.block(b); err != nil {
			return err
		}
	}
	for i, o := range list {
		if o == nil {
			continue
		}
		gl.BindBufferBase(gl.SHADER_STORAGE_BUFFER, uint32(i), o.buffer)
		if images && i > 0 {
			s.view(o)
			gl.BindImageTexture(uint32(i), o.texture, 0, false, 0, gl.READ_ONLY, gl.RGBA32UI)
		}
	}
	return nil
}

// Addresses makes blocks resident and returns where programs find them. Two words a block are the
// lower one, the upper one; those of the zero Block are 0.
func (s *Store) Addresses(blocks []Block) ([]int32, error) {
	words := make([]int32, 0, 2*len(blocks))
	for _, b := range blocks {
		if b.None() {
			words = append(words, 0, 0)
			continue
		}
		o, err := s.block(b)
		if err != nil {
			return nil, err
		}
		if o.address == 0 {
			o.address = s.ctx.BufferAddress(o.buffer)
		}
		words = append(words, int32(uint32(o.address)), int32(uint32(o.address>>32)))
	}
	return words, nil
}

// Reside makes a block resident without binding it.
func (s *Store) Reside(ref Block) error {
	_, err := s.block(ref)
	return err
}

// Copy has the device copy the contents of one block to another of the same size,
// both made resident first; it does not wait.
func (s *Store) Copy(to, from Block) error {
	a, err := s.block(from)
	if err != nil {
		return err
	}
	b, err := s.block(to)
	if err != nil {
		return err
	}
	gl.CopyNamedBufferSubData(a.buffer, b.buffer, 0, 0, int(min(a.bytes, b.bytes)))
	return s.ctx.Check("textures: copy " + from.describe(s.table))
}

func (s *Store) block(ref Block) (*object, error) {
	if ref.Scratch == nil && ref.Content == Codes {
		if src, ok := s.sources[ref.Chunk.Segments[ref.Col]]; ok {
			return s.block(src.Codes[ref.Part])
		}
	}
	k := ref.key()
	if o := s.find(k); o != nil {
		return o, s.applyPatches(o, func(_ int, rows []uint32) error { return s.patchBlock(o, ref, rows) })
	}
	what := ref.describe(s.table)
	if ref.Scratch != nil {
		return s.buffer(k, what, ref.Scratch)
	}
	n := max(16, ref.Bytes()) // a buffer of no bytes cannot be bound
	if limit := s.ctx.Caps().MaxStorageBlock; n > limit {
		return nil, fmt.Errorf("textures: %s take %d bytes, a storage block of the device at most %d", what, n, limit)
	}
	o := &object{kind: ref.Content.kind(), segments: k.segments[:1], bytes: n, made: shape{bytes: n}}
	return s.reside(k, o, ref.Chunk, what, func() error {
		s.makeBuffer(o, n, 0)
		return nil
	}, func() error {
		done, err := s.derived(o, k, func(int) Shape { return Shape{} }, func(_ int, rows []uint32) error { return s.patchBlock(o, ref, rows) },
			func(after int) error { return s.build(o, ref, after/runRows*runRows) })
		if done || err != nil {
			return err
		}
		return s.build(o, ref, 0)
	})
}

// build fills a block from the chunk's codes, from a row on, a multiple of runRows. Codes are copied from the upload ring
// as they are; planes and validity are made from them by a program. Of a column that is packed it is the other way round.
func (s *Store) build(b *object, ref Block, after int) error {
	seg := ref.Chunk.Segments[ref.Col]
	place := func(rows int) int { return int(planeBytes(rows, 1)) }
	switch ref.Content {
	case Codes:
		place = func(rows int) int { return 128 * Units(rows) * CodeBytes(seg) }
	case Planes:
		planes := bits.OnesCount32(ref.Stored())
		if planes == 0 {
			return nil
		}
		if ref.Plus != 0 {
			return s.add(b, ref)
		}
		place = func(rows int) int { return int(planeBytes(rows, planes)) }
	}
	if src, ok := s.sources[seg]; ok && ref.Content != Codes {
		return s.buildFrom(b, ref, src)
	}
	if _, err := s.needRing(&s.ring, gl.MAP_WRITE_BIT); err != nil {
		return err
	}
	u := s.sendingOf(ref, after, true)
	if ref.Content != Validity && u.packed == (ref.Content == Planes) { // it lies there as it is sent
		return s.streamAs(ref, u, func(offset, from, to int) error {
			gl.CopyNamedBufferSubData(s.ring.buffer, b.buffer, offset, place(from), u.bytes(to-from))
			return nil
		})
	}
	p, err := s.builder(ref)
	if err != nil {
		return err
	}
	return s.Lend(func() error {
		gl.UseProgram(p.ID)
		err := s.streamAs(ref, u, func(offset, first, end int) error {
			rows := end - first
			units := Units(rows)
			groups, from := units/builderLocal, 0
			if s.readsImages() { // and a work group costs more than its rows
				groups = min(groups, 4*max(1, s.ctx.Caps().Multiprocessors))
				from = offset / u.word()
				s.view(&s.ring.object)
				gl.BindImageTexture(0, s.ring.texture, 0, false, 0, gl.READ_ONLY, gl.RGBA32UI)
			} else {
				gl.BindBufferRange(gl.SHADER_STORAGE_BUFFER, 0, s.ring.buffer, offset, u.bytes(units/UnitsPerGroup*GroupRows))
			}
			gl.BindBufferRange(gl.SHADER_STORAGE_BUFFER, 1, b.buffer, place(first), place(rows))
			if err := p.Set([]shaders.Uniform{shaders.Uint("units", uint32(units)), shaders.Uint("rows", uint32(rows)), shaders.Uint("from", uint32(from))}); err != nil {
				return err
			}
			gl.DispatchCompute(uint32(groups), 1, 1)
			return nil
		})
		gl.MemoryBarrier(gl.SHADER_STORAGE_BARRIER_BIT | gl.BUFFER_UPDATE_BARRIER_BIT)
		return err
	})
}

// buildFrom makes the planes of a segment that is away.
func (s *Store) buildFrom(b *object, ref Block, src Source) error {
	from, stored := src.Valid, uint32(1)
	if ref.Content == Planes {
		from, stored = src.Codes[ref.Part], ref.Stored()
	}
	o, err := s.block(from)
	if err != nil {
		return err
	}
	p, err := s.program("planes.comp", "CODE uvec4", "FETCH_CODE FETCH_UVEC4", fmt.Sprintf("BITS %d", bits.Len32(stored)))
	if err != nil {
		return err
	}
	units := Units(ref.Window.Rows)
	return s.Lend(func() error {
		if s.readsImages() {
			s.view(o)
			gl.BindImageTexture(0, o.texture, 0, false, 0, gl.READ_ONLY, gl.RGBA32UI)
		} else {
			gl.BindBufferBase(gl.SHADER_STORAGE_BUFFER, 0, o.buffer)
		}
		gl.BindBufferBase(gl.SHADER_STORAGE_BUFFER, 1, b.buffer)
		gl.UseProgram(p.ID)
		if err := p.Set([]shaders.Uniform{shaders.Uint("stored", stored), shaders.Uint("units", uint32(units)), shaders.Uint("rows", uint32(ref.Window.Rows)), shaders.Uint("from", 0)}); err != nil {
			return err
		}
		s.dispatch(units)
		return nil
	})
}

// unitTurns is how many turns of loops a unit takes at most.
const unitTurns = 120

// dispatch makes so many units of what is on the device already, by work groups: in software few, but with loops that end.
func (s *Store) dispatch(units int) {
	groups := units / builderLocal
	if s.readsImages() {
		groups = max(min(groups, 4*max(1, s.ctx.Caps().Multiprocessors)), groups/(shaders.MaxTurns/unitTurns)+1)
	}
	const barriers = gl.SHADER_STORAGE_BARRIER_BIT | gl.SHADER_IMAGE_ACCESS_BARRIER_BIT
	gl.MemoryBarrier(barriers)
	gl.DispatchCompute(uint32(groups), 1, 1)
	gl.MemoryBarrier(barriers | gl.BUFFER_UPDATE_BARRIER_BIT)
}

// add makes the planes of sums from those of the codes.
func (s *Store) add(b *object, ref Block) error {
	var stored [2]uint32
	blocks := []Block{{}, {}, {}} // binding 0 is the sum's
	for part := range ref.Part + 1 {
		from := Block{Chunk: ref.Chunk, Col: ref.Col, Part: part, Window: ref.Window}
		if stored[part] = from.Stored(); stored[part] == 0 {
			continue
		}
		if err := s.Reside(from); err != nil {
			return err
		}
		blocks[1+part] = from
	}
	p, err := s.program("shift.comp", fmt.Sprintf("BITS %d", PartBits*ref.Part+bits.Len32(ref.Stored())))
	if err != nil {
		return err
	}
	units := Units(ref.Window.Rows)
	return s.Lend(func() error {
		if err := s.BindBlocks(blocks, s.readsImages()); err != nil {
			return err
		}
		gl.BindBufferBase(gl.SHADER_STORAGE_BUFFER, 0, b.buffer)
		gl.UseProgram(p.ID)
		if err := p.Set([]shaders.Uniform{shaders.Uint("units", uint32(units)), {Name: "stored", U: stored[:]},
			{Name: "plus", U: []uint32{uint32(ref.Plus), uint32(ref.Plus >> PartBits)}}}); err != nil {
			return err
		}
		s.dispatch(units)
		return nil
	})
}

// readsImages reports whether the upload ring is read as an image: in software, if it
// is not too large for one.
func (s *Store) readsImages() bool {
	caps := s.ctx.Caps()
	return caps.Software && int64(ringSlots*s.slot) <= 16*caps.Limits["MAX_TEXTURE_BUFFER_SIZE"]
}

// builderLocal is the number of threads of a work group that makes blocks.
const builderLocal = 64

// builder returns the program that makes a block of what is sent.
func (s *Store) builder(ref Block) (*shaders.Program, error) {
	seg := ref.Chunk.Segments[ref.Col]
	switch ref.Content {
	case Validity:
		return s.program("validity.comp")
	case Codes:
		return s.ofPlanes("unpack.comp", ref, "CODE "+CodeType(seg), fmt.Sprintf("BYTES %d", CodeBytes(seg)))
	}
	return s.ofPlanes("planes.comp", ref, CodeDefines(seg)...)
}

// ofPlanes returns a program that makes stored planes of a block, or is made of them.
func (s *Store) ofPlanes(file string, ref Block, defines ...string) (*shaders.Program, error) {
	p, err := s.program(file, append(defines, fmt.Sprintf("BITS %d", bits.Len32(ref.Stored())))...)
	if err != nil {
		return nil, err
	}
	return p, p.Set([]shaders.Uniform{shaders.Uint("stored", ref.Stored())})
}

// program returns a program of glsl/ with what they have in common.
func (s *Store) program(file string, defines ...string) (*shaders.Program, error) {
	defines = append(defines, fmt.Sprintf("LOCAL %d", builderLocal))
	if s.readsImages() {
		defines = append(defines, "SOFTWARE")
	}
	return s.builders.Get(shaders.Join([]string{"units.glsl", file}, defines...))
}
