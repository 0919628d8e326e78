package catalog

import (
	"cmp"
	"slices"
	"sync"

	"golang.org/x/sync/semaphore"

	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// Catalog is the tables that statements may name.
type Catalog struct {
	Information []*Entry // the tables of information_schema; they do not change

	mu      sync.Mutex
	version uint64            // counts the changes of what names mean
	entries []*Entry          // in the order in which they were added; others may have the list, which only grows in place
	names   []string          // theirs, likewise
	named   map[string]*Entry // nil of a view, which goes through entries

	Writer     *semaphore.Weighted         // of 1: statements that change its tables do so one after the other
	RowNumbers map[string][]*table.Segment // of the rows of each table, as UPDATE and DELETE had them last; with Writer
}

// New has tables of information_schema of these names, and no others.
func New(information []string) *Catalog {
	var schema []*Entry
	for _, name := range information {
		schema = append(schema, NewEntry(name, nil))
	}
	return &Catalog{Information: schema, Writer: semaphore.NewWeighted(1), RowNumbers: map[string][]*table.Segment{}, named: map[string]*Entry{}}
}

// View is a catalog of the tables as they are now, which changes by itself.
func (c *Catalog) View() *Catalog {
	v := New(nil)
	for _, e := range c.Information {
		v.Information = append(v.Information, NewEntry(e.Name, nil))
	}
	v.named = nil
	v.entries, v.names, v.version = c.EntriesAndNames()
	return v
}

// find is the entry of a name, besides information_schema; nil where there is none; with mu.
func (c *Catalog) find(name string) *Entry {
	if c.named != nil {
		return c.named[name]
	}
	return entryOf(c.entries, name)
}

// entryOf is the entry of a name in a list; nil where there is none.
func entryOf(list []*Entry, name string) *Entry {
	for _, e := range list {
		if e.Name == name {
			return e
		}
	}
	return nil
}

// grow adds an entry; with mu.
func (c *Catalog) grow(e *Entry) {
	c.entries, c.names = append(c.entries, e), append(c.names, e.Name)
	if c.named != nil {
		c.named[e.Name] = e
	}
}

// Add makes a table known, under a name that no other one has.
func (c *Catalog) Add(e *Entry) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if cmp.Or(c.find(e.Name), entryOf(c.Information, e.Name)) != nil {
		return sqlstate.Errorf(sqlstate.DuplicateTable, "engine: there are two tables named %s: give each its own name", e.Name)
	}
	c.grow(e)
	c.version++
	return nil
}

// Put makes e the table of its name, in the place of the one of that name before, if any; nil takes it away.
func (c *Catalog) Put(name string, e *Entry) {
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

// Restore makes entries the catalog's, besides information_schema.
func (c *Catalog) Restore(entries []*Entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.have(entries)
	clear(c.RowNumbers)
	c.version++
}

// Reset makes entries, which must not change, those of a catalog that nobody else has yet, with a version.
func (c *Catalog) Reset(entries []*Entry, version uint64) {
	c.have(entries)
	c.version = version
}

// have makes entries, which must not change, the catalog's; with mu.
func (c *Catalog) have(entries []*Entry) {
	for _, e := range c.entries {
		delete(c.named, e.Name)
	}
	c.entries, c.names = nil, nil
	for _, e := range entries {
		c.grow(e)
	}
}

// Entry is that of a table's name; nil where there is none.
func (c *Catalog) Entry(name string) *Entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	return cmp.Or(c.find(name), entryOf(c.Information, name))
}

// Entries are the tables besides information_schema, a list that must not change, and the version of the catalog.
func (c *Catalog) Entries() ([]*Entry, uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clip(c.entries), c.version
}

// EntriesAndNames are these tables, their names, and the version of the catalog.
func (c *Catalog) EntriesAndNames() ([]*Entry, []string, uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clip(c.entries), slices.Clip(c.names), c.version
}

// Version counts the changes of what names mean.
func (c *Catalog) Version() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.version
}

// Tables are the tables read so far, as they are now.
func (c *Catalog) Tables() (list []*table.Table) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.entries {
		if t := e.Table.Load(); t != nil {
			list = append(list, t)
		}
	}
	return list
}
