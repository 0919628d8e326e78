package catalog

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/stencildb/stencildb/cpu/index"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/storage"
	"github.com/stencildb/stencildb/table"
)

// Indexes are those that CREATE INDEX has made. Each is over the segments of a column: of one that has changed the
// next statement over the table makes a new one.
type Indexes struct {
	making sync.Mutex // held while one is made

	mu   sync.RWMutex
	list []*Index
	of   map[*table.Segment][]*index.Index
}

// Index finds rows by the first of its columns.
type Index struct {
	Name, Kind string
	Table      string
	Columns    []IndexColumn
	Parts      map[*table.Segment]*index.Index // of the snapshot that the table had last
}

// IndexColumn is a column of an index, and the order that was written behind its name.
type IndexColumn struct{ Name, Order string }

func (c IndexColumn) String() string { return strings.TrimSpace(c.Name + " " + c.Order) }

// of is its first column in a snapshot; negative where there is none, as in a file that has changed.
func (i *Index) of(t *table.Table) int {
	return slices.IndexFunc(t.Fields, func(f table.Field) bool { return f.Name == i.Columns[0].Name })
}

// spelled is its columns as SHOW INDEXES has them.
func (i *Index) spelled() string {
	var list []string
	for _, c := range i.Columns {
		list = append(list, c.String())
	}
	return strings.Join(list, ", ")
}

// Of are the indexes of a segment, that of a key among them.
func (x *Indexes) Of(s *table.Segment) []*index.Index {
	x.mu.RLock()
	list := x.of[s]
	x.mu.RUnlock()
	if own := KeyIndex(s); own != nil {
		list = append(slices.Clip(list), own)
	}
	return list
}

// Bytes is the memory that all of tables take.
func (x *Indexes) Bytes(tables []*table.Table) (n int64) {
	x.mu.RLock()
	for _, list := range x.of {
		for _, i := range list {
			n += int64(i.Bytes())
		}
	}
	x.mu.RUnlock()
	for _, t := range tables {
		for _, c := range t.Chunks {
			for _, s := range c.Segments {
				if s == nil { // not read
					continue
				}
				if own := KeyIndex(s); own != nil {
					n += int64(own.Bytes())
				}
			}
		}
	}
	return n
}

// Update makes the indexes of a table for the segments of a snapshot that have none, and forgets those of others.
func (x *Indexes) Update(ctx context.Context, e *Entry, t *table.Table) error {
	for _, i := range x.All() {
		if i.Table != e.Name || e.Private {
			continue
		}
		if col := i.of(t); col < 0 || t.Fields[col].Unsupported != "" || !t.Has([]int{col}) || x.covers(i, t, col) {
			continue
		}
		if err := x.Make(ctx, i, t); err != nil {
			return err
		}
	}
	return nil
}

// All are the indexes, by name.
func (x *Indexes) All() []*Index {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return slices.Clone(x.list)
}

// Copy has the same indexes and changes by itself; it finds no rows.
func (x *Indexes) Copy() *Indexes { return &Indexes{list: x.All()} }

// covers reports whether an index has all segments of a snapshot.
func (x *Indexes) covers(i *Index, t *table.Table, col int) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return i.Parts != nil && !slices.ContainsFunc(t.Chunks, func(c *table.Chunk) bool { return i.Parts[c.Segments[col]] == nil })
}

// Make makes an index for a snapshot: of the segments that it does not have yet.
func (x *Indexes) Make(ctx context.Context, i *Index, t *table.Table) error {
	x.making.Lock()
	defer x.making.Unlock()
	parts, col := map[*table.Segment]*index.Index{}, i.of(t)
	for _, c := range t.Chunks {
		s := c.Segments[col]
		if parts[s] = i.Parts[s]; parts[s] == nil {
			var err error
			if parts[s], err = index.New(ctx, i.Name, i.Kind, s); err != nil {
				return err
			}
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	switch known := slices.Contains(x.list, i); {
	case known:
	case i.Parts != nil: // it was dropped meanwhile
		return nil
	case slices.ContainsFunc(x.list, func(o *Index) bool { return o.Name == i.Name }):
		return sqlstate.Errorf(sqlstate.DuplicateTable, "index %q already exists", i.Name)
	default:
		x.list = append(x.list, i)
	}
	i.Parts = parts
	x.arrange()
	return nil
}

// arrange lists the indexes of each segment; with mu.
func (x *Indexes) arrange() {
	x.of = map[*table.Segment][]*index.Index{}
	slices.SortFunc(x.list, func(a, b *Index) int { return strings.Compare(a.Name, b.Name) })
	for _, i := range x.list {
		for s, part := range i.Parts {
			x.of[s] = append(x.of[s], part)
		}
	}
}

// HasOn reports that there is an index that finds rows by a column of a table.
func (x *Indexes) HasOn(table, column string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.ContainsFunc(x.list, func(i *Index) bool { return i.Table == table && i.Columns[0].Name == column })
}

// Add adds indexes of which nothing is made yet: the next statement over their tables does.
func (x *Indexes) Add(list ...*Index) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, i := range list {
		if !slices.ContainsFunc(x.list, func(o *Index) bool { return o.Name == i.Name }) {
			i.Parts = map[*table.Segment]*index.Index{}
			x.list = append(x.list, i)
		}
	}
	x.arrange()
}

// Position is the place of an index; negative for none.
func (x *Indexes) Position(name string) int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return slices.IndexFunc(x.list, func(i *Index) bool { return i.Name == name })
}

// Names are the names of all.
func (x *Indexes) Names() (list []string) {
	for _, i := range x.All() {
		list = append(list, i.Name)
	}
	return list
}

// Rows are the indexes as SHOW INDEXES has them.
func (x *Indexes) Rows() [][]table.Value {
	x.mu.RLock()
	defer x.mu.RUnlock()
	rows := [][]table.Value{}
	for _, i := range x.list {
		records, bytes := 0, 0
		for _, part := range i.Parts {
			records, bytes = records+part.Rows(), bytes+part.Bytes()
		}
		rows = append(rows, []table.Value{table.Str(i.Name), table.Str(i.Table), table.Str(i.spelled()), table.Str(i.Kind), table.Int(int64(records)), table.Int(int64(bytes))})
	}
	return rows
}

// Drop drops indexes.
func (x *Indexes) Drop(which func(*Index) bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.list = slices.DeleteFunc(slices.Clone(x.list), which)
	x.arrange()
}

// Follow updates the indexes after changes of tables. An index stays with its column, and is dropped if the column was
// dropped or has other values. tables has the tables as they were before.
func (x *Indexes) Follow(changes []storage.Change, tables *Catalog) {
	known := map[string]*storage.Definition{}
	for i := range changes {
		c := &changes[i]
		if c.Define == nil {
			continue
		}
		old := known[c.Table]
		if e := tables.Entry(c.Table); old == nil && e != nil {
			old = e.Definition
		}
		if known[c.Define.Name] = c.Define; c.From == nil || old == nil {
			continue
		}
		x.mu.Lock()
		var list []*Index
		for _, i := range x.list {
			if i.Table == old.Name {
				moved := *i // statements may look at it
				moved.Table, moved.Columns = c.Define.Name, slices.Clone(i.Columns)
				gone := false // with any of its columns
				for k, col := range i.Columns {
					at := slices.IndexFunc(old.Fields, func(f table.Field) bool { return f.Name == col.Name })
					to := slices.Index(c.From, at)
					if gone = gone || to < 0; !gone {
						moved.Columns[k].Name = c.Define.Fields[to].Name
					}
				}
				if gone {
					continue
				}
				i = &moved
			}
			list = append(list, i)
		}
		x.list = list
		x.arrange()
		x.mu.Unlock()
	}
}
