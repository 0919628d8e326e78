package table

import "math/bits"

// NumberField is a hidden column: the number of a row among all of its table, deleted ones included, from 0. No
// statement can write its name. UPDATE and DELETE find the rows that they change by it.
var NumberField = Field{Name: "row\x00number", Type: Type{Kind: BigInt}}

// Numbered returns a table of the same rows with [NumberField] behind its fields. The segments are shared, and those
// of numbers with another table of numbers, if any: of the snapshot before.
func (t *Table) Numbered(before *Table) *Table {
	out := &Table{Name: t.Name, Fields: append(t.Fields[:len(t.Fields):len(t.Fields)], NumberField), Version: t.Version}
	first := 0
	for i, c := range t.Chunks {
		var numbers *Segment
		if before != nil && i < len(before.Chunks) && before.Chunks[i].Rows == c.Rows {
			if s := before.Chunks[i].Segments[len(before.Fields)-1]; s.Base == OrdinalInt(int64(first)) {
				numbers = s
			}
		}
		if numbers == nil {
			numbers = consecutive(first, c.Rows)
		}
		chunk := &Chunk{Rows: c.Rows, Deleted: c.Deleted, Segments: append(c.fields()[:len(t.Fields):len(t.Fields)], numbers)}
		if c.Deleted > 0 {
			chunk.Segments = append(chunk.Segments, c.live())
		}
		out.Chunks = append(out.Chunks, chunk)
		first += c.Rows
	}
	return out
}

// consecutive is a segment of the n integers from first on.
func consecutive(first, n int) *Segment {
	s := &Segment{Type: NumberField.Type, Base: OrdinalInt(int64(first)), Max: uint64(max(n-1, 0))}
	to := &space{bits: bits.Len64(s.Max)}
	s.Bits, s.Codes = to.bits, to.room(n)
	inParts(n, func(from, end int) {
		for i := from; i < end; i++ {
			s.Codes.set(i, uint64(i))
		}
	})
	return s
}
