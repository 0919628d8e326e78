package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stencildb/stencildb/aggregates"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/predicates"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// classic is the paper's engine on one OpenGL context. A whole query runs as one
// function on the GL thread: a hand-over for every pass would cost more than small
// passes take.
type classic struct {
	ctx    *glctx.Context
	store  *textures.Store
	gl     *pass.GL
	device predicates.Device
}

func openClassic(o Options) (Backend, error) {
	ctx, err := glctx.Open(glctx.Options{Device: o.Device, Memory: o.GPUMemory})
	if err != nil {
		return nil, err
	}
	c := &classic{ctx: ctx, device: predicates.DeviceOf(ctx.Caps())}
	err = ctx.Do(func() error {
		c.store = textures.NewStore(ctx, 0)
		c.gl = pass.NewGL(ctx, c.store)
		if !c.device.DepthBounds {
			return nil
		}
		defer c.gl.End()
		var err error
		c.device.DepthBounds, err = predicates.DepthBoundsExact(c.gl, c.device)
		return err
	})
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// Name implements Backend.
func (c *classic) Name() string { return "classic" }

// Hardware implements DeviceReporter.
func (c *classic) Hardware() bool { return !c.ctx.Caps().Software }

// Execute implements Backend.
func (c *classic) Execute(ctx context.Context, q *plan.Query) (*plan.Answer, error) {
	return c.execute(ctx, q, c.gl)
}

// Analyze implements Analyzer: every pass is waited for and timed.
func (c *classic) Analyze(ctx context.Context, q *plan.Query) (*plan.Answer, []Step, error) {
	p := &pass.Profiler{Runner: c.gl, Uploaded: c.store.Uploaded}
	var a *plan.Answer
	err := c.ctx.Do(func() (err error) {
		t := c.ctx.NewTimer()
		defer t.Delete()
		p.Timer = t
		a, err = c.execute(ctx, q, p)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	var steps []Step
	for _, f := range p.Profiles {
		s := stepOf(f.Pass)
		s.Counted, s.Samples, s.Elapsed = f.Pass.Count, f.Samples, f.Elapsed
		steps = append(steps, s)
	}
	return a, steps, nil
}

func (c *classic) execute(ctx context.Context, q *plan.Query, run pass.Runner) (*plan.Answer, error) {
	m := &pass.Meter{Runner: run}
	a := &plan.Answer{}
	err := c.ctx.Do(func() error {
		c.gl.Use(ctx)
		defer c.gl.End()
		before := c.store.Uploaded()
		values, err := aggregates.Run(m, c.device, q)
		a.Values, a.Load = values, c.store.Uploaded()-before
		return err
	})
	if err != nil {
		return nil, classicError(err)
	}
	a.Passes, a.Samples = m.Passes, m.Samples
	return a, nil
}

// classicError marks what another backend may be able to do.
func classicError(err error) error {
	var budget *textures.BudgetError
	var declined *predicates.Declined
	switch {
	case errors.As(err, &budget):
		return &marked{err, ErrDeviceMemory}
	case errors.As(err, &declined):
		return fmt.Errorf("classic: %w: %w; use --backend cpu", err, ErrUnsupported)
	}
	return err
}

// marked is an error that is also another one, which it does not mention.
type marked struct {
	error
	also error
}

func (m *marked) Unwrap() []error { return []error{m.error, m.also} }

// Explain implements Backend. The passes are those of every chunk; adaptive ones
// stand for a family.
func (c *classic) Explain(q *plan.Query) ([]Step, error) {
	r := &pass.Recorder{}
	if _, err := aggregates.Run(r, c.device, q); err != nil {
		return nil, classicError(err)
	}
	var steps []Step
	for _, p := range r.Passes {
		steps = append(steps, stepOf(p))
	}
	return steps, nil
}

func stepOf(p *pass.Pass) Step {
	return Step{Pass: p.Name, Counts: p.Counts, GLSL: p.Program.Text}
}

// Close implements Backend.
func (c *classic) Close() error {
	err := c.ctx.Do(func() error {
		if c.gl != nil {
			c.gl.Close()
			c.store.Close()
		}
		return nil
	})
	return errors.Join(err, c.ctx.Close())
}

// MipmapSum sums the codes of a column's first chunk by a floating-point mipmap,
// which the paper discusses and rejects (section 4.3.3): the sum comes out in
// float32, with an error, and only over all records. For comparison with SUM; it
// runs on the classic backend, whatever the one in use.
func (db *DB) MipmapSum(ctx context.Context, t *table.Table, col int) (sum float64, elapsed time.Duration, err error) {
	b, err := db.open("classic")
	if err != nil {
		return 0, 0, err
	}
	c := b.(*classic)
	if len(t.Chunks) == 0 {
		return 0, 0, nil
	}
	err = c.ctx.Do(func() error {
		c.gl.Use(ctx)
		defer c.gl.End()
		e := predicates.New(c.gl, c.device, t, 0, textures.D24S8, 0, predicates.NewSlots())
		before, start := c.store.Uploaded(), time.Now()
		top, texels, err := aggregates.Mipmap(c.gl, e, t.Fields[col].Name, col)
		if err != nil {
			return err
		}
		mean, err := c.store.ReadTexel(top, 0, 0)
		elapsed = time.Since(start) - (c.store.Uploaded() - before)
		seg := t.Chunks[0].Segments[col]
		sum = float64(mean)*texels + float64(table.IntFromOrdinal(seg.Base))*float64(seg.NonNull())
		return err
	})
	return sum, elapsed, err
}
