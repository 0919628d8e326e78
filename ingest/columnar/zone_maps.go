package columnar

import (
	"math"

	"github.com/stencildb/stencildb/table"
)

// zoneMaps is a table as a file's statistics tell of some columns. It has a chunk for each of its
// row groups, and segments. The segments' numbers (Base, Max, Bits, Nulls) are right as far as [table.Inexact] says, their codes are
// not. ok is false where the file states no bounds, or there is no group.
func (list Groups) ZoneMaps(of *table.Table, columns []int) (t *table.Table, ok bool) {
	t = &table.Table{Name: of.Name, Fields: of.Fields}
	most := 0
	for _, g := range list {
		most = max(most, g.Rows)
	}
	none := make([]uint8, most)
	for _, g := range list {
		c := &table.Chunk{Rows: g.Rows, Segments: make([]*table.Segment, len(of.Fields))}
		for _, i := range columns {
			if c.Segments[i] = g.zoneMaps(of.Fields[i], i, none); c.Segments[i] == nil {
				return nil, false
			}
		}
		t.Chunks = append(t.Chunks, c)
	}
	return t, len(list) > 0
}

// Shape is ZoneMaps of columns of which the file may not say anything: then their numbers leave room for all.
func (list Groups) Shape(of *table.Table, columns []int) *table.Table {
	t := &table.Table{Name: of.Name, Fields: of.Fields}
	for _, g := range list {
		c := &table.Chunk{Rows: g.Rows, Segments: make([]*table.Segment, len(of.Fields))}
		none := make([]uint8, g.Rows)
		for _, i := range columns {
			if c.Segments[i] = g.zoneMaps(of.Fields[i], i, none); c.Segments[i] != nil {
				continue
			}
			c.Segments[i] = Unknown(of.Fields[i].Type, none)
		}
		t.Chunks = append(t.Chunks, c)
	}
	return t
}

// Unknown is a column of rows of which nothing is known, as shape has it, with a code for each, which is not looked at.
func Unknown(t table.Type, codes []uint8) *table.Segment {
	s := &table.Segment{Type: t, Codes: table.Codes{U8: codes}, Max: math.MaxUint64, Bits: 64, Nulls: 1, Inexact: table.InexactRange | table.InexactNulls}
	if t.Kind == table.Varchar {
		s.Max, s.Bits, s.Dict = 0, 0, []string{""}
	}
	return s
}

// zoneMaps is a column of a row group as the file's statistics describe it, with codes that are not right. It is nil where they
// do not describe it.
func (g Group) zoneMaps(f table.Field, i int, codes []uint8) *table.Segment {
	if f.Unsupported != "" {
		return nil
	}
	return g.Stated(i).zoneMaps(f.Type, codes[:g.Rows])
}
