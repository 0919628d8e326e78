package engine

import (
	"context"

	"github.com/stencildb/stencildb/table"
)

// catalog is what binding a statement sees of a DB: names at once, and a table
// once it is asked for, which reads its file. It is a [sql.Catalog].
type catalog struct {
	ctx context.Context
	db  *DB
	err error // why a table could not be read
}

// Names lists the names of the tables, in the order in which they were added.
func (c *catalog) Names() (names []string) {
	c.db.mu.Lock()
	defer c.db.mu.Unlock()
	for _, e := range c.db.entries {
		names = append(names, e.name)
	}
	return names
}

// Table returns the table of exactly that name. Where its file cannot be read it
// keeps the error, which tells more than a missing table.
func (c *catalog) Table(name string) (*table.Table, bool) {
	e := c.db.entry(name)
	if e == nil {
		return nil, false
	}
	t, err := c.db.read(c.ctx, e)
	if err != nil {
		c.err = err
	}
	return t, err == nil
}
