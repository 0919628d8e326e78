package plan

import (
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// maxSize bounds the nodes of a lowered tree. NOT, IS UNKNOWN and comparisons of
// conditions can multiply a tree; no sensible query comes near this.
const maxSize = 200_000

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
	l := newLowerer(t, c)
	var p *Pred
	err := refused(func() {
		l.checkColumns(where)
		p = l.and(live, l.truth(where, isTrue))
		l.checksOf(where, live)
		if l.tooComplex {
			panic(refusal{expr.Errorf(where.Pos(), "the condition is too complex: it has more than %d parts once NOT, IS UNKNOWN and comparisons of conditions are written out", maxSize)})
		}
	})
	if err != nil {
		return nil, nil, err
	}
	return p, l.checks, nil
}

// refusal is what lowering panics with, within this package, where something cannot be
// lowered.
type refusal struct{ error }

// refused calls f and returns the error of a refusal in it.
func refused(f func()) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case refusal:
			err = r.error
		default:
			panic(r)
		}
	}()
	f()
	return nil
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

// lowerer holds the state of one call of [Lower] or [Make].
type lowerer struct {
	t          *table.Table
	c          *table.Chunk
	forms      map[formKey]*Pred
	leaves     map[expr.Expr]*leafForms
	ranges     map[*expr.Between]*expr.And
	vals       map[expr.Expr]*value
	ranks      map[[2]int][2]*value
	checks     []Check
	tooComplex bool
}

func newLowerer(t *table.Table, c *table.Chunk) *lowerer {
	return &lowerer{
		t: t, c: c,
		forms:  map[formKey]*Pred{},
		leaves: map[expr.Expr]*leafForms{},
		ranges: map[*expr.Between]*expr.And{},
		vals:   map[expr.Expr]*value{},
		ranks:  map[[2]int][2]*value{},
	}
}

func (l *lowerer) seg(col int) *table.Segment { return l.c.Segments[col] }
func (l *lowerer) name(col int) string        { return l.t.Field(col).Name }

func (l *lowerer) checkColumns(e expr.Expr) {
	expr.Walk(e, func(e expr.Expr) {
		c, ok := e.(*expr.Column)
		switch {
		case !ok:
		case c.Index < 0 || c.Index >= len(l.t.Fields):
			panic(refusal{expr.Errorf(c.P, "column %s is not in table %s", c.Name, l.t.Name)})
		case l.t.Fields[c.Index].Unsupported != "":
			panic(refusal{unsupportedColumn(l.t.Fields[c.Index], c.P)})
		}
	})
}

// truth returns the predicate that holds where the condition e has the form f.
func (l *lowerer) truth(e expr.Expr, f form) *Pred {
	return memo(l.forms, formKey{e, f}, func() *Pred { return l.build(e, f) })
}

// memo is what make gives, called once for a key.
func memo[K comparable, V any](known map[K]V, key K, make func() V) V {
	v, ok := known[key]
	if !ok {
		v = make()
		known[key] = v
	}
	return v
}

func (l *lowerer) build(e expr.Expr, f form) *Pred {
	switch e := e.(type) {
	case *expr.Not:
		return l.truth(e.X, f.not())
	case *expr.And:
		return l.connective(e, And, e.Kids, f)
	case *expr.Or:
		return l.connective(e, Or, e.Kids, f)
	case *expr.IsTruth:
		want := [...]form{isTrue, isFalse, isUnknown}[e.Want]
		return twoValued(f, e.Not, func() *Pred { return l.truth(e.X, want) }, func() *Pred { return l.truth(e.X, want.opposite()) })
	case *expr.IsNull:
		return twoValued(f, e.Not, func() *Pred { return l.null(e.X, true) }, func() *Pred { return l.null(e.X, false) })
	case *expr.Between:
		return l.between(e, f)
	}
	return l.leaf(e).get(l, f)
}

// twoValued is the form f of a condition, or of its negation, that is never UNKNOWN and
// holds where yes does, and not where no does.
func twoValued(f form, not bool, yes, no func() *Pred) *Pred {
	if not {
		f = f.not()
	}
	switch f {
	case isTrue, notFalse:
		return yes()
	case isFalse, notTrue:
		return no()
	}
	return boolPred(f == notUnknown)
}

// connective is AND, which is TRUE where all are TRUE and FALSE where any is FALSE, or OR.
//
// A record for which an operand to the right of a FALSE one would raise an error
// raises none, and whatever the forms of that operand then say, the FALSE one
// alone decides all six. Likewise for OR.
func (l *lowerer) connective(e expr.Expr, op Op, kids []expr.Expr, f form) *Pred {
	switch f {
	case isUnknown:
		return l.and(l.truth(e, notFalse), l.truth(e, notTrue))
	case notUnknown:
		return l.or(l.truth(e, isTrue), l.truth(e, isFalse))
	case isFalse, notTrue:
		op = op.Dual()
	}
	var ps []*Pred
	for _, k := range kids {
		ps = append(ps, l.truth(k, f))
	}
	return l.junction(op, ps)
}

// betweenParts rewrites X BETWEEN Lo AND Hi as X >= Lo AND X <= Hi.
func (l *lowerer) betweenParts(e *expr.Between) *expr.And {
	return memo(l.ranges, e, func() *expr.And { return &expr.And{P: e.P, Kids: e.Parts()} })
}

func (l *lowerer) between(e *expr.Between, f form) *Pred {
	g := f
	if e.Not {
		g = f.not()
	}
	p := l.truth(l.betweenParts(e), g)
	if f != isTrue && f != isFalse {
		return p
	}
	// The user's words, when one leaf came out of them.
	words := *e
	words.Not = e.Not != (f == isFalse)
	return retext(p, words.String())
}

func retext(p *Pred, text string) *Pred {
	switch x := p.Leaf.(type) {
	case *Compare:
		return leafPred(&Compare{x.Col, x.Op, x.Code, text})
	case *Range:
		return leafPred(&Range{x.Col, x.Lo, x.Hi, text})
	}
	return p
}

// null is "X IS NULL" (or NOT NULL) of any expression.
func (l *lowerer) null(x expr.Expr, yes bool) *Pred {
	op := And
	if yes {
		op = Or
	}
	switch x := x.(type) {
	case *expr.Column:
		return l.nullTest(x.Index, yes)
	case *expr.Const:
		return boolPred(x.V.Null == yes)
	}
	switch {
	case x.Type().Kind != table.Boolean && calls(x):
		return l.leaf(&expr.IsNull{X: x, Not: !yes, P: x.Pos()}).get(l, isTrue)
	case x.Type().Kind != table.Boolean:
	case yes:
		return l.truth(x, isUnknown)
	default:
		return l.truth(x, notUnknown)
	}
	var ps []*Pred
	for _, k := range expr.Kids(x) {
		ps = append(ps, l.null(k, yes))
	}
	return l.junction(op, ps)
}
