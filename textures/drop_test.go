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

// A chunk that is dropped is uploaded again at its next use; others stay.
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
		s.Drop(a)
		if r := s.Resident(); s.Used() != one || len(r) != 1 || r[0].Chunk != b {
			t.Errorf("%d bytes of %v are left, want %d of the other chunk", s.Used(), r, one)
		}
		before := s.Uploaded()
		use(a)
		if s.Used() != 2*one || s.Uploaded() == before {
			t.Error("the chunk was not uploaded again")
		}
		s.Release()
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
