package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/stencildb/stencildb/cost"
	"github.com/stencildb/stencildb/engine/backends"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/parallel"
)

// opening is the opening of a DB's device, under way or over.
type opening struct {
	done   chan struct{}
	device *backends.Devices
	err    error
}

func (o *opening) over() bool {
	select {
	case <-o.done:
		return true
	default:
		return false
	}
}

// close closes the device once its opening has ended.
func (o *opening) close() error {
	if <-o.done; o.device == nil {
		return nil
	}
	return o.device.Close()
}

// open returns the backend of that name, and the device that it is on, which it opens;
// nil for cpu. What that took is added to spent.
func (db *DB) open(ctx context.Context, name string, spent *time.Duration) (backends.Backend, *backends.Devices, error) {
	if name == "cpu" {
		_, _, err := db.opened()
		if errors.Is(err, ErrClosed) {
			return nil, nil, err
		}
		return db.cpu, nil, nil
	}
	d, err := db.openDevice(ctx, spent)
	if err != nil {
		return nil, nil, err
	}
	if name == "both" {
		if b := db.both(d); b != nil {
			return b, d, nil
		}
		return nil, nil, fmt.Errorf("engine: there is no compute for backend both: %w", ErrUnsupported)
	}
	if p, ok := d.ByName[name].(*backends.Passes); ok && name == db.Backend() {
		return p.WithManyGroups(), d, nil
	}
	return d.ByName[name], d, nil
}

// both is the backend of that name on an open device; nil where there is none.
func (db *DB) both(d *backends.Devices) *backends.Coprocessing {
	if d == nil {
		return nil
	}
	if p, ok := d.ByName["compute"].(*backends.Passes); ok {
		return backends.NewCoprocessing(p, db.cpu.(backends.CPU), backends.Choices{Costs: &db.costs, Uploads: &db.amortisation, Told: func(operator int) (cost.Mode, bool) { return db.now().told(operator) }})
	}
	return nil
}

// deviceWanted reports whether somebody asked for a device.
func (db *DB) deviceWanted() bool {
	return db.opts.Device != "" || os.Getenv("STENCILDB_DEVICE") != ""
}

// startDevice begins to open the device, unless that was done; an error is kept, too. It is
// nil once the DB is closed.
func (db *DB) startDevice() *opening {
	db.mu.Lock()
	defer db.mu.Unlock()
	switch {
	case db.closed:
		return nil
	case db.opening == nil:
		db.opening = &opening{done: make(chan struct{})}
		o, closing := db.opening, db.closing
		parallel.Go(func() { db.finish(o, closing) }, func(*parallel.Panic) {})
	}
	return db.opening
}

// openDevice opens the device, unless that was done. It returns when ctx ends, while the
// opening goes on. What it took is added to spent.
func (db *DB) openDevice(ctx context.Context, spent *time.Duration) (*backends.Devices, error) {
	o := db.startDevice()
	if o == nil {
		return nil, ErrClosed
	}
	if !o.over() {
		start := time.Now()
		defer func() { *spent += time.Since(start) }()
	}
	select {
	case <-o.done:
		return o.device, o.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// deviceOptions are the options by which devices are opened.
func (c *core) deviceOptions() glctx.Options {
	o := glctx.Options{Device: c.opts.Device, Memory: c.opts.GPUMemory}
	if c.opts.Calibrations != "" {
		o.Programs = filepath.Join(c.opts.Calibrations, "programs")
	}
	return o
}

// finish opens the device, once the one before is closed.
func (db *DB) finish(o *opening, before <-chan struct{}) {
	defer close(o.done)
	if before != nil {
		<-before
	}
	o.err = parallel.Call(func() (err error) {
		o.device, err = db.opener(db.deviceOptions())
		return err
	})
	if o.err == nil {
		db.costs.Opened(o.device.Key)
		for _, g := range o.device.GPUs {
			g.Store.Pack = func(bytes int64) bool { return db.packs(o.device, bytes) }
		}
	}
	db.epoch.Add(1)
}

// packs reports that host memory has room for columns as a device's ring takes them. Software has them in that memory anyway, but in tests.
func (db *DB) packs(d *backends.Devices, bytes int64) bool {
	return (!d.Key.Software || d.Streamed > 0) && db.shared.Load().hostMemory == 0 && bytes <= db.freeBytes()/4
}

// opened returns the device where it is open, or failed to be; tried is false where
// nobody has needed it yet.
func (db *DB) opened() (d *backends.Devices, tried bool, err error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.closed {
		return nil, false, ErrClosed
	}
	if db.opening == nil || !db.opening.over() {
		return nil, false, nil
	}
	return db.opening.device, true, db.opening.err
}

// lose closes a device that failed: what was resident on it is forgotten, and whoever
// needs a device next opens it anew.
func (db *DB) lose(d *backends.Devices) {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.closed || !db.holds(d) {
		return
	}
	o, closing := db.opening, make(chan struct{})
	db.opening, db.closing = nil, closing
	db.epoch.Add(1)
	parallel.Go(func() {
		defer close(closing)
		_ = o.close() // that it failed is known
	}, func(*parallel.Panic) {})
}

// holds reports whether d is the device that statements take; with db.mu.
func (db *DB) holds(d *backends.Devices) bool {
	return db.opening != nil && db.opening.over() && db.opening.device == d
}

// on calls do with a backend. After a fault of the device that is closed. Where
// another statement's fault has closed it, do is called again with the next one.
func (db *DB) on(ctx context.Context, name string, spent *time.Duration, do func(backends.Backend) error) error {
	for {
		b, d, err := db.open(ctx, name, spent)
		if err != nil {
			return err
		}
		err = do(b)
		switch {
		case d == nil || err == nil:
			return err
		case errors.Is(err, glctx.ErrFault):
			db.lose(d)
			return err
		case !errors.Is(err, glctx.ErrClosed):
			return err
		}
		db.mu.Lock()
		closed, holds := db.closed, db.holds(d)
		db.mu.Unlock()
		switch {
		case closed:
			return ErrClosed
		case holds:
			return err
		}
	}
}

// closeDevice closes the device, if there is one; with db.mu. An opening under way is
// not waited for.
func (db *DB) closeDevice() error {
	if db.closing != nil {
		<-db.closing
	}
	switch {
	case db.opening == nil:
	case db.opening.over():
		return db.opening.close()
	default:
		opening := db.opening
		parallel.Go(func() { _ = opening.close() }, func(*parallel.Panic) {})
	}
	return nil
}
