package occlusion_test

import (
	"errors"
	"testing"

	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/occlusion"
	"github.com/stencildb/stencildb/pass"
)

func TestCountersGoBackToThePool(t *testing.T) {
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		p := occlusion.NewPool(ctx)
		s, other := p.Open(), p.Open()
		for range 100 {
			c := s.Begin()
			c.End()
			for range 2 { // a second Wait gives the same number
				if n, err := c.Wait(); n != 0 || err != nil {
					t.Fatalf("nothing drawn: %d, %v", n, err)
				}
			}
		}
		if n := ctx.Live()["query"]; n != 16 {
			t.Errorf("%d query objects for one counter at a time", n)
		}
		var left []*occlusion.Counter
		for range 40 { // abandoned
			c := s.Begin()
			c.End()
			left = append(left, c)
		}
		kept := other.Begin()
		kept.End()
		s.Close()
		if _, err := left[1].Wait(); !errors.Is(err, occlusion.ErrClosed) {
			t.Errorf("waiting in a closed scope: %v", err)
		}
		if n, err := kept.Wait(); n != 0 || err != nil {
			t.Errorf("a counter of another scope: %d, %v", n, err)
		}
		made := ctx.Live()["query"]
		for range 40 {
			c := s.Begin()
			c.End()
			if _, err := c.Wait(); err != nil {
				t.Fatal(err)
			}
		}
		if n := ctx.Live()["query"]; n != made {
			t.Errorf("%d query objects, %d before abandoned ones were reused", n, made)
		}
		p.Close()
		if _, err := left[0].Wait(); !errors.Is(err, occlusion.ErrClosed) {
			t.Errorf("waiting on a closed pool: %v", err)
		}
		if n := ctx.Live()["query"]; n != 0 {
			t.Errorf("%d query objects after Close", n)
		}
	})
}
