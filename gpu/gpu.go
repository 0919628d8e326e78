// Package gpu opens an OpenGL device and runs plans on it: one context with what is
// resident on it, the runner that draws and dispatches, and the algorithms of the
// backends, which hand it their passes.
//
// Package engine answers statements with it and package bench measures with it.
//
// Caveat: everything but Open, On and Close is for the GL thread, inside
// Device.Context.Do.
package gpu

import (
	"errors"

	"github.com/stencildb/stencildb/aggregates"
	"github.com/stencildb/stencildb/compute"
	"github.com/stencildb/stencildb/fused"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/predicates"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// Device is an open device.
type Device struct {
	Context *glctx.Context
	Store   *textures.Store // within the context's budget
	GL      *pass.GL
	// Draws and Computes are what the algorithms need to know of the device.
	Draws    predicates.Device
	Computes compute.Device

	lent bool // the context is somebody else's to close
}

// Open opens the device that o picks.
func Open(o glctx.Options) (*Device, error) {
	ctx, err := glctx.Open(o)
	if err != nil {
		return nil, err
	}
	return prepare(&Device{Context: ctx})
}

// On is a device on a context that is open already, and that Close leaves open.
func On(ctx *glctx.Context) (*Device, error) { return prepare(&Device{Context: ctx, lent: true}) }

// prepare also finds whether the depth bounds test is exact.
func prepare(d *Device) (*Device, error) {
	caps := d.Context.Caps()
	d.Draws, d.Computes = predicates.DeviceOf(caps), compute.DeviceOf(caps)
	err := d.Context.Do(func() (err error) {
		d.Store = textures.NewStore(d.Context, 0)
		d.GL = pass.NewGL(d.Context, d.Store)
		if d.Draws.DepthBounds {
			defer d.GL.End()
			d.Draws.DepthBounds, err = predicates.DepthBoundsExact(d.GL, d.Draws)
		}
		return err
	})
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// Close releases what is on the device, and the context that Open opened.
func (d *Device) Close() error {
	err := d.Context.Do(func() error {
		if d.GL != nil {
			d.GL.Close()
			d.Store.Close()
		}
		return nil
	})
	if d.lent {
		return err
	}
	return errors.Join(err, d.Context.Close())
}

// Algorithm runs a plan as passes, which it hands to run: the device's GL, or a runner
// around it, or one that only records them. The values are those of q.Aggs.
type Algorithm func(run pass.Runner, d *Device, q *plan.Query) ([]table.Value, error)

// Algorithms are those of the backends on the GPU, by name.
var Algorithms = map[string]Algorithm{
	"classic": func(run pass.Runner, d *Device, q *plan.Query) ([]table.Value, error) {
		return aggregates.Run(run, d.Draws, q)
	},
	"fused": func(run pass.Runner, d *Device, q *plan.Query) ([]table.Value, error) {
		return fused.Run(run, d.Draws, q)
	},
	"compute": func(run pass.Runner, d *Device, q *plan.Query) ([]table.Value, error) {
		return compute.Run(run, d.Computes, q)
	},
}
