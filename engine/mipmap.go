package engine

import (
	"context"
	"time"

	"github.com/stencildb/stencildb/aggregates"
	"github.com/stencildb/stencildb/predicates"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// MipmapSum sums the codes of a column's first chunk by a floating-point mipmap,
// which the paper discusses and rejects (section 4.3.3): the sum comes out in
// float32, with an error, and only over all records. For comparison with SUM of the
// backend classic.
func (g *GPU) MipmapSum(ctx context.Context, t *table.Table, col int) (sum float64, elapsed time.Duration, err error) {
	if len(t.Chunks) == 0 {
		return 0, 0, nil
	}
	err = g.query(ctx, func() error {
		e := predicates.New(g.GL, g.Draws, t, 0, textures.D24S8, 0, predicates.NewSlots())
		before, start := g.GL.Prepared(), time.Now()
		top, texels, err := aggregates.Mipmap(g.GL, e, col)
		if err != nil {
			return err
		}
		mean, err := g.Store.Read(textures.Ref{Temp: top})
		if err != nil {
			return err
		}
		elapsed = time.Since(start) - (g.GL.Prepared() - before)
		seg := t.Chunks[0].Segments[col]
		sum = float64(mean[0])*texels + float64(table.IntFromOrdinal(seg.Base))*float64(seg.NonNull())
		return nil
	})()
	return sum, elapsed, err
}
