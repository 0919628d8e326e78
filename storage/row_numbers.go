package storage

import (
	"context"
	"math/bits"
	"slices"

	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/table"
)

// Numbered are rows with [table.NumberField] behind their fields.
type Numbered struct {
	*Rows
	columns []int // that were read
}

// Numbered is a view of the rows with their numbers, for one statement.
func (r *Rows) Numbered() *Numbered {
	return &Numbered{Rows: &Rows{r.evolvedFile, r.fresh, r.one, r.of, r.starts, nil}}
}

// split tells the table's columns from that of the numbers.
func (n *Numbered) split(columns []int) (rest []int, numbers bool) {
	fields := n.evolvedFile.Fields()
	rest = slices.DeleteFunc(slices.Clone(columns), func(col int) bool { return col == fields })
	return rest, len(rest) < len(columns)
}

// wide is a table whose chunks begin at some rows with the field, and perhaps the numbers.
func wide(t *table.Table, first []int, numbers bool, segment func(first, rows int) *table.Segment) *table.Table {
	n := len(t.Fields)
	out := t.With()
	out.Fields = append(slices.Clip(t.Fields), table.NumberField)
	for i, c := range t.Chunks {
		wider := &table.Chunk{Rows: c.Rows, Deleted: c.Deleted, Segments: append(slices.Clip(c.Segments[:n]), nil)}
		if numbers {
			wider.Segments[n] = segment(first[i], c.Rows)
		}
		wider.Segments = append(wider.Segments, c.Segments[n:]...)
		out.Chunks = append(out.Chunks, wider)
	}
	return out
}

// placeholderNumbers is what is known of numbers that are not read.
func placeholderNumbers(first, rows int) *table.Segment {
	return &table.Segment{Type: table.NumberField.Type, Base: table.OrdinalInt(int64(first)), Max: uint64(max(rows-1, 0)), Bits: bits.Len(uint(max(rows-1, 0))), Codes: table.Codes{U8: make([]uint8, rows)}}
}

// Read is [Rows.Read]; what was read before is read again.
func (n *Numbered) Read(ctx context.Context, columns []int, o ingest.Options) (*table.Table, error) {
	n.columns = slices.Compact(slices.Sorted(slices.Values(slices.Concat(n.columns, columns))))
	var groups []int
	for i := range n.Groups() {
		groups = append(groups, i)
	}
	return n.ReadGroups(ctx, groups, n.columns, o)
}

// ReadGroups is [Rows.ReadGroups].
func (n *Numbered) ReadGroups(ctx context.Context, groups, columns []int, o ingest.Options) (out *table.Table, err error) {
	rest, numbers := n.split(columns)
	o.Coming = nil
	for out == nil || len(groups) > 0 { // none have fields, too
		run := 0 // of groups that follow one another
		for run < len(groups) && (run == 0 || groups[run] == groups[run-1]+1) {
			run++
		}
		t, err := n.Rows.ReadGroups(ctx, groups[:run], rest, o)
		if err != nil {
			return nil, err
		}
		var first []int
		at := 0
		if run > 0 {
			at = n.starts[groups[0]]
		}
		for _, c := range t.Chunks {
			first, at = append(first, at), at+c.Rows
		}
		t = wide(t, first, numbers, table.Consecutive)
		if out != nil {
			t.Chunks = append(out.Chunks, t.Chunks...)
		}
		out, groups = t, groups[run:]
	}
	return out, nil
}

// ZoneMaps is [Rows.ZoneMaps].
func (n *Numbered) ZoneMaps(columns []int) (*table.Table, bool) {
	rest, numbers := n.split(columns)
	t, ok := n.Rows.ZoneMaps(rest)
	if !ok {
		return nil, false
	}
	return wide(t, n.starts, numbers, placeholderNumbers), true
}

// Shape is [Rows.Shape].
func (n *Numbered) Shape(columns []int) *table.Table {
	rest, numbers := n.split(columns)
	t := n.Rows.Shape(rest)
	if t == nil {
		return nil
	}
	return wide(t, n.starts, numbers, placeholderNumbers)
}

// GroupBytes is [Rows.GroupBytes].
func (n *Numbered) GroupBytes(group int, columns []int) int64 {
	rest, numbers := n.split(columns)
	bytes := n.Rows.GroupBytes(group, rest)
	if numbers {
		bytes += 4 * int64(n.starts[group+1]-n.starts[group])
	}
	return bytes
}
