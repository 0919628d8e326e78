package plan

import (
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// maxSize bounds the nodes of a lowered tree. NOT, IS UNKNOWN and comparisons of
// conditions can multiply a tree; no sensible query comes near this.
const maxSize = 200_000

// form is one of the six things that can be asked of a condition.
type form uint8

const (
	isTrue form = iota
	isFalse
	isUnknown
	notTrue
	notFalse
	notUnknown
)

// not exchanges TRUE and FALSE.
func (f form) not() form {
	return [...]form{isFalse, isTrue, isUnknown, notFalse, notTrue, notUnknown}[f]
}

// opposite holds for the records for which f does not.
func (f form) opposite() form {
	return [...]form{notTrue, notFalse, notUnknown, isTrue, isFalse, isUnknown}[f]
}

// Lower turns a WHERE expression into a predicate over the codes of chunk c, and
// the checks that say whether evaluating it raises an error for any record.
//
// A nil expression selects every record. Deleted records are never selected, and raise
// no error: the predicate and each check are joined with a leaf over the hidden column
// [table.LiveField], where the chunk has deleted rows. The predicate is exact for each record
// that raises no error; which way it decides the others means nothing, as the
// query fails. When several checks select records, the query's error is that of
// the first one, in the first such chunk.
//
// An error of Lower itself is an [*expr.Error]: something that cannot be lowered
// (a cast to text of a column with many values, say).
func Lower(where expr.Expr, t *table.Table, c *table.Chunk) (*Pred, []Check, error) {
	live := livePred(t, c)
	if where == nil {
		return live, nil, nil
	}
	l := &lowerer{
		t: t, c: c,
		forms:  map[formKey]*Pred{},
		leaves: map[expr.Expr]*leafForms{},
		sugar:  map[expr.Expr]expr.Expr{},
		vals:   map[expr.Expr]*value{},
		ranks:  map[[2]int][2][]uint32{},
	}
	if err := l.checkColumns(where); err != nil {
		return nil, nil, err
	}
	p, err := l.truth(where, isTrue)
	if err != nil {
		return nil, nil, err
	}
	p = l.and(live, p)
	if err := l.checksOf(where, live); err != nil {
		return nil, nil, err
	}
	if l.tooComplex {
		return nil, nil, expr.Errorf(where.Pos(), "the condition is too complex: it has more than %d parts once NOT, IS UNKNOWN and comparisons of conditions are written out", maxSize)
	}
	return p, l.checks, nil
}

// livePred holds for the records of a chunk that are not deleted.
func livePred(t *table.Table, c *table.Chunk) *Pred {
	switch {
	case c.Deleted == 0:
		return truePred
	case c.Live() == 0:
		return falsePred
	}
	return leafPred(&Compare{Col: len(t.Fields), Op: expr.EQ, Code: 1, Text: table.LiveField.Name + " = 1"})
}

func unsupportedColumn(f table.Field, pos int) error {
	return expr.Errorf(pos, "column %s cannot be used: %s", f.Name, f.Unsupported)
}

type formKey struct {
	e expr.Expr
	f form
}

// lowerer holds the state of one call of [Lower].
type lowerer struct {
	t          *table.Table
	c          *table.Chunk
	forms      map[formKey]*Pred
	leaves     map[expr.Expr]*leafForms
	sugar      map[expr.Expr]expr.Expr
	vals       map[expr.Expr]*value
	ranks      map[[2]int][2][]uint32
	checks     []Check
	tooComplex bool
}

func (l *lowerer) seg(col int) *table.Segment { return l.c.Segments[col] }
func (l *lowerer) name(col int) string        { return l.t.Field(col).Name }

func (l *lowerer) checkColumns(e expr.Expr) (err error) {
	expr.Walk(e, func(e expr.Expr) {
		c, ok := e.(*expr.Column)
		switch {
		case !ok || err != nil:
		case c.Index < 0 || c.Index >= len(l.t.Fields):
			err = expr.Errorf(c.P, "column %s is not in table %s", c.Name, l.t.Name)
		case l.t.Fields[c.Index].Unsupported != "":
			err = unsupportedColumn(l.t.Fields[c.Index], c.P)
		}
	})
	return err
}

// truth returns the predicate that holds where the condition e has the form f.
func (l *lowerer) truth(e expr.Expr, f form) (*Pred, error) {
	key := formKey{e, f}
	if p, ok := l.forms[key]; ok {
		return p, nil
	}
	p, err := l.build(e, f)
	if err == nil {
		l.forms[key] = p
	}
	return p, err
}

func (l *lowerer) build(e expr.Expr, f form) (*Pred, error) {
	switch e := e.(type) {
	case *expr.Not:
		return l.truth(e.X, f.not())
	case *expr.And:
		return l.conjunction(e, e.Kids, f)
	case *expr.Or:
		return l.disjunction(e, e.Kids, f)
	case *expr.IsTruth:
		want := [...]form{isTrue, isFalse, isUnknown}[e.Want]
		if e.Not {
			want = want.opposite()
		}
		return l.twoValued(f, func(yes bool) (*Pred, error) {
			if yes {
				return l.truth(e.X, want)
			}
			return l.truth(e.X, want.opposite())
		})
	case *expr.IsNull:
		return l.twoValued(f, func(yes bool) (*Pred, error) { return l.null(e.X, yes != e.Not) })
	case *expr.Between:
		return l.between(e, f)
	}
	forms, err := l.leaf(e)
	if err != nil {
		return nil, err
	}
	return forms.get(l, f), nil
}

// twoValued is the form f of a condition that is never UNKNOWN.
func (l *lowerer) twoValued(f form, is func(yes bool) (*Pred, error)) (*Pred, error) {
	switch f {
	case isTrue, notFalse:
		return is(true)
	case isFalse, notTrue:
		return is(false)
	case isUnknown:
		return falsePred, nil
	}
	return truePred, nil
}

// each returns the form f of every kid.
func (l *lowerer) each(kids []expr.Expr, f form) ([]*Pred, error) {
	var out []*Pred
	for _, k := range kids {
		p, err := l.truth(k, f)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// conjunction: TRUE where all are TRUE, FALSE where any is FALSE.
//
// A record for which an operand to the right of a FALSE one would raise an error
// raises none, and whatever the forms of that operand then say, the FALSE one
// alone decides all six.
func (l *lowerer) conjunction(e expr.Expr, kids []expr.Expr, f form) (*Pred, error) {
	switch f {
	case isTrue, notFalse:
		ps, err := l.each(kids, f)
		return l.and(ps...), err
	case isFalse, notTrue:
		ps, err := l.each(kids, f)
		return l.or(ps...), err
	}
	return l.undecided(e, f)
}

func (l *lowerer) disjunction(e expr.Expr, kids []expr.Expr, f form) (*Pred, error) {
	switch f {
	case isTrue, notFalse:
		ps, err := l.each(kids, f)
		return l.or(ps...), err
	case isFalse, notTrue:
		ps, err := l.each(kids, f)
		return l.and(ps...), err
	}
	return l.undecided(e, f)
}

// undecided is e IS [NOT] UNKNOWN from the other forms of e.
func (l *lowerer) undecided(e expr.Expr, f form) (*Pred, error) {
	a, b, join := notFalse, notTrue, l.and
	if f == notUnknown {
		a, b, join = isTrue, isFalse, l.or
	}
	p, err := l.truth(e, a)
	if err != nil {
		return nil, err
	}
	q, err := l.truth(e, b)
	if err != nil {
		return nil, err
	}
	return join(p, q), nil
}

// betweenParts rewrites X BETWEEN Lo AND Hi as X >= Lo AND X <= Hi.
func (l *lowerer) betweenParts(e *expr.Between) *expr.And {
	if s, ok := l.sugar[e]; ok {
		return s.(*expr.And)
	}
	and := &expr.And{P: e.P, Kids: []expr.Expr{
		&expr.Compare{Op: expr.GE, L: e.X, R: e.Lo, P: e.P},
		&expr.Compare{Op: expr.LE, L: e.X, R: e.Hi, P: e.P},
	}}
	l.sugar[e] = and
	return and
}

func (l *lowerer) between(e *expr.Between, f form) (*Pred, error) {
	g := f
	if e.Not {
		g = f.not()
	}
	p, err := l.truth(l.betweenParts(e), g)
	if err != nil {
		return nil, err
	}
	// The user's words, when one leaf came out of them.
	words := *e
	switch {
	case f == isTrue:
	case f == isFalse:
		words.Not = !e.Not
	default:
		return p, nil
	}
	return retext(p, words.String()), nil
}

func retext(p *Pred, text string) *Pred {
	if p.Op != IsLeaf {
		return p
	}
	switch x := p.Leaf.(type) {
	case *Compare:
		y := *x
		y.Text = text
		return leafPred(&y)
	case *Range:
		y := *x
		y.Text = text
		return leafPred(&y)
	}
	return p
}

// null is "X IS NULL" (or NOT NULL) of any expression.
func (l *lowerer) null(x expr.Expr, yes bool) (*Pred, error) {
	if x.Type().Kind == table.Boolean {
		if _, isColumn := x.(*expr.Column); !isColumn {
			if yes {
				return l.truth(x, isUnknown)
			}
			return l.truth(x, notUnknown)
		}
	}
	switch x := x.(type) {
	case *expr.Column:
		if yes {
			return l.nullCol(x.Index), nil
		}
		return l.notNullCol(x.Index), nil
	case *expr.Const:
		return boolPred(x.V.Null == yes), nil
	}
	var ps []*Pred
	for _, k := range expr.Kids(x) {
		p, err := l.null(k, yes)
		if err != nil {
			return nil, err
		}
		ps = append(ps, p)
	}
	if yes {
		return l.or(ps...), nil
	}
	return l.and(ps...), nil
}
