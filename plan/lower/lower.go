package lower

import (
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// maxSize bounds the nodes of a lowered tree. NOT, IS UNKNOWN and comparisons of
// conditions can multiply a tree; no sensible query comes near this.
const maxSize = 200_000

// Lower turns a WHERE expression into a predicate over the codes of chunk c. It also returns the checks that
// say whether evaluating it raises an error for any record.
//
// A nil expression selects every record. Deleted records are never selected, and raise no error. Where the
// chunk has deleted rows, the predicate and each check are joined with a leaf over the hidden column
// [table.LiveField]. The predicate is exact for each record that raises no error; which way it decides the
// others means nothing, as the query fails. When several checks select records, the query's error is that of
// the first one, in the first such chunk.
//
// An error of Lower itself is an [*expr.Error]: something that cannot be lowered
// (a cast to text of a column with many values, say).
func Lower(where expr.Expr, t *table.Table, c *table.Chunk) (*predicate.Pred, []predicate.Check, error) {
	live := LivePredicate(t, c)
	if where == nil {
		return live, nil, nil
	}
	l := newLowerer(t, c)
	var p *predicate.Pred
	err := catchUnsupported(func() {
		l.checkColumns(where)
		p = l.and(live, l.truth(where, predicate.IsTrue))
		l.checksOf(where, live)
		if l.tooComplex {
			panic(unsupportedError{expr.Coded(sqlstate.StatementTooComplex, where.Pos(), "the condition is too complex: it has more than %d parts once NOT, IS UNKNOWN and comparisons of conditions are written out", maxSize)})
		}
	})
	if err != nil {
		return nil, nil, err
	}
	return p, l.checks, nil
}

// unsupportedError is what lowering panics with, within this package, where something cannot be
// lowered.
type unsupportedError struct{ error }

// catchUnsupported calls f and returns the error of a refusal in it.
func catchUnsupported(f func()) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case unsupportedError:
			err = r.error
		default:
			panic(r)
		}
	}()
	f()
	return nil
}

// LivePredicate holds for the records of a chunk that are not deleted.
func LivePredicate(t *table.Table, c *table.Chunk) *predicate.Pred {
	switch {
	case c.Deleted == 0:
		return predicate.Always
	case c.Live() == 0:
		return predicate.Never
	}
	return predicate.NewLeaf(&predicate.Compare{Col: len(t.Fields), Op: expr.EQ, Code: 1, Text: table.LiveField.Name + " = 1"})
}

// UnsupportedColumn is the error of a column whose values could not be read, at a position in the statement.
func UnsupportedColumn(f table.Field, pos int) error {
	return expr.Coded(sqlstate.FeatureNotSupported, pos, "column %s cannot be used: %s", f.Name, f.Unsupported)
}

type testKey struct {
	e expr.Expr
	f predicate.BooleanTest
}

// lowerer holds the state of one call of [Lower] or [ComputeCodes].
type lowerer struct {
	t          *table.Table
	c          *table.Chunk
	tests      map[testKey]*predicate.Pred
	leaves     map[expr.Expr]*leafTests
	ranges     map[*expr.Between]*expr.And
	vals       map[expr.Expr]*value
	ranks      map[[2]int][2]*value
	checks     []predicate.Check
	tooComplex bool
}

func newLowerer(t *table.Table, c *table.Chunk) *lowerer {
	return &lowerer{
		t: t, c: c,
		tests:  map[testKey]*predicate.Pred{},
		leaves: map[expr.Expr]*leafTests{},
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
			panic(unsupportedError{expr.Coded(sqlstate.FeatureNotSupported, c.P, "column %s is not in table %s", c.Name, l.t.Name)})
		case l.t.Fields[c.Index].Unsupported != "":
			panic(unsupportedError{UnsupportedColumn(l.t.Fields[c.Index], c.P)})
		}
	})
}

// truth returns the predicate that holds where the condition e has the form f.
func (l *lowerer) truth(e expr.Expr, f predicate.BooleanTest) *predicate.Pred {
	return memoize(l.tests, testKey{e, f}, func() *predicate.Pred { return l.build(e, f) })
}

// memoize is what make gives, called once for a key.
func memoize[K comparable, V any](known map[K]V, key K, make func() V) V {
	v, ok := known[key]
	if !ok {
		v = make()
		known[key] = v
	}
	return v
}

func (l *lowerer) build(e expr.Expr, f predicate.BooleanTest) *predicate.Pred {
	switch e := e.(type) {
	case *expr.Not:
		return l.truth(e.X, f.Not())
	case *expr.And:
		return l.connective(e, predicate.And, e.Kids, f)
	case *expr.Or:
		return l.connective(e, predicate.Or, e.Kids, f)
	case *expr.IsTruth:
		want := [...]predicate.BooleanTest{predicate.IsTrue, predicate.IsFalse, predicate.IsUnknown}[e.Want]
		return twoValued(f, e.Not, func() *predicate.Pred { return l.truth(e.X, want) }, func() *predicate.Pred { return l.truth(e.X, want.Opposite()) })
	case *expr.IsNull:
		return twoValued(f, e.Not, func() *predicate.Pred { return l.null(e.X, true) }, func() *predicate.Pred { return l.null(e.X, false) })
	case *expr.Between:
		return l.between(e, f)
	}
	return l.leaf(e).get(l, f)
}

// twoValued is the form f of a condition, or of its negation. The condition is never UNKNOWN: yes selects
// where it holds, and no where it does not.
func twoValued(f predicate.BooleanTest, not bool, yes, no func() *predicate.Pred) *predicate.Pred {
	if not {
		f = f.Not()
	}
	switch f {
	case predicate.IsTrue, predicate.NotFalse:
		return yes()
	case predicate.IsFalse, predicate.NotTrue:
		return no()
	}
	return predicate.Constant(f == predicate.NotUnknown)
}

// connective is AND, which is TRUE where all are TRUE and FALSE where any is FALSE, or OR.
//
// If an operand is FALSE, an operand to its right raises no error. The FALSE one alone decides all six forms,
// whatever the other one's forms say. Likewise for OR.
func (l *lowerer) connective(e expr.Expr, op predicate.Op, kids []expr.Expr, f predicate.BooleanTest) *predicate.Pred {
	switch f {
	case predicate.IsUnknown:
		return l.and(l.truth(e, predicate.NotFalse), l.truth(e, predicate.NotTrue))
	case predicate.NotUnknown:
		return l.or(l.truth(e, predicate.IsTrue), l.truth(e, predicate.IsFalse))
	case predicate.IsFalse, predicate.NotTrue:
		op = op.Dual()
	}
	ps := xslices.Map(kids, func(k expr.Expr) *predicate.Pred { return l.truth(k, f) })
	return l.fold(op, ps)
}

// betweenParts rewrites X BETWEEN Lo AND Hi as X >= Lo AND X <= Hi.
func (l *lowerer) betweenParts(e *expr.Between) *expr.And {
	return memoize(l.ranges, e, func() *expr.And { return &expr.And{P: e.P, Kids: e.Parts()} })
}

func (l *lowerer) between(e *expr.Between, f predicate.BooleanTest) *predicate.Pred {
	g := f
	if e.Not {
		g = f.Not()
	}
	p := l.truth(l.betweenParts(e), g)
	if f != predicate.IsTrue && f != predicate.IsFalse {
		return p
	}
	// The user's words, when one leaf came out of them.
	words := *e
	words.Not = e.Not != (f == predicate.IsFalse)
	return withText(p, words.String())
}

func withText(p *predicate.Pred, text string) *predicate.Pred {
	switch x := p.Leaf.(type) {
	case *predicate.Compare:
		return predicate.NewLeaf(&predicate.Compare{Col: x.Col, Op: x.Op, Code: x.Code, Text: text})
	case *predicate.Range:
		return predicate.NewLeaf(&predicate.Range{Col: x.Col, Lo: x.Lo, Hi: x.Hi, Text: text})
	}
	return p
}

// null is "X IS NULL" (or NOT NULL) of any expression.
func (l *lowerer) null(x expr.Expr, yes bool) *predicate.Pred {
	op := predicate.And
	if yes {
		op = predicate.Or
	}
	switch x := x.(type) {
	case *expr.Column:
		return l.nullTest(x.Index, yes)
	case *expr.Const:
		return predicate.Constant(x.V.Null == yes)
	}
	switch {
	case x.Type().Kind != table.Boolean && calls(x):
		return l.leaf(&expr.IsNull{X: x, Not: !yes, P: x.Pos()}).get(l, predicate.IsTrue)
	case x.Type().Kind != table.Boolean:
	case yes:
		return l.truth(x, predicate.IsUnknown)
	default:
		return l.truth(x, predicate.NotUnknown)
	}
	ps := xslices.Map(expr.Kids(x), func(k expr.Expr) *predicate.Pred { return l.null(k, yes) })
	return l.fold(op, ps)
}
