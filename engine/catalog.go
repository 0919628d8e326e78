package engine

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/semaphore"

	"github.com/stencildb/stencildb/table"
)

// catalog is the tables that statements may name.
type catalog struct {
	mu      sync.Mutex
	version uint64            // counts the changes of what names mean
	entries []*entry          // in the order in which they were added; others may have the list, which only grows in place
	names   []string          // theirs, likewise
	named   map[string]*entry // nil of a view, which goes through entries
	schema  []*entry          // the tables of information_schema

	forms   *lru.Cache[string, *repeatable] // nil before there is one
	one     *semaphore.Weighted             // of 1: statements that change its tables do so one after the other
	numbers map[string][]*table.Segment     // of the rows of each table, as UPDATE and DELETE had them last; with one
}

func newCatalog() *catalog {
	return &catalog{schema: informationSchema(), one: semaphore.NewWeighted(1), numbers: map[string][]*table.Segment{}, named: map[string]*entry{}}
}

// view is a catalog of the tables as they are now, which changes by itself.
func (c *catalog) view() *catalog {
	v := newCatalog()
	v.named = nil
	v.entries, v.names, v.version = c.spelled()
	return v
}

// find is the entry of a name, besides information_schema; nil where there is none; with mu.
func (c *catalog) find(name string) *entry {
	if c.named != nil {
		return c.named[name]
	}
	return entryOf(c.entries, name)
}

// entryOf is the entry of a name in a list; nil where there is none.
func entryOf(list []*entry, name string) *entry {
	for _, e := range list {
		if e.name == name {
			return e
		}
	}
	return nil
}

// grow adds an entry; with mu.
func (c *catalog) grow(e *entry) {
	c.entries, c.names = append(c.entries, e), append(c.names, e.name)
	if c.named != nil {
		c.named[e.name] = e
	}
}

// add makes a table known, under a name that no other one has.
func (c *catalog) add(e *entry) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if cmp.Or(c.find(e.name), entryOf(c.schema, e.name)) != nil {
		return fmt.Errorf("engine: there are two tables named %s: give each its own name", e.name)
	}
	c.grow(e)
	c.version++
	return nil
}

// put makes e the table of its name, in the place of the one of that name before, if any; nil takes it away.
func (c *catalog) put(name string, e *entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch old := c.find(name); {
	case old == nil && e != nil:
		c.grow(e)
	case old != nil:
		at := slices.Index(c.entries, old)
		entries, names := slices.Clone(c.entries), slices.Clone(c.names)
		if delete(c.named, name); e == nil {
			c.entries, c.names = slices.Delete(entries, at, at+1), slices.Delete(names, at, at+1)
			break
		}
		if c.entries, entries[at] = entries, e; c.named != nil {
			c.named[name] = e
		}
	}
	c.version++
}

// restore makes entries the catalog's, besides information_schema.
func (c *catalog) restore(entries []*entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.have(entries)
	clear(c.numbers)
	c.version++
}

// have makes entries, which must not change, the catalog's; with mu.
func (c *catalog) have(entries []*entry) {
	for _, e := range c.entries {
		delete(c.named, e.name)
	}
	c.entries, c.names = nil, nil
	for _, e := range entries {
		c.grow(e)
	}
}

// entry is that of a table's name; nil where there is none.
func (c *catalog) entry(name string) *entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	return cmp.Or(c.find(name), entryOf(c.schema, name))
}

// known are the tables besides information_schema, a list that must not change, and the version of the catalog.
func (c *catalog) known() ([]*entry, uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clip(c.entries), c.version
}

// spelled are the names of these tables likewise.
func (c *catalog) spelled() ([]*entry, []string, uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clip(c.entries), slices.Clip(c.names), c.version
}

// counted is the version of the catalog.
func (c *catalog) counted() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.version
}

// read are the tables read so far, as they are now.
func (c *catalog) read() (list []*table.Table) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.entries {
		if t := e.table.Load(); t != nil {
			list = append(list, t)
		}
	}
	return list
}
