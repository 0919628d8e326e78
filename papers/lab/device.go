package lab

import (
	"context"
	"errors"
	"time"

	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/primitives"
	"github.com/stencildb/stencildb/textures"
)

// Device is an OpenGL device with a context, a store and a runner of its own, on which algorithms run.
type Device struct {
	Context *glctx.Context
	Store   *textures.Store
	GL      *pass.GL
	Shapes  primitives.Shapes
	held    *pass.Scope // of what stays until the device is closed
}

// Open opens every device that o asks for ("0,1", "all"; [glctx.OpenAll]).
func Open(o glctx.Options) (list []*Device, err error) {
	contexts, err := glctx.OpenAll(o)
	if err != nil {
		return nil, err
	}
	for _, c := range contexts {
		d := &Device{Context: c, Shapes: primitives.ShapesOf(c.Caps())}
		list = append(list, d)
		err = errors.Join(err, c.Do(context.Background(), func() error {
			d.Store = textures.NewStore(c, 0)
			d.GL = pass.NewGL(c, d.Store)
			d.held = d.GL.Open()
			return nil
		}))
	}
	if err != nil {
		return nil, errors.Join(err, Close(list))
	}
	return list, nil
}

// Close closes devices.
func Close(list []*Device) (err error) {
	for _, d := range list {
		err = errors.Join(err, d.Context.Do(context.Background(), func() error {
			if d.GL != nil {
				d.held.Close()
				d.GL.Close()
				d.Store.Close()
			}
			return nil
		}), d.Context.Close())
	}
	return err
}

// Hold runs f on the GL thread; the working memory that it asks for first stays until the device is closed.
func (d *Device) Hold(ctx context.Context, f func() error) error {
	return d.Context.Do(ctx, func() error { return d.held.Do(ctx, f) })
}

// Query runs f on the GL thread as one query, whose working memory ends with it.
func (d *Device) Query(ctx context.Context, f func() error) error {
	return d.Context.Do(ctx, func() error { return d.GL.Query(ctx, f) })
}

// Room is working memory on a device that several runs of a case share.
type Room struct {
	d     *Device
	scope *pass.Scope
}

// Room opens one.
func (d *Device) Room() *Room { return &Room{d, d.GL.Open()} }

// Do runs f on the GL thread; the working memory that it asks for first is the room's.
func (r *Room) Do(ctx context.Context, f func() error) error {
	return r.d.Context.Do(ctx, func() error { return r.scope.Do(ctx, f) })
}

// Close gives back what the room has.
func (r *Room) Close() error {
	return r.d.Context.Do(context.Background(), func() error {
		r.scope.Close()
		return nil
	})
}

// Took is what a run took: by the wall clock, and by the device's timer, 0 where that is not real.
type Took struct{ Wall, Device time.Duration }

// Time is the clock of all experiments and figures: it runs f on the GL thread, from an idle device to an idle device.
func Time(c *glctx.Context, f func() error) (t Took, err error) {
	timer, real := c.NewTimer(), c.Caps().GPUTimer
	defer timer.Delete()
	c.Finish()
	start := time.Now()
	if real {
		timer.Start()
	}
	if err := f(); err != nil {
		return t, err
	}
	if real {
		timer.Stop()
	}
	c.Finish()
	if t.Wall = time.Since(start); real {
		t.Device = timer.Elapsed()
	}
	return t, nil
}

// Section is a part of a run: a pass or a step of the host, with what parts are grouped by.
type Section struct {
	What, Name string
	Took       time.Duration
}

// Sections times every pass of f on the GL thread, the device idle before and after each, grouped by their routines.
func Sections(c *glctx.Context, g *pass.GL, f func(run pass.Runner) error) (list []Section, err error) {
	timer := c.NewTimer()
	defer timer.Delete()
	p := &pass.Profiler{Runner: g, Timer: timer, Prepared: g.Prepared}
	if err := f(p); err != nil {
		return nil, err
	}
	for _, x := range p.Profiles {
		list = append(list, Section{x.Pass.String(), x.Pass.Routine(), x.Elapsed})
	}
	return list, nil
}
