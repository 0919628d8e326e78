package textures_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// Columns that visits send again and again are sent as bits. Planes and codes are those that codes give, of all widths of codes, and
// after rows have changed. Windows begin with a run of the whole's rows, or do not.
func TestPacked(t *testing.T) {
	const rows = 150_001
	rng := rand.New(rand.NewPCG(3, 4))
	widths := []int{1, 5, 7, 11, 16, 19, 31, 33, 47, 64}
	ch := &table.Chunk{Rows: rows}
	renew := func() {
		ch.Segments = nil
		for _, bits := range widths {
			codes := make([]uint64, rows)
			for i := range codes {
				codes[i] = rng.Uint64() >> (64 - bits)
				if bits == 11 {
					codes[i] &^= 0x14 // which two planes are none
				}
			}
			codes[rng.IntN(rows)] = 1<<bits - 1
			ch.Segments = append(ch.Segments, segment(codes, bits, bits == 19))
		}
	}
	renew()
	both := map[textures.Content]func(textures.Block, []uint32) error{textures.Planes: checkPlanes, textures.Codes: checkCodes}
	for _, window := range []int{1 << 15, 3 << 15, 1 << 13, 5 << 13} {
		for content, check := range both {
			gltest.Run(t, 1<<30, func(ctx *glctx.Context, g *pass.GL) {
				s := g.Store()
				room := int64(0)
				s.Pack = func(n int64) bool { room += n; return true }
				var sent []int64 // by sweeps
				for sweep := range 5 {
					if sweep == 3 {
						for _, w := range ch.Windows(window) {
							s.Drop(w.Segments...)
						}
						s.Drop(ch.Segments...)
						renew()
					}
					windows := ch.Windows(window)
					whole := &table.Table{Fields: make([]table.Field, len(widths)), Chunks: windows}
					before := s.Sent()
					err := g.Query(context.Background(), func() error {
						for i := range windows {
							err := g.Apart(whole, func() error {
								defer s.Visit(windows[i:i+1], windows[(i+1)%len(windows):][:1])()
								for col := range widths {
									for part := range textures.Parts(ch.Segments[col]) {
										b := textures.Block{Chunk: windows[i], Col: col, Part: part, Content: content, Window: textures.Window{Rows: windows[i].Rows}}
										s.Begin()
										if err := check(b, resident(t, g, b)); err != nil {
											return fmt.Errorf("sweep %d of windows of %d rows, window %d, %d bits, part %d: %w", sweep, window, i, widths[col], part, err)
										}
									}
								}
								return nil
							})
							if err != nil {
								return err
							}
							s.Drop(windows[i].Segments...)
						}
						return nil
					})
					if err != nil {
						t.Fatal(err)
					}
					sent = append(sent, s.Sent()-before)
				}
				switch pays := window%(1<<15) == 0; {
				case pays && (sent[1] > sent[0]*9/10 || sent[2] != sent[1] || sent[3] != sent[0] || sent[4] != sent[1]) || room == 0:
					t.Errorf("%v of windows of %d rows: sweeps send %v bytes", content, window, sent)
				case !pays && slices.Max(sent) > sent[0]:
					t.Errorf("%v of windows of %d rows: sweeps send %v bytes", content, window, sent)
				}
			})
		}
	}
}

// checkCodes compares the codes of a block, read back, with those of its column.
func checkCodes(b textures.Block, words []uint32) error {
	seg := b.Chunk.Segments[b.Col]
	bytes := textures.CodeBytes(seg)
	for row := range b.Window.Rows {
		want := uint32(seg.Codes.At(row) >> (textures.PartBits * b.Part))
		if got := words[row*bytes/4] >> (8 * (row * bytes % 4)) & uint32(1<<(8*bytes)-1); got != want {
			return fmt.Errorf("row %d has code %#x, not %#x", row, got, want)
		}
	}
	return nil
}

// checkPlanes compares the planes of a block, read back, with its codes.
func checkPlanes(b textures.Block, words []uint32) error {
	seg := b.Chunk.Segments[b.Col]
	var stored []int
	for p := range 32 {
		if b.Stored()>>p&1 != 0 {
			stored = append(stored, p)
		}
	}
	for row := range textures.Units(b.Window.Rows) * 128 {
		code := uint32(0)
		if row < b.Window.Rows {
			code = uint32(seg.Codes.At(row) >> (textures.PartBits * b.Part))
		}
		unit, component, bit := textures.PlaneBit(row)
		for i, p := range stored {
			if got := words[textures.PlaneWord(unit, i, len(stored))+component] >> bit & 1; got != code>>p&1 {
				return fmt.Errorf("row %d has %d in plane %d, its code is %#x", row, got, p, code)
			}
		}
	}
	return nil
}
