package pary

import (
	"slices"
	"testing"

	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/pass"
)

// Every file compiles, in each scheme, counting or not, for every p that is measured.
func TestEveryFileCompiles(t *testing.T) {
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		for _, counts := range []bool{false, true} {
			list := []dispatch{{name: "binary.comp", text: binaryText, local: 128, lanes: PEs}}
			for _, scheme := range Schemes {
				for _, p := range slices.Concat([]int{3, PEs}, sweep) {
					list = append(list, dispatch{name: "pary.comp", text: paryText, defines: []string{string(scheme)}, local: Shapes{Local: 128}.multiple(p), lanes: p})
				}
			}
			for _, d := range list {
				if _, err := g.Programs().Get(d.program(counts)); err != nil {
					t.Errorf("%s %v, %d lanes: %v", d.name, d.defines, d.lanes, err)
				}
			}
		}
	})
}
