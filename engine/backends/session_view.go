package backends

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stencildb/stencildb/cost"
	"github.com/stencildb/stencildb/glctx"
)

// View is the backends of a [Set] as a session sees them, with its settings.
type View struct {
	*Set
	Backend string // the one that is asked for: "auto" or another one
	// Told is the mode of an operator of a statement, from 0, where SET assignment says it. The last one counts for all that come after.
	Told func(operator int) (mode cost.Mode, ok bool)
}

// Open returns the backend of that name, and the devices that it is on, which it opens; nil for cpu. What that took is added to spent.
func (v View) Open(ctx context.Context, name string, spent *time.Duration) (Backend, *Devices, error) {
	if name == "cpu" {
		if v.IsClosed() {
			return nil, nil, ErrClosed
		}
		return v.CPU, nil, nil
	}
	d, err := v.Devices(ctx, spent)
	if err != nil {
		return nil, nil, err
	}
	if name == "both" {
		if b := v.Both(d); b != nil {
			return b, d, nil
		}
		return nil, nil, fmt.Errorf("engine: there is no compute for backend both: %w", ErrUnsupported)
	}
	if p, ok := d.ByName[name].(*Passes); ok && name == v.Backend {
		return p.withManyGroups(), d, nil
	}
	return d.ByName[name], d, nil
}

// Both is the backend of that name on open devices; nil where there is none.
func (v View) Both(d *Devices) *Coprocessing {
	if d == nil {
		return nil
	}
	if p, ok := d.ByName["compute"].(*Passes); ok {
		return &Coprocessing{p, v.CPU.(CPU), v}
	}
	return nil
}

// Fatal reports whether an error of opening the devices fails auto: not where nobody asked for one.
func (v View) Fatal(err error) bool {
	return err != nil && (errors.Is(err, ErrClosed) || v.Wanted() && !errors.Is(err, ErrUnsupported))
}

// On calls do with a backend. After a fault of the devices they are closed. Where another statement's fault has closed them, do is called
// again with the next ones.
func (v View) On(ctx context.Context, name string, spent *time.Duration, do func(Backend) error) error {
	for {
		b, d, err := v.Open(ctx, name, spent)
		if err != nil {
			return err
		}
		err = do(b)
		switch {
		case d == nil || err == nil:
			return err
		case errors.Is(err, glctx.ErrFault):
			v.Lose(d)
			return err
		case !errors.Is(err, glctx.ErrClosed):
			return err
		}
		v.mu.Lock()
		closed, holds := v.closed, v.holds(d)
		v.mu.Unlock()
		switch {
		case closed:
			return ErrClosed
		case holds:
			return err
		}
	}
}
