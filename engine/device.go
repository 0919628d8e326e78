package engine

import (
	"os"
	"path/filepath"

	"github.com/stencildb/stencildb/cost"
	"github.com/stencildb/stencildb/engine/backends"
	"github.com/stencildb/stencildb/glctx"
)

// view is the backends as the session of the DB sees them.
func (db *DB) view() backends.View {
	return backends.View{Set: db.backends, Backend: db.Backend(), Told: func(operator int) (cost.Mode, bool) { return db.now().told(operator) }}
}

// deviceOptions are the options by which devices are opened.
func (o *Options) deviceOptions() glctx.Options {
	of := glctx.Options{Device: o.Device, Memory: o.GPUMemory}
	if o.Calibrations != "" {
		of.Programs = filepath.Join(o.Calibrations, "programs")
	}
	return of
}

// packsColumns has devices that were opened take columns as their rings do, where host memory has room for that. Software has them in that
// memory anyway, but in tests.
func (db *DB) packsColumns(d *backends.Devices) {
	for _, g := range d.GPUs {
		g.Store.Pack = func(bytes int64) bool {
			return (!d.Key.Software || d.Streamed > 0) && db.shared.Load().hostMemory == 0 && bytes <= db.freeBytes()/4
		}
	}
}

// deviceWanted reports whether somebody asked for a device.
func (o *Options) deviceWanted() bool { return o.Device != "" || os.Getenv("STENCILDB_DEVICE") != "" }
