package engine

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// Resident is what a device holds.
//
// For bench, trace and tests.
type Resident struct {
	textures.Usage
	Columns []ResidentColumn
}

// ResidentColumn is a column of a table on the device in one form.
//
// For bench, trace and tests.
type ResidentColumn struct {
	Table, Column string
	Kind          string // "bit planes", "float texture", ...
	Bytes         int64  // of all chunks that are there
}

// resident returns what is on the device of the tables, the columns by table and name; nil
// where no device is open.
func (db *DB) resident() *Resident {
	d, _, err := db.backends.Now()
	if d == nil || err != nil {
		return nil
	}
	names := map[*table.Segment]ResidentColumn{}
	for _, t := range db.inMemory() {
		for _, c := range t.Chunks {
			for col, seg := range c.Segments {
				if seg == nil { // has not been read
					continue
				}
				for _, s := range append(seg.Made(), seg) {
					names[s] = ResidentColumn{Table: t.Name, Column: t.Field(col).Name}
				}
			}
		}
	}
	r := &Resident{}
	bytes := map[ResidentColumn]int64{}
	for _, on := range d.Contents() {
		r.Budget += on.Usage.Budget
		r.Used += on.Usage.Used
		r.Working += on.Usage.Working
		for h, n := range on.Columns {
			if c, ok := names[h.Segment]; ok { // else of a snapshot that is no table's any more
				c.Kind = string(h.Kind)
				bytes[c] += n
			}
		}
	}
	for c, n := range bytes {
		c.Bytes = n
		r.Columns = append(r.Columns, c)
	}
	slices.SortFunc(r.Columns, func(a, b ResidentColumn) int {
		return cmp.Or(cmp.Compare(a.Table, b.Table), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Kind, b.Kind))
	})
	return r
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
