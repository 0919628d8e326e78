package devicepool

import (
	"context"

	"github.com/stencildb/stencildb/aggregates"
	"github.com/stencildb/stencildb/predicates"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// MipmapSum sums the codes of a column's first chunk by a floating-point mipmap, which the paper discusses
// and rejects (section 4.3.3). The sum comes out in float32, with an error, and only over all records. For
// comparison with SUM of the backend classic. timed, when set, calls what draws and reads the sum, by a clock
// on the GL thread.
func (g *GPU) MipmapSum(ctx context.Context, t *table.Table, col int, timed func(f func() error) error) (sum float64, err error) {
	if len(t.Chunks) == 0 {
		return 0, nil
	}
	if timed == nil {
		timed = func(f func() error) error { return f() }
	}
	err = g.Query(ctx, func() error {
		e := predicates.New(g.GL, g.Draws, t, 0, textures.D24S8, 0, predicates.NewSlots())
		var mean []float32
		texels := 0.0
		err := timed(func() error {
			top, n, err := aggregates.Mipmap(g.GL, e, col)
			if err == nil {
				texels = n
				mean, err = g.Store.Read(textures.Ref{Temp: top})
			}
			return err
		})
		if err != nil {
			return err
		}
		seg := t.Chunks[0].Segments[col]
		sum = float64(mean[0])*texels + float64(table.IntFromOrdinal(seg.Base))*float64(seg.NonNull())
		return nil
	})()
	return sum, err
}
