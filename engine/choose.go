package engine

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/stencildb/stencildb/plan"
)

// open returns the backend of that name, opening it once; an error is kept too.
func (db *DB) open(name string) (Backend, error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.closed {
		return nil, errClosed
	}
	if name == "cpu" {
		if db.cpu == nil {
			db.cpu = newCPU()
		}
		return db.cpu, nil
	}
	g, err := db.device()
	if err != nil {
		return nil, err
	}
	return &passes{g, name}, nil
}

// openDevice opens the GPU, once; an error is kept too.
func (db *DB) openDevice() (*gpu, error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.closed {
		return nil, errClosed
	}
	return db.device()
}

func (db *DB) device() (*gpu, error) {
	if !db.gpuTried {
		start := time.Now()
		db.gpu, db.gpuError = openGPU(db.deviceOptions())
		db.opening += time.Since(start)
		db.gpuTried = true
	}
	return db.gpu, db.gpuError
}

// accountForOpening returns the time that looking for devices and opening them
// took, once.
func (db *DB) accountForOpening() time.Duration {
	db.mu.Lock()
	defer db.mu.Unlock()
	d := db.opening
	db.opening = 0
	return d
}

// Prepare opens the backends that queries will use, now instead of at the first
// query, and returns the error that this query would have met.
func (db *DB) Prepare() error {
	_, err := db.candidates()
	return err
}

// deviceOptions are the options to open a device with. Where nobody asked for a
// device, auto has use for hardware only.
func (db *DB) deviceOptions() Options {
	o := db.opts
	if o.Backend == "auto" && !db.deviceWanted() {
		o.Device = "hardware"
	}
	return o
}

func (db *DB) deviceWanted() bool {
	return db.opts.Device != "" || os.Getenv("STENCILDB_DEVICE") != ""
}

// candidate is a backend to try, and why it is the one.
type candidate struct {
	backend Backend
	why     string
}

// candidates lists the backends to try for a query, best first. With auto these
// are classic on hardware, then cpu; else the one asked for.
func (db *DB) candidates() ([]candidate, error) {
	if db.opts.Backend != "auto" {
		b, err := db.open(db.opts.Backend)
		return []candidate{{b, ""}}, err
	}
	cpu, err := db.open("cpu")
	if err != nil {
		return nil, err
	}
	classic, err := db.open("classic")
	switch {
	case err != nil && db.deviceWanted() && !errors.Is(err, ErrUnsupported):
		return nil, err
	case err != nil:
		return []candidate{{cpu, "auto: no hardware OpenGL device"}}, nil
	}
	if d, ok := classic.(DeviceReporter); !ok || !d.Hardware() {
		return []candidate{{cpu, "auto: the OpenGL device is a software rasteriser"}}, nil
	}
	return []candidate{
		{classic, "auto: a hardware OpenGL device"},
		{cpu, "auto: classic cannot do this query"},
	}, nil
}

// try calls do with each candidate until one is neither unable to do the query
// nor short of device memory.
func (db *DB) try(q *plan.Query, do func(candidate) error) error {
	list, err := db.candidates()
	if err != nil {
		return err
	}
	for i, c := range list {
		err = do(c)
		if err == nil || i == len(list)-1 {
			return err
		}
		if !errors.Is(err, ErrUnsupported) && !errors.Is(err, ErrDeviceMemory) {
			return err
		}
	}
	return fmt.Errorf("engine: no backend for table %s", q.Table.Name)
}
