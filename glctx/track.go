package glctx

import (
	"fmt"
	"github.com/stencildb/stencildb/internal/xslices"
	"maps"
	"slices"
	"strings"
)

// Track counts GL objects: n created, or -n deleted, of a kind ("texture",
// "buffer", "framebuffer", "query", "program", "vertex array"). Whoever creates
// or deletes an object calls it, so that tests and Close can tell what leaked.
func (c *Context) Track(kind string, n int) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if n > 0 {
		c.created += n
	}
	if c.live[kind] += n; c.live[kind] == 0 {
		delete(c.live, kind)
	}
}

// Live returns how many objects of each kind are alive; kinds with none are left
// out. A negative number means more deletions than creations.
func (c *Context) Live() map[string]int {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return maps.Clone(c.live)
}

// Created returns how many objects were ever created: repeated queries should add
// none.
func (c *Context) Created() int {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.created
}

func (c *Context) leaks() error {
	live := c.Live()
	if len(live) == 0 {
		return nil
	}
	parts := xslices.Map(slices.Sorted(maps.Keys(live)), func(kind string) string { return fmt.Sprintf("%s %d", kind, live[kind]) })
	return fmt.Errorf("glctx: %w at Close: %s", ErrLeak, strings.Join(parts, ", "))
}
