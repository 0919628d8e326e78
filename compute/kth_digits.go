package compute

import (
	"math/bits"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/textures"
)

// digit is some neighbouring planes of one part of a code, lowest first.
type digit struct {
	part int
	at   []int // the bits of the code
}

// digits cuts bits that are stored into digits, highest first. A digit is in one part.
func (s stored) digits() []digit {
	var list []digit
	for part := 1; part >= 0; part-- {
		var at []int
		for v := s.part(part); v != 0; v &= v - 1 {
			at = append(at, textures.PartBits*part+bits.TrailingZeros32(v))
		}
		for high := len(at); high > 0; {
			low := max(0, high-digitBits)
			list = append(list, digit{part, at[low:high]})
			high = low
		}
	}
	return list
}

func (d digit) high() int { return d.at[len(d.at)-1] }
func (d digit) low() int  { return d.at[0] }

// wide reports whether the digit has more bits than threads have counters for.
func (d digit) wide() bool { return len(d.at) > digitBits }

// room is how many bits a program's digit has: none, few or many.
func (d digit) room() int {
	switch {
	case len(d.at) == 0:
		return 0
	case d.wide():
		return wideBits
	}
	return digitBits
}

// label says which bits of the code it has.
func (d digit) label() Bits { return Bits{d.high(), d.low()} }

// search finds one k-th largest value of a column, digit by digit (the paper's KthLargest, several bits a
// pass). A pass decides one digit from the counts of the pass before, and counts the next digit among the
// candidates left.
type search struct {
	agg   expr.Aggregate
	aggs  []int        // its place in the query
	of    string       // what is searched for
	rank  []int32      // rankArgs
	bases []int        // where the result has the counts of each digit
	parts []candidates // one a chunk of the order
	// outside says that not the device decides the digits: rank is the one decided last.
	outside bool
}

// candidates are the records of a chunk that have the digits decided so far.
type candidates struct {
	*Marks
	lists []unitList // by window: the units that have candidates left
}

// listBits is the number of decided bits after which the units with candidates are listed. If values are
// spread, few units of 128 records are left.
const listBits = 8

// wideBits is how many bits a digit may have where few candidates are left (Profile.Few). Each candidate is
// then counted by itself, in memory that a work group shares.
const wideBits = 12
