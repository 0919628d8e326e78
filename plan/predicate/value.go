package predicate

import (
	"math/big"
	"slices"
)

// ValOp is the operation of a [Val] node.
type ValOp uint8

// The operations of a value.
const (
	Col   ValOp = iota // an integer-like column: code + Offset, as int64
	ColF               // a REAL or DOUBLE column, decoded to a double from ordinal code + Base
	Const              // the integer I, or the double F
	AddV               // Kids[0] + Kids[1], and so on
	SubV
	MulV
	DivV    // integers: truncated towards zero
	ModV    // integers only: the sign of the dividend
	NegV    // -Kids[0]
	ToFloat // the double nearest to the integer Kids[0]
	Round32 // the double Kids[0] rounded to float32 (REAL arithmetic)
	Lookup  // Table[code of Col]: a dictionary mapped to common ranks
)

// Val is an arithmetic expression over the codes of one record, either all in
// 64-bit integers or in doubles (Float).
//
// Integer nodes carry the interval [Lo, Hi] that the segments' ranges allow, computed without rounding. It
// may exceed 64 bits. Then CanFail is set, and the operation must be checked where it is computed. A node
// with CanFail false cannot overflow or divide by zero, given that its operands did not.
type Val struct {
	Op     ValOp
	Kids   []*Val
	Float  bool
	Column int    // Col, ColF, Lookup: field index
	Name   string // Col, ColF, Lookup: the column's name
	Offset int64  // Col: value = int64(code) + Offset, wrapping; the sum itself fits 64 bits
	Max    uint64 // Col: the largest code, also of values outside of [Lo, Hi], of which an error is noted
	Base   uint64 // ColF: ordinal = code + Base
	Single bool   // ColF: a REAL's 32-bit ordinal
	I      int64
	F      float64
	Table  []uint32 // Lookup
	Lo, Hi *big.Int // integer nodes
	// Float nodes: every value that is not NaN lies in [FLo, FHi] (infinities
	// included), and MayNaN says whether NaN is possible.
	FLo, FHi float64
	MayNaN   bool
	CanFail  bool

	Tiny  float64 // float nodes: a value that is not 0 has at least this magnitude
	Grain int     // and is a multiple of 2^grain
}

// Columns lists the columns that v reads, ascending, without repetition.
func (v *Val) Columns() []int {
	var cols []int
	var walk func(*Val)
	walk = func(v *Val) {
		if v == nil {
			return
		}
		switch v.Op {
		case Col, ColF, Lookup:
			cols = append(cols, v.Column)
		}
		for _, k := range v.Kids {
			walk(k)
		}
	}
	walk(v)
	slices.Sort(cols)
	return slices.Compact(cols)
}
