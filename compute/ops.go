package compute

import (
	"fmt"

	"github.com/stencildb/stencildb/pass"
)

// Result says which words of the query's result a pass adds its counts of records to; -1
// for none.
type Result struct{ Selected, Values int }

// NoResult is the result of a pass that counts nothing.
var NoResult = Result{-1, -1}

// Assume implements pass.Planned: every record is selected, and has a value.
func (r Result) Assume(rows int, words []uint32) uint64 {
	for _, at := range []int{r.Selected, r.Values} {
		if at >= 0 {
			words[at] += uint32(rows)
		}
	}
	return 0
}

// Place returns the word of the count that the pass takes first; -1 for none.
func (r Result) Place() int {
	if r.Selected >= 0 {
		return r.Selected
	}
	return r.Values
}

// Popcount counts the selected records, or those of them that have a value of a column.
type Popcount struct {
	Result
	Where  string
	Column string // as SQL writes it, where the records are to be not NULL in it
}

// String implements pass.Op.
func (p Popcount) String() string {
	if p.Column != "" {
		return "Popcount(" + p.Column + " IS NOT NULL)"
	}
	return "Popcount(" + p.Where + ")"
}

// Counts implements pass.Op.
func (p Popcount) Counts() string {
	if p.Column != "" {
		return "selected records where " + p.Column + " is not NULL"
	}
	return "selected records"
}

// Check counts the records that raise an error.
type Check struct {
	Result
	Where string
}

// String implements pass.Op.
func (c Check) String() string { return "Check(" + c.Where + ")" }

// Counts implements pass.Op.
func (Check) Counts() string { return "records that raise an error" }

// Write evaluates a condition to a bitmap.
type Write struct {
	Result
	Where string
}

// String implements pass.Op.
func (w Write) String() string { return "Select(" + w.Where + ")" }

// Counts implements pass.Op.
func (Write) Counts() string { return "the bitmap of the records" }

// Accumulate adds up the selected codes, all bits in one pass (the paper's Accumulator).
type Accumulate struct {
	Result
	pass.Attribute
}

// String implements pass.Op.
func (a Accumulate) String() string { return "Accumulate(" + a.Name + ")" }

// Counts implements pass.Op.
func (a Accumulate) Counts() string {
	return "of the selected records, those with bit i of " + a.Name + " set, times 2^i"
}

// Bits are neighbouring stored bits of a column's codes, from the highest to the lowest.
type Bits struct{ High, Low int }

// String is "bits 7..5".
func (b Bits) String() string { return fmt.Sprintf("bits %d..%d", b.High, b.Low) }

// Has reports whether a bit is among them.
func (b Bits) Has(bit int) bool { return b.Low <= bit && bit <= b.High }

// Digits counts the selected values by their highest bits: value v in word Values + v of
// the result, but for v = 0 all.
type Digits struct {
	Result
	pass.Attribute
	Bits Bits
}

// String implements pass.Op.
func (d Digits) String() string { return fmt.Sprintf("Digits(%s, %v)", d.Name, d.Bits) }

// Counts implements pass.Op.
func (d Digits) Counts() string { return fmt.Sprintf("selected records by their %v", d.Bits) }

// Decide is a step of a k-th search. It decides bits from the counts of the pass before, in words From + v of
// the result. It counts the candidates that have these bits by the next bits, in words To + v.
type Decide struct {
	pass.Attribute
	Aggregate string
	Bits      Bits
	Next      Bits
	From, To  int
	Size      int // bits of a digit
}

// String implements pass.Op.
func (d Decide) String() string { return fmt.Sprintf("Decide(%s, %v)", d.Name, d.Bits) }

// Counts implements pass.Op.
func (d Decide) Counts() string {
	return fmt.Sprintf("candidates of %s that are left, by their %v", d.Aggregate, d.Next)
}

// Translate looks up the ranks of a chunk's texts among those of all chunks.
type Translate struct{ pass.Attribute }

// String implements pass.Op.
func (t Translate) String() string { return "Translate(" + t.Name + ")" }

// Counts implements pass.Op.
func (t Translate) Counts() string {
	return "nothing; the codes of " + t.Name + " become those of all chunks' common space"
}

// Values evaluates a condition from the codes, record by record, to a bitmap or a count.
type Values struct {
	Result
	Text string
}

// String implements pass.Op.
func (v Values) String() string { return "Values(" + v.Text + ")" }

// Counts implements pass.Op.
func (v Values) Counts() string {
	if v.Selected >= 0 {
		return "records with " + v.Text
	}
	return "nothing; records with " + v.Text + " become a bitmap"
}

// Semilinear is Values for a sum of columns, evaluated from the planes of the codes.
type Semilinear struct{ Values }

// String implements pass.Op.
func (s Semilinear) String() string { return "Semilinear(" + s.Text + ")" }

// FloatSum adds up the selected values of a REAL or DOUBLE column.
type FloatSum struct{ pass.Attribute }

// String implements pass.Op.
func (f FloatSum) String() string { return "FloatSum(" + f.Name + ")" }

// Counts implements pass.Op.
func (f FloatSum) Counts() string { return "the selected values of " + f.Name + ", added exactly" }
