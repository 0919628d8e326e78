package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/stencildb/stencildb/aggregates"
	"github.com/stencildb/stencildb/predicates"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// MipmapSum sums the codes of a column's first chunk by a floating-point mipmap,
// which the paper discusses and rejects (section 4.3.3): the sum comes out in
// float32, with an error, and only over all records. For comparison with SUM; it
// runs on the classic backend, whatever the one in use.
func (db *DB) MipmapSum(ctx context.Context, t *table.Table, col int) (sum float64, elapsed time.Duration, err error) {
	d, err := db.openDevice(ctx, new(time.Duration))
	if err != nil {
		return 0, 0, err
	}
	c, ok := d.(*GPU)
	if s, several := d.(*gpus); several {
		c, ok = s.list[0], true
	}
	if !ok {
		return 0, 0, fmt.Errorf("engine: a mipmap needs an OpenGL device: %w", ErrUnsupported)
	}
	if len(t.Chunks) == 0 {
		return 0, 0, nil
	}
	err = c.query(ctx, func() error {
		e := predicates.New(c.GL, c.Draws, t, 0, textures.D24S8, 0, predicates.NewSlots())
		before, start := c.Store.Uploaded(), time.Now()
		top, texels, err := aggregates.Mipmap(c.GL, e, col)
		if err != nil {
			return err
		}
		mean, err := c.Store.ReadTexel(top, 0, 0)
		elapsed = time.Since(start) - (c.Store.Uploaded() - before)
		seg := t.Chunks[0].Segments[col]
		sum = float64(mean)*texels + float64(table.IntFromOrdinal(seg.Base))*float64(seg.NonNull())
		return err
	})
	return sum, elapsed, err
}
