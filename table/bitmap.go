package table

import (
	"math/bits"
	"slices"
)

// Bitmap holds one bit a row, row i in bit i%64 of word i/64. A nil one has no bit set, and what is made of it alone is nil.
type Bitmap []uint64

// NewBitmap returns a bitmap of n clear bits.
func NewBitmap(n int) Bitmap { return make(Bitmap, (n+63)/64) }

// Rows lists the set bits.
func (b Bitmap) Rows() []uint32 {
	out := make([]uint32, 0, b.Count())
	for w, m := range b {
		for ; m != 0; m &= m - 1 {
			out = append(out, uint32(64*w+bits.TrailingZeros64(m)))
		}
	}
	return out
}

// sized is the bitmap of n rows, of which those behind its last bit have none set.
func (b Bitmap) sized(n int) Bitmap {
	if b == nil {
		return nil
	}
	return append(b, make(Bitmap, (n+63)/64-len(b))...)
}

// any is the bitmap, nil where no bit is set.
func (b Bitmap) any() Bitmap {
	for _, word := range b {
		if word != 0 {
			return b
		}
	}
	return nil
}

// window is the bits of rows from row from on; both numbers are multiples of 64, but at the end of the bitmap.
func (b Bitmap) window(from, rows int) Bitmap {
	if b == nil {
		return nil
	}
	return b[from/64:][:(rows+63)/64].any()
}

// Of is the bits of some rows, in the order in which they are listed; nil where none of these is set.
func (b Bitmap) Of(rows []uint32) Bitmap {
	if b == nil {
		return nil
	}
	out := NewBitmap(len(rows))
	for i, row := range rows {
		if b.Get(int(row)) {
			out.Set(i)
		}
	}
	return out.any()
}

// then is the bitmap of n rows, and behind it another of so many rows.
func (b Bitmap) then(n int, other Bitmap, rows int) Bitmap {
	out := NewBitmap(n + rows)
	copy(out, b)
	for i, word := range other {
		at := n/64 + i
		out[at] |= word << (n % 64)
		if n%64 != 0 && at+1 < len(out) {
			out[at+1] |= word >> (64 - n%64)
		}
	}
	return out
}

// assigned is the bitmap of n rows with the bits of another, from its bit from on, in some rows.
func (b Bitmap) assigned(n int, rows []int, values Bitmap, from int) Bitmap {
	if b == nil && values == nil {
		return nil
	}
	out := slices.Clone(b)
	if out == nil {
		out = NewBitmap(n)
	}
	for i, row := range rows {
		out[row>>6] &^= 1 << (uint(row) & 63)
		if values != nil && values.Get(from+i) {
			out.Set(row)
		}
	}
	return out.any()
}

// Get returns bit i.
func (b Bitmap) Get(i int) bool { return b[i>>6]>>(uint(i)&63)&1 != 0 }

// Set sets bit i.
func (b Bitmap) Set(i int) { b[i>>6] |= 1 << (uint(i) & 63) }

// Count returns the number of set bits. It adds up four words at a time, which do not
// wait for each other.
func (b Bitmap) Count() int {
	var n, m, k, l int
	for ; len(b) >= 4; b = b[4:] {
		n += bits.OnesCount64(b[0])
		m += bits.OnesCount64(b[1])
		k += bits.OnesCount64(b[2])
		l += bits.OnesCount64(b[3])
	}
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n + m + k + l
}
