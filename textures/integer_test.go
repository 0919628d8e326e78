package textures_test

import (
	"math/rand/v2"
	"testing"

	"github.com/go-gl/gl/v4.5-core/gl"

	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/textures"
)

// echo draws the texels of a texture, four words each, and reads them back.
func echo(t *testing.T, g *pass.GL, ref textures.Ref, w, h int) []uint32 {
	t.Helper()
	out := &textures.Temp{Width: w, Height: h, Words: 4}
	_, err := g.Run(&pass.Pass{Op: pass.RenderQuad{}, Color: out, Textures: []textures.Ref{ref}, Program: shaders.Compose("echo", nil,
		"layout(binding = 0) uniform usampler2D t;\nlayout(location = 0) out uvec4 texel;\nvoid main() { texel = texelFetch(t, ivec2(gl_FragCoord.xy), 0); }\n")})
	if err != nil {
		t.Fatal(err)
	}
	words := make([]uint32, 4*w*h)
	if err := g.ReadTexels(out, words); err != nil {
		t.Fatal(err)
	}
	return words
}

func TestIntegerTexturesHoldTheCodes(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		for _, width := range []int{1, 8, 9, 16, 19, 32, 33, 64} {
			for _, rows := range []int{1, 2, 3, 5, 16, 17, 100, 1000, 5000} {
				ch := randomChunk(rng, width, rows)
				seg, sh := ch.Segments[0], textures.LineShape(rows)
				low := echo(t, g, textures.Integers(ch, 0, textures.LowWords), sh.Width/4, sh.Height)
				var high []uint32
				if textures.Parts(seg) == 2 {
					high = echo(t, g, textures.Integers(ch, 0, textures.HighWords), sh.Width/4, sh.Height)
				}
				per := min(32, sh.Width)
				valid := echo(t, g, textures.Integers(ch, 0, textures.ValidBits), sh.Width/per, sh.Height)
				for i := range rows {
					code := uint64(low[i])
					if high != nil {
						code |= uint64(high[i]) << 32
					}
					if code != seg.Codes.At(i) {
						t.Fatalf("%d bits, %d rows: row %d is %#x, want %#x", width, rows, i, code, seg.Codes.At(i))
					}
					if bit := valid[4*(i/per)] >> (i % per) & 1; (bit == 0) != seg.IsNull(i) {
						t.Fatalf("%d rows: row %d has validity %d, NULL %v", rows, i, bit, seg.IsNull(i))
					}
				}
				g.End()
			}
		}
	})
}

func TestResidentDepthsAreTheCodes(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		for _, width := range []int{1, 8, 16, 19, 22, 23} {
			for _, rows := range []int{1, 5, 100, 5000} {
				ch := randomChunk(rng, width, rows)
				seg := ch.Segments[0]
				if !textures.FitsDepth(seg) {
					t.Fatalf("codes up to %d do not fit a depth texture", seg.Max)
				}
				target, err := g.Store().Target(textures.ResidentDepth(ch, 0))
				if err != nil {
					t.Fatal(err)
				}
				sh := target.Ref.Shape
				words := make([]uint32, sh.Width*sh.Height)
				gl.GetTextureImage(target.Texture, 0, gl.DEPTH_STENCIL, gl.UNSIGNED_INT_24_8, int32(4*len(words)), gl.Ptr(words))
				for i, w := range words[:rows] {
					want := textures.DepthOfCode(seg, seg.Codes.At(i))
					if seg.IsNull(i) {
						want = 0
					}
					if got := uint64(w >> 8); got != want {
						t.Fatalf("%d bits, row %d: depth %d, want %d", width, i, got, want)
					}
				}
				g.End()
			}
		}
		full := randomChunk(rng, 24, 10)
		full.Segments[0].Max = textures.DepthMax
		if textures.FitsDepth(full.Segments[0]) {
			t.Error("24 bits and NULL fit a depth of 24 bits")
		}
	})
}
