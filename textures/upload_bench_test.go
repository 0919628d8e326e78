package textures_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/benchsize"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// scattered returns a segment of scattered codes of a width, every fifth NULL when
// nulls is set.
func scattered(width, rows int, nulls bool) *table.Segment {
	seg := &table.Segment{Bits: width, Max: ^uint64(0) >> (64 - width)}
	code := func(i int) uint64 { return uint64(i) * 0x9e3779b97f4a7c15 >> (64 - width) }
	switch {
	case width <= 8:
		seg.Codes.U8 = codesOf[uint8](rows, code)
	case width <= 16:
		seg.Codes.U16 = codesOf[uint16](rows, code)
	case width <= 32:
		seg.Codes.U32 = codesOf[uint32](rows, code)
	default:
		seg.Codes.U64 = codesOf[uint64](rows, code)
	}
	if nulls {
		seg.Valid = table.NewBitmap(rows)
		for i := range seg.Valid {
			seg.Valid[i] = 0x7bdef7bdef7bdef7
		}
		seg.Nulls = rows - seg.Valid.Count()
	}
	seg.Varying()
	return seg
}

func codesOf[T uint8 | uint16 | uint32 | uint64](rows int, code func(i int) uint64) []T {
	codes := make([]T, rows)
	for i := range codes {
		codes[i] = T(code(i))
	}
	return codes
}

// BenchmarkUpload makes a column resident that lies in memory, until the device has
// it: allocation, upload, and the build of planes. MB/s counts the bytes that go to
// the device.
func BenchmarkUpload(b *testing.B) {
	rows := benchsize.Rows(b, 1<<22)
	texture := func(width int, nulls bool, packed int) {
		name := "texture"
		if packed > 0 {
			name = "packed"
		}
		bench(b, name, width, rows, nulls, func(c *table.Chunk, g *pass.GL, _ int64) (int64, error) {
			ref := textures.Attribute(c, 0)
			if packed > 0 {
				ref = textures.Pack(c, []int{0, 0, 0, 0}[:packed])
			}
			return ref.Bytes(), g.Store().Bind(0, ref)
		})
	}
	block := func(content textures.Content, width int, nulls bool) {
		bench(b, content.String(), width, rows, nulls, func(c *table.Chunk, g *pass.GL, limit int64) (n int64, err error) {
			for part := range textures.Parts(c.Segments[0]) {
				if content == textures.Validity && part > 0 {
					break
				}
				for _, w := range textures.Windows(rows, limit) {
					ref := textures.Block{Chunk: c, Content: content, Part: part, Window: w}
					if err := g.Store().Reside(ref); err != nil {
						return 0, err
					}
					if content == textures.Validity {
						n += int64(w.Rows) / 8
					} else {
						n += int64(w.Rows * textures.CodeBytes(c.Segments[0]))
					}
				}
			}
			return n, nil
		})
	}
	for _, width := range []int{8, 16, 19} {
		texture(width, false, 0)
	}
	texture(19, true, 0)
	texture(47, false, 0)
	texture(19, false, 4)
	for _, content := range []textures.Content{textures.Planes, textures.Codes} {
		for _, width := range []int{8, 16, 19, 64} {
			block(content, width, false)
		}
	}
	block(textures.Validity, 8, true)
	for _, nulls := range []bool{false, true} {
		bench(b, "depth", 19, rows, nulls, func(c *table.Chunk, g *pass.GL, _ int64) (int64, error) {
			ref := textures.ResidentDepth(c, 0)
			_, err := g.Store().Target(ref)
			return ref.Bytes(), err
		})
	}
}

func bench(b *testing.B, name string, width, rows int, nulls bool, reside func(c *table.Chunk, g *pass.GL, limit int64) (int64, error)) {
	name += "/" + strconv.Itoa(width) + "bit"
	if nulls {
		name += "-nulls"
	}
	b.Run(name, func(b *testing.B) {
		seg := scattered(width, rows, nulls)
		// The budget holds one copy of the column, so that each upload evicts the last.
		side := int64(textures.ShapeOf(rows).Width)
		budget := side * side * 16
		gltest.Run(b, budget, func(ctx *glctx.Context, g *pass.GL) {
			var n int64
			upload := func() {
				g.Store().Begin()
				var err error
				if n, err = reside(&table.Chunk{Rows: rows, Segments: []*table.Segment{seg}}, g, ctx.Caps().MaxStorageBlock); err != nil {
					b.Fatal(err)
				}
				ctx.Finish()
				g.End()
			}
			start := time.Now()
			upload() // compiles, and makes the ring
			first := time.Since(start)
			for b.Loop() {
				g.Store().Drop(seg)
				upload()
			}
			b.SetBytes(n)
			b.ReportMetric(float64(first.Microseconds())/1e3, "first-ms")
		})
	})
}
