package engine

import (
	"fmt"
	"os"
)

// open returns the backend of that name; that of a device opens it.
func (db *DB) open(name string) (Backend, error) {
	if name == "cpu" {
		return db.openCPU()
	}
	d, err := db.openDevice()
	if err != nil {
		return nil, err
	}
	b := d.backend(name)
	if b == nil {
		return nil, fmt.Errorf("engine: no backend %s on this device", name)
	}
	return b, nil
}

func (db *DB) openCPU() (Backend, error) {
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

// Ready opens what queries may use, now instead of when one needs it, and returns the
// error that this query would have met. With auto that is the device, if there is one.
func (db *DB) Ready() error {
	if db.opts.Backend != "auto" {
		_, err := db.open(db.opts.Backend)
		return err
	}
	if _, err := db.openDevice(); db.fatal(err) {
		return err
	}
	_, err := db.openCPU()
	return err
}

// deviceWanted reports whether somebody asked for a device.
func (db *DB) deviceWanted() bool {
	return db.opts.Device != "" || os.Getenv("STENCILDB_DEVICE") != ""
}

// opened returns the device where it is open, or failed to be; tried is false where
// nobody has needed it yet.
func (db *DB) opened() (d device, tried bool, err error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.closed {
		return nil, false, errClosed
	}
	return db.device, db.deviceTried, db.deviceError
}
