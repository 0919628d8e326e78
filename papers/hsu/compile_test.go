package hsu

import (
	"testing"

	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/pass"
)

// Every file compiles, for each comparison, kind of token, way of moving and aggregate.
func TestEveryFileCompiles(t *testing.T) {
	gltest.Run(t, 0, func(_ *glctx.Context, g *pass.GL) {
		list := []kernel{selects(Token{Kind: And}), selects(Token{Kind: Or}), reverse(), move("SELECTED"), move("ALL"), move("COPY"), move("INDEXED"), move("SET")}
		for compare := range comparisons {
			list = append(list, selects(Token{Compare: compare}))
		}
		for _, f := range []Aggregate{Sum, Max, Min, Count, Avg} {
			begin, finish := groupKernels(f)
			list = append(list, begin, finish)
		}
		for _, k := range list {
			if _, err := g.Programs().Get(k.program()); err != nil {
				t.Errorf("%s %v: %v", k.name, k.defines, err)
			}
		}
	})
}
