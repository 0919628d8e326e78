package table

import (
	"fmt"
	"math/bits"
	"slices"
)

// LiveField is the hidden column behind a table's fields: TRUE where a row is not
// deleted. Only chunks with deleted rows have a segment of it, with code 0 for FALSE,
// 1 for TRUE and no NULL.
var LiveField = Field{Name: "live", Type: Type{Kind: Boolean}}

// Attributes returns the table's fields and, behind them, [LiveField].
func (t *Table) Attributes() []Field { return append(slices.Clip(t.Fields), LiveField) }

// Field returns field col, that of the hidden column for col = len(t.Fields).
func (t *Table) Field(col int) Field {
	if col == len(t.Fields) {
		return LiveField
	}
	return t.Fields[col]
}

// With returns the next snapshot of the table: the same fields, other chunks.
func (t *Table) With(chunks ...*Chunk) *Table {
	return &Table{Name: t.Name, Fields: t.Fields, Version: t.Version + 1, Chunks: chunks}
}

// Compacted returns a table of the same rows without the deleted ones. Chunks without
// deleted rows are shared; one of which all rows are deleted is left out.
func (t *Table) Compacted() *Table {
	var chunks []*Chunk
	for _, c := range t.Chunks {
		switch {
		case c.Deleted == 0:
			chunks = append(chunks, c)
		case c.Live() > 0:
			chunks = append(chunks, c.compacted())
		}
	}
	return t.With(chunks...)
}

// compacted is the chunk without its deleted rows.
func (c *Chunk) compacted() *Chunk {
	out := &Chunk{Rows: c.Live()}
	for _, s := range c.fields() {
		if s == nil { // of an unsupported field
			out.Segments = append(out.Segments, nil)
			continue
		}
		b := &ColumnBuilder{typ: s.Type}
		for i := range c.Rows {
			if c.IsLive(i) {
				b.Value(s.Value(i))
			}
		}
		out.Segments = append(out.Segments, b.Segment())
	}
	return out
}

// Live returns the number of rows that are not deleted.
func (c *Chunk) Live() int { return c.Rows - c.Deleted }

// IsLive reports whether row i is not deleted.
func (c *Chunk) IsLive(i int) bool {
	return c.Deleted == 0 || c.Segments[len(c.Segments)-1].Codes.U8[i] != 0
}

// fields returns the segments without that of the hidden column.
func (c *Chunk) fields() []*Segment {
	if c.Deleted > 0 {
		return c.Segments[:len(c.Segments)-1]
	}
	return c.Segments
}

// Delete returns the chunk with rows deleted; those that were deleted before stay so.
// The segments of the fields are shared. A row outside the chunk is an error.
func (c *Chunk) Delete(rows []int) (*Chunk, error) {
	live := make([]uint8, c.Rows)
	for i := range live {
		live[i] = 1
	}
	if c.Deleted > 0 {
		copy(live, c.Segments[len(c.Segments)-1].Codes.U8)
	}
	deleted := c.Deleted
	for _, r := range rows {
		if r < 0 || r >= c.Rows {
			return nil, fmt.Errorf("table: row %d of a chunk of %d rows cannot be deleted", r, c.Rows)
		}
		deleted += int(live[r])
		live[r] = 0
	}
	if deleted == c.Deleted {
		return c, nil
	}
	s := &Segment{Type: LiveField.Type, Codes: Codes{U8: live}}
	if deleted < c.Rows {
		s.Max, s.Bits = 1, 1
	}
	return &Chunk{Rows: c.Rows, Deleted: deleted, Segments: append(slices.Clip(c.fields()), s)}, nil
}

// Patch returns the chunk with values[i] in rows[i] of a column; the segments of the
// other columns are shared. See [Segment.Patch].
func (c *Chunk) Patch(col int, rows []int, values []Value) (*Chunk, error) {
	if col < 0 || col >= len(c.fields()) || c.Segments[col] == nil {
		return nil, fmt.Errorf("table: no column %d to patch", col)
	}
	s, err := c.Segments[col].Patch(rows, values)
	if err != nil {
		return nil, err
	}
	out := &Chunk{Rows: c.Rows, Deleted: c.Deleted, Segments: slices.Clone(c.Segments)}
	out.Segments[col] = s
	return out, nil
}

// Patch returns the segment with values[i], of its type or NULL, in rows[i]; the last
// counts where a row is named twice. The codes are copied. Base and dictionary stay
// where the new values have codes under them; else all rows get new codes.
func (s *Segment) Patch(rows []int, values []Value) (*Segment, error) {
	if len(rows) != len(values) {
		return nil, fmt.Errorf("table: %d values for %d rows", len(values), len(rows))
	}
	out := &Segment{Type: s.Type, Base: s.Base, Dict: s.Dict, Valid: slices.Clone(s.Valid)}
	rank, err := out.admit(s, values)
	if err != nil {
		return nil, err
	}
	codes := make([]uint64, s.Rows())
	for i := range codes {
		if c := s.Codes.At(i); !s.IsNull(i) {
			codes[i] = rank(s.Base + c)
		}
	}
	for i, r := range rows {
		if r < 0 || r >= len(codes) {
			return nil, fmt.Errorf("table: row %d of a segment of %d rows cannot be patched", r, len(codes))
		}
		codes[r] = 0
		if v := values[i]; !v.Null {
			codes[r] = out.code(v)
		}
		out.validate(r, len(codes), !values[i].Null)
	}
	if out.Valid != nil {
		if out.Nulls = len(codes) - out.Valid.Count(); out.Nulls == 0 {
			out.Valid = nil
		}
	}
	for _, c := range codes {
		out.Max = max(out.Max, c)
	}
	out.Bits = bits.Len64(out.Max)
	out.Codes = Narrow(codes, out.Bits)
	return out, nil
}

// admit gives the patched segment a base or a dictionary under which the values of
// old and the new ones have codes, and returns how an ordinal of old becomes a code.
func (s *Segment) admit(old *Segment, values []Value) (rank func(ordinal uint64) uint64, err error) {
	low, seen := old.Base, old.NonNull() > 0
	dict := slices.Clip(old.Dict)
	for _, v := range values {
		switch {
		case v.Null:
		case v.Type != s.Type:
			return nil, fmt.Errorf("table: a value of type %v for a column of type %v", v.Type, s.Type)
		case s.Type.Kind == Varchar:
			if _, ok := old.Rank(v.S); !ok {
				dict = append(dict, v.S)
			}
		case !seen:
			low, seen = Ordinal(v), true
		default:
			low = min(low, Ordinal(v))
		}
	}
	if s.Type.Kind != Varchar {
		s.Base = low
		return func(o uint64) uint64 { return o - low }, nil
	}
	if len(dict) > len(old.Dict) {
		slices.Sort(dict)
		s.Dict = slices.Compact(dict)
	}
	ranks := make([]uint64, len(old.Dict))
	for i, str := range old.Dict {
		k, _ := s.Rank(str)
		ranks[i] = uint64(k)
	}
	return func(o uint64) uint64 { return ranks[o] }, nil
}

// code is the code of a value, not NULL, that the segment admits.
func (s *Segment) code(v Value) uint64 {
	if s.Type.Kind == Varchar {
		k, _ := s.Rank(v.S)
		return uint64(k)
	}
	return Ordinal(v) - s.Base
}

// validate notes whether row i of n is not NULL.
func (s *Segment) validate(i, n int, valid bool) {
	if s.Valid == nil {
		if valid {
			return
		}
		s.Valid = NewBitmap(n)
		for k := range n {
			s.Valid.Set(k)
		}
	}
	if valid {
		s.Valid.Set(i)
	} else {
		s.Valid.Clear(i)
	}
}

// Check walks the whole table and returns the first broken invariant.
func (t *Table) Check() error {
	for ci, c := range t.Chunks {
		if err := t.check(c); err != nil {
			return fmt.Errorf("%w (%s chunk %d)", err, t.Name, ci)
		}
	}
	return nil
}

func (t *Table) check(c *Chunk) error {
	fields := t.Fields
	if c.Deleted != 0 {
		fields = t.Attributes()
	}
	if len(c.Segments) != len(fields) {
		return fmt.Errorf("table: %d segments for %d columns", len(c.Segments), len(fields))
	}
	for i, s := range c.Segments {
		f := fields[i]
		if s == nil && f.Unsupported != "" {
			continue
		}
		if s == nil || s.Rows() != c.Rows || s.Type != f.Type {
			return fmt.Errorf("table: %s does not fit its chunk", f.Name)
		}
		if err := s.Check(); err != nil {
			return fmt.Errorf("%w (%s)", err, f.Name)
		}
	}
	if c.Deleted != 0 {
		return c.checkLive()
	}
	return nil
}

// checkLive checks the hidden column.
func (c *Chunk) checkLive() error {
	s := c.Segments[len(c.Segments)-1]
	if s.Codes.U8 == nil || s.Base != 0 || s.Max > 1 || s.Valid != nil {
		return fmt.Errorf("table: %s is not a column of one bit", LiveField.Name)
	}
	live := 0
	for _, b := range s.Codes.U8 {
		live += int(b)
	}
	if live != c.Live() {
		return fmt.Errorf("table: %d rows live, the chunk says %d", live, c.Live())
	}
	return nil
}
