package lower

import (
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/table"
)

// mostBranches is up to how many WHENs of a CASE become conditions.
const mostBranches = 8

// caseLeaf lowers a comparison of a constant with a CASE whose values are constants. CASE WHEN a THEN 1 WHEN b THEN 2 ELSE 3 END = 2 is b
// where a is not TRUE. It is nil for other conditions, and where a WHEN may raise an error.
func (l *lowerer) caseLeaf(e expr.Expr) *leafTests {
	x, ok := e.(*expr.Compare)
	if !ok {
		return nil
	}
	op, left, right := x.Op, x.L, x.R
	if _, ok := left.(*expr.Const); ok {
		op, left, right = op.Swap(), right, left
	}
	to, ok := right.(*expr.Const)
	c, isCall := left.(*expr.Call)
	if !ok || !isCall || c.Fn != expr.Case || len(c.Args) > 2*mostBranches+1 || plan.RaisesWhileJoining(e) {
		return nil
	}
	outcomeOf := func(v table.Value) predicate.BooleanTest {
		switch {
		case v.Null || to.V.Null:
			return predicate.IsUnknown
		case op.Holds(table.Compare(v, to.V)):
			return predicate.IsTrue
		}
		return predicate.IsFalse
	}
	values := []expr.Expr{&expr.Const{V: table.Null(c.T)}} // of the branches, ELSE last
	if len(c.Args)%2 == 1 {
		values[0] = c.Args[len(c.Args)-1]
	}
	for i := len(c.Args)/2 - 1; i >= 0; i-- {
		values = append(values, c.Args[2*i+1])
	}
	slices.Reverse(values)
	var outcomes []predicate.BooleanTest
	for _, x := range values {
		v, ok := x.(*expr.Const)
		if !ok {
			return nil
		}
		outcomes = append(outcomes, outcomeOf(v.V))
	}
	of := map[predicate.BooleanTest][]*predicate.Pred{}
	var before []*predicate.Pred // no WHEN so far is TRUE
	for i, f := range outcomes {
		here := before
		if i < len(outcomes)-1 {
			here = append(before[:len(before):len(before)], l.truth(c.Args[2*i], predicate.IsTrue))
			before = append(before, l.truth(c.Args[2*i], predicate.NotTrue))
		}
		of[f] = append(of[f], l.and(here...))
	}
	test := func(f predicate.BooleanTest) *predicate.Pred {
		if len(of[f]) == len(outcomes) {
			return predicate.Always
		}
		return l.or(of[f]...)
	}
	return &leafTests{t: test(predicate.IsTrue), f: test(predicate.IsFalse), u: test(predicate.IsUnknown), errsKnown: true}
}
