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

// A segment that is dropped is uploaded again at its next use; others stay.
func TestDrop(t *testing.T) {
	chunk := func() *table.Chunk {
		b := table.NewBuilder("t", []table.Field{{Name: "a", Type: table.Type{Kind: table.Integer}}}, 0)
		for i := range 100 {
			b.Column(0).Int(int64(i))
			if err := b.EndRow(); err != nil {
				t.Fatal(err)
			}
		}
		return b.Table().Chunks[0]
	}
	gltest.Run(t, 0, func(_ *glctx.Context, g *pass.GL) {
		s := g.Store()
		a, b := chunk(), chunk()
		use := func(c *table.Chunk) {
			s.Begin()
			if err := s.Bind(0, textures.Attribute(c, 0)); err != nil {
				t.Error(err)
			}
		}
		use(a)
		one := s.Used()
		use(b)
		s.Drop(a.Segments[0])
		if r := s.Resident(); s.Used() != one || len(r) != 1 || r[0].Segment != b.Segments[0] {
			t.Errorf("%d bytes of %v are left, want %d of the other segment", s.Used(), r, one)
		}
		before := s.Uploaded()
		use(a)
		if s.Used() != 2*one || s.Uploaded() == before {
			t.Error("the segment was not uploaded again")
		}
		g.End()
	})
}

// Chunks that share a segment share what is resident of it, in every form. The segment in which one
// differs is uploaded, and dropping that leaves the shared one.
func TestChunksShareSegments(t *testing.T) {
	b := table.NewBuilder("t", []table.Field{{Name: "a", Type: table.Type{Kind: table.Integer}}, {Name: "b", Type: table.Type{Kind: table.Integer}}}, 0)
	for i := range 100 {
		b.Column(0).Int(int64(i))
		b.Column(1).Int(int64(i % 7))
		if err := b.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	first := b.Table().Chunks[0]
	next, err := first.Assign(1, []int{5}, table.SegmentOf(first.Segments[1].Type, table.Value{Type: first.Segments[1].Type, I: 6}), 0)
	if err != nil {
		t.Fatal(err)
	}
	if next, err = next.Delete([]int{1, 2}); err != nil {
		t.Fatal(err)
	}
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		s := g.Store()
		forms := func(c *table.Chunk, col int) {
			s.Begin()
			w := textures.Window{Rows: c.Rows}
			_, err := s.Target(textures.ResidentDepth(c, col))
			for _, err := range []error{err, s.Bind(0, textures.Attribute(c, col)), s.Bind(0, textures.Integers(c, col, textures.LowWords)),
				s.Reside(textures.Block{Chunk: c, Col: col, Content: textures.Planes, Window: w}),
				s.Reside(textures.Block{Chunk: c, Col: col, Content: textures.Codes, Window: w})} {
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		uploads := func(c *table.Chunk, col int) int {
			before := ctx.Created()
			forms(c, col)
			return ctx.Created() - before
		}
		forms(first, 0)
		forms(first, 1)
		if n := uploads(next, 0); n != 0 {
			t.Errorf("%d objects are made for a segment that is resident", n)
		}
		shared := s.Used() - s.Usage().Working
		if n := uploads(next, 1); n == 0 {
			t.Error("a patched segment shares what it was patched from")
		}
		forms(next, 2)
		g.End()
		s.Drop(next.Segments[1], next.Segments[2])
		if left := s.Used() - s.Usage().Working; left != shared {
			t.Errorf("%d bytes are left, want %d", left, shared)
		}
		if n := uploads(first, 0) + uploads(first, 1); n != 0 {
			t.Errorf("%d objects are made for segments that were not dropped", n)
		}
		g.End()
	})
}

// A block is read back as it is, whether it fits in the ring of read-backs, goes through it more than
// once, or is small. Of a long block, any number of the first words is read.
func TestReadBackOfAnySize(t *testing.T) {
	want := make([]uint32, 1<<24+1<<20+5) // more than the ring has
	for i := range want {
		want[i] = uint32(i) * 2654435761
	}
	gltest.Run(t, 0, func(_ *glctx.Context, g *pass.GL) {
		s := g.Store()
		ref := textures.ScratchBlock(&textures.Scratch{Words: len(want), Init: want})
		s.Begin()
		if err := s.BindBlocks([]textures.Block{ref}, false); err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{0, 1, 1<<19 - 1, 1 << 19, 1<<20 + 1, len(want)} {
			got := make([]uint32, n)
			if err := s.ReadBlock(ref, got); err != nil || !slices.Equal(got, want[:n]) {
				t.Errorf("%d words read back differ (%v)", n, err)
			}
		}
		g.End()
	})
}

// Copy moves the words of a block.
func TestCopy(t *testing.T) {
	gltest.Run(t, 0, func(_ *glctx.Context, g *pass.GL) {
		s := g.Store()
		want := []uint32{1, 2, 3, 4, 5}
		from := textures.ScratchBlock(&textures.Scratch{Words: 5, Init: want})
		to := textures.ScratchBlock(&textures.Scratch{Words: 5})
		s.Begin()
		if err := s.Copy(to, from); err != nil {
			t.Fatal(err)
		}
		got := make([]uint32, 5)
		if err := s.ReadBlock(to, got); err != nil || !slices.Equal(got, want) {
			t.Errorf("%v (%v), want %v", got, err, want)
		}
		g.End()
	})
}
