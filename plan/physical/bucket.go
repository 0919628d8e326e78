package physical

// Bucket is some rows of a side of a [JoinQuery]. Low and High are their keys in the space of both sides; High is there where 32 bits are
// not enough. Rows are their numbers in the table or, where a list gives the rows, their places in it.
type Bucket struct{ Low, High, Rows []uint32 }

// Len is how many rows there are.
func (b *Bucket) Len() int { return len(b.Rows) }

// Key is the key of a row.
func (b *Bucket) Key(i int) uint64 {
	if b.High == nil {
		return uint64(b.Low[i])
	}
	return uint64(b.High[i])<<32 | uint64(b.Low[i])
}

// Cut is the rows from i to before j.
func (b *Bucket) Cut(i, j int) Bucket {
	out := Bucket{Low: b.Low[i:j], Rows: b.Rows[i:j]}
	if b.High != nil {
		out.High = b.High[i:j]
	}
	return out
}

// Append adds rows.
func (b *Bucket) Append(more Bucket) {
	b.Low, b.High, b.Rows = append(b.Low, more.Low...), append(b.High, more.High...), append(b.Rows, more.Rows...)
}
