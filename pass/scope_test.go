package pass_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/textures"
)

// scratch is a block of working memory that holds n words that begin with first.
func scratch(n int, first uint32) textures.Block {
	init := make([]uint32, n)
	for i := range init {
		init[i] = first + uint32(i)
	}
	return textures.ScratchBlock(&textures.Scratch{Words: n, Init: init})
}

// Several scopes are open and take turns, each with its blocks and its counters. One that ends takes
// nothing from the others, and in the end all is there for the next.
func TestScopesTakeTurns(t *testing.T) {
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		const n = 1000
		round := func() {
			var scopes []*pass.Scope
			var blocks []textures.Block
			var counts []pass.Count
			for i := range 4 {
				s, b := g.Open(), scratch(n, uint32(1000*i))
				scopes, blocks = append(scopes, s), append(blocks, b)
				err := s.Do(context.Background(), func() error {
					if err := g.Store().Reside(b); err != nil {
						return err
					}
					c, err := g.Run(all(target(10 + i)))
					counts = append(counts, c)
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			for _, i := range []int{2, 0, 3, 1} {
				err := scopes[i].Do(context.Background(), func() error {
					words := make([]uint32, n)
					if err := g.Read(blocks[i], words); err != nil {
						return err
					}
					if words[0] != uint32(1000*i) || words[n-1] != uint32(1000*i+n-1) {
						t.Errorf("scope %d has %d..%d", i, words[0], words[n-1])
					}
					if i == 3 { // ends with its counter waited for by nobody
						return nil
					}
					k, err := counts[i].Wait()
					if k != uint64(10+i) {
						t.Errorf("scope %d counts %d", i, k)
					}
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
				scopes[i].Close()
				if err := g.Read(blocks[i], make([]uint32, 1)); err == nil {
					t.Errorf("scope %d has ended, and its block is there", i)
				}
			}
		}
		round()
		live, working := ctx.Live(), g.Store().Usage().Working
		for range 3 {
			round()
			if now := ctx.Live(); !maps.Equal(now, live) || g.Store().Usage().Working != working {
				t.Fatalf("objects %v, working memory %d; after the first round %v, %d", now, g.Store().Usage().Working, live, working)
			}
		}
	})
}

// A scope ends after an error, and after a cancellation in the middle, like any other.
func TestScopesEndAfterErrors(t *testing.T) {
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		failed := errors.New("failed")
		query := func(ctx context.Context, stop func() error) error {
			return g.Query(ctx, func() error {
				if err := g.Store().Reside(scratch(100, 7)); err != nil {
					return err
				}
				if err := g.Store().Bind(0, textures.Ref{Temp: &textures.Temp{Width: 8, Height: 8}}); err != nil {
					return err
				}
				if err := g.Store().Bind(0, textures.Buffer(make([]uint32, 8))); err != nil {
					return err
				}
				if _, err := g.Run(all(target(10))); err != nil {
					return err
				}
				if err := stop(); err != nil {
					return err
				}
				_, err := g.Run(all(target(10)))
				return err
			})
		}
		if err := query(context.Background(), func() error { return nil }); err != nil { // which reads nothing back: the device may be at it yet
			t.Fatal(err)
		}
		if err := query(context.Background(), func() error { return failed }); !errors.Is(err, failed) {
			t.Fatal(err)
		}
		live := ctx.Live()
		for range 5 {
			if err := query(context.Background(), func() error { return failed }); !errors.Is(err, failed) {
				t.Errorf("error %v", err)
			}
			stopped, stop := context.WithCancel(context.Background())
			if err := query(stopped, func() error { stop(); return nil }); !errors.Is(err, context.Canceled) {
				t.Errorf("error %v", err)
			}
		}
		if now := ctx.Live(); !maps.Equal(now, live) {
			t.Errorf("objects %v, before the errors %v", now, live)
		}
	})
}

// A block that is handed on lives as long as the scope that has it then.
func TestABlockIsHandedOn(t *testing.T) {
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		from, to := g.Open(), g.Open()
		b := scratch(10, 40)
		if err := from.Do(context.Background(), func() error { return g.Store().Reside(b) }); err != nil {
			t.Fatal(err)
		}
		if err := to.Hand(b, from); err == nil {
			t.Error("a scope hands on what it does not have")
		}
		if err := from.Hand(b, to); err != nil {
			t.Fatal(err)
		}
		from.Close()
		words := make([]uint32, 10)
		if err := g.Read(b, words); err != nil || !slices.Equal(words, []uint32{40, 41, 42, 43, 44, 45, 46, 47, 48, 49}) {
			t.Errorf("%v, %v", words, err)
		}
		to.Close()
		if err := g.Read(b, words); err == nil {
			t.Error("both scopes have ended, and the block is there")
		}
	})
}

// Whoever waits for its turn keeps its blocks, not its depth-stencil buffers, whatever
// the others need.
func TestDepthStencilBuffersAreNotKeptBetweenTurns(t *testing.T) {
	const rows = 1 << 16
	buffer := target(rows)
	gltest.Run(t, buffer.Bytes()+8192, func(ctx *glctx.Context, g *pass.GL) {
		waits, b := g.Open(), scratch(1000, 5)
		err := waits.Do(context.Background(), func() error {
			if err := g.Store().Reside(b); err != nil {
				return err
			}
			_, err := g.Run(all(buffer))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		other := buffer
		other.Slot = 1
		if err := g.Query(context.Background(), func() error { _, err := g.Run(all(other)); return err }); err != nil {
			t.Errorf("beside a scope that waits: %v", err)
		}
		var budget *textures.BudgetError
		err = g.Query(context.Background(), func() error { return g.Store().Reside(scratch(int(buffer.Bytes()/4)+1000, 0)) })
		if !errors.As(err, &budget) {
			t.Errorf("what takes all of the budget beside a scope's block: %v", err)
		}
		words := make([]uint32, 1000)
		if err := g.Read(b, words); err != nil || words[999] != 5+999 {
			t.Errorf("the scope's block ends with %d, %v", words[999], err)
		}
		waits.Close()
	})
}
