package textures

import (
	"unsafe"

	"github.com/go-gl/gl/v4.5-core/gl"

	"github.com/stencildb/stencildb/table"
)

// sending is what goes through the upload ring, for something that is read. It is rows 0..rows-1 behind those
// that are there, step rows to a slot.
type sending struct {
	key        key
	after      int
	rows, step int
	bits       int  // of a row
	packed     bool // as bit planes, not codes
	grain      int  // rows that are written together; 0 for 64
	// write writes rows from..to-1 into the slot that begins with row base. from is a multiple of grain rows
	// behind base. Several goroutines call it.
	write  func(slot unsafe.Pointer, base, from, to int)
	opened int // rows that slots are filled with
}

// bytes are what rows take in a slot, of which the last run of planes is whole.
func (u *sending) bytes(rows int) int {
	if u.packed {
		return int(planeBytes(rows, u.bits))
	}
	return rows * u.bits / 8
}

// word is how many bytes of a slot a program reads at a time: a uvec4 of planes, four codes, or 32 bits.
func (u *sending) word() int {
	if u.packed {
		return 16
	}
	return max(4, u.bits/2)
}

// is reports whether both are the same.
func (u *sending) is(v sending) bool {
	return u.key == v.key && u.after == v.after && u.rows == v.rows && u.step == v.step && u.packed == v.packed
}

// stream sends what is read of something, from a row on (of a texture: a line). submit makes the device take rows from..to-1, counted from
// the first row of all, from the ring's buffer at an offset in bytes.
func (s *Store) stream(of Readable, after int, submit func(offset, from, to int) error) error {
	r, err := s.needRing(&s.ring, gl.MAP_WRITE_BIT)
	if err != nil {
		return err
	}
	return s.streamAs(of, of.sending(r.slot, after), submit)
}

// sendingOf is how something goes through the ring, now or later, from a row or a line on.
func (s *Store) sendingOf(of Readable, after int, now bool) sending {
	if b, ok := of.(Block); ok {
		if p, first := s.packedOf(b, after, now); p != nil {
			return p.sending(b, first, s.ring.slot, after)
		}
	}
	return of.sending(s.ring.slot, after)
}

// streamAs is stream of what goes through the ring in a way.
func (s *Store) streamAs(of Readable, u sending, submit func(offset, from, to int) error) error {
	r, after := s.ring, u.after
	r.sent += int64(u.rows) * int64(u.bits) / 8
	if v := s.visit; v != nil && after == 0 {
		v.sent = append(v.sent, of)
	}
	return r.pump(u, func(offset, from, to int) error { return submit(offset, u.after+from, u.after+to) })
}

func (b Block) sending(slot, after int) sending {
	bits := 1
	if b.Content != Validity {
		bits = 8 * CodeBytes(b.Chunk.Segments[b.Col])
	}
	return sending{key: b.key(), after: after, rows: b.Window.Rows - after, step: slot * 8 / bits / runRows * runRows, bits: bits,
		write: func(slot unsafe.Pointer, base, from, to int) {
			first := b.Window.From + after
			b.fill(unsafe.Add(slot, (from-base)*bits/8), first+from, first+to)
		}}
}

func (r Ref) sending(slot, line int) sending {
	sh, records, f := r.layout()
	return sendingLines(r, sh, slot, line, f.bytes, r.fill(records, f.words))
}

func (t TargetRef) sending(slot, line int) sending {
	return sendingLines(t, t.Shape, slot, line, depthStencil.bytes, t.fill)
}

// sendingLines are the texels of a shape from a line on, whole lines to a slot.
func sendingLines(of Readable, sh Shape, slot, line, texel int, fill func(out unsafe.Pointer, from, to int)) sending {
	lines, after := max(1, slot/(texel*sh.Width)), line*sh.Width
	return sending{key: of.key(), after: after, rows: sh.Rows - after, step: lines * sh.Width, bits: 8 * texel,
		write: func(slot unsafe.Pointer, base, from, to int) {
			fill(unsafe.Add(slot, (from-base)*texel), after+from, after+to)
		}}
}

// lines are the lines that rows from..to-1 take, from the beginning of one on.
func (s Shape) lines(from, to int) (first, n int) {
	return from / s.Width, (to - from + s.Width - 1) / s.Width
}

// visit is what is asked for while a query is over some of its rows, for want of memory.
type visit struct {
	chunks []*table.Chunk
	sent   []Readable
}

// Visit begins a visit of some chunks of a query, one after the other (see [Scope.Within]). The visit ends when the function that
// it returns is called. next are those of the visit after it, nil for none. What a visit has uploaded is expected of the one after
// it. Goroutines write it to the upload ring while the device works, and what is expected wrongly is dropped.
func (s *Store) Visit(chunks, next []*table.Chunk) (end func()) {
	before := s.visit
	s.visit = &visit{chunks: chunks}
	if r := s.ring; r != nil && s.visited != nil {
		if len(r.queue) == 0 {
			s.expect(chunks)
		}
		s.expect(next)
		_ = r.fill(nil) // which waits for nothing
	}
	return func() { s.visit, s.visited = before, s.visit }
}

// expect queues what the last visit has uploaded, of other chunks.
func (s *Store) expect(chunks []*table.Chunk) {
	for _, of := range s.visited.sent {
		for i, c := range s.visited.chunks {
			if i >= len(chunks) || of.chunk() != c {
				continue
			}
			if of := of.over(chunks[i]); len(of.uploads()) > 0 && s.objects[of.key()] == nil {
				u := s.sendingOf(of, 0, false)
				s.ring.queue = append(s.ring.queue, &u)
			}
		}
	}
}

// forget drops what is expected.
func (s *Store) forget() {
	s.visit, s.visited = nil, nil
	if s.ring != nil {
		s.ring.forget()
	}
}

func (b Block) chunk() *table.Chunk     { return b.Chunk }
func (r Ref) chunk() *table.Chunk       { return r.Chunk }
func (t TargetRef) chunk() *table.Chunk { return t.Chunk }

func (b Block) over(c *table.Chunk) Readable {
	if b.Window == (Window{0, b.Chunk.Rows}) {
		b.Window.Rows = c.Rows
	}
	b.Chunk, b.Window.Rows = c, min(b.Window.Rows, c.Rows-b.Window.From)
	return b
}

func (r Ref) over(c *table.Chunk) Readable {
	r.Chunk = c
	return r
}

func (t TargetRef) over(c *table.Chunk) Readable { return ResidentDepth(c, t.Col) }
