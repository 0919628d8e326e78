package backends

import (
	"sync"

	"github.com/stencildb/stencildb/cost"
	"github.com/stencildb/stencildb/engine/devicepool"
	"github.com/stencildb/stencildb/glctx"
)

// Costs finds the profile of a DB: presumed, until its device has been opened.
type Costs struct {
	Folder string // "": none
	Note   func(text string)

	mu  sync.Mutex
	Now cost.Costs // without a profile until it is asked for
	err error
}

// Get returns the profile that is known best, and notes why one that was kept is not used.
func (c *Costs) Get() (cost.Costs, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.Now.Profile == nil && c.err == nil { // no device is open: a fast one where there may be one
		c.Now, c.err = cost.For(c.Folder, devicepool.KeyOf(&glctx.Caps{Software: !glctx.MayHaveHardware()}))
	}
	if w := c.Now.Warning; w != "" && c.Note != nil {
		c.Note(w + ": auto goes by built-in costs; stencildb info --calibrate measures this machine")
		c.Note = nil // it is said once
	}
	return c.Now, c.err
}

// opened takes the profile of the device that was opened.
func (c *Costs) opened(key cost.Key) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Now, c.err = cost.For(c.Folder, key)
}
