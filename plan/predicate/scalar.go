package predicate

import (
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// Scalar is TRUE where evaluating E for a record has the outcome that is asked for. A condition becomes a
// Scalar if neither codes nor arithmetic over them can decide it. Only package cpu takes it, and evaluates it
// for each record.
type Scalar struct {
	E    expr.Expr
	Test BooleanTest // or raises
	Text string
}

func (s *Scalar) String() string { return s.Text }

// Columns implements Leaf.
func (s *Scalar) Columns() []int { return expr.Columns(s.E) }

// In returns the test of a record of a chunk, for one goroutine.
func (s *Scalar) In(c *table.Chunk) func(row int) bool {
	eval := expr.At(s.E, expr.Rows(c), false)
	return func(row int) bool {
		v, err := eval(row)
		switch {
		case err != nil || s.Test == Raises:
			return err != nil && s.Test == Raises
		case v.Null:
			return s.Test == IsUnknown
		}
		return s.Test == IsTrue && v.I != 0 || s.Test == IsFalse && v.I == 0
	}
}

// Holds tells of a row what In does, of the values of E in rows that raise no error.
func (s *Scalar) Holds(x *expr.Vector, i int) bool {
	switch {
	case s.Test == Raises:
		return false
	case x.IsNull(i):
		return s.Test == IsUnknown
	}
	return s.Test == IsTrue && x.Ints[i] != 0 || s.Test == IsFalse && x.Ints[i] == 0
}
