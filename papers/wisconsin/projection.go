package wisconsin

import (
	"context"
	_ "embed"

	"github.com/stencildb/stencildb/primitives"
	"github.com/stencildb/stencildb/shaders"
)

var (
	//go:embed common.glsl
	commonText string
	//go:embed projection.comp
	projectionText string
)

// Projection is listings 2 and 3 and appendix B: unique1 + unique2 of each tuple, in host memory. With a resident input the sums stay on
// the device, and take, when set, gets them. A table larger than a storage block comes in parts.
func (g *GPU) Projection(ctx context.Context, in Input, take func(primitives.Vector) error) (result []uint32, err error) {
	k := kernel{name: "projection.comp", text: projectionText, defines: in.defines()}
	err = g.query(ctx, func() error {
		if err := g.prepare(k); err != nil {
			return err
		}
		source, out := g.memory(in), primitives.New(max(1, in.N))
		out.N = in.N
		if err := firstOf(g.fits("the table", source.N), g.fits("the result", in.N)); err != nil {
			return err
		}
		if err := g.part(initMemory, func() error {
			if in.Resident.None() {
				result = make([]uint32, in.N)
			}
			return g.reside(source, out)
		}); err != nil {
			return err
		}
		if err := g.part(execution, func() error {
			if err := g.parts(in, in.Layout.Words, func(from int, part Input) error {
				if err := g.copyTo(part, source); err != nil {
					return err
				}
				return g.launch(k, op("projection", part.N), part.N, []shaders.Uniform{shaders.Uint("first", uint32(from))}, source, out)
			}); err != nil || result == nil || in.N == 0 {
				return err
			}
			return g.GL.Read(out.Block, result)
		}); err != nil {
			return err
		}
		return g.hand(take, out)
	})
	return result, err
}

// hand gives a result that stays on the device to whom wants it.
func (g *GPU) hand(take func(primitives.Vector) error, v primitives.Vector) error {
	if take == nil {
		return nil
	}
	return take(v)
}

// Projection is its sequential form.
func (t *Table) Projection() []uint32 {
	result := make([]uint32, t.N)
	t.project(result)
	return result
}

func (t *Table) project(result []uint32) {
	for i := range result {
		result[i] = uint32(t.number(i, Unique1) + t.number(i, Unique2))
	}
}
