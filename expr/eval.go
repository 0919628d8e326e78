package expr

import (
	"math/big"
	"slices"

	"github.com/stencildb/stencildb/expr/match"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// Env gives an expression its inputs.
type Env struct {
	// Column returns the value of field i of the record at hand. A WHERE
	// expression needs it.
	Column func(i int) table.Value
	// Agg returns the result of aggregate i of the query. A select item needs it. Where it is set, DECIMAL
	// arithmetic has as many digits as it needs. Where it is nil, a DECIMAL intermediate must fit 64 bits as
	// a scaled integer, as in the programs of the other backends.
	Agg func(i int) table.Value
}

func (v *Env) wide() bool { return v != nil && v.Agg != nil }

// Eval computes e for one record (or, for a select item, for the results of the
// aggregates), as PostgreSQL does:
//
//   - AND and OR go left to right and stop at the operand that decides them, so
//     that an error to its right does not happen. UNKNOWN decides nothing;
//   - CASE and COALESCE evaluate the operands that they need, in their order;
//   - all other operations evaluate all their operands, left to right, then are
//     NULL when one is (but for the functions that take NULLs), then compute;
//   - errors (division by zero, overflow, a cast that fails) are [*Error]s with the
//     position of the operation.
//
// The value has the type of the expression.
func Eval(e Expr, env *Env) (table.Value, error) {
	switch e := e.(type) {
	case *Column:
		if env == nil || env.Column == nil {
			return table.Value{}, Coded(sqlstate.InvalidParameterValue, e.P, "column %s is not allowed here", e.Name)
		}
		return env.Column(e.Index), nil
	case *AggRef:
		if !env.wide() {
			return table.Value{}, Coded(sqlstate.InvalidParameterValue, e.P, "aggregate %s is not allowed here", e.Name)
		}
		return env.Agg(e.Index), nil
	case *Const:
		return e.V, nil
	case *Arith:
		l, r, err := evalTwo(e.L, e.R, env)
		if err != nil || l.Null || r.Null {
			return table.Null(e.T), err
		}
		return arith(e.Op, l, r, e.T, env.wide(), e.P)
	case *Neg:
		x, err := Eval(e.X, env)
		if err != nil || x.Null {
			return table.Null(e.Type()), err
		}
		return negate(x, env.wide(), e.P)
	case *Cast:
		x, err := Eval(e.X, env)
		if err != nil || x.Null {
			return table.Null(e.To), err
		}
		return cast(x, e.To, env.wide(), e.P)
	case *Call:
		return e.eval(env)
	}
	return evalBool(e, env)
}

func evalTwo(l, r Expr, env *Env) (a, b table.Value, err error) {
	if a, err = Eval(l, env); err != nil {
		return a, b, err
	}
	b, err = Eval(r, env)
	return a, b, err
}

// evalBool evaluates the nodes of type BOOLEAN.
func evalBool(e Expr, env *Env) (table.Value, error) {
	unknown := table.Null(boolean)
	switch e := e.(type) {
	case *Compare:
		l, r, err := evalTwo(e.L, e.R, env)
		if err != nil || l.Null || r.Null {
			return unknown, err
		}
		return table.Bool(e.Op.Holds(table.Compare(l, r))), nil
	case *And:
		return evalJunction(e.Kids, env, 0)
	case *Or:
		return evalJunction(e.Kids, env, 1)
	case *Not:
		x, err := Eval(e.X, env)
		if err != nil || x.Null {
			return unknown, err
		}
		return table.Bool(x.I == 0), nil
	case *Between:
		v, err := evalJunction(e.Parts(), env, 0)
		if err != nil || v.Null {
			return unknown, err
		}
		return table.Bool((v.I != 0) != e.Not), nil
	case *IsNull:
		x, err := Eval(e.X, env)
		return table.Bool(x.Null != e.Not), err
	case *IsTruth:
		x, err := Eval(e.X, env)
		is := IsUnknown
		if !x.Null {
			is = IsFalse
			if x.I != 0 {
				is = IsTrue
			}
		}
		return table.Bool((is == e.Want) != e.Not), err
	case *In:
		x, err := Eval(e.X, env)
		if err != nil || x.Null {
			return unknown, err
		}
		return inList(x, e), nil
	case *Like:
		x, err := Eval(e.X, env)
		if err != nil || x.Null {
			return unknown, err
		}
		m, err := match.CompileLike(e.Pattern, e.Escape, e.Fold)
		if err != nil {
			return unknown, &Error{Pos: e.P, Msg: err.Error()}
		}
		return table.Bool(m.Match(x.S) != e.Not), nil
	}
	return unknown, Coded(sqlstate.InvalidParameterValue, e.Pos(), "cannot evaluate %s", e)
}

// evalJunction evaluates AND (decisive 0) or OR (decisive 1).
func evalJunction(kids []Expr, env *Env, decisive int64) (table.Value, error) {
	out := table.Bool(decisive == 0)
	for _, k := range kids {
		v, err := Eval(k, env)
		switch {
		case err != nil:
			return table.Null(boolean), err
		case v.Null:
			out = table.Null(boolean)
		case v.I == decisive:
			return v, nil
		}
	}
	return out, nil
}

func inList(x table.Value, e *In) table.Value {
	null := false
	for _, c := range e.List {
		if c.V.Null {
			null = true
		} else if table.Compare(x, c.V) == 0 {
			return table.Bool(!e.Not)
		}
	}
	if null {
		return table.Null(boolean)
	}
	return table.Bool(e.Not)
}

// negate is -x.
func negate(x table.Value, wide bool, pos int) (table.Value, error) {
	switch {
	case x.Type.IsFloat():
		x.F = -x.F
		return x, nil
	case x.Type.Kind == table.Decimal:
		return decimal(x.Type, new(big.Int).Neg(x.Unscaled()), wide, pos)
	case x.I == -x.I && x.I != 0 || x.Type.IsInteger() && !x.Type.Holds(-x.I):
		return x, Raised(pos, OutOfRange(x.Type))
	}
	x.I, x.Months, x.Carried = -x.I, -x.Months, -x.Carried
	return x, nil
}

// Reader tells how the values of a column are read: of place i into the place of some value.
type Reader func(column int) func(i int, to *table.Value)

// Rows reads the rows of a chunk.
func Rows(c *table.Chunk) Reader {
	return func(column int) func(i int, to *table.Value) {
		s := c.Segments[column]
		return func(i int, to *table.Value) {
			*to = table.Value{}
			s.Read(i, to)
		}
	}
}

// Codes reads the codes of a segment in their order, of an expression that reads its column alone.
func Codes(s *table.Segment) Reader {
	return func(int) func(i int, to *table.Value) {
		return func(i int, to *table.Value) { *to = s.Decode(uint64(i)) }
	}
}

// Nulls reads a NULL of a segment's column.
func Nulls(s *table.Segment) Reader {
	return func(int) func(i int, to *table.Value) {
		return func(_ int, to *table.Value) { *to = table.Null(s.Type) }
	}
}

// At evaluates an expression at places of what is read, by its definition. wide is as in [Env].
func At(e Expr, read Reader, wide bool) func(i int) (table.Value, error) {
	at, columns := 0, Columns(e)
	readers := xslices.Map(columns, func(k int) func(i int, to *table.Value) { return read(k) })
	env := &Env{Column: func(k int) (v table.Value) {
		i, _ := slices.BinarySearch(columns, k)
		readers[i](at, &v)
		return v
	}}
	if wide {
		env.Agg = func(int) table.Value { return table.Value{Null: true} }
	}
	return func(i int) (table.Value, error) {
		at = i
		return Eval(e, env)
	}
}
