package plan

import (
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// addChecks notes errors of records for which ctx holds.
func (l *lowerer) addChecks(ctx *Pred, errs []rowError) {
	for _, x := range errs {
		if p := l.and(ctx, x.pred); p.Op != False {
			l.checks = append(l.checks, Check{Pred: p, Err: x.err})
		}
	}
}

// checksOf collects the checks of e in the order of evaluation; ctx holds where
// evaluation gets as far as e.
func (l *lowerer) checksOf(e expr.Expr, ctx *Pred) error {
	if ctx.Op == False {
		return nil
	}
	switch e := e.(type) {
	case *expr.And:
		return l.junctionChecks(e.Kids, ctx, notFalse)
	case *expr.Or:
		return l.junctionChecks(e.Kids, ctx, notTrue)
	case *expr.Between:
		and := l.betweenParts(e)
		if err := l.checksOf(and.Kids[0], ctx); err != nil {
			return err
		}
		first, err := l.truth(and.Kids[0], notFalse)
		if err != nil {
			return err
		}
		// X has been computed by then; only Hi may still fail.
		return l.checksOf(e.Hi, l.and(ctx, first))
	}
	if e.Type().Kind == table.Boolean && isLeafNode(e) {
		forms, err := l.leaf(e)
		if err != nil {
			return err
		}
		if forms.errsKnown {
			l.addChecks(ctx, forms.errs)
			return nil
		}
		return l.kidChecks(e, ctx)
	}
	if e.Type().Kind != table.Boolean {
		return l.valueChecks(e, ctx)
	}
	return l.kidChecks(e, ctx)
}

// isLeafNode reports the conditions that [lowerer.leaf] takes.
func isLeafNode(e expr.Expr) bool {
	switch e.(type) {
	case *expr.Compare, *expr.In, *expr.Like, *expr.Cast, *expr.Column, *expr.Const:
		return true
	}
	return false
}

func (l *lowerer) kidChecks(e expr.Expr, ctx *Pred) error {
	for _, k := range expr.Kids(e) {
		if err := l.checksOf(k, ctx); err != nil {
			return err
		}
	}
	return nil
}

// junctionChecks: each operand is evaluated where those before it were not
// decisive.
func (l *lowerer) junctionChecks(kids []expr.Expr, ctx *Pred, goOn form) error {
	for i, k := range kids {
		if err := l.checksOf(k, ctx); err != nil {
			return err
		}
		if i == len(kids)-1 || !mayRaise(kids[i+1:]) {
			return nil
		}
		p, err := l.truth(k, goOn)
		if err != nil {
			return err
		}
		ctx = l.and(ctx, p)
	}
	return nil
}

// mayRaise reports whether any of the conditions has an operation that can raise
// an error at all: arithmetic, a cast, a pattern.
func mayRaise(es []expr.Expr) bool {
	found := false
	for _, e := range es {
		expr.Walk(e, func(e expr.Expr) {
			switch e.(type) {
			case *expr.Arith, *expr.Neg, *expr.Cast, *expr.Like:
				found = true
			}
		})
		if found {
			return true
		}
	}
	return false
}

// valueChecks collects the checks of a value expression.
func (l *lowerer) valueChecks(e expr.Expr, ctx *Pred) error {
	switch e.(type) {
	case *expr.Column, *expr.Const:
		return nil
	}
	if pureOperands(e) {
		switch cols := expr.Columns(e); len(cols) {
		case 0:
			if _, err := expr.Eval(e, nil); err != nil {
				l.addChecks(ctx, []rowError{{truePred, err}})
			}
			return nil
		case 1:
			if errs, ok := l.columnErrors(e, cols[0]); ok {
				l.addChecks(ctx, errs)
				return nil
			}
		}
	}
	if err := l.kidChecks(e, ctx); err != nil {
		return err
	}
	v, err := l.val(e)
	if err != nil {
		return err
	}
	l.addChecks(ctx, v.fails)
	return nil
}

// columnErrors finds the codes for which a value over one column fails.
func (l *lowerer) columnErrors(e expr.Expr, col int) ([]rowError, bool) {
	runs, ok := l.outcomes(e, col)
	if !ok {
		return nil, false
	}
	errs := l.errorRuns(runs, col)
	seg := l.seg(col)
	if seg.Nulls > 0 {
		if _, err := evalAt(e, col, table.Null(seg.Type)); err != nil {
			errs = append(errs, rowError{l.nullCol(col), err})
		}
	}
	return errs, true
}

// programmable reports whether e's operands can be computed by a program.
func (l *lowerer) programmable(e expr.Expr) bool {
	switch x := e.(type) {
	case *expr.Like:
		return false
	case *expr.Arith, *expr.Neg:
		_, err := l.val(e)
		return err == nil
	case *expr.Cast:
		if x.To.Kind != table.Boolean {
			_, err := l.val(e)
			return err == nil
		}
	}
	for _, k := range expr.Kids(e) {
		if _, err := l.val(k); err != nil {
			return false
		}
	}
	return true
}
