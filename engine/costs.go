package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"sync"

	"github.com/stencildb/stencildb/cost"
	"github.com/stencildb/stencildb/glctx"
)

// Costs is the profile that auto goes by, and where it comes from.
type Costs struct {
	// Source says where the profile comes from, in words; Measured, whether it was
	// measured on this device and CPU.
	Source   string `json:"source"`
	Measured bool   `json:"measured"`
	// Warning says why a profile that was kept is not used; "" mostly.
	Warning string        `json:"warning,omitempty"`
	Profile *cost.Profile `json:"profile"`
}

// CostsOf returns the profile for a device: what `stencildb info --calibrate` kept in
// a folder, else a built-in one of the device's class.
func CostsOf(folder string, key cost.Key) (Costs, error) {
	p, err := cost.Load(folder, key)
	if err == nil {
		return Costs{Profile: p, Measured: true,
			Source: "measured on this machine " + p.Measured.Format("2006-01-02 15:04")}, nil
	}
	c := Costs{}
	if !errors.Is(err, fs.ErrNotExist) {
		c.Warning = err.Error()
	}
	c.Profile, err = cost.Default(key.Software, key.Cores)
	if err != nil {
		return c, err
	}
	c.Source = fmt.Sprintf("built in, of %s: stencildb info --calibrate measures this machine", c.Profile.Key.Renderer)
	return c, nil
}

// KeyOf is the key of a device's profile on this machine.
func KeyOf(caps *glctx.Caps) cost.Key {
	cpu := glctx.ReadCPU()
	return cost.Key{Version: cost.Version, Renderer: caps.Renderer, Driver: caps.Version, Software: caps.Software,
		CPU: cpu.Model, Cores: cpu.Threads}
}

// costs finds the profile of a DB: presumed, until its device has been opened.
type costs struct {
	folder string // "": none
	note   func(text string)

	mu   sync.Mutex
	now  Costs
	err  error
	done bool
}

// get returns the profile that is known best, and notes why one that was kept is not used.
func (c *costs) get() (Costs, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.done {
		c.now, c.err = presumed(c.folder)
		c.done = true
	}
	if w := c.now.Warning; w != "" && c.note != nil {
		c.note(w + ": auto goes by built-in costs; stencildb info --calibrate measures this machine")
		c.note = nil // it is said once
	}
	return c.now, c.err
}

// opened takes the profile of the device that was opened.
func (c *costs) opened(key cost.Key) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now, c.err = CostsOf(c.folder, key)
	c.done = true
}

// presumed is the profile to go by while no device is open: the newest one of this
// CPU, else that of a fast device, below whose predictions no query on a device is
// expected to get; of a software device where there can be no other.
func presumed(folder string) (Costs, error) {
	cpu := glctx.ReadCPU()
	c := Costs{}
	p, err := cost.Newest(folder, cpu.Model, cpu.Threads)
	switch {
	case err == nil:
		return Costs{Profile: p, Source: "measured on this machine with " + p.Key.Renderer + "; no device is open"}, nil
	case !errors.Is(err, fs.ErrNotExist):
		c.Warning = err.Error()
	}
	if c.Profile, err = cost.Default(!glctx.MayHaveHardware(), cpu.Threads); err != nil {
		return Costs{}, err
	}
	c.Source = "built in, of " + c.Profile.Key.Renderer + "; no device is open"
	return c, nil
}
