package lower

import (
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// leafTests says where a condition without AND, OR and NOT is TRUE, FALSE and
// UNKNOWN.
type leafTests struct {
	t, f, u *predicate.Pred
	// form makes those of the three that are nil, once they are asked for; most conditions have to be TRUE, and that is all. It is nil where
	// all are there.
	form func(predicate.BooleanTest) *predicate.Pred
	// errs are the errors that evaluating it raises, when errsKnown; otherwise
	// the checks come from its operands one by one.
	errs      []rowError
	errsKnown bool
}

// rowError is an error and the records that raise it.
type rowError struct {
	pred *predicate.Pred
	err  error
	of   expr.Expr // see [predicate.Check]
}

func (x *leafTests) get(l *lowerer, f predicate.BooleanTest) *predicate.Pred {
	switch f {
	case predicate.IsTrue:
		return x.formOf(&x.t, f)
	case predicate.IsFalse:
		return x.formOf(&x.f, f)
	case predicate.IsUnknown:
		return x.formOf(&x.u, f)
	case predicate.NotTrue:
		return l.or(x.get(l, predicate.IsFalse), x.get(l, predicate.IsUnknown))
	case predicate.NotFalse:
		return l.or(x.get(l, predicate.IsTrue), x.get(l, predicate.IsUnknown))
	}
	return l.or(x.get(l, predicate.IsTrue), x.get(l, predicate.IsFalse))
}

func (x *leafTests) formOf(p **predicate.Pred, f predicate.BooleanTest) *predicate.Pred {
	if *p == nil {
		*p = x.form(f)
	}
	return *p
}

// leaf lowers a condition that is no AND, OR, NOT, BETWEEN or test of truth.
func (l *lowerer) leaf(e expr.Expr) *leafTests {
	return memoize(l.leaves, e, func() *leafTests { return l.newLeaf(e) })
}

func (l *lowerer) newLeaf(e expr.Expr) (forms *leafTests) {
	if catchUnsupported(func() { forms = l.codesLeaf(e) }) != nil {
		forms = scalarTests(e)
	}
	return forms
}

// codesLeaf lowers a condition to tests of codes, and of what is computed of them.
func (l *lowerer) codesLeaf(e expr.Expr) *leafTests {
	if forms := l.caseLeaf(e); forms != nil {
		return forms
	}
	if e := rewriteAsLike(e); e != nil && (isBinarySearchable(e) || l.manyTexts(e)) {
		return l.sameAs(e)
	}
	if forms := l.matchLeaf(e); forms != nil {
		return forms
	}
	if pureOperands(e) {
		switch cols := expr.Columns(e); len(cols) {
		case 0:
			return constantLeaf(e)
		case 1:
			if runs, ok := l.outcomes(e, cols[0]); ok {
				return l.columnLeaf(e, cols[0], runs)
			}
		}
	}
	switch e := e.(type) {
	case *expr.Compare:
		if e.L.Type().Kind == table.Boolean || e.R.Type().Kind == table.Boolean {
			return l.compareConditions(e)
		}
		return l.computedLeaf(e)
	case *expr.In:
		return l.inLeaf(e)
	case *expr.Cast:
		if e.To.Kind == table.Boolean && e.X.Type().IsInteger() {
			return l.sameAs(&expr.Compare{Op: expr.NE, L: e.X, R: zeroOf(e.X.Type(), e.P), P: e.P})
		}
		if e.To.Kind == table.Boolean && e.X.Type().Kind == table.Boolean {
			return l.sameAs(e.X)
		}
	}
	panic(unsupported(e))
}

func unsupported(e expr.Expr) unsupportedError {
	return unsupportedError{expr.Coded(sqlstate.FeatureNotSupported, e.Pos(), "%s is not supported: only expressions over one column with few distinct values can be that; compute it beforehand into a column of its own", e)}
}

// pureOperands reports whether no condition is nested in e's operands.
func pureOperands(e expr.Expr) bool {
	for _, k := range expr.Kids(e) {
		switch k.(type) {
		case *expr.Call:
			continue // of all that is in it
		case *expr.Column, *expr.Const, *expr.Arith, *expr.Neg, *expr.Cast:
		default:
			return false
		}
		if !pureOperands(k) {
			return false
		}
	}
	return true
}

// constantLeaf is a condition without columns.
func constantLeaf(e expr.Expr) *leafTests {
	v, err := expr.Eval(e, nil)
	if err != nil {
		return &leafTests{t: predicate.Never, f: predicate.Never, u: predicate.Never, errs: []rowError{{pred: predicate.Always, err: err}}, errsKnown: true}
	}
	return &leafTests{t: predicate.Constant(!v.Null && v.I != 0), f: predicate.Constant(!v.Null && v.I == 0), u: predicate.Constant(v.Null), errsKnown: true}
}

// sameAs has the forms of a condition that says the same.
func (l *lowerer) sameAs(e expr.Expr) *leafTests {
	return &leafTests{t: l.truth(e, predicate.IsTrue), f: l.truth(e, predicate.IsFalse), u: l.truth(e, predicate.IsUnknown)}
}

// inLeaf is X IN (list) with X over several columns: X = a OR X = b ...
func (l *lowerer) inLeaf(e *expr.In) *leafTests {
	or := &expr.Or{P: e.P}
	for _, c := range e.List {
		or.Kids = append(or.Kids, &expr.Compare{Op: expr.EQ, L: e.X, R: c, P: e.P})
	}
	var same expr.Expr = or
	if len(or.Kids) == 1 {
		same = or.Kids[0]
	}
	if e.Not {
		same = &expr.Not{X: same, P: e.P}
	}
	return l.sameAs(same)
}

// compareConditions is a comparison of two conditions, FALSE below TRUE.
func (l *lowerer) compareConditions(e *expr.Compare) *leafTests {
	var yes, no []*predicate.Pred
	for a, f := range []predicate.BooleanTest{predicate.IsFalse, predicate.IsTrue} {
		for b, g := range []predicate.BooleanTest{predicate.IsFalse, predicate.IsTrue} {
			both := l.and(l.truth(e.L, f), l.truth(e.R, g))
			if e.Op.Holds(a - b) {
				yes = append(yes, both)
			} else {
				no = append(no, both)
			}
		}
	}
	return &leafTests{t: l.or(yes...), f: l.or(no...), u: l.or(l.null(e.L, true), l.null(e.R, true))}
}

// columnLeaf lowers a condition over one column by what it is for each code.
func (l *lowerer) columnLeaf(e expr.Expr, col int, runs []codeRun) *leafTests {
	hint := expr.EQ
	if c, ok := e.(*expr.Compare); ok {
		hint = c.Op
	}
	null := predicate.IsUnknown
	if l.seg(col).Nulls > 0 {
		if truth := outcomesAt(e, expr.Nulls(l.seg(col)))(0).truth(e); truth == predicate.IsTrue || truth == predicate.IsFalse {
			null = truth
		}
	}
	form := func(f predicate.BooleanTest) (p *predicate.Pred) {
		spans := spansWhere(runs, func(o outcome) bool { return o.truth(e) == f })
		switch f {
		case predicate.IsTrue:
			p = l.spanPred(col, spans, hint, e.String())
		case predicate.IsFalse:
			p = l.spanPred(col, spans, hint.Not(), negatedText(e))
		default:
			p = l.spanPred(col, spans, expr.EQ, "("+e.String()+") IS UNKNOWN")
		}
		if f == null {
			p = l.or(l.nullTest(col, true), p)
		}
		return p
	}
	return &leafTests{form: form, errs: l.columnErrors(e, col, runs), errsKnown: true}
}

// negatedText writes NOT e.
func negatedText(e expr.Expr) string {
	switch e := e.(type) {
	case *expr.Compare:
		return (&expr.Compare{Op: e.Op.Not(), L: e.L, R: e.R}).String()
	case *expr.In:
		return (&expr.In{X: e.X, List: e.List, Not: !e.Not}).String()
	case *expr.Like:
		c := *e
		c.Not = !e.Not
		return c.String()
	}
	return (&expr.Not{X: e}).String()
}

// columnErrors are the errors of an expression over one column, in the order of the codes
// that raise them first, with NULL last.
func (l *lowerer) columnErrors(e expr.Expr, col int, runs []codeRun) (out []rowError) {
	seen := map[string]bool{}
	for _, r := range runs {
		if r.err == nil || seen[errKey(r.err)] {
			continue
		}
		seen[errKey(r.err)] = true
		spans := spansWhere(runs, r.equal)
		out = append(out, rowError{pred: l.spanPred(col, spans, expr.EQ, "error in "+l.name(col)+": "+r.err.Error()), err: r.err})
	}
	if seg := l.seg(col); seg.Nulls > 0 {
		// An error in a part without columns is raised for NULLs too.
		if _, err := expr.At(e, expr.Nulls(seg), false)(0); err != nil {
			out = append(out, rowError{pred: l.nullTest(col, true), err: err})
		}
	}
	return out
}
