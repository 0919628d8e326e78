package compute

import (
	"slices"
	"strings"
	"sync"

	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/shaders"
)

// cache keeps the passes of the queries that ran last, and the texts of programs by
// their shapes, which other queries and other snapshots share: putting them together
// takes longer than a small query.
type cache struct {
	mu      sync.Mutex
	entries []*compiled // most recently used first

	texts    sync.Mutex
	programs map[string]shaders.Source
}

const (
	cacheSize   = 128  // as many as a DB keeps statements
	maxPrograms = 1024 // of some 10 KB
)

// compile returns the passes of a query.
func (d Device) compile(q *plan.Query) (*compiled, error) {
	if d.cache == nil {
		d.cache = &cache{}
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

// program puts the text of code together. slots declares its blocks, functions is c.text or c.each.
func (d Device) program(c *code, slots, functions string) shaders.Source {
	d.cache.texts.Lock()
	defer d.cache.texts.Unlock()
	shape := strings.Join(append([]string{c.name, slots, functions}, c.defines...), "\n")
	s, ok := d.cache.programs[shape]
	if !ok {
		if d.cache.programs == nil || len(d.cache.programs) >= maxPrograms {
			d.cache.programs = map[string]shaders.Source{}
		}
		s = shaders.ComposeCompute(c.name, c.files, c.defines, slots+functions, c.after...)
		d.cache.programs[shape] = s
	}
	return s
}
