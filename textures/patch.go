package textures

import (
	"fmt"
	"maps"
	"slices"
	"time"
	"unsafe"

	"github.com/go-gl/gl/v4.5-core/gl"

	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/table"
)

// A segment that a change has made of another one (see [table.Segment.Since]) takes over what is resident of that. The
// device copies it, or keeps it where the other segment is no more. Only the rows that changed are uploaded.

// changes are rows in which what an object holds is not yet what its segments have; one list for each segment.
type changes [4][]uint32

func (c *changes) len() (n int) {
	for _, rows := range c {
		n += len(rows)
	}
	return n
}

// sameForm reports whether what an object of a key holds of a segment has the same form for a later one.
func (k key) sameForm(old, seg *table.Segment) bool {
	nulls := (old.Nulls > 0) == (seg.Nulls > 0)
	switch {
	case old.Base != seg.Base || CodeBytes(old) != CodeBytes(seg) || Parts(old) != Parts(seg) || k.plus != 0:
		return false
	case k.target.Shape.Width > 0:
		return nulls && FitsDepth(seg)
	case k.window.Rows > 0 && k.content == Planes:
		return old.Varying() == seg.Varying()
	case k.window.Rows > 0:
		return k.content == Codes || nulls
	case k.form == ValidBits:
		return nulls
	}
	return k.form != Floats || Limbs(old.Bits) == Limbs(seg.Bits)
}

// since lists what has changed in segments that differ from those of an object's key. ok is false where it is not
// known, or the object has another form for them.
func (k key) since(segments [4]*table.Segment) (c changes, ok bool) {
	for i, old := range k.segments {
		seg := segments[i]
		if old == seg {
			continue
		}
		if old == nil || seg == nil {
			return c, false
		}
		if c[i], ok = seg.Since(old); !ok || !k.sameForm(old, seg) {
			return c, false
		}
	}
	return c, true
}

// without is the key but for the segments and the number of their rows.
func (k key) without() key {
	k.segments, k.window.Rows = [4]*table.Segment{}, min(k.window.Rows, 1)
	if k.target.Shape.Width > 0 {
		k.target.Shape = Shape{Width: 1}
	}
	return k
}

// ancestor is the object of the most rows that holds for earlier segments what a key's object is to hold. Of several it is
// the one with the fewest changes; nil for none.
func (s *Store) ancestor(k key) (best *object, c changes) {
	if !slices.ContainsFunc(k.segments[:], func(seg *table.Segment) bool { return seg != nil && seg.Derived() }) {
		return nil, c
	}
	same := k.without()
	for old, o := range s.objects {
		if old == k || len(o.segments) == 0 || o.late.len() > 0 || old.without() != same {
			continue
		}
		found, ok := old.since(k.segments)
		if !ok || old.rows() > k.rows() || old.rows() < k.rows()/4 {
			continue
		}
		if best == nil || old.rows() > best.key.rows() || old.rows() == best.key.rows() && found.len() < c.len() {
			best, c = o, found
		}
	}
	return best, c
}

// rows is the number of rows of what an object of the key holds.
func (k key) rows() int {
	if k.window.Rows > 0 {
		return k.window.Rows
	}
	for _, seg := range k.segments {
		if seg != nil {
			return seg.Rows()
		}
	}
	return 0
}

// copied copies what an object holds to another one of the same form, which may have room for more.
func (s *Store) copied(from, to *object, sh Shape) {
	gl.MemoryBarrier(gl.ALL_BARRIER_BITS)
	if to.buffer != 0 {
		gl.CopyNamedBufferSubData(from.buffer, to.buffer, 0, 0, int(min(from.bytes, to.bytes)))
		return
	}
	gl.CopyImageSubData(from.texture, gl.TEXTURE_2D, 0, 0, 0, 0, to.texture, gl.TEXTURE_2D, 0, 0, 0, 0, int32(sh.Width), int32(sh.Height), 1)
}

// derived fills an object with what is resident of the segments that its segments were made of. shape is that of the texels
// for so many rows. patch writes some rows of one of its segments, and upload what is behind so many rows. done is false
// where there is nothing such.
func (s *Store) derived(o *object, k key, shape func(rows int) Shape, patch func(i int, rows []uint32) error, upload func(after int) error) (done bool, err error) {
	from, c := s.ancestor(k)
	if from == nil {
		return false, nil
	}
	s.touch(from) // that it is not evicted
	rows := from.key.rows()
	sh := shape(rows)
	if rows < k.rows() && sh.Width != shape(k.rows()).Width {
		return false, nil
	}
	s.copied(from, o, sh)
	if err = s.ctx.Check("textures: copy " + string(o.kind)); err == nil && rows < k.rows() {
		err = upload(rows)
	}
	for i, list := range c {
		if err == nil && len(list) > 0 {
			err = patch(i, list)
		}
	}
	if from.grows != nil {
		s.free(from)
	}
	return true, err
}

// Succeed is Drop of segments of which some have heirs. What is resident of these is kept as the heirs', and has the rows
// that changed when it is used. What has to grow for its heir is kept until then.
func (s *Store) Succeed(segments []*table.Segment, heir func(*table.Segment) *table.Segment) {
	dead := func(seg *table.Segment) bool { return slices.Contains(segments, seg) }
	for o := range maps.Clone(s.entries) {
		if o.grows != nil && dead(o.grows) {
			if o.grows = heir(o.grows); o.grows == nil { // its own segments went before
				s.free(o)
				continue
			}
		}
		if !slices.ContainsFunc(o.segments, dead) || o.grows != nil {
			continue
		}
		next := o.key
		for i, seg := range next.segments {
			if seg != nil && dead(seg) {
				next.segments[i] = heir(seg)
			}
		}
		late, ok := o.key.since(next.segments)
		if !ok { // Drop frees it
			continue
		}
		old, seg := o.key.segments[0].Rows(), next.segments[0].Rows()
		if seg > old {
			if next.window.Rows > 0 {
				next.window.Rows += seg - old
			}
			if next.target.Shape.Width > 0 {
				next.target.Shape = LineShape(seg)
			}
			if o.late.len() == 0 && s.objects[next] == nil {
				o.grows = next.segments[0]
			}
			continue
		}
		for i, rows := range o.late {
			late[i] = union(late[i], rows)
		}
		if s.objects[next] != nil || late.len() > old/2 {
			continue
		}
		delete(s.objects, o.key)
		o.segments = slices.DeleteFunc(slices.Clone(next.segments[:]), func(seg *table.Segment) bool { return seg == nil })
		o.key, o.late = next, late
		s.objects[next] = o
	}
	s.Drop(segments...)
}

// union is the rows of two lists, ascending.
func union(a, b []uint32) []uint32 {
	if len(a) == 0 || len(b) == 0 {
		return append(a[:len(a):len(a)], b...)
	}
	out := slices.Concat(a, b)
	slices.Sort(out)
	return slices.Compact(out)
}

// applyPatches has an object hold what its segments have now; patch writes some rows of one of them.
func (s *Store) applyPatches(o *object, patch func(i int, rows []uint32) error) error {
	c := o.late
	if c.len() == 0 {
		return nil
	}
	start := time.Now()
	defer func() { s.upload += time.Since(start) }()
	o.late = changes{}
	for i, rows := range c {
		if len(rows) == 0 {
			continue
		}
		if err := patch(i, rows); err != nil {
			s.free(o)
			return err
		}
	}
	if err := s.ctx.Check("textures: patch " + string(o.kind)); err != nil {
		s.free(o)
		return err
	}
	return nil
}

// send sends rows with what they have to the device, through the upload ring, and has a program take each part of them.
func (s *Store) send(p *shaders.Program, rows []uint32, value func(row int) uint32, bind func() error) error {
	r, err := s.needRing(&s.ring, gl.MAP_WRITE_BIT)
	if err != nil {
		return err
	}
	r.sent += 8 * int64(len(rows))
	return s.Lend(func() error {
		gl.UseProgram(p.ID)
		if err := bind(); err != nil {
			return err
		}
		err := r.pump(sending{rows: len(rows), step: r.slot / 8, write: func(slot unsafe.Pointer, base, from, to int) {
			out := unsafe.Slice((*uint32)(unsafe.Add(slot, 8*(from-base))), 2*(to-from))
			for i, row := range rows[from:to] {
				out[2*i], out[2*i+1] = row, value(int(row))
			}
		}}, func(offset, from, to int) error {
			gl.MemoryBarrier(gl.ALL_BARRIER_BITS) // a word or a texel may have rows of two parts
			gl.BindBufferRange(gl.SHADER_STORAGE_BUFFER, 0, s.ring.buffer, offset, 8*(to-from))
			if err := p.Set([]shaders.Uniform{shaders.Uint("count", uint32(to-from))}); err != nil {
				return err
			}
			gl.DispatchCompute(uint32((to-from+builderLocal-1)/builderLocal), 1, 1)
			return nil
		})
		gl.MemoryBarrier(gl.ALL_BARRIER_BITS)
		return err
	})
}

// patchBlock writes rows of a chunk to a block.
func (s *Store) patchBlock(o *object, ref Block, rows []uint32) error {
	seg, w := ref.Chunk.Segments[ref.Col], ref.Window
	seg.AwaitCodes()
	from, _ := slices.BinarySearch(rows, uint32(w.From))
	to, _ := slices.BinarySearch(rows, uint32(w.From+w.Rows))
	list := make([]uint32, to-from)
	for i, row := range rows[from:to] {
		list[i] = row - uint32(w.From)
	}
	if len(list) == 0 {
		return nil
	}
	value := func(row int) uint32 { return uint32(seg.Codes.At(w.From+row) >> (PartBits * ref.Part)) }
	defines, stored := []string{"PLANES"}, uint32(1)
	switch ref.Content {
	case Planes:
		if stored = ref.Stored(); stored == 0 {
			return nil
		}
	case Validity:
		value = func(row int) uint32 {
			if seg.IsNull(w.From + row) {
				return 0
			}
			return 1
		}
	default:
		n := CodeBytes(seg)
		defines = []string{"WORDS", fmt.Sprintf("PER %d", 4/n), fmt.Sprintf("WIDTH %d", 8*n)}
	}
	p, err := s.program("patch.comp", defines...)
	if err != nil {
		return err
	}
	return s.send(p, list, value, func() error {
		gl.BindBufferBase(gl.SHADER_STORAGE_BUFFER, 1, o.buffer)
		if ref.Content == Codes {
			return nil
		}
		return p.Set([]shaders.Uniform{shaders.Uint("stored", stored)})
	})
}

// imageFormats are the words of GLSL for the formats of images.
var imageFormats = map[uint32]string{gl.R32F: "r32f", gl.RG32F: "rg32f", gl.RGBA32F: "rgba32f", gl.R32UI: "r32ui",
	gl.RGBA8UI: "rgba8ui", gl.RGBA16UI: "rgba16ui", gl.RGBA32UI: "rgba32ui"}

// patchImage writes rows of the column at a place of a texture.
func (s *Store) patchImage(o *object, ref Ref, place int, rows []uint32) error {
	sh, records, f := ref.layout()
	seg := ref.Chunk.Segments[ref.Cols[place]]
	seg.AwaitCodes()
	content := "QUADS"
	switch ref.Form {
	case Floats:
		content = "FLOATS"
	case ValidBits:
		content = "MARKS"
	}
	p, err := s.program("patch.comp", content, fmt.Sprintf("PER %d", records), "FORMAT "+imageFormats[f.internal])
	if err != nil {
		return err
	}
	write := func(channel int, value func(row int) uint32) error {
		return s.send(p, rows, value, func() error {
			gl.BindImageTexture(0, o.texture, 0, false, 0, gl.READ_WRITE, f.internal)
			list := []shaders.Uniform{shaders.Uint("width", uint32(sh.Width))}
			if ref.Form == Floats {
				list = append(list, shaders.Int("channel", int32(channel)))
			}
			return p.Set(list)
		})
	}
	switch ref.Form {
	case ValidBits:
		return write(0, func(row int) uint32 {
			if seg.IsNull(row) {
				return 0
			}
			return 1
		})
	case LowWords, HighWords:
		part := int(ref.Form - LowWords)
		return write(0, func(row int) uint32 { return uint32(seg.Codes.At(row) >> (PartBits * part)) })
	}
	limbs := f.words
	if ref.Packed {
		limbs = 1
	}
	for limb := range limbs {
		channel, of := place+limb, limb
		if ref.High {
			of = 2
		}
		err := write(channel, func(row int) uint32 {
			if of != 1 && seg.IsNull(row) {
				return NullLimb
			}
			return uint32(Limb(seg.Codes.At(row), of))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// patchDepths draws the depths of rows, a point each.
func (s *Store) patchDepths(t *Target, ref TargetRef, rows []uint32) error {
	seg := ref.Chunk.Segments[ref.Col]
	seg.AwaitCodes()
	p, err := s.builders.Get(shaders.LoadPair([]string{"patch.vert"}, "patch.frag"))
	if err != nil {
		return err
	}
	const most = 1 << 16 // the texels of a buffer texture that all devices have are half as many
	for len(rows) > 0 {
		some := rows[:min(most, len(rows))]
		rows = rows[len(some):]
		words := make([]uint32, 0, 2*len(some))
		for _, row := range some {
			depth := uint32(0)
			if !seg.IsNull(int(row)) {
				depth = uint32(DepthOfCode(seg, seg.Codes.At(int(row))))
			}
			words = append(words, row, depth)
		}
		s.listed += 4 * int64(len(words))
		list := Buffer(words)
		o, err := s.image(list)
		if err != nil {
			return err
		}
		err = s.Lend(func() error {
			gl.BindFramebuffer(gl.FRAMEBUFFER, t.Framebuffer)
			gl.UseProgram(p.ID)
			gl.BindTextureUnit(0, o.texture)
			gl.Enable(gl.DEPTH_TEST)
			gl.DepthMask(true)
			gl.Viewport(0, 0, int32(ref.Shape.Width), int32(ref.Shape.Height))
			if err := p.Set([]shaders.Uniform{{Name: "size", U: []uint32{uint32(ref.Shape.Width), uint32(ref.Shape.Height)}}}); err != nil {
				return err
			}
			gl.DrawArrays(gl.POINTS, 0, int32(len(some)))
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
