package engine

import (
	"sync"

	"github.com/stencildb/stencildb/cost"
	"github.com/stencildb/stencildb/engine/devicepool"
	"github.com/stencildb/stencildb/glctx"
)

// costs finds the profile of a DB: presumed, until its device has been opened.
type costs struct {
	folder string // "": none
	note   func(text string)

	mu  sync.Mutex
	now cost.Costs // without a profile until it is asked for
	err error
}

// get returns the profile that is known best, and notes why one that was kept is not used.
func (c *costs) get() (cost.Costs, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now.Profile == nil && c.err == nil { // no device is open: a fast one where there may be one
		c.now, c.err = cost.For(c.folder, devicepool.KeyOf(&glctx.Caps{Software: !glctx.MayHaveHardware()}))
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
	c.now, c.err = cost.For(c.folder, key)
}
