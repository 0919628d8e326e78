package pass

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/textures"
)

// Attribute is a column as a routine names it, or one limb of a wide one.
type Attribute struct {
	Name  string // as SQL writes it
	Col   int    // field of the table; -1 for a mask, which is no column
	Limb  int
	Limbs int // that its codes have
}

// String is "delay", or of a limb "time.1".
func (a Attribute) String() string {
	if a.Limbs <= 1 {
		return a.Name
	}
	return fmt.Sprintf("%s.%d", a.Name, a.Limb)
}

// in says of which condition over the whole attribute a limb's is a part.
func (a Attribute) in(limb, whole string) string {
	if a.Limbs <= 1 {
		return whole
	}
	return limb + " of " + whole
}

// Outcome says what becomes of the records that satisfy a predicate.
type Outcome uint8

// Outcomes.
const (
	Marked     Outcome = iota // in the stencil buffer
	Counted                   // and perhaps marked, too
	CountedAll                // they satisfy every clause before, too
	CountedOf                 // they are among the selected
)

// Counts reports whether the records are counted.
func (o Outcome) Counts() bool { return o != Marked }

func (o Outcome) of(text string) string {
	switch o {
	case Counted:
		return "records with " + text
	case CountedAll:
		return "records that satisfy " + text + " and every clause before"
	case CountedOf:
		return "selected records with " + text
	}
	return "nothing; records with " + text + " are marked in the stencil buffer"
}

// CopyToDepth copies an attribute to the depth buffer (paper, routine 4.1).
type CopyToDepth struct{ Attribute }

// String implements Op.
func (c CopyToDepth) String() string { return "CopyToDepth(" + c.Attribute.String() + ")" }

// Counts implements Op.
func (CopyToDepth) Counts() string { return "nothing; the attribute becomes depth" }

// Compare is a quad at the depth of a code (paper, routine 4.1).
type Compare struct {
	Attribute
	Cmp     expr.CmpOp
	Code    uint64 // of the limb; textures.NullLimb for IS NULL (=) and IS NOT NULL (<)
	Text    string // the condition over the whole attribute, in values
	Outcome Outcome
}

// Predicate is what the pass decides: "delay < 60", "time.1 >= 37 of time >= 14:00".
func (c Compare) Predicate() string {
	if c.Code == textures.NullLimb {
		return c.Text
	}
	return c.in(fmt.Sprintf("%v %v %d", c.Attribute, c.Cmp, c.Code), c.Text)
}

// String implements Op.
func (c Compare) String() string { return "Compare(" + c.Predicate() + ")" }

// Counts implements Op.
func (c Compare) Counts() string { return c.Outcome.of(c.Predicate()) }

// Range is the depth bounds test (paper, routine 4.4).
type Range struct {
	Attribute
	Lo, Hi  uint64 // codes, both inclusive
	Text    string
	Outcome Outcome
}

// String implements Op.
func (r Range) String() string { return "Range(" + r.Text + ")" }

// Counts implements Op.
func (r Range) Counts() string { return r.Outcome.of(r.Text) }

// Semilinear is a discarding program (paper, routine 4.2) and its extensions:
// polynomials and other arithmetic, and checks for the errors that it raises.
type Semilinear struct {
	Shape   predicate.Shape
	Check   bool
	Text    string
	Outcome Outcome
}

// Routine names what the pass is.
func (s Semilinear) Routine() string {
	switch {
	case s.Check:
		return "Check"
	case s.Shape == predicate.Semilinear:
		return "Semilinear"
	case s.Shape == predicate.Polynomial:
		return "Polynomial"
	}
	return "Expression"
}

// String implements Op.
func (s Semilinear) String() string { return s.Routine() + "(" + s.Text + ")" }

// Counts implements Op.
func (s Semilinear) Counts() string { return s.Outcome.of(s.Text) }

// Members is a discarding program for a long IN list.
type Members struct {
	Col     int
	Text    string
	Outcome Outcome
}

// String implements Op.
func (m Members) String() string { return "Members(" + m.Text + ")" }

// Counts implements Op.
func (m Members) Counts() string { return m.Outcome.of(m.Text) }

// EvalCNF ends a clause: a quad that every record passes makes those that satisfied no
// disjunct 0 (paper, routine 4.3).
type EvalCNF struct{ Clause int } // from 1

// Does says what the quad does.
func (e EvalCNF) Does() string { return fmt.Sprintf("drop records that fail clause %d", e.Clause) }

// String implements Op.
func (e EvalCNF) String() string { return "EvalCNF: " + e.Does() }

// Counts implements Op.
func (EvalCNF) Counts() string { return tidied }

const tidied = "nothing; the stencil buffer is tidied"

// EvalDNF ends a clause: a quad parks the records that satisfied all of it, or sets the
// others back for the next.
type EvalDNF struct {
	Clause int // from 1
	Again  bool
}

// String implements Op.
func (e EvalDNF) String() string {
	if e.Again {
		return fmt.Sprintf("EvalDNF: start again after clause %d", e.Clause)
	}
	return fmt.Sprintf("EvalDNF: keep records that satisfy clause %d", e.Clause)
}

// Counts implements Op.
func (e EvalDNF) Counts() string {
	if e.Again {
		return tidied
	}
	return "records that satisfy this clause and none before"
}

// StencilBits is a quad that every record passes, for what it does to the bits of stencil
// values. Conditions that are evaluated as they nest have such passes.
type StencilBits uint8

// What such a quad does.
const (
	CopyBit StencilBits = iota
	DropRecords
	ClearBit
	CountSelection
)

// String implements Op.
func (b StencilBits) String() string {
	return [...]string{"Stencil(copy a bit)", "Stencil(drop records)", "Stencil(clear a bit)", "Count(selection)"}[b]
}

// Counts implements Op.
func (b StencilBits) Counts() string {
	return [...]string{"nothing; the records to decide are kept", "nothing; records that fail the condition are dropped",
		"nothing", "records that satisfy the whole expression"}[b]
}

// Render draws the selection as an attribute of one bit.
type Render struct{ Attribute }

// String implements Op.
func (r Render) String() string { return "Render(" + r.Name + ")" }

// Counts implements Op.
func (Render) Counts() string { return "nothing; the selection becomes an attribute of one bit" }

// SelectRows draws the selection as a bit a record in the order of rows, to be read back.
type SelectRows struct{ Where string } // "" where passes before have evaluated it

// String implements Op.
func (s SelectRows) String() string {
	if s.Where == "" {
		return "SelectRows"
	}
	return "SelectRows(" + s.Where + ")"
}

// Counts implements Op.
func (SelectRows) Counts() string { return "nothing; the selection becomes a bit a record" }

// Pairs draws the keys and the row of each selected record as a texel: what a sorting network
// takes.
type Pairs struct{ Keys string }

// String implements Op.
func (p Pairs) String() string { return "Pairs(" + p.Keys + ")" }

// Counts implements Op.
func (Pairs) Counts() string { return "nothing; a texel has a record's keys and its row" }

// CompareExchange is a step of a bitonic sorting network over Records texels, which begins with sorted runs of
// one. Records at a distance are compared, and change places where they are not in order. All three are powers
// of two.
type CompareExchange struct{ Run, Distance, Records int }

// String implements Op.
func (c CompareExchange) String() string {
	if c.Run == 0 {
		return fmt.Sprintf("CompareExchange(runs of 2^j, distance 2^i), j = 1..%d, i = j-1..0", bits.Len(uint(c.Records))-1)
	}
	return fmt.Sprintf("CompareExchange(runs of %s, distance %s)", numbers.Grouped(c.Run), numbers.Grouped(c.Distance))
}

// Counts implements Op.
func (c CompareExchange) Counts() string {
	switch {
	case c.Run == 0:
		return "nothing; at i = 0 runs of 2^j records are sorted"
	case c.Distance == 1:
		return fmt.Sprintf("nothing; runs of %s records are sorted", numbers.Grouped(c.Run))
	}
	return "nothing; records at the distance are in order"
}

// Family implements Adaptive: the whole network.
func (c CompareExchange) Family() Op { return CompareExchange{Records: c.Records} }

// Keys draws the codes of selected records of a column, four to a texel: one of each quarter of the records. They are what a
// sorting network that blends takes.
type Keys struct{ Column string }

// String implements Op.
func (k Keys) String() string { return "Keys(" + k.Column + ")" }

// Counts implements Op.
func (Keys) Counts() string { return "nothing; a texel has the keys of four records" }

// Blending is a pass of a step of a bitonic sorting network over texels that blend. (Govindaraju, Raghuvanshi and Manocha, "Fast
// and Approximate Stream Mining of Quantiles and Frequencies Using Graphics Processors", SIGMOD 2005). Texels at a distance are
// compared, on their way from runs of half the length to runs of Run. Three passes make a step. Over a copy of all texels
// half of them become the smaller of both, the others the larger, each component by itself. All three are powers of two.
type Blending struct {
	Run, Distance, Texels int
	Keep                  Blend // Over: the copy
}

// String implements Op.
func (b Blending) String() string {
	switch {
	case b.Run == 0:
		return fmt.Sprintf("Blend(OVER, MIN, MAX, runs of 2^j, distance 2^i), j = 1..%d, i = j-1..0", bits.Len(uint(b.Texels))-1)
	case b.Keep == Over:
		return "Blend(OVER)"
	}
	return fmt.Sprintf("Blend(%v, runs of %s, distance %s)", b.Keep, numbers.Grouped(b.Run), numbers.Grouped(b.Distance))
}

// Counts implements Op.
func (b Blending) Counts() string {
	switch {
	case b.Run == 0:
		return "nothing; at i = 0 runs of 2^j texels are sorted, in each component"
	case b.Keep == Over:
		return "nothing; a copy, which the next two passes blend with"
	case b.Keep == Max && b.Distance == 1:
		return fmt.Sprintf("nothing; runs of %s texels are sorted, in each component", numbers.Grouped(b.Run))
	}
	return fmt.Sprintf("nothing; the %s of two is kept", map[Blend]string{Min: "smaller", Max: "larger"}[b.Keep])
}

// Family implements Adaptive: the whole network.
func (b Blending) Family() Op { return Blending{Texels: b.Texels} }

// SortedRows draws the rows of sorted pairs in their order, to be read back.
type SortedRows struct{}

// String implements Op.
func (SortedRows) String() string { return "SortedRows" }

// Counts implements Op.
func (SortedRows) Counts() string { return "nothing; the rows in the order of their keys" }

// Assume implements Planned: no record is sorted.
func (SortedRows) Assume(_ int, words []uint32) uint64 {
	for i := range words {
		words[i] = math.MaxUint32
	}
	return 0
}

// RenderQuad is the quad that every routine draws, by itself.
type RenderQuad struct{}

// String implements Op.
func (RenderQuad) String() string { return "RenderQuad" }

// Counts implements Op.
func (RenderQuad) Counts() string { return "records of the chunk that pass the tests" }

// TestBit counts the selected records whose code has a bit set: a step of the
// Accumulator (paper, routine 4.6).
type TestBit struct {
	Attribute
	Bit int // of the code
}

// String implements Op.
func (t TestBit) String() string { return fmt.Sprintf("TestBit(%s, %d)", t.Name, t.Bit) }

// Counts implements Op.
func (t TestBit) Counts() string {
	return fmt.Sprintf("selected records whose code has bit %d set", t.Bit)
}

// KthLargest is a step of the search for the k-th largest or smallest value, bit by bit
// (paper, routine 4.5). It is a comparison with the tentative value x + 2^Bit.
type KthLargest struct {
	Attribute
	Smallest bool
	Top      int    // the highest bit of the attribute, or of its limb
	Bit      int    // of the code; -1 in a plan
	Code     uint64 // x + 2^Bit, in the code space that the chunks share
	LimbCode uint64 // the limb of it as a code of the chunk
	Value    string // Code as a value
}

// Cmp is how the attribute is compared with the tentative value.
func (s KthLargest) Cmp() expr.CmpOp {
	if s.Smallest {
		return expr.LT
	}
	return expr.GE
}

// Routine names what the pass is.
func (s KthLargest) Routine() string {
	if s.Smallest {
		return "KthSmallest"
	}
	return "KthLargest"
}

// String implements Op.
func (s KthLargest) String() string {
	if s.Bit < 0 {
		return fmt.Sprintf("%s: Compare(%v %v x + 2^i), i = %d..0", s.Routine(), s.Attribute, s.Cmp(), s.Top-textures.LimbBits*s.Limb)
	}
	return fmt.Sprintf("%s bit %d: Compare(%s)", s.Routine(), s.Bit,
		s.in(fmt.Sprintf("%v %v %d", s.Attribute, s.Cmp(), s.LimbCode), fmt.Sprintf("%s %v %s", s.Name, s.Cmp(), s.Value)))
}

// Counts implements Op.
func (s KthLargest) Counts() string {
	text := "selected records"
	if s.Limbs > 1 {
		text = "candidates"
	}
	text += map[bool]string{false: " at or above", true: " below"}[s.Smallest] + " the tentative value"
	if s.Bit < 0 {
		text += "; each count decides bit i of x"
	}
	return text
}

// Family implements Adaptive.
func (s KthLargest) Family() Op {
	return KthLargest{Attribute: s.Attribute, Smallest: s.Smallest, Top: s.Top, Bit: -1}
}

// Assume implements Planned: no bit is set.
func (s KthLargest) Assume(rows int, _ []uint32) uint64 {
	if s.Smallest {
		return uint64(rows)
	}
	return 0
}

// Candidates goes from one limb of a k-th search to the next. It counts the candidates
// beyond the limb that was found (Cmp < or >), or marks those that have it (=), or those
// that are not NULL (< textures.NullLimb).
type Candidates struct {
	Attribute
	Smallest bool
	Cmp      expr.CmpOp
	Code     uint64 // of the limb
	Plan     bool   // Code is not known yet
}

// Routine names the search that the pass is a step of.
func (c Candidates) Routine() string { return KthLargest{Smallest: c.Smallest}.Routine() }

// String implements Op.
func (c Candidates) String() string {
	routine := c.Routine()
	switch {
	case c.Code == textures.NullLimb:
		return fmt.Sprintf("%s: Compare(%s IS NOT NULL)", routine, c.Name)
	case c.Plan:
		return fmt.Sprintf("%s: Compare(%v %v x)", routine, c.Attribute, c.Cmp)
	}
	return fmt.Sprintf("%s: Compare(%v %v %d)", routine, c.Attribute, c.Cmp, c.Code)
}

// Counts implements Op.
func (c Candidates) Counts() string {
	if c.Cmp == expr.EQ || c.Code == textures.NullLimb {
		return "nothing; the candidates that are left are marked"
	}
	return "candidates beyond this limb"
}

// Family implements Adaptive.
func (c Candidates) Family() Op {
	if c.Code != textures.NullLimb {
		c.Code, c.Plan = 0, true
	}
	return c
}

// Assume implements Planned.
func (Candidates) Assume(int, []uint32) uint64 { return 0 }

// Mipmap draws a level of the floating-point mipmap that the paper discusses as another
// way to sum (section 4.3.3).
type Mipmap struct {
	Attribute
	Level int
}

// String implements Op.
func (m Mipmap) String() string { return fmt.Sprintf("Mipmap(%s, level %d)", m.Name, m.Level) }

// Counts implements Op.
func (m Mipmap) Counts() string {
	if m.Level == 0 {
		return "nothing; the codes are copied"
	}
	return "nothing; means of four texels"
}
