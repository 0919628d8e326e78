package textures_test

import (
	"fmt"
	"math/bits"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// contents are all forms in which the columns of a chunk can be resident, read back.
func contents(t *rapid.T, s *textures.Store, c *table.Chunk) map[string]any {
	out := map[string]any{}
	s.Begin()
	var narrow []int
	for col, seg := range c.Segments {
		name := fmt.Sprint("column ", col, " ")
		image := func(what string, ref textures.Ref) {
			words, err := s.Read(ref)
			if err != nil {
				t.Fatal(err)
			}
			out[name+what] = words
		}
		lines := func(what string, ref textures.Ref) {
			_, height, _ := ref.Texels()
			var all []uint32
			for y := range height {
				line, err := s.ReadLine(ref, y)
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, line...)
			}
			n := c.Rows // what is behind them is anything
			if ref.Form == textures.ValidBits {
				n /= ref.Records()
				for i := range all[:n] {
					all[i] &= 1<<ref.Records() - 1
				}
			}
			out[name+what] = all[:n]
		}
		block := func(what string, ref textures.Block) {
			words := make([]uint32, ref.Bytes()/4)
			if err := s.Reside(ref); err != nil {
				t.Fatal(err)
			}
			if err := s.ReadBlock(ref, words); err != nil {
				t.Fatal(err)
			}
			planes := 1
			switch ref.Content {
			case textures.Codes:
				out[name+what] = words[:c.Rows*textures.CodeBytes(seg)/4]
				return
			case textures.Planes:
				planes = bits.OnesCount32(ref.Stored())
			}
			rows := make([]uint32, len(words)) // what is behind them is anything
			for plane := range planes {
				for row := range c.Rows {
					unit, component, bit := textures.PlaneBit(row)
					at := textures.PlaneWord(unit, plane, planes) + component
					rows[at] |= words[at] & (1 << bit)
				}
			}
			out[name+what] = rows
		}
		window := textures.Window{Rows: c.Rows}
		image("floats", textures.Attribute(c, col))
		if textures.Limbs(seg.Bits) > 2 {
			image("high", textures.AttributeHigh(c, col))
		}
		if textures.Limbs(seg.Bits) == 1 && len(narrow) < 4 {
			narrow = append(narrow, col)
		}
		lines("low", textures.Integers(c, col, textures.LowWords))
		for part := range textures.Parts(seg) {
			if part > 0 {
				lines("high words", textures.Integers(c, col, textures.HighWords))
			}
			block(fmt.Sprint("codes ", part), textures.Block{Chunk: c, Col: col, Content: textures.Codes, Part: part, Window: window})
			block(fmt.Sprint("planes ", part), textures.Block{Chunk: c, Col: col, Content: textures.Planes, Part: part, Window: window})
		}
		if seg.Nulls > 0 {
			lines("valid bits", textures.Integers(c, col, textures.ValidBits))
			block("validity", textures.Block{Chunk: c, Col: col, Content: textures.Validity, Window: window})
		}
		if textures.FitsDepth(seg) {
			target, err := s.Target(textures.ResidentDepth(c, col))
			if err != nil {
				t.Fatal(err)
			}
			out[name+"depths"] = target.Depth()[:c.Rows]
		}
	}
	if len(narrow) > 1 {
		words, err := s.Read(textures.Pack(c, narrow))
		if err != nil {
			t.Fatal(err)
		}
		out["packed"] = words
	}
	return out
}

// What is resident of a chunk after changes is what an upload of the chunk gives. The chunk before is still in use, so that
// the device copies it, or is gone.
func TestChangesOfResidentChunks(t *testing.T) {
	gltest.Run(t, 0, func(_ *glctx.Context, g *pass.GL) {
		s := g.Store()
		rapid.Check(t, func(t *rapid.T) {
			number := func(label string, lo, hi int) int { return rapid.IntRange(lo, hi).Draw(t, label) }
			fields := []table.Field{{Name: "a", Type: table.Type{Kind: table.BigInt}}, {Name: "b", Type: table.Type{Kind: table.Integer}}, {Name: "c", Type: table.Type{Kind: table.BigInt}}}
			value := func(col int) table.Value {
				if col == 1 && number("null", 0, 3) == 0 {
					return table.Null(fields[1].Type)
				}
				return table.Value{Type: fields[col].Type, I: rapid.Int64Range(0, []int64{200, 70_000, 1 << 50}[col]).Draw(t, "value")}
			}
			chunk := func(n int) *table.Chunk {
				b := table.NewBuilder("t", fields, 0)
				seed := rapid.Int64Range(0, 1<<40).Draw(t, "seed")
				for i := range n {
					for col := range fields {
						if v := seed * int64(i*i+7*col+3); i < 4 {
							b.Column(col).Value(value(col))
						} else if col == 1 && v%5 == 0 {
							b.Column(col).Null()
						} else {
							b.Column(col).Int((v & (1<<62 - 1)) % []int64{200, 70_000, 1 << 50}[col])
						}
					}
					if err := b.EndRow(); err != nil {
						t.Fatal(err)
					}
				}
				return b.Table().Chunks[0]
			}
			c := chunk(number("rows", 5, []int{100, 2000, 10_000, 40_000}[number("size", 0, 3)]))
			all := slices.Clone(c.Segments)
			contents(t, s, c)
			for range number("changes", 1, 4) {
				next, err := c, error(nil)
				gone := number("gone", 0, 1) == 1
				switch what := number("what", 0, 5); {
				case what == 5 && c.Rows < 50_000:
					next, err = table.Joined(fields, c, chunk(number("more", 4, 9000)))
				default:
					rows := rapid.SliceOfNDistinct(rapid.IntRange(0, c.Rows-1), 1, min(c.Rows, 40), rapid.ID[int]).Draw(t, "changed")
					slices.Sort(rows)
					if what == 4 {
						next, err = c.Strike(rows, func(*table.Segment) bool { return gone })
						break
					}
					col := what % 3
					var values []table.Value
					for range rows {
						values = append(values, value(col))
					}
					next, err = c.Patch(col, rows, table.SegmentOf(fields[col].Type, values...), 0, func(*table.Segment) bool { return gone })
				}
				if err != nil {
					t.Fatal(err)
				}
				if gone {
					heirs, before := map[*table.Segment]*table.Segment{}, slices.Clone(c.Segments)
					for i, seg := range before {
						if i < len(next.Segments) && next.Segments[i] != seg {
							heirs[seg] = next.Segments[i]
						}
					}
					var dead []*table.Segment
					for seg := range heirs {
						dead = append(dead, seg)
					}
					s.Succeed(dead, func(seg *table.Segment) *table.Segment { return heirs[seg] })
				}
				if number("used", 0, 2) > 0 {
					fresh := &table.Chunk{Rows: next.Rows, Deleted: next.Deleted}
					for _, seg := range next.Segments {
						fresh.Segments = append(fresh.Segments, seg.Copy())
					}
					got, want := contents(t, s, next), contents(t, s, fresh)
					s.Drop(fresh.Segments...)
					for what := range want {
						if !reflect.DeepEqual(got[what], want[what]) {
							t.Fatalf("%s of %d rows, the one before gone %v, is not what an upload gives", what, next.Rows, gone)
						}
					}
				}
				c = next
				all = append(all, c.Segments...) // what is kept to grow for one of these goes with it
			}
			g.End()
			for _, r := range s.Resident() {
				all = append(all, r.Segment)
			}
			s.Drop(all...)
			if s.Used() != s.Usage().Working {
				t.Fatalf("%d bytes are left", s.Used())
			}
		})
	})
}

// One row that changes is what crosses the bus, in all forms.
func TestOneRowIsUploaded(t *testing.T) {
	b := table.NewBuilder("t", []table.Field{{Name: "a", Type: table.Type{Kind: table.BigInt}}}, 0)
	for i := range 100_000 {
		b.Column(0).Int(int64(i))
		if err := b.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	c := b.Table().Chunks[0]
	gltest.Run(t, 0, func(_ *glctx.Context, g *pass.GL) {
		s := g.Store()
		use := func(c *table.Chunk) int64 {
			before := s.Sent()
			s.Begin()
			_, err := s.Target(textures.ResidentDepth(c, 0))
			for _, err := range []error{err, s.Bind(0, textures.Attribute(c, 0)), s.Bind(0, textures.Integers(c, 0, textures.LowWords)),
				s.Reside(textures.Block{Chunk: c, Content: textures.Planes, Window: textures.Window{Rows: c.Rows}}),
				s.Reside(textures.Block{Chunk: c, Content: textures.Codes, Window: textures.Window{Rows: c.Rows}})} {
				if err != nil {
					t.Fatal(err)
				}
			}
			return s.Sent() - before
		}
		whole := use(c)
		for _, gone := range []bool{false, true, true} {
			next, err := c.Assign(0, []int{77_777}, table.SegmentOf(c.Segments[0].Type, table.Int(5)), 0)
			if err != nil {
				t.Fatal(err)
			}
			if gone {
				s.Succeed(c.Segments, func(*table.Segment) *table.Segment { return next.Segments[0] })
			}
			if n := use(next); n != 5*8 || whole < 1_000_000 {
				t.Errorf("%d bytes are uploaded for one row, %d for all (the one before gone: %v)", n, whole, gone)
			}
			c = next
		}
		g.End()
	})
}
