package lower

import (
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/table"
)

// addChecks notes errors of records for which ctx holds.
func (l *lowerer) addChecks(ctx *predicate.Pred, errs []rowError) {
	for _, x := range errs {
		if p := l.and(ctx, x.pred); p.Op != predicate.False {
			l.checks = append(l.checks, predicate.Check{Pred: p, Err: x.err, Of: x.of})
		}
	}
}

// checksOf collects the checks of e in the order of evaluation; ctx holds where
// evaluation gets as far as e.
func (l *lowerer) checksOf(e expr.Expr, ctx *predicate.Pred) {
	if ctx.Op == predicate.False {
		return
	}
	switch e := e.(type) {
	case *expr.And:
		l.connectiveChecks(e.Kids, ctx, predicate.NotFalse)
		return
	case *expr.Or:
		l.connectiveChecks(e.Kids, ctx, predicate.NotTrue)
		return
	case *expr.Between:
		first := l.betweenParts(e).Kids[0]
		l.checksOf(first, ctx)
		// X has been computed by then; only Hi may still fail.
		l.checksOf(e.Hi, l.and(ctx, l.truth(first, predicate.NotFalse)))
		return
	}
	if e.Type().Kind != table.Boolean {
		l.valueChecks(e, ctx)
		return
	}
	switch e.(type) { // the conditions that [lowerer.leaf] takes
	case *expr.Compare, *expr.In, *expr.Like, *expr.Cast, *expr.Column, *expr.Const, *expr.Call:
		if forms := l.leaf(e); forms.errsKnown {
			l.addChecks(ctx, forms.errs)
			return
		}
	}
	l.kidChecks(e, ctx)
}

func (l *lowerer) kidChecks(e expr.Expr, ctx *predicate.Pred) {
	for _, k := range expr.Kids(e) {
		l.checksOf(k, ctx)
	}
}

// connectiveChecks: each operand is evaluated where those before it were not
// decisive.
func (l *lowerer) connectiveChecks(kids []expr.Expr, ctx *predicate.Pred, goOn predicate.BooleanTest) {
	for i, k := range kids {
		l.checksOf(k, ctx)
		if !slices.ContainsFunc(kids[i+1:], plan.CanRaise) {
			return
		}
		ctx = l.and(ctx, l.truth(k, goOn))
	}
}

// valueChecks collects the checks of a value expression.
func (l *lowerer) valueChecks(e expr.Expr, ctx *predicate.Pred) {
	switch e.(type) {
	case *expr.Column, *expr.Const:
		return
	}
	if pureOperands(e) {
		switch cols := expr.Columns(e); len(cols) {
		case 0:
			if _, err := expr.Eval(e, nil); err != nil {
				l.addChecks(ctx, []rowError{{pred: predicate.Always, err: err}})
			}
			return
		case 1:
			if runs, ok := l.outcomes(e, cols[0]); ok {
				l.addChecks(ctx, l.columnErrors(e, cols[0], runs))
				return
			}
		}
	}
	if !l.programmable(e) {
		l.addChecks(ctx, scalarErrors(e))
		return
	}
	l.kidChecks(e, ctx)
	l.addChecks(ctx, l.val(e).fails)
}

// programmable reports whether e's operands can be computed from codes.
func (l *lowerer) programmable(e expr.Expr) bool {
	return nil == catchUnsupported(func() {
		switch e := e.(type) {
		case *expr.Like, *expr.Call:
			panic(unsupported(e))
		case *expr.Arith, *expr.Neg, *expr.Cast:
			if e.Type().Kind != table.Boolean {
				l.val(e)
				return
			}
		}
		for _, k := range expr.Kids(e) {
			l.val(k)
		}
	})
}
