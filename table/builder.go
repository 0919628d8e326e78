package table

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/stencildb/stencildb/internal/parallel"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/table/dictionary"
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
	full      int // bytes of chunks
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

// Bytes estimates the memory of what was appended so far, chunks that are full
// included.
func (b *Builder) Bytes() int {
	n := b.full
	for _, c := range b.cols {
		n += c.Bytes()
	}
	return n
}

// EndRow ends a row: each supported column must have had one value appended.
func (b *Builder) EndRow() error { return b.EndRows(1) }

// Rows is how many rows have been ended.
func (b *Builder) Rows() (n int) {
	n = xslices.Sum(b.chunks, func(c *Chunk) int { return c.Rows })
	return n + b.rows
}

// EndRows ends n rows, n <= Room().
func (b *Builder) EndRows(n int) error {
	if n > b.Room() {
		return fmt.Errorf("table: %d rows for a chunk with room for %d", n, b.Room())
	}
	b.rows += n
	for i, c := range b.cols {
		if err := c.Err(); err != nil {
			return err
		}
		if b.fields[i].Unsupported == "" && c.Len() != b.rows {
			return fmt.Errorf("table: column %s has %d values in a chunk of %d rows", b.fields[i].Name, c.Len(), b.rows)
		}
	}
	if b.rows == b.chunkRows {
		b.flush(nil)
	}
	return nil
}

// Coming is told of a table before all of its segments are there. A missing segment is a zone map, as
// [SegmentBuilder.ZoneMaps] gives it. The function that Coming returns is called for each segment once it is complete.
type Coming func(*Table) (there func(chunk, col int, s *Segment))

// fewRows is how many rows of a chunk have their columns ended one after the other: waking other threads would take longer.
const fewRows = 1 << 10

// flush ends a chunk. Of the table with it coming is told, unless it is nil.
func (b *Builder) flush(coming Coming) {
	ch := &Chunk{Rows: b.rows, Segments: make([]*Segment, len(b.cols))}
	ranks := make([][]uint64, len(b.cols))
	var work parallel.Group
	each := work.Go
	if b.rows <= fewRows {
		each = func(do func()) { do() }
	}
	for i, c := range b.cols {
		if b.fields[i].Unsupported == "" {
			each(func() { ch.Segments[i], ranks[i] = c.begin() })
		}
	}
	work.Wait()
	there := func(int, int, *Segment) {}
	if coming != nil {
		there = b.tell(ch, coming)
	}
	at, filling, filled := len(b.chunks), 0, make(chan int, len(b.cols))
	for i, s := range ch.Segments {
		if s != nil {
			filling++
			each(func() {
				b.cols[i].fill(s, ranks[i])
				filled <- i
			})
		}
	}
	for range filling {
		i := <-filled
		b.full += ch.Segments[i].Bytes()
		b.cols[i] = b.cols[i].Next(ch.Segments[i])
		there(at, i, ch.Segments[i])
	}
	b.chunks = append(b.chunks, ch)
	b.rows = 0
}

// tell tells coming of the table with a last chunk, unless that is nil, and of the segments of the others.
func (b *Builder) tell(last *Chunk, coming Coming) (there func(chunk, col int, s *Segment)) {
	t := &Table{Name: b.name, Fields: b.fields, Chunks: slices.Clone(b.chunks)}
	if last != nil {
		zones := &Chunk{Rows: last.Rows, Segments: make([]*Segment, len(last.Segments))}
		for i, s := range last.Segments {
			if s != nil {
				zones.Segments[i] = s.zoneMaps()
			}
		}
		t.Chunks = append(t.Chunks, zones)
	}
	there = coming(t)
	for i, c := range b.chunks {
		for col, s := range c.Segments {
			if s != nil {
				there(i, col, s)
			}
		}
	}
	return there
}

// Table ends the build. A table without rows has no chunks.
func (b *Builder) Table() *Table { return b.TableAhead(nil) }

// TableAhead is [Builder.Table], and calls coming, unless it is nil, before the codes of the last chunk are
// made. The caller's goroutine makes both this call and those for the segments.
func (b *Builder) TableAhead(coming Coming) *Table {
	switch {
	case b.rows > 0:
		b.flush(coming)
	case coming != nil:
		b.tell(nil, coming)
	}
	return &Table{Name: b.name, Fields: b.fields, Chunks: b.chunks}
}

// blockRows is how many values a ColumnBuilder holds as 64-bit ordinals before it packs them. So a builder
// takes about as much memory as its segment will.
const blockRows = 1 << 16

// ColumnBuilder collects the values of one attribute of one chunk.
type ColumnBuilder struct {
	typ    Type
	ords   []uint64 // of the rows after the blocks; for VARCHAR numbers of words
	blocks []block
	packed int    // rows in blocks, a multiple of blockRows
	valid  Bitmap // nil until the first NULL
	nulls  int
	words  dictionary.Builder
	// negative has the rows whose value is -0; nil until the first.
	negative Bitmap
	bytes    int        // what blocks take
	past     []*Segment // of an INTERVAL: those of the chunks before
	spans    *spans
}

// spans are the intervals of a column: nil until the first that microseconds do not tell.
type spans struct {
	of   map[int64]Span // [Segment.Spans], and all others that there are
	both string         // two that are equal, and not the same
}

// Next is the builder of the chunk after that of a segment.
func (c *ColumnBuilder) Next(s *Segment) *ColumnBuilder {
	out := &ColumnBuilder{typ: c.typ, spans: c.spans}
	if c.typ.Kind == Interval && c.spans == nil {
		out.past = append(c.past, s)
	}
	return out
}

// Err says what is wrong with the values appended. A column cannot hold intervals that are equal but have other
// months or days: their ordinals are the same.
func (c *ColumnBuilder) Err() error {
	if c.spans == nil || c.spans.both == "" {
		return nil
	}
	return fmt.Errorf("a column cannot have both of the intervals %s, which are equal: write justify_interval(x) for the column", c.spans.both)
}

// interval notes an interval of the column and its ordinal. Before the first that microseconds do not tell there is nothing
// to note: the rows have all.
func (c *ColumnBuilder) interval(v Value, ordinal uint64) {
	if c.spans == nil {
		if v.Span == (Span{}) {
			return
		}
		c.spans = &spans{of: map[int64]Span{}}
		for _, s := range append(c.past, c.soFar()) {
			for i := range s.Rows() {
				if !s.IsNull(i) {
					c.spans.of[s.Value(i).I] = Span{}
				}
			}
		}
	}
	all := IntFromOrdinal(ordinal)
	if is, ok := c.spans.of[all]; ok && is != v.Span && c.spans.both == "" {
		c.spans.both = IntervalValue(all, is).String() + " and " + v.String()
	}
	c.spans.of[all] = v.Span
}

// UniteSpans has the segments of each column share their [Segment.Spans], after chunks of another table were added; an error is
// that of [ColumnBuilder.Err].
func (t *Table) UniteSpans() error {
	for i, f := range t.Fields {
		if f.Type.Kind != Interval || !slices.ContainsFunc(t.Chunks, func(c *Chunk) bool { return c.Segments[i].Spans != nil }) {
			continue
		}
		b := &ColumnBuilder{typ: f.Type, spans: &spans{of: map[int64]Span{}}}
		for _, c := range t.Chunks {
			s := c.Segments[i]
			for row := range s.Rows() {
				if v := s.Value(row); !v.Null {
					b.interval(v, Ordinal(v))
				}
			}
		}
		if err := b.Err(); err != nil {
			return err
		}
		for _, c := range t.Chunks {
			c.Segments[i] = c.Segments[i].Copy()
			c.Segments[i].Spans = b.spans.of
		}
	}
	return nil
}

// soFar is a segment of the values appended, which stay.
func (c *ColumnBuilder) soFar() *Segment {
	copied := &ColumnBuilder{typ: c.typ, ords: slices.Clone(c.ords), blocks: slices.Clone(c.blocks), packed: c.packed, valid: slices.Clone(c.valid), nulls: c.nulls}
	return copied.Segment()
}

// block is blockRows packed values: ordinal less lo.
type block struct {
	codes  Codes
	lo, hi uint64
	seen   bool // any value that is not NULL
}

// Len returns the number of values appended.
func (c *ColumnBuilder) Len() int { return c.packed + len(c.ords) }

// Bytes estimates the memory that the values appended take.
func (c *ColumnBuilder) Bytes() int {
	return c.bytes + c.words.Bytes + 8*cap(c.ords) + 8*cap(c.valid) + 8*cap(c.negative)
}

// Null appends a NULL.
func (c *ColumnBuilder) Null() {
	if c.valid == nil {
		c.valid = NewBitmap(c.Len())
		for i := range c.Len() {
			c.valid.Set(i)
		}
	}
	c.nulls++
	c.push(0, false)
}

func (c *ColumnBuilder) push(o uint64, valid bool) {
	c.ords = append(c.ords, o)
	if c.valid != nil {
		i := c.Len() - 1
		if i>>6 == len(c.valid) {
			c.valid = append(c.valid, 0)
		}
		if valid {
			c.valid.Set(i)
		}
	}
	if len(c.ords) == blockRows {
		c.pack()
	}
}

// pack turns the ordinals held into a block.
func (c *ColumnBuilder) pack() {
	if zero, float := c.typ.negativeZero(); float {
		c.negativeZeros(zero)
	}
	b := block{lo: ^uint64(0)}
	for i, o := range c.ords {
		if c.valid == nil || c.valid.Get(c.packed+i) {
			b.lo, b.hi, b.seen = min(b.lo, o), max(b.hi, o), true
		}
	}
	if !b.seen {
		b.lo = 0
	}
	codes, width := c.ords, bits.Len64(b.hi-b.lo)
	if width > 32 { // Narrow would keep the slice that is to be used again
		codes = slices.Clone(codes)
	}
	for i := range codes {
		codes[i] -= b.lo // a NULL's becomes garbage, which unpack ignores
	}
	b.codes = Narrow(codes, width)
	c.blocks = append(c.blocks, b)
	c.packed += len(c.ords)
	c.bytes += b.codes.Bytes()
	c.ords = c.ords[:0]
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

// Ints appends as [ColumnBuilder.Int] does, but no booleans.
func (c *ColumnBuilder) Ints(list []int64) {
	for c.valid == nil && len(list) > 0 {
		n := min(len(list), blockRows-len(c.ords))
		at := len(c.ords)
		c.ords = slices.Grow(c.ords, n)[:at+n]
		for i, v := range list[:n] {
			c.ords[at+i] = OrdinalInt(v)
		}
		if list = list[n:]; len(c.ords) == blockRows {
			c.pack()
		}
	}
	for _, v := range list {
		c.Int(v)
	}
}

// Float appends a REAL or DOUBLE.
func (c *ColumnBuilder) Float(f float64) {
	if c.typ.Kind == Real {
		c.push(uint64(SignedOrdinalFloat32(float32(f))), true)
		return
	}
	c.push(SignedOrdinalFloat64(f), true)
}

// Ordinals appends values by their signed ordinals, and texts by their [ColumnBuilder.Number]. A value is NULL where
// its bit of valid is 0. The bits begin at offset; without valid no value is NULL.
func (c *ColumnBuilder) Ordinals(list []uint64, valid []byte, offset int) {
	for valid == nil && c.valid == nil && len(list) > 0 { // the commonest
		n := min(len(list), blockRows-len(c.ords))
		if c.ords, list = append(c.ords, list[:n]...), list[n:]; len(c.ords) == blockRows {
			c.pack()
		}
	}
	for i, o := range list {
		if bit := offset + i; valid != nil && valid[bit/8]>>(bit%8)&1 == 0 {
			c.Null()
		} else {
			c.push(o, true)
		}
	}
}

// String appends a VARCHAR.
func (c *ColumnBuilder) String(s string) { c.push(c.Number(s), true) }

// Number is that of a VARCHAR's text among those seen.
func (c *ColumnBuilder) Number(s string) uint64 { return c.words.Number(s) }

// Ordinal appends a value by its signed ordinal, a VARCHAR by its [ColumnBuilder.Number].
func (c *ColumnBuilder) Ordinal(o uint64) { c.push(o, true) }

// Value appends a value of the column's type, or NULL.
func (c *ColumnBuilder) Value(v Value) {
	switch {
	case v.Null:
		c.Null()
	case c.typ.Kind == Varchar:
		c.String(v.S)
	default:
		o := SignedOrdinal(v)
		if c.typ.Kind == Interval {
			c.interval(v, o)
		}
		c.push(o, true)
	}
}

// Segment ends the column: ordinals become codes of the narrowest width.
func (c *ColumnBuilder) Segment() *Segment {
	s, rank := c.begin()
	c.fill(s, rank)
	return s
}

// begin is the segment but for its codes, for which there is room. Those of text are rank of the words' numbers.
func (c *ColumnBuilder) begin() (s *Segment, rank []uint64) {
	s = &Segment{Type: c.typ, Valid: c.valid, Nulls: c.nulls}
	if c.spans != nil {
		s.Spans = c.spans.of
	}
	n := c.Len()
	if len(c.ords) > 0 {
		c.pack()
	}
	c.ords = nil
	s.NegativeZeros = c.negative.sized(n)
	lo, hi, seen := ^uint64(0), uint64(0), false
	for _, b := range c.blocks {
		if b.seen {
			lo, hi, seen = min(lo, b.lo), max(hi, b.hi), true
		}
	}
	if !seen {
		lo, hi = 0, 0
	}
	if c.typ.Kind == Varchar {
		s.Dict = dictionary.Merge([]*dictionary.Builder{&c.words})
		rank = c.words.Ranks(s.Dict)
		c.words = dictionary.Builder{}
		lo, hi = 0, uint64(max(len(rank)-1, 0)) // every string was seen
	}
	s.Base, s.Max, s.Bits = lo, hi-lo, bits.Len64(hi-lo)
	s.Codes = NewCodes(n, s.Bits)
	return s, rank
}

// fill makes the codes of a segment that [ColumnBuilder.begin] gave.
func (c *ColumnBuilder) fill(s *Segment, rank []uint64) {
	switch {
	case s.Codes.U8 != nil:
		unpack(c, s.Codes.U8, s.Base, rank)
	case s.Codes.U16 != nil:
		unpack(c, s.Codes.U16, s.Base, rank)
	case s.Codes.U32 != nil:
		unpack(c, s.Codes.U32, s.Base, rank)
	default:
		unpack(c, s.Codes.U64, s.Base, rank)
	}
	c.blocks = nil
}

// unpack writes the codes of all blocks, each less lo, or through rank, and 0
// for a NULL. It lets go of each block as it passes.
func unpack[T uint8 | uint16 | uint32 | uint64](c *ColumnBuilder, out []T, lo uint64, rank []uint64) {
	row := 0
	for bi := range c.blocks {
		b := c.blocks[bi]
		c.blocks[bi] = block{}
		shift := b.lo - lo
		for i := range b.codes.Len() {
			code := b.codes.At(i) + shift
			switch {
			case c.valid != nil && !c.valid.Get(row):
				code = 0
			case rank != nil:
				code = rank[code]
			}
			out[row] = T(code)
			row++
		}
	}
}

// negativeZeros makes zeros of the ordinals held that are -0's, and notes their rows.
func (c *ColumnBuilder) negativeZeros(negative uint64) {
	for i, o := range c.ords {
		row := c.packed + i
		if o != negative || c.valid != nil && !c.valid.Get(row) {
			continue
		}
		if c.negative == nil || row>>6 >= len(c.negative) {
			c.negative = append(c.negative, make(Bitmap, row>>6+1-len(c.negative))...)
		}
		c.ords[i]++
		c.negative.Set(row)
	}
}
