package engine

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/table"
)

// Resident is what a device holds.
type Resident struct {
	Budget  int64 // bytes that there may be
	Used    int64 // bytes that are taken
	Working int64 // of these, working memory of queries
	Columns []ResidentColumn
}

// ResidentColumn is a column of a table on the device in one form, in all chunks
// that are there.
type ResidentColumn struct {
	Table, Column string
	Kind          string // "bit planes", "float texture", ...
	Chunks        int
	Bytes         int64
}

// resident returns what is on the device, the columns by table and name; nil where no
// device is open.
func (db *DB) resident() *Resident {
	d, _, err := db.opened()
	if d == nil || err != nil {
		return nil
	}
	now := d.content()
	r := &Resident{Budget: now.usage.Budget, Used: now.usage.Used, Working: now.usage.Working}
	names := db.segmentNames()
	sum := map[ResidentColumn]*ResidentColumn{} // by the first three fields
	for _, e := range now.list {
		k, ok := names[e.Segment]
		if !ok { // of a snapshot that is no table's any more
			continue
		}
		k.Kind = string(e.Kind)
		if sum[k] == nil {
			c := k
			sum[k] = &c
		}
		sum[k].Chunks++
		sum[k].Bytes += e.Bytes
	}
	for _, c := range sum {
		r.Columns = append(r.Columns, *c)
	}
	slices.SortFunc(r.Columns, func(a, b ResidentColumn) int {
		return cmp.Or(cmp.Compare(a.Table, b.Table), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Kind, b.Kind))
	})
	return r
}

// segmentNames tells which column of which table a segment belongs to, of the tables
// read so far.
func (db *DB) segmentNames() map[*table.Segment]ResidentColumn {
	names := map[*table.Segment]ResidentColumn{}
	for _, t := range db.tables() {
		for _, c := range t.Chunks {
			for col, seg := range c.Segments {
				names[seg] = ResidentColumn{Table: t.Name, Column: t.Field(col).Name}
			}
		}
	}
	return names
}

// Lines is the content as text, a column and form a line.
func (r *Resident) Lines() []string {
	lines := []string{fmt.Sprintf("Resident on the device: %s of %s, working memory %s", size(r.Used), size(r.Budget), size(r.Working))}
	name, kind := 0, 0
	for _, c := range r.Columns {
		name, kind = max(name, len([]rune(c.Table+c.Column))+1), max(kind, len(c.Kind))
	}
	for _, c := range r.Columns {
		lines = append(lines, fmt.Sprintf("  %-*s  %-*s %10s", name, c.Table+"."+c.Column, kind, c.Kind, size(c.Bytes)))
	}
	return lines
}

func size(n int64) string { return glctx.FormatSize(n) }
