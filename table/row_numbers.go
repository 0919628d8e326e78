package table

import "math/bits"

// NumberField is a hidden column: the number of a row among all of its table, deleted ones included, from 0. No
// statement can write its name. UPDATE and DELETE find the rows that they change by it.
var NumberField = Field{Name: "row\x00number", Type: Type{Kind: BigInt}}

// Numbered returns a table of the same rows with [NumberField] behind its fields, and the segments of the numbers. Those
// of an earlier snapshot are taken again where they fit. The other segments are shared.
func (t *Table) Numbered(before []*Segment) (_ *Table, numbers []*Segment) {
	out := &Table{Name: t.Name, Fields: append(t.Fields[:len(t.Fields):len(t.Fields)], NumberField), Version: t.Version}
	first := 0
	for i, c := range t.Chunks {
		if i < len(before) && before[i].Rows() == c.Rows && before[i].Base == OrdinalInt(int64(first)) {
			numbers = append(numbers, before[i])
		} else {
			numbers = append(numbers, Consecutive(first, c.Rows))
		}
		chunk := &Chunk{Rows: c.Rows, Deleted: c.Deleted, Segments: append(c.fields()[:len(t.Fields):len(t.Fields)], numbers[i])}
		if c.Deleted > 0 {
			chunk.Segments = append(chunk.Segments, c.live())
		}
		out.Chunks = append(out.Chunks, chunk)
		first += c.Rows
	}
	return out, numbers
}

// Consecutive is a segment of the n integers from first on.
func Consecutive(first, n int) *Segment {
	s := &Segment{Type: NumberField.Type, Base: OrdinalInt(int64(first)), Max: uint64(max(n-1, 0))}
	to := &space{bits: bits.Len64(s.Max)}
	s.Bits, s.Codes = to.bits, NewCodes(n, to.bits)
	InParts(n, func(from, end int) {
		for i := from; i < end; i++ {
			s.Codes.Set(i, uint64(i))
		}
	})
	return s
}
