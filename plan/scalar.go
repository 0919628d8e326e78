package plan

import (
	"fmt"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// Scalar is TRUE where evaluating E for a record has the outcome that is asked for. It is what a
// condition becomes that neither codes nor what is computed of them can decide; only package cpu takes it,
// and evaluates it for each record.
type Scalar struct {
	E    expr.Expr
	form form // or raises
	Text string
}

// raises asks for the records for which evaluating is an error.
const raises = notUnknown + 1

func (s *Scalar) String() string { return s.Text }

// Columns implements Leaf.
func (s *Scalar) Columns() []int { return expr.Columns(s.E) }

// In returns the test of a record of a chunk, for one goroutine.
func (s *Scalar) In(c *table.Chunk) func(row int) bool {
	eval := expr.At(s.E, expr.Rows(c), false)
	return func(row int) bool {
		v, err := eval(row)
		switch {
		case err != nil || s.form == raises:
			return err != nil && s.form == raises
		case v.Null:
			return s.form == isUnknown
		}
		return s.form == isTrue && v.I != 0 || s.form == isFalse && v.I == 0
	}
}

// Holds tells of a row what In does, of the values of E in rows that raise no error.
func (s *Scalar) Holds(x *expr.Vector, i int) bool {
	switch {
	case s.form == raises:
		return false
	case x.IsNull(i):
		return s.form == isUnknown
	}
	return s.form == isTrue && x.Ints[i] != 0 || s.form == isFalse && x.Ints[i] == 0
}

// ErrorAt is the error that a check's record raises.
func (k Check) ErrorAt(c *table.Chunk, row int) error {
	if k.Of == nil {
		return k.Err
	}
	_, err := expr.At(k.Of, expr.Rows(c), false)(row)
	return err
}

// scalarForms are those of a condition that is evaluated record by record.
func scalarForms(e expr.Expr) *leafForms {
	leaf := func(f form, text string) *Pred { return leafPred(&Scalar{e, f, text}) }
	return &leafForms{
		t: leaf(isTrue, e.String()), f: leaf(isFalse, denied(e)), u: leaf(isUnknown, "("+e.String()+") IS UNKNOWN"),
		errs: scalarErrors(e), errsKnown: true,
	}
}

// scalarErrors are those of a condition or a value that is evaluated record by record.
func scalarErrors(e expr.Expr) []rowError {
	if !CanRaise(e) {
		return nil
	}
	failed := leafPred(&Scalar{e, raises, "error in " + e.String()})
	return []rowError{{pred: failed, err: expr.Errorf(e.Pos(), "an error in %s", e), of: e}}
}

// calls reports whether a function takes part in e, or a cast from or to text or a truth value.
func calls(e expr.Expr) (found bool) {
	expr.Walk(e, func(e expr.Expr) {
		switch e := e.(type) {
		case *expr.Call:
			found = true
		case *expr.Cast:
			from, to := e.X.Type().Kind, e.To.Kind
			found = found || from != to && (from == table.Varchar || to == table.Varchar || from == table.Boolean || to == table.Boolean)
		}
	})
	return found
}

// firstScalar is the first [Scalar] of the chunk's conditions; nil for none.
func (c *ChunkPlan) firstScalar() (found *Scalar) {
	var look func(p *Pred)
	look = func(p *Pred) {
		if s, ok := p.Leaf.(*Scalar); ok && found == nil {
			found = s
		}
		for _, k := range p.Kids {
			look(k)
		}
	}
	for _, k := range c.Checks {
		look(k.Pred)
	}
	if c.Pred != nil {
		look(c.Pred)
	}
	return found
}

// OnlyCPU returns a [Declined] where some condition of the query is a [Scalar], nil else.
func (q *Query) OnlyCPU() error {
	for _, c := range q.Chunks {
		if c.scalar == nil {
			continue
		}
		why := "reads several columns"
		if len(c.scalar.Columns()) < 2 {
			why = "is of a column with many distinct values"
		}
		return &Declined{Why: fmt.Sprintf("%s %s and is evaluated record by record", c.scalar.E, why)}
	}
	return nil
}
