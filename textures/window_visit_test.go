package textures_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// TestVisits goes over windows of a table in visits. In half of the queries each visit uploads what the one before has, but for what
// it draws not to. What lies in host memory changes from query to query.
func TestVisits(t *testing.T) {
	const rows, window, each = 100_000, 1 << 14, 2
	rng := rand.New(rand.NewPCG(1, 2))
	codes := [2][]uint64{make([]uint64, rows), make([]uint64, rows)}
	ch := &table.Chunk{Rows: rows, Segments: []*table.Segment{segment(codes[0], 19, false), segment(codes[1], 16, false)}}
	renew := func() {
		for i := range rows {
			ch.Segments[0].Codes.U32[i], ch.Segments[1].Codes.U16[i] = rng.Uint32()>>13, uint16(rng.Uint32())
		}
		for _, seg := range ch.Segments {
			seg.Max = 1<<seg.Bits - 1
		}
	}
	renew()
	windows := ch.Windows(window)
	whole := &table.Table{Fields: make([]table.Field, 2), Chunks: windows}
	n := (len(windows) + each - 1) / each
	visits := func(i int) []*table.Chunk { return windows[i%n*each : min(i%n*each+each, len(windows))] }
	block := func(c *table.Chunk, col int) textures.Block {
		return textures.Block{Chunk: c, Col: col, Content: textures.Codes, Window: textures.Window{Rows: c.Rows}}
	}
	gltest.Run(t, 2*each*4*window, func(ctx *glctx.Context, g *pass.GL) {
		s := g.Store()
		look := func(c *table.Chunk, col int, texture bool) {
			s.Begin()
			code := func(row int) uint32 {
				if col == 0 {
					return c.Segments[0].Codes.U32[row]
				}
				return uint32(c.Segments[1].Codes.U16[row])
			}
			if texture {
				got, err := s.Read(textures.Attribute(c, col))
				if err != nil {
					t.Fatal(err)
				}
				for row := range c.Rows {
					if got[row] != float32(code(row)) {
						t.Fatalf("row %d of column %d: a texture of %v, the code is %d", row, col, got[row], code(row))
					}
				}
				return
			}
			b := block(c, col)
			words := make([]uint32, c.Rows*textures.CodeBytes(c.Segments[col])/4)
			if err := s.Reside(b); err != nil {
				t.Fatal(err)
			}
			if err := g.Read(b, words); err != nil {
				t.Fatal(err)
			}
			for row := range c.Rows {
				got := words[row/(1+col)]
				if col == 1 {
					got = words[row/2] >> (16 * (row % 2)) & 0xffff
				}
				if got != code(row) {
					t.Fatalf("row %d of column %d: a block of %d, the code is %d", row, col, got, code(row))
				}
			}
		}
		for query := range 8 {
			all := query%2 == 0
			err := g.Query(context.Background(), func() error {
				for i := 3 * query; i < 3*(query+1); i++ { // a query ends before what it expects
					err := g.Apart(whole, func() error {
						defer s.Visit(visits(i), visits(i+1))()
						known := false
						for at, c := range visits(i) {
							// The visit before has expected what the one before it had uploaded, the first of a query nothing.
							known = all && i > 3*query && at < len(visits(max(i-2, 3*query)))
							for col := range 2 {
								for _, texture := range []bool{false, true} {
									of := textures.Readable(block(c, col))
									if texture {
										of = textures.Attribute(c, col)
									}
									if got := textures.ExpectsNext(s, of); got != known && all {
										t.Errorf("query %d, visit %d: chunk %d, column %d, texture %v comes next: expected is %v", query, i, at, col, texture, got)
									}
									if all || rng.IntN(4) > 0 {
										look(c, col, texture)
									}
								}
							}
						}
						if known && !textures.ExpectsNext(s, block(visits(i + 1)[0], 0)) {
							t.Errorf("query %d, visit %d: what the next one uploads is not expected before it begins", query, i)
						}
						return nil
					})
					if err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if n := textures.Expected(s); n > 0 {
				t.Errorf("query %d: %d uploads are expected after all", query, n)
			}
			for _, c := range windows { // as a change of the table has it
				s.Drop(c.Segments...)
			}
			renew()
		}
	})
}
