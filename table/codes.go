package table

import (
	"math/bits"
	"slices"
)

// Codes is a slice of codes in the narrowest of four widths; exactly one field is
// non-nil (all nil: no rows).
type Codes struct {
	U8  []uint8
	U16 []uint16
	U32 []uint32
	U64 []uint64
}

// NewCodes returns n codes of 0, each in the narrowest width that holds bits bits.
func NewCodes(n, bits int) (c Codes) {
	switch {
	case bits <= 8:
		c.U8 = make([]uint8, n)
	case bits <= 16:
		c.U16 = make([]uint16, n)
	case bits <= 32:
		c.U32 = make([]uint32, n)
	default:
		c.U64 = make([]uint64, n)
	}
	return c
}

// Len returns the number of codes.
func (c Codes) Len() int { return len(c.U8) + len(c.U16) + len(c.U32) + len(c.U64) }

// At returns code i.
func (c Codes) At(i int) uint64 {
	switch {
	case c.U8 != nil:
		return uint64(c.U8[i])
	case c.U16 != nil:
		return uint64(c.U16[i])
	case c.U32 != nil:
		return uint64(c.U32[i])
	}
	return c.U64[i]
}

// largest is the largest code; 0 where there is none.
func (c Codes) largest() uint64 {
	return max(uint64(largest(c.U8)), uint64(largest(c.U16)), uint64(largest(c.U32)), largest(c.U64))
}

func largest[T uint8 | uint16 | uint32 | uint64](list []T) (top T) {
	for _, c := range list {
		top = max(top, c)
	}
	return top
}

// Bytes returns the memory the codes take.
func (c Codes) Bytes() int { return len(c.U8) + 2*len(c.U16) + 4*len(c.U32) + 8*len(c.U64) }

// Width is the bytes that a code takes: 1, 2, 4 or 8.
func (c Codes) Width() int {
	switch {
	case c.U64 != nil:
		return 8
	case c.U32 != nil:
		return 4
	case c.U16 != nil:
		return 2
	}
	return 1
}

// Set writes the code of a row; it fits the width.
func (c Codes) Set(i int, code uint64) {
	switch {
	case c.U8 != nil:
		c.U8[i] = uint8(code)
	case c.U16 != nil:
		c.U16[i] = uint16(code)
	case c.U32 != nil:
		c.U32[i] = uint32(code)
	default:
		c.U64[i] = code
	}
}

// scatter writes codes to rows.
func (c Codes) scatter(rows []int, codes []uint64) {
	switch {
	case c.U8 != nil:
		scatter(c.U8, rows, codes)
	case c.U16 != nil:
		scatter(c.U16, rows, codes)
	case c.U32 != nil:
		scatter(c.U32, rows, codes)
	default:
		scatter(c.U64, rows, codes)
	}
}

func scatter[T uint8 | uint16 | uint32 | uint64](out []T, rows []int, codes []uint64) {
	for i, row := range rows {
		out[row] = T(codes[i])
	}
}

// SetOrdinals writes the codes of integers to rows: their ordinals, less that of code 0.
func (c Codes) SetOrdinals(rows []uint32, of []int64, base uint64) {
	switch {
	case c.U8 != nil:
		setOrdinals(c.U8, rows, of, base)
	case c.U16 != nil:
		setOrdinals(c.U16, rows, of, base)
	case c.U32 != nil:
		setOrdinals(c.U32, rows, of, base)
	default:
		setOrdinals(c.U64, rows, of, base)
	}
}

func setOrdinals[T uint8 | uint16 | uint32 | uint64](out []T, rows []uint32, of []int64, base uint64) {
	for i, row := range rows {
		out[row] = T(OrdinalInt(of[i]) - base)
	}
}

// blank is as many codes of the same width, all 0.
func (c Codes) blank() Codes { return NewCodes(c.Len(), 8*c.Width()) }

func copyCodes(to, from Codes) {
	InParts(from.Len(), func(lo, hi int) {
		switch {
		case from.U8 != nil:
			copy(to.U8[lo:hi], from.U8[lo:hi])
		case from.U16 != nil:
			copy(to.U16[lo:hi], from.U16[lo:hi])
		case from.U32 != nil:
			copy(to.U32[lo:hi], from.U32[lo:hi])
		case from.U64 != nil:
			copy(to.U64[lo:hi], from.U64[lo:hi])
		}
	})
}

// Narrow returns the codes in the narrowest width that holds bits bits. 64-bit
// codes are kept, not copied.
func Narrow(codes []uint64, bits int) Codes {
	if bits > 32 {
		return Codes{U64: codes}
	}
	c := NewCodes(len(codes), bits)
	c.Put(0, codes)
	return c
}

// Put writes codes, that of row first and those of the rows behind it. They fit the width.
func (c Codes) Put(first int, codes []uint64) {
	switch {
	case c.U8 != nil:
		narrow(c.U8[first:], codes)
	case c.U16 != nil:
		narrow(c.U16[first:], codes)
	case c.U32 != nil:
		narrow(c.U32[first:], codes)
	default:
		copy(c.U64[first:], codes)
	}
}

func narrow[T uint8 | uint16 | uint32](out []T, codes []uint64) {
	out = out[:len(codes)]
	for i, c := range codes {
		out[i] = T(c)
	}
}

// Next is the first row from one on that has a code; negative where none has. NULL has code 0, too.
func (c Codes) Next(from int, code uint64) int {
	switch {
	case from >= c.Len():
		return -1
	case c.U8 != nil:
		return next(c.U8, from, uint8(code))
	case c.U16 != nil:
		return next(c.U16, from, uint16(code))
	case c.U32 != nil:
		return next(c.U32, from, uint32(code))
	}
	return next(c.U64, from, code)
}

func next[T uint8 | uint16 | uint32 | uint64](codes []T, from int, code T) int {
	at := slices.Index(codes[from:], code)
	if at < 0 {
		return at
	}
	return from + at
}

// CodeWidth is the bytes that codes up to most take each: 1, 2, 4 or 8.
func CodeWidth(most uint64) int {
	return 1 << bits.Len(uint(max(1, bits.Len64(most))-1)>>3)
}
