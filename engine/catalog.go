package engine

import (
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
	version uint64   // counts the changes of what names mean
	entries []*entry // in the order in which they were added
	schema  []*entry // the tables of information_schema

	forms   *lru.Cache[string, *repeatable] // nil before there is one
	one     *semaphore.Weighted             // of 1: statements that change its tables do so one after the other
	numbers map[string][]*table.Segment     // of the rows of each table, as UPDATE and DELETE had them last; with one
}

func newCatalog() *catalog {
	return &catalog{schema: informationSchema(), one: semaphore.NewWeighted(1), numbers: map[string][]*table.Segment{}}
}

// add makes a table known, under a name that no other one has.
func (c *catalog) add(e *entry) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if slices.ContainsFunc(slices.Concat(c.entries, c.schema), func(old *entry) bool { return old.name == e.name }) {
		return fmt.Errorf("engine: there are two tables named %s: give each its own name", e.name)
	}
	c.entries = append(c.entries, e)
	c.version++
	return nil
}

// put makes e the table of its name, in the place of the one of that name before, if any; nil takes it away.
func (c *catalog) put(name string, e *entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := slices.IndexFunc(c.entries, func(old *entry) bool { return old.name == name })
	c.entries = slices.Clone(c.entries)
	switch {
	case e == nil && at >= 0:
		c.entries = slices.Delete(c.entries, at, at+1)
	case at >= 0:
		c.entries[at] = e
	case e != nil:
		c.entries = append(c.entries, e)
	}
	c.version++
}

// restore makes entries the catalog's, besides information_schema.
func (c *catalog) restore(entries []*entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries = slices.Clone(entries)
	clear(c.numbers)
	c.version++
}

// entry is that of a table's name; nil where there is none.
func (c *catalog) entry(name string) *entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range slices.Concat(c.entries, c.schema) {
		if e.name == name {
			return e
		}
	}
	return nil
}

// known are the tables besides information_schema, and the version of the catalog.
func (c *catalog) known() ([]*entry, uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.entries), c.version
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
