package table

import (
	"fmt"
	"math/bits"
	"slices"
)

// Builder collects rows column by column and cuts them into chunks.
//
// Append a value to every column, then call [Builder.EndRow]; or append runs of
// values to the columns' builders and call [Builder.EndRows] for them together.
type Builder struct {
	name      string
	fields    []Field
	cols      []*ColumnBuilder
	chunkRows int
	rows      int // in the chunk being filled
	chunks    []*Chunk
}

// NewBuilder starts a table. chunkRows is the number of rows of a full chunk; 0
// means [MaxChunkRows].
func NewBuilder(name string, fields []Field, chunkRows int) *Builder {
	if chunkRows <= 0 {
		chunkRows = MaxChunkRows
	}
	b := &Builder{name: name, fields: slices.Clone(fields), chunkRows: chunkRows}
	for _, f := range fields {
		b.cols = append(b.cols, &ColumnBuilder{typ: f.Type})
	}
	return b
}

// Column returns the builder of column i.
func (b *Builder) Column(i int) *ColumnBuilder { return b.cols[i] }

// Room returns how many more rows the current chunk takes (at least 1): runs
// handed to [Builder.EndRows] must not be longer.
func (b *Builder) Room() int { return b.chunkRows - b.rows }

// EndRow ends a row: each supported column must have had one value appended.
func (b *Builder) EndRow() error { return b.EndRows(1) }

// EndRows ends n rows, n <= Room().
func (b *Builder) EndRows(n int) error {
	if n > b.Room() {
		return fmt.Errorf("table: %d rows for a chunk with room for %d", n, b.Room())
	}
	b.rows += n
	for i, c := range b.cols {
		if b.fields[i].Unsupported == "" && c.Len() != b.rows {
			return fmt.Errorf("table: column %s has %d values in a chunk of %d rows", b.fields[i].Name, c.Len(), b.rows)
		}
	}
	if b.rows == b.chunkRows {
		b.flush()
	}
	return nil
}

func (b *Builder) flush() {
	ch := &Chunk{Rows: b.rows}
	for i, c := range b.cols {
		if b.fields[i].Unsupported != "" {
			ch.Segments = append(ch.Segments, nil)
			continue
		}
		ch.Segments = append(ch.Segments, c.Segment())
		b.cols[i] = &ColumnBuilder{typ: b.fields[i].Type}
	}
	b.chunks = append(b.chunks, ch)
	b.rows = 0
}

// Table ends the build. A table without rows has no chunks.
func (b *Builder) Table() *Table {
	if b.rows > 0 {
		b.flush()
	}
	return &Table{Name: b.name, Fields: b.fields, Chunks: b.chunks}
}

// ColumnBuilder collects the values of one attribute of one chunk.
type ColumnBuilder struct {
	typ   Type
	ords  []uint64 // ordinals; for VARCHAR, indexes into strs in order of first sight
	valid Bitmap   // nil until the first NULL
	nulls int
	strs  []string
	index map[string]uint64
}

// Len returns the number of values appended.
func (c *ColumnBuilder) Len() int { return len(c.ords) }

// Grow makes room for n more values.
func (c *ColumnBuilder) Grow(n int) { c.ords = slices.Grow(c.ords, n) }

// Null appends a NULL.
func (c *ColumnBuilder) Null() {
	if c.valid == nil {
		c.valid = NewBitmap(len(c.ords))
		for i := range c.ords {
			c.valid.Set(i)
		}
	}
	c.push(0, false)
	c.nulls++
}

func (c *ColumnBuilder) push(o uint64, valid bool) {
	i := len(c.ords)
	c.ords = append(c.ords, o)
	if c.valid != nil {
		if i>>6 == len(c.valid) {
			c.valid = append(c.valid, 0)
		}
		if valid {
			c.valid.Set(i)
		}
	}
}

// Int appends an integer, a scaled DECIMAL, days, microseconds or a BOOLEAN's 0
// or 1.
func (c *ColumnBuilder) Int(i int64) {
	if c.typ.Kind == Boolean {
		c.push(uint64(i), true)
		return
	}
	c.push(OrdinalInt(i), true)
}

// Float appends a REAL or DOUBLE.
func (c *ColumnBuilder) Float(f float64) {
	if c.typ.Kind == Real {
		c.push(uint64(OrdinalFloat32(float32(f))), true)
		return
	}
	c.push(OrdinalFloat64(f), true)
}

// String appends a VARCHAR.
func (c *ColumnBuilder) String(s string) {
	if c.index == nil {
		c.index = map[string]uint64{}
	}
	k, ok := c.index[s]
	if !ok {
		k = uint64(len(c.strs))
		s = string([]byte(s)) // do not pin the reader's buffer
		c.strs = append(c.strs, s)
		c.index[s] = k
	}
	c.push(k, true)
}

// Value appends a value of the column's type, or NULL.
func (c *ColumnBuilder) Value(v Value) {
	switch {
	case v.Null:
		c.Null()
	case c.typ.Kind == Varchar:
		c.String(v.S)
	case c.typ.IsFloat():
		c.Float(v.F)
	default:
		c.Int(v.I)
	}
}

// Segment ends the column: ordinals become codes of the narrowest width.
func (c *ColumnBuilder) Segment() *Segment {
	s := &Segment{Type: c.typ, Valid: c.valid, Nulls: c.nulls}
	if c.typ.Kind == Varchar {
		s.Dict = slices.Sorted(slices.Values(c.strs))
		rank := make([]uint64, len(c.strs))
		for r, str := range s.Dict {
			rank[c.index[str]] = uint64(r)
		}
		for i := range c.ords {
			if len(rank) > 0 && !s.IsNull(i) {
				c.ords[i] = rank[c.ords[i]]
			}
		}
	}
	lo, hi, seen := ^uint64(0), uint64(0), false
	for i, o := range c.ords {
		if !s.IsNull(i) {
			lo, hi, seen = min(lo, o), max(hi, o), true
		}
	}
	if !seen {
		lo, hi = 0, 0
	}
	if c.typ.Kind == Varchar {
		lo = 0
	}
	s.Base, s.Max, s.Bits = lo, hi-lo, bits.Len64(hi-lo)
	for i := range c.ords {
		if s.IsNull(i) {
			c.ords[i] = 0
		} else {
			c.ords[i] -= lo
		}
	}
	s.Codes = Narrow(c.ords, s.Bits)
	return s
}

// Narrow returns the codes in the narrowest width that holds bits bits. 64-bit
// codes are kept, not copied.
func Narrow(codes []uint64, bits int) Codes {
	switch {
	case bits <= 8:
		return Codes{U8: narrow[uint8](codes)}
	case bits <= 16:
		return Codes{U16: narrow[uint16](codes)}
	case bits <= 32:
		return Codes{U32: narrow[uint32](codes)}
	}
	return Codes{U64: codes}
}

func narrow[T uint8 | uint16 | uint32](codes []uint64) []T {
	out := make([]T, len(codes))
	for i, c := range codes {
		out[i] = T(c)
	}
	return out
}
