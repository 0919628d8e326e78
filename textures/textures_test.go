package textures_test

import (
	"errors"
	"testing"

	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

func column(t *testing.T, values []table.Value) *table.Chunk {
	t.Helper()
	b := table.NewBuilder("t", []table.Field{{Name: "a", Type: table.Type{Kind: table.BigInt}}}, 0)
	for _, v := range values {
		b.Column(0).Value(v)
		if err := b.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	return b.Table().Chunks[0]
}

func TestShapeCoversExactlyTheRows(t *testing.T) {
	for i := range 5010 {
		n := i + 1
		if i >= 5000 { // the widths around 1024, which none has
			n = 1<<17 + (i-5000)*200_000
		}
		s := textures.ShapeOf(n)
		area := 0
		for _, r := range s.Rects() {
			area += r.W * r.H
			if r.X+r.W > s.Width || r.Y+r.H > s.Height {
				t.Fatalf("%d rows: %+v outside %+v", n, r, s)
			}
		}
		if area != n || s.Width&(s.Width-1) != 0 || s.Width == 1024 || s.Height > s.Width {
			t.Fatalf("%d rows: shape %+v covers %d", n, s, area)
		}
	}
	if s := textures.ShapeOf(table.MaxChunkRows); s.Width != 16384 || s.Height != 16384 {
		t.Errorf("a full chunk has shape %+v", s)
	}
}

func TestViewIsNearSquare(t *testing.T) {
	for n, want := range map[int][2]int{1: {1, 1}, 200_000: {512, 391}, 262_145: {512, 513}, 300_000: {512, 586}, 1_000_000: {1024, 977}, table.MaxChunkRows: {16384, 16384}} {
		if v := textures.ViewOf(n); [2]int{v.Width, v.Height} != want {
			t.Errorf("%d rows are shown as %d x %d, want %v", n, v.Width, v.Height, want)
		}
	}
	for n := 1; n < 3_000_000; n += 1 + n/100 {
		v, s := textures.ViewOf(n), textures.ShapeOf(n)
		if v.Rows != n || v.Width*v.Height < n || v.Width*(v.Height-1) >= n || v.Width > 2*v.Height || v.Height > 2*v.Width || s.Width%v.Width != 0 {
			t.Fatalf("%d rows of %+v are shown as %+v", n, s, v)
		}
	}
}

func TestUploadedLimbsReadBack(t *testing.T) {
	for _, top := range []uint64{0, 1, 255, 1 << 16, 1<<24 - 1, 1 << 24, 1<<48 - 1, 1 << 48, 1<<63 - 1} {
		var vals []table.Value
		for i := range 1000 {
			switch {
			case i%7 == 3:
				vals = append(vals, table.Null(table.Type{Kind: table.BigInt}))
			case i == 5:
				vals = append(vals, table.Int(int64(top)))
			default:
				vals = append(vals, table.Int(int64(top/1000*uint64(i))))
			}
		}
		ch := column(t, vals)
		seg := ch.Segments[0]
		gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
			check := func(ref textures.Ref, stride, channel, limb int) {
				got, err := g.Store().Read(ref)
				if err != nil {
					t.Fatal(err)
				}
				for i := range vals {
					want := float32(textures.Limb(seg.Codes.At(i), limb))
					if seg.IsNull(i) {
						want = textures.NullLimb
					}
					if got[i*stride+channel] != want {
						t.Fatalf("max %d row %d limb %d: %v, want %v", top, i, limb, got[i*stride+channel], want)
					}
				}
			}
			n := textures.Limbs(seg.Bits)
			for limb := range min(n, 2) {
				check(textures.Attribute(ch, 0), min(n, 2), limb, limb)
			}
			if n == 3 {
				check(textures.AttributeHigh(ch, 0), 1, 0, 2)
			}
			if n == 1 {
				check(textures.Pack(ch, []int{0}), 4, 0, 0)
			}
		})
	}
}

func TestBudgetRefusesBeforeAllocating(t *testing.T) {
	big := &table.Chunk{Rows: 1 << 20, Segments: []*table.Segment{{Codes: table.Codes{U8: make([]uint8, 1<<20)}}}}
	gltest.Run(t, 1<<20, func(ctx *glctx.Context, g *pass.GL) {
		_, err := g.Store().Read(textures.Attribute(big, 0))
		var b *textures.BudgetError
		if !errors.As(err, &b) || b.Need != 4<<20 || b.Budget != 1<<20 {
			t.Fatalf("error %v", err)
		}
		if live := ctx.Live(); live["texture"] != 0 {
			t.Errorf("objects after a refusal: %v", live)
		}
	})
}

func TestLeastRecentlyUsedGoesFirst(t *testing.T) {
	var chunks []*table.Chunk
	for range 4 {
		chunks = append(chunks, &table.Chunk{Rows: 1 << 16, Segments: []*table.Segment{{Codes: table.Codes{U8: make([]uint8, 1<<16)}}}})
	}
	gltest.Run(t, 3*4<<16, func(ctx *glctx.Context, g *pass.GL) {
		s := g.Store()
		for _, i := range []int{0, 1, 2, 0, 3, 0} { // 3 evicts 1, not 0
			s.Begin()
			if _, err := s.Read(textures.Attribute(chunks[i], 0)); err != nil {
				t.Fatal(err)
			}
		}
		if s.Used() != 3*4<<16 || ctx.Live()["texture"] != 3 {
			t.Errorf("used %d, live %v", s.Used(), ctx.Live())
		}
	})
}
