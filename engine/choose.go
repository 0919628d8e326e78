package engine

import (
	"context"
	"fmt"
	"os"
	"time"
)

// open returns the backend of that name, and the device that it is on, which it opens;
// nil for cpu. What that took is added to spent.
func (db *DB) open(ctx context.Context, name string, spent *time.Duration) (backend, device, error) {
	if name == "cpu" {
		b, err := db.openCPU()
		return b, nil, err
	}
	d, err := db.openDevice(ctx, spent)
	if err != nil {
		return nil, nil, err
	}
	b := d.backend(name)
	if b == nil {
		return nil, nil, fmt.Errorf("engine: no backend %s on this device", name)
	}
	return b, d, nil
}

func (db *DB) openCPU() (backend, error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.closed {
		return nil, errClosed
	}
	if db.cpu == nil {
		db.cpu = newCPU()
	}
	return db.cpu, nil
}

// deviceWanted reports whether somebody asked for a device.
func (db *DB) deviceWanted() bool {
	return db.opts.Device != "" || os.Getenv("STENCILDB_DEVICE") != ""
}
