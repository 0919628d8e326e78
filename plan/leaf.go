package plan

import (
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// leafForms says where a condition without AND, OR and NOT is TRUE, FALSE and
// UNKNOWN.
type leafForms struct {
	t, f, u *Pred
	// errs are the errors that evaluating it raises, when errsKnown; otherwise
	// the checks come from its operands one by one.
	errs      []rowError
	errsKnown bool
}

// rowError is an error and the records that raise it.
type rowError struct {
	pred *Pred
	err  error
}

func (x *leafForms) get(l *lowerer, f form) *Pred {
	switch f {
	case isTrue:
		return x.t
	case isFalse:
		return x.f
	case isUnknown:
		return x.u
	case notTrue:
		return l.or(x.f, x.u)
	case notFalse:
		return l.or(x.t, x.u)
	}
	return l.or(x.t, x.f)
}

// leaf lowers a condition that is no AND, OR, NOT, BETWEEN or test of truth.
func (l *lowerer) leaf(e expr.Expr) (*leafForms, error) {
	if x, ok := l.leaves[e]; ok {
		return x, nil
	}
	x, err := l.newLeaf(e)
	if err == nil {
		l.leaves[e] = x
	}
	return x, err
}

func (l *lowerer) newLeaf(e expr.Expr) (*leafForms, error) {
	if pureOperands(e) {
		switch cols := expr.Columns(e); len(cols) {
		case 0:
			return l.constantLeaf(e), nil
		case 1:
			if x, ok := l.columnLeaf(e, cols[0]); ok {
				return x, nil
			}
		}
	}
	switch e := e.(type) {
	case *expr.Compare:
		if e.L.Type().Kind == table.Boolean || e.R.Type().Kind == table.Boolean {
			return l.compareConditions(e)
		}
		return l.programLeaf(e)
	case *expr.In:
		return l.inLeaf(e)
	case *expr.Cast:
		if e.To.Kind == table.Boolean && e.X.Type().IsInteger() {
			zero := &expr.Const{V: table.Value{Type: e.X.Type()}, P: e.P}
			return l.viaSugar(e, &expr.Compare{Op: expr.NE, L: e.X, R: zero, P: e.P})
		}
		if e.To.Kind == table.Boolean && e.X.Type().Kind == table.Boolean {
			return l.viaSugar(e, e.X)
		}
	}
	return nil, cannot(e)
}

func cannot(e expr.Expr) error {
	return expr.Errorf(e.Pos(), "%s is not supported: only expressions over one column with few distinct values can be that; compute it beforehand into a column of its own", e)
}

// pureOperands reports whether no condition is nested in e's operands.
func pureOperands(e expr.Expr) bool {
	for _, k := range expr.Kids(e) {
		switch k.(type) {
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
func (l *lowerer) constantLeaf(e expr.Expr) *leafForms {
	v, err := expr.Eval(e, nil)
	x := &leafForms{t: falsePred, f: falsePred, u: falsePred, errsKnown: true}
	switch {
	case err != nil:
		x.errs = []rowError{{truePred, err}}
	case v.Null:
		x.u = truePred
	case v.I != 0:
		x.t = truePred
	default:
		x.f = truePred
	}
	return x
}

// viaSugar gives e the forms of the condition that says the same.
func (l *lowerer) viaSugar(e, same expr.Expr) (*leafForms, error) {
	l.sugar[e] = same
	x := &leafForms{}
	for f, p := range map[form]**Pred{isTrue: &x.t, isFalse: &x.f, isUnknown: &x.u} {
		q, err := l.truth(same, f)
		if err != nil {
			return nil, err
		}
		*p = q
	}
	return x, nil
}

// inLeaf is X IN (list) with X over several columns: X = a OR X = b ...
func (l *lowerer) inLeaf(e *expr.In) (*leafForms, error) {
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
	return l.viaSugar(e, same)
}

// compareConditions is a comparison of two conditions, FALSE below TRUE.
func (l *lowerer) compareConditions(e *expr.Compare) (*leafForms, error) {
	var side [2][2]*Pred // [left, right][FALSE, TRUE]
	for i, k := range []expr.Expr{e.L, e.R} {
		for j, f := range []form{isFalse, isTrue} {
			p, err := l.truth(k, f)
			if err != nil {
				return nil, err
			}
			side[i][j] = p
		}
	}
	var yes, no []*Pred
	for a := range 2 {
		for b := range 2 {
			both := l.and(side[0][a], side[1][b])
			if e.Op.Holds(a - b) {
				yes = append(yes, both)
			} else {
				no = append(no, both)
			}
		}
	}
	u, err := l.eitherNull(e.L, e.R)
	return &leafForms{t: l.or(yes...), f: l.or(no...), u: u}, err
}

func (l *lowerer) eitherNull(a, b expr.Expr) (*Pred, error) {
	p, err := l.null(a, true)
	if err != nil {
		return nil, err
	}
	q, err := l.null(b, true)
	if err != nil {
		return nil, err
	}
	return l.or(p, q), nil
}

// columnLeaf lowers a condition over one column by what it is for each code, when
// that can be told without trying every one of too many codes.
func (l *lowerer) columnLeaf(e expr.Expr, col int) (*leafForms, bool) {
	runs, ok := l.outcomes(e, col)
	if !ok {
		return nil, false
	}
	seg := l.seg(col)
	x := &leafForms{u: l.nullCol(col), errsKnown: true}
	var yes, no, unknown []Span
	for _, r := range runs {
		s := Span{r.lo, r.hi}
		switch r.truth(e) {
		case isTrue:
			yes = append(yes, s)
		case isFalse:
			no = append(no, s)
		case isUnknown:
			unknown = append(unknown, s)
		}
	}
	hint := expr.EQ
	if c, ok := e.(*expr.Compare); ok {
		hint = c.Op
	}
	x.t = l.spanPred(col, normalize(yes), hint, e.String())
	x.f = l.spanPred(col, normalize(no), hint.Not(), denied(e))
	x.u = l.or(x.u, l.spanPred(col, normalize(unknown), expr.EQ, "("+e.String()+") IS UNKNOWN"))
	x.errs = l.errorRuns(runs, col)
	if seg.Nulls > 0 {
		// An error in a part without columns is raised for NULLs too.
		if _, err := evalAt(e, col, table.Null(seg.Type)); err != nil {
			x.errs = append(x.errs, rowError{l.nullCol(col), err})
		}
	}
	return x, true
}

// denied writes NOT e.
func denied(e expr.Expr) string {
	switch e := e.(type) {
	case *expr.Compare:
		c := *e
		c.Op = e.Op.Not()
		return c.String()
	case *expr.In:
		c := *e
		c.Not = !e.Not
		return c.String()
	case *expr.Like:
		c := *e
		c.Not = !e.Not
		return c.String()
	}
	return (&expr.Not{X: e}).String()
}

// errorRuns collects the runs of codes that raise an error, by error, in the order
// of the codes.
func (l *lowerer) errorRuns(runs []run, col int) []rowError {
	var order []string
	spans := map[string][]Span{}
	errs := map[string]error{}
	for _, r := range runs {
		if r.err == nil {
			continue
		}
		k := errKey(r.err)
		if spans[k] == nil {
			order = append(order, k)
			errs[k] = r.err
		}
		spans[k] = append(spans[k], Span{r.lo, r.hi})
	}
	var out []rowError
	for _, k := range order {
		p := l.spanPred(col, normalize(spans[k]), expr.EQ, "error in "+l.name(col)+": "+errs[k].Error())
		out = append(out, rowError{p, errs[k]})
	}
	return out
}
