package textures_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/shaders"
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

// Textures of a stack are drawn to and read back one by one, and all at once.
func TestTexturesOfAStackAreLinesOfOne(t *testing.T) {
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		var stack textures.Stack
		list := []*textures.Temp{stack.Add(textures.Temp{Width: 3, Height: 2, Words: 1}), stack.Add(textures.Temp{Width: 5, Height: 1, Words: 1}),
			stack.Add(textures.Temp{Width: 2, Height: 16384, Words: 1})}
		if a, b, c := list[0], list[1], list[2]; a.Whole() != b.Whole() || a.Whole().Width != 5 || a.Whole().Height != 3 || b.Line != 2 || c.Whole() == a.Whole() || c.Line != 0 {
			t.Fatalf("%+v, %+v, %+v", a, b, c)
		}
		program := shaders.Compose("where", nil, "layout(location = 0) out uint at;\nvoid main() { at = uint(gl_FragCoord.y) * 10u + uint(gl_FragCoord.x) + 1u; }\n")
		if _, err := g.Run(&pass.Pass{Op: pass.SortedRows{}, Color: list[1], Program: program}); err != nil {
			t.Fatal(err)
		}
		for ref, want := range map[textures.Ref][][]uint32{{Temp: list[0]}: {{0, 0, 0}, {0, 0, 0}}, {Temp: list[1]}: {{21, 22, 23, 24, 25}},
			{Temp: list[0].Whole()}: {{0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}, {21, 22, 23, 24, 25}}} {
			for y, line := range want {
				if got, err := g.Store().ReadLine(ref, y); err != nil || !slices.Equal(got, line) {
					t.Errorf("line %d of %+v is %v, want %v: %v", y, ref.Temp, got, line, err)
				}
			}
		}
		g.End()
	})
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

// Large textures come back through a ring, those of one word and of four, and those that are lines of another.
func TestLargeTexturesReadBack(t *testing.T) {
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		var stack textures.Stack
		stack.Add(textures.Temp{Width: 7, Height: 3, Words: 1})
		for _, temp := range []*textures.Temp{{Width: 1000, Height: 1101, Words: 1}, {Width: 4096, Height: 300, Words: 4}, {Width: 700, Height: 601, Words: 4, Floats: true},
			stack.Add(textures.Temp{Width: 3001, Height: 401, Words: 1})} {
			kind, value := "uvec4", "value"
			if temp.Words == 1 {
				kind, value = "uint", "value.x"
			}
			if temp.Floats {
				kind, value = "vec4", "uintBitsToFloat(value)"
			}
			program := shaders.Compose("where", nil, fmt.Sprintf("layout(location = 0) out %s at;\nvoid main() { uint n = uint(gl_FragCoord.y - %d.0) * %du + uint(gl_FragCoord.x);\n"+
				"uvec4 value = uvec4(n, n + 1u, n + 2u, n + 3u) + 0x3f000000u; at = %s; }\n", kind, temp.Line, temp.Width, value))
			if _, err := g.Run(&pass.Pass{Op: pass.SortedRows{}, Color: temp, Program: program}); err != nil {
				t.Fatal(err)
			}
			words := make([]uint32, temp.Width*temp.Height*temp.Words)
			if err := g.ReadTexels(temp, words); err != nil {
				t.Fatal(err)
			}
			for i, word := range words {
				if want := uint32(i/temp.Words+i%temp.Words) + 0x3f000000; word != want {
					t.Fatalf("%+v: word %d is %d, want %d", temp, i, word, want)
				}
			}
		}
		g.End()
	})
}
