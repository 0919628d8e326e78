package expr

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/table"
)

// AggKind is an aggregate function.
type AggKind uint8

// The aggregates.
const (
	CountAll    AggKind = iota // COUNT(*)
	Count                      // COUNT(x)
	Sum                        // SUM(x): BIGINT for SMALLINT and INTEGER, DECIMAL(38, s) for BIGINT and DECIMAL, exact; REAL and DOUBLE: the exact sum rounded once
	Avg                        // AVG(x): DOUBLE, the exact quotient rounded once
	Min                        // MIN(x)
	Max                        // MAX(x)
	Percentile                 // percentile_disc(f) WITHIN GROUP (ORDER BY x); MEDIAN(x) is f = 0.5
	KthLargest                 // kth_largest(x, k)
	KthSmallest                // kth_smallest(x, k)
	Selectivity                // selectivity(): selected records / all records, DOUBLE; NULL for an empty table

	// Those that package cpu computes, above a backend that selects the records. Their
	// results are DOUBLE where nothing else is said.

	PercentileCont // percentile_cont(f) WITHIN GROUP (ORDER BY x): between the two values beside the place, linearly
	Mode           // mode() WITHIN GROUP (ORDER BY x): of the most frequent values the first in that order, of x's type
	VarPop         // var_pop(x)
	VarSamp        // var_samp(x)
	StddevPop      // stddev_pop(x)
	StddevSamp     // stddev_samp(x)
	BoolAnd        // bool_and(x), BOOLEAN
	BoolOr         // bool_or(x), BOOLEAN
	BitAnd         // bit_and(x), of integers and of x's type, as bit_or and bit_xor
	BitOr          // bit_or(x)
	BitXor         // bit_xor(x)
	AnyValue       // any_value(x): the smallest, so that it is the same each time
	StringAgg      // string_agg(x, separator), VARCHAR: in the order of the records, unless Order says another one
	Corr           // corr(x, y)
	CovarPop       // covar_pop(x, y)
	CovarSamp      // covar_samp(x, y)

	// The least-squares line through pairs, of which x is the dependent variable: SQL writes them
	// regr_slope(y, x).

	RegrCount     // regr_count(x, y): how many pairs, BIGINT
	RegrAvgX      // regr_avgx(x, y): the mean of y
	RegrAvgY      // regr_avgy(x, y): the mean of x
	RegrSXX       // regr_sxx(x, y): the sum of the squares of y's distances from its mean
	RegrSYY       // regr_syy(x, y): that of x
	RegrSXY       // regr_sxy(x, y): the sum of the products of these distances
	RegrSlope     // regr_slope(x, y)
	RegrIntercept // regr_intercept(x, y)
	RegrR2        // regr_r2(x, y): the square of the correlation, 1 where x is constant and y is not
)

// Aggregate is one aggregate over the selection, or over each group of it.
type Aggregate struct {
	Kind  AggKind
	Col   int        // field index; -1 for none, and where X is set
	X     Expr       // what it is of, where that is no column
	Y     Expr       // the other argument of those that have two
	Name  string     // the column's name, or X as SQL
	Table string     // the column's: see [Column]
	Arg   table.Type // the argument's type
	K     int64      // KthLargest, KthSmallest
	F     float64    // Percentile, PercentileCont: 0..1
	Desc  bool       // over ORDER BY x DESC
	Null  bool       // Percentile of a NULL fraction, or k-th of a NULL k: the result is NULL
	P     int

	Separator Expr      // StringAgg: what stands before each text but the first
	Order     []SortKey // StringAgg: the order of the texts; of equal ones that of the records

	Distinct bool // of different values, each once
	Filter   Expr // of the records for which it is TRUE; nil for all

	Median bool // Percentile written as MEDIAN(x): F is 0.5
}

// SortKey is what rows are ordered by. It is ascending, but descending for Desc, as [table.Compare]
// has it, with NULLs behind all values, but before them for NullsFirst.
type SortKey struct {
	E                Expr
	Desc, NullsFirst bool
}

// String is the key as SQL. What PostgreSQL takes without NULLS FIRST or LAST is left out.
func (k SortKey) String() string {
	text := k.E.String()
	if k.Desc {
		text += " DESC"
	}
	switch {
	case k.NullsFirst && !k.Desc:
		text += " NULLS FIRST"
	case k.Desc && !k.NullsFirst:
		text += " NULLS LAST"
	}
	return text
}

// Compare orders two values of the key.
func (k SortKey) Compare(x, y table.Value) int {
	switch {
	case x.Null && y.Null:
		return 0
	case x.Null != y.Null:
		if x.Null == k.NullsFirst {
			return -1
		}
		return 1
	case k.Desc:
		x, y = y, x
	}
	return table.Compare(x, y)
}

// OfColumn reports an aggregate that needs no more of the selected records than a count of
// them or a column: each backend computes these. Package lower has what some backends compute besides.
func (a Aggregate) OfColumn() bool {
	return a.Kind <= Selectivity && a.X == nil && !a.Distinct && a.Filter == nil
}

// Argument is what the aggregate is of; nil for COUNT(*) and selectivity().
func (a Aggregate) Argument() Expr {
	switch {
	case a.X != nil:
		return a.X
	case a.Col >= 0:
		return &Column{Index: a.Col, Name: a.Name, Table: a.Table, T: a.Arg, P: a.P}
	}
	return nil
}

// Reads lists the columns that the aggregate reads, ascending, without repetition.
func (a Aggregate) Reads() []int {
	cols := slices.Concat(Columns(a.Argument()), Columns(a.Y), Columns(a.Filter), Columns(a.Separator))
	for _, k := range a.Order {
		cols = append(cols, Columns(k.E)...)
	}
	slices.Sort(cols)
	return slices.Compact(cols)
}

// Moved is the aggregate of other columns: see [Moved].
func (a Aggregate) Moved(at func(column int) int) Aggregate {
	return a.Map(func(e Expr) Expr { return Moved(e, at) })
}

// Map is the aggregate of what f gives for each of its expressions.
func (a Aggregate) Map(f func(Expr) Expr) Aggregate {
	if x := a.Argument(); x != nil {
		switch x := f(x).(type) {
		case *Column:
			a.X, a.Col, a.Name, a.Table = nil, x.Index, x.Name, x.Table
		default:
			a.X, a.Col, a.Name, a.Table = x, -1, x.String(), ""
		}
	}
	for _, e := range []*Expr{&a.Y, &a.Filter, &a.Separator} {
		if *e != nil {
			*e = f(*e)
		}
	}
	a.Order = slices.Clone(a.Order)
	for i, k := range a.Order {
		a.Order[i].E = f(k.E)
	}
	return a
}

// Type returns the type of the aggregate's result.
func (a Aggregate) Type() table.Type {
	switch a.Kind {
	case CountAll, Count, RegrCount:
		return table.Type{Kind: table.BigInt}
	case Sum:
		switch {
		case a.Arg.Kind == table.SmallInt, a.Arg.Kind == table.Integer:
			return table.Type{Kind: table.BigInt}
		case a.Arg.IsExact():
			return table.Type{Kind: table.Decimal, Precision: 38, Scale: a.Arg.Scale}
		}
		return a.Arg
	case Avg, Selectivity, PercentileCont, VarPop, VarSamp, StddevPop, StddevSamp, Corr, CovarPop, CovarSamp,
		RegrAvgX, RegrAvgY, RegrSXX, RegrSYY, RegrSXY, RegrSlope, RegrIntercept, RegrR2:
		return table.Type{Kind: table.Double}
	}
	return a.Arg
}

// aggregateForms write the aggregates as SQL: of x and y, f and k.
var aggregateForms = [...]string{
	CountAll: "COUNT(*)", Count: "COUNT({x})", Sum: "SUM({x})", Avg: "AVG({x})", Min: "MIN({x})", Max: "MAX({x})",
	Percentile: "percentile_disc({f}) WITHIN GROUP (ORDER BY {x})", Selectivity: "selectivity()",
	KthLargest: "kth_largest({x}, {k})", KthSmallest: "kth_smallest({x}, {k})",
	PercentileCont: "percentile_cont({f}) WITHIN GROUP (ORDER BY {x})", Mode: "mode() WITHIN GROUP (ORDER BY {x})",
	VarPop: "var_pop({x})", VarSamp: "var_samp({x})", StddevPop: "stddev_pop({x})", StddevSamp: "stddev_samp({x})",
	BoolAnd: "bool_and({x})", BoolOr: "bool_or({x})", BitAnd: "bit_and({x})", BitOr: "bit_or({x})", BitXor: "bit_xor({x})", AnyValue: "any_value({x})", StringAgg: "string_agg({x}, {y})",
	Corr: "corr({x}, {y})", CovarPop: "covar_pop({x}, {y})", CovarSamp: "covar_samp({x}, {y})",
	RegrCount: "regr_count({x}, {y})", RegrAvgX: "regr_avgx({x}, {y})", RegrAvgY: "regr_avgy({x}, {y})",
	RegrSXX: "regr_sxx({x}, {y})", RegrSYY: "regr_syy({x}, {y})", RegrSXY: "regr_sxy({x}, {y})",
	RegrSlope: "regr_slope({x}, {y})", RegrIntercept: "regr_intercept({x}, {y})", RegrR2: "regr_r2({x}, {y})",
}

// Form is how the aggregate is called: of x, of y and x, of a fraction f and a number k.
func (k AggKind) Form() string {
	if k >= Corr {
		return strings.NewReplacer("{x}", "y", "{y}", "x").Replace(aggregateForms[k])
	}
	return strings.NewReplacer("{", "", "}", "").Replace(aggregateForms[k])
}

// String writes the aggregate as SQL.
func (a Aggregate) String() string {
	form, x, y := aggregateForms[a.Kind], a.Name, ""
	switch {
	case a.Col >= 0:
		x = a.Argument().String()
	case a.X == nil:
		x = Ident(a.Name)
	}
	if a.Y != nil {
		y = a.Y.String()
	}
	if a.Kind == StringAgg {
		y = a.Separator.String()
	}
	for i, k := range a.Order {
		y += map[bool]string{true: " ORDER BY ", false: ", "}[i == 0] + k.String()
	}
	if a.Distinct {
		x = "DISTINCT " + x
	}
	if a.Median {
		form = "MEDIAN({x})"
	} else if a.Desc {
		x += " DESC"
	}
	text := strings.NewReplacer("{x}", x, "{y}", y, "{f}", fmt.Sprint(a.F), "{k}", fmt.Sprint(a.K)).Replace(form)
	if a.Filter != nil {
		text += " FILTER (WHERE " + a.Filter.String() + ")"
	}
	return text
}
