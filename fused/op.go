package fused

import (
	"fmt"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/pass"
)

// Bitmap draws the selection as a bitmap.
type Bitmap struct{ Where string }

// String implements pass.Op.
func (s Bitmap) String() string { return "Select(" + s.Where + ")" }

// Counts implements pass.Op.
func (Bitmap) Counts() string { return "nothing; the selection becomes a bit a record" }

// Count counts the records that satisfy a condition by a reduction.
type Count struct {
	Where string
	Check bool // there must be none
}

// String implements pass.Op.
func (c Count) String() string {
	if c.Check {
		return "Check(" + c.Where + ")"
	}
	return "Count(" + c.Where + ")"
}

// Counts implements pass.Op.
func (Count) Counts() string { return "records that satisfy the condition" }

// Assume implements pass.Planned.
func (Count) Assume(rows int, words []uint32) uint64 {
	words[0] = uint32(rows)
	return 0
}

// CountDepths counts the records that satisfy a condition by the depth test on an
// attribute that is kept as depths.
type CountDepths struct {
	Count
	Cmp expr.CmpOp
	End string // of a range, where each end takes a pass
}

// String implements pass.Op.
func (c CountDepths) String() string { return c.Count.String() + c.End }

// Counts implements pass.Op.
func (c CountDepths) Counts() string {
	return fmt.Sprintf("records whose depth is %v that of the quad", c.Cmp)
}

// Assume implements pass.Planned.
func (c CountDepths) Assume(rows int, _ []uint32) uint64 {
	if c.Cmp == expr.GT {
		return 0 // beyond the upper end of a range
	}
	return uint64(rows)
}

// Of is a column, measured over the selected records.
type Of struct {
	pass.Attribute
	Where string // "" for all records
}

// String is "x WHERE y < 5".
func (o Of) String() string {
	if o.Where == "" {
		return o.Name
	}
	return o.Name + " WHERE " + o.Where
}

// Sum adds up the selected codes by a reduction.
type Sum struct{ Of }

// String implements pass.Op.
func (s Sum) String() string { return "Sum(" + s.Of.String() + ")" }

// Counts implements pass.Op.
func (Sum) Counts() string { return "the sum of the selected codes, and how many they are" }

// Extreme finds the smallest and the largest of the selected codes by a reduction.
type Extreme struct {
	Of
	Largest bool // is what is asked for
}

// String implements pass.Op.
func (e Extreme) String() string {
	return map[bool]string{false: "Min(", true: "Max("}[e.Largest] + e.Of.String() + ")"
}

// Counts implements pass.Op.
func (Extreme) Counts() string { return "the smallest and the largest of the selected codes" }

// Mark marks the selected records in the stencil values of a resident depth texture.
type Mark struct{ Of }

// String implements pass.Op.
func (m Mark) String() string { return "Mark(" + m.Of.String() + ")" }

// Counts implements pass.Op.
func (Mark) Counts() string {
	return "nothing; the selected records are marked in the stencil buffer"
}

// KthLargest is a step of a k-th search. It counts the selected values at or above
// x + j * 2^Low for j from 1 on, which decide Bits bits from Low up. That is one by a depth test,
// two by a reduction.
type KthLargest struct {
	Of
	Top  int    // Low of the first step
	Low  int    // -1 in a plan
	Bits int    // that a step decides
	Code uint64 // x, in the code space that the chunks share
}

// String implements pass.Op.
func (s KthLargest) String() string {
	switch {
	case s.Low < 0 && s.Bits == 1:
		return fmt.Sprintf("KthLargest(%v): Compare(%s >= x + 2^i), i = %d..0", s.Of, s.Name, s.Top)
	case s.Low < 0:
		return fmt.Sprintf("KthLargest(%v): Count(%s >= x + j * 2^i, j = 1..3), i = %d, %d..0", s.Of, s.Name, s.Top, s.Top-2)
	case s.Bits == 1:
		return fmt.Sprintf("KthLargest(%v) bit %d", s.Of, s.Low)
	}
	return fmt.Sprintf("KthLargest(%v) bit %d, %d", s.Of, s.Low, s.Low+s.Bits-1)
}

// Counts implements pass.Op.
func (s KthLargest) Counts() string {
	text := "selected records that reach the tentative value"
	if s.Bits > 1 {
		text = fmt.Sprintf("selected records that reach each of %s tentative values", map[int]string{2: "three", 3: "seven", visitBits: "fifteen"}[s.Bits])
	}
	switch {
	case s.Low < 0 && s.Bits == 1:
		text += "; each count decides bit i of x"
	case s.Low < 0:
		text += "; they decide two bits of x"
	}
	return text
}

// Family implements pass.Adaptive.
func (s KthLargest) Family() pass.Op {
	s.Low, s.Code = -1, 0
	return s
}

// Assume implements pass.Planned: no bit is set.
func (KthLargest) Assume(int, []uint32) uint64 { return 0 }

// Merge folds partial results into fewer.
type Merge struct {
	pass.Op // that has left them
	From    [2]int
	To      [2]int
}

// String implements pass.Op.
func (m Merge) String() string {
	return fmt.Sprintf("Merge(%dx%d to %dx%d)", m.From[0], m.From[1], m.To[0], m.To[1])
}

// Counts implements pass.Op.
func (Merge) Counts() string { return "nothing; partial results are merged" }

// Family implements pass.Adaptive.
func (m Merge) Family() pass.Op {
	if a, ok := m.Op.(pass.Adaptive); ok {
		m.Op = a.Family()
	}
	return m
}

// Assume implements pass.Planned.
func (m Merge) Assume(rows int, words []uint32) uint64 {
	if o, ok := m.Op.(pass.Planned); ok {
		o.Assume(rows, words)
	}
	return 0
}
