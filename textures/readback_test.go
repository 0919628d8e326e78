package textures_test

import (
	"slices"
	"testing"

	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// wideChunk is a chunk of codes of 54 bits, the third of them NULL.
func wideChunk(t *testing.T) *table.Chunk {
	t.Helper()
	typ := table.Type{Kind: table.BigInt}
	b := table.NewBuilder("t", []table.Field{{Name: "a", Type: typ}}, 100)
	for i := range int64(7) {
		v := table.Value{Type: typ, I: i * (1 << 51) / 3 * i, Null: i == 2}
		b.Column(0).Value(v)
		if err := b.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	return b.Table().Chunks[0]
}

func TestLinesReadBackAreTheCodes(t *testing.T) {
	c := wideChunk(t)
	seg := c.Segments[0]
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		s := g.Store()
		for _, ref := range []textures.Ref{textures.Attribute(c, 0), textures.AttributeHigh(c, 0),
			textures.Integers(c, 0, textures.LowWords), textures.Integers(c, 0, textures.HighWords), textures.Integers(c, 0, textures.ValidBits)} {
			width, height, words := ref.Texels()
			per := ref.Records()
			for y := range height {
				line, err := s.ReadLine(ref, y)
				if err != nil || len(line) != width*words {
					t.Fatalf("%v: %d words of a line, %v", ref, len(line), err)
				}
				for x := range width * per {
					row := y*width*per + x
					if row >= c.Rows {
						continue
					}
					code, null := seg.Codes.At(row), seg.IsNull(row)
					limb := func(i int) uint32 {
						if null {
							return textures.NullLimb
						}
						return uint32(textures.Limb(code, i))
					}
					var got, want []uint32
					switch {
					case ref.Form == textures.LowWords:
						got, want = line[x:x+1], []uint32{uint32(code)}
					case ref.Form == textures.HighWords:
						got, want = line[x:x+1], []uint32{uint32(code >> 32)}
					case ref.Form == textures.ValidBits:
						got, want = []uint32{line[x/per] >> (x % per) & 1}, []uint32{1}
						if null {
							want[0] = 0
						}
					case ref.High:
						got, want = line[x:x+1], []uint32{limb(2)}
					default:
						got, want = line[2*x:2*x+2], []uint32{limb(0), limb(1)}
					}
					if !slices.Equal(got, want) {
						t.Errorf("form %d, high %v, row %d: %v, want %v", ref.Form, ref.High, row, got, want)
					}
				}
			}
		}
		g.End()
	})
}

func TestACopiedTargetIsTheSameToTheBit(t *testing.T) {
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		for _, format := range []textures.Format{textures.D24S8, textures.D32FS8} {
			ref := textures.TargetRef{Shape: textures.ShapeOf(100), Format: format}
			draw := func(depth float32, stencil uint8) {
				_, err := g.Run(&pass.Pass{Op: pass.RenderQuad{}, Target: ref, Clear: &pass.Clear{Value: stencil, Mask: 0xff}, Quad: depth,
					Depth: pass.Depth{Test: true, Write: true}})
				if err != nil {
					t.Fatal(err)
				}
			}
			draw(0.123456, 7)
			s := g.Store()
			a, err := s.Target(ref)
			if err != nil {
				t.Fatal(err)
			}
			spare := ref
			spare.Slot = -1
			b, err := s.Target(spare)
			if err != nil {
				t.Fatal(err)
			}
			depth, stencil := a.Depth(), a.Stencil()
			if err := s.CopyTarget(b, a); err != nil {
				t.Fatal(err)
			}
			draw(0.9, 1)
			if slices.Equal(a.Depth(), depth) || slices.Equal(a.Stencil(), stencil) {
				t.Fatal("the target was not changed")
			}
			if err := s.CopyTarget(a, b); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(a.Depth(), depth) || !slices.Equal(a.Stencil(), stencil) {
				t.Errorf("%v: a copy and its copy back differ", format)
			}
			line, err := s.ReadDepthLine(a, 2)
			if err != nil || !slices.Equal(line[:8], depth[2*ref.Shape.Width:2*ref.Shape.Width+8]) {
				t.Errorf("%v: line 2 is %v (%v)", format, line, err)
			}
			if err := s.CopyTarget(a, &textures.Target{Ref: textures.TargetRef{Shape: textures.ShapeOf(1000), Format: format}}); err == nil {
				t.Error("a copy between shapes is no error")
			}
			g.End()
		}
	})
}
