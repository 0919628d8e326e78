package compute

import (
	"slices"
	"sync"

	"github.com/stencildb/stencildb/plan"
)

// cache keeps the passes of the queries that ran last: putting the text of programs
// together takes longer than a small query.
type cache struct {
	mu      sync.Mutex
	entries []*compiled // most recently used first
}

const cacheSize = 128 // as many as a DB keeps statements

// compile returns the passes of a query.
func (d Device) compile(q *plan.Query) (*compiled, error) {
	if d.cache == nil {
		return compile(d, q)
	}
	d.cache.mu.Lock()
	defer d.cache.mu.Unlock()
	list := d.cache.entries
	if i := slices.IndexFunc(list, func(c *compiled) bool { return c.q == q }); i >= 0 {
		c := list[i]
		copy(list[1:], list[:i])
		list[0] = c
		return c, nil
	}
	c, err := compile(d, q)
	if err == nil {
		d.cache.entries = append([]*compiled{c}, list[:min(len(list), cacheSize-1)]...)
	}
	return c, err
}
