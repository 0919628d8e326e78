package lower

import (
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// scalarTests are those of a condition that is evaluated record by record.
func scalarTests(e expr.Expr) *leafTests {
	leaf := func(f predicate.BooleanTest, text string) *predicate.Pred {
		return predicate.NewLeaf(&predicate.Scalar{E: e, Test: f, Text: text})
	}
	return &leafTests{
		t: leaf(predicate.IsTrue, e.String()), f: leaf(predicate.IsFalse, negatedText(e)), u: leaf(predicate.IsUnknown, "("+e.String()+") IS UNKNOWN"),
		errs: scalarErrors(e), errsKnown: true,
	}
}

// scalarErrors are those of a condition or a value that is evaluated record by record.
func scalarErrors(e expr.Expr) []rowError {
	if !plan.CanRaise(e) {
		return nil
	}
	failed := predicate.NewLeaf(&predicate.Scalar{E: e, Test: predicate.Raises, Text: "error in " + e.String()})
	return []rowError{{pred: failed, err: expr.Coded(sqlstate.FeatureNotSupported, e.Pos(), "an error in %s", e), of: e}}
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
