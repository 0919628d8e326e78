package expr

import (
	"fmt"

	"github.com/stencildb/stencildb/table"
)

// Query is a query as an expression has it: a tree of package plan.
type Query interface {
	// Fields are the columns of its rows.
	Fields() []table.Field
}

// SubqueryKind is what is asked of the rows of a [Subquery].
type SubqueryKind uint8

// The kinds.
const (
	Value  SubqueryKind = iota // the value of the one column of its row; NULL where there is no row, an error where there are several
	Exists                     // is there a row?
	AnyOf                      // is Test TRUE for a row? NULL where it is not, and is NULL for one
)

// Subquery is a query in an expression. It may read columns of the query around it, as [Outer]s. It is
// not evaluated: package rules makes joins, or constants, of subqueries.
type Subquery struct {
	Kind SubqueryKind
	Of   Query
	N    int  // its number in the statement, by which subqueries are told apart
	Test Expr // of AnyOf: over the columns around it, and [SubColumn]s
	T    table.Type
	P    int
}

// Outer is an expression over the columns of the query around a subquery, in that subquery. It is of the Level-th
// query around it, counted from 1.
type Outer struct {
	X     Expr
	Level int
}

// SubColumn is a column of a subquery's rows, in its test.
type SubColumn struct {
	Index int
	Name  string
	T     table.Type
	P     int
}

// Type, Pos and String implement Expr.
func (e *Subquery) Type() table.Type  { return e.T }
func (e *Subquery) Pos() int          { return e.P }
func (e *Outer) Type() table.Type     { return e.X.Type() }
func (e *Outer) Pos() int             { return e.X.Pos() }
func (e *Outer) String() string       { return e.X.String() }
func (e *SubColumn) Type() table.Type { return e.T }
func (e *SubColumn) Pos() int         { return e.P }
func (e *SubColumn) String() string   { return Ident(e.Name) }

func (e *Subquery) String() string {
	text := fmt.Sprintf("(subquery %d)", e.N)
	switch e.Kind {
	case Exists:
		return "EXISTS " + text
	case AnyOf:
		return e.Test.String() + " FOR ANY OF " + text
	}
	return text
}

// HasSubquery reports a [Subquery] in an expression.
func HasSubquery(e Expr) bool {
	found := false
	Walk(e, func(e Expr) {
		_, ok := e.(*Subquery)
		found = found || ok
	})
	return found
}
