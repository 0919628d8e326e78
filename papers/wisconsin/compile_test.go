package wisconsin

import (
	"testing"

	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/papers/lab"
	"github.com/stencildb/stencildb/pass"
)

// Every file compiles, for each layout, aggregate and form, at both local sizes.
func TestEveryFileCompiles(t *testing.T) {
	gltest.Run(t, 0, func(ctx *glctx.Context, c *pass.GL) {
		for _, local := range []int{1, 256} {
			g := &GPU{Device: &lab.Device{Context: ctx, GL: c}, Local: local}
			list := []kernel{{name: "projection.comp", text: projectionText, defines: Standard.defines()}, {name: "projection.comp", text: projectionText, defines: Large.defines()}}
			for _, a := range Aggregates {
				k, err := a.kernel(Standard)
				if err != nil {
					t.Fatal(err)
				}
				list = append(list, k)
			}
			for _, form := range []Form{Copied, Vectors} {
				s := g.newSelection(Input{Table: &Table{Layout: Standard}}, Listing8(1, 2), form)
				list = append(list, s.init, s.finish)
				if form == Copied {
					list = append(list, s.masking)
				}
			}
			j := g.newJoin(Standard, Listing11)
			other := j.probe
			other.defines = append(other.defines[:len(other.defines):len(other.defines)], "BUILD_FIRST")
			partition, build := cuckooKernels(Standard)
			list = append(list, j.probe, other, j.blocks, j.finish, partition, build)
			for _, k := range list {
				if _, err := c.Programs().Get(g.program(k)); err != nil {
					t.Errorf("%s %v: %v", k.name, k.defines, err)
				}
			}
		}
	})
}
