package expr

import (
	"fmt"
	"strings"

	"github.com/stencildb/stencildb/table"
)

// AggKind is an aggregate function.
type AggKind uint8

// The aggregates.
const (
	CountAll    AggKind = iota // COUNT(*)
	Count                      // COUNT(x)
	Sum                        // SUM(x): DECIMAL(38, s) for integers and DECIMAL, exact; REAL and DOUBLE: the exact sum rounded once
	Avg                        // AVG(x): DOUBLE, the exact quotient rounded once
	Min                        // MIN(x)
	Max                        // MAX(x)
	Percentile                 // percentile_disc(f) WITHIN GROUP (ORDER BY x); MEDIAN(x) is f = 0.5
	KthLargest                 // kth_largest(x, k)
	KthSmallest                // kth_smallest(x, k)
	Selectivity                // selectivity(): selected records / all records, DOUBLE; NULL for an empty table
)

// Aggregate is one aggregate over a column of the selection.
type Aggregate struct {
	Kind AggKind
	Col  int        // field index; -1 for CountAll and Selectivity
	Name string     // the column's name
	Arg  table.Type // the column's type
	K    int64      // KthLargest, KthSmallest
	F    float64    // Percentile, 0..1
	Desc bool       // Percentile over ORDER BY x DESC
	Null bool       // Percentile of a NULL fraction, or k-th of a NULL k: the result is NULL
	P    int

	Median bool // Percentile written as MEDIAN(x): F is 0.5
}

// Type returns the type of the aggregate's result.
func (a Aggregate) Type() table.Type {
	switch a.Kind {
	case CountAll, Count:
		return table.Type{Kind: table.BigInt}
	case Sum:
		if a.Arg.IsExact() {
			return table.Type{Kind: table.Decimal, Precision: 38, Scale: a.Arg.Scale}
		}
		return a.Arg
	case Avg, Selectivity:
		return table.Type{Kind: table.Double}
	}
	return a.Arg
}

// aggregateForms write the aggregates as SQL: of x, a column, f and k.
var aggregateForms = [...]string{
	CountAll: "COUNT(*)", Count: "COUNT({x})", Sum: "SUM({x})", Avg: "AVG({x})", Min: "MIN({x})", Max: "MAX({x})",
	Percentile: "percentile_disc({f}) WITHIN GROUP (ORDER BY {x})", Selectivity: "selectivity()",
	KthLargest: "kth_largest({x}, {k})", KthSmallest: "kth_smallest({x}, {k})",
}

// String writes the aggregate as SQL.
func (a Aggregate) String() string {
	form, column := aggregateForms[a.Kind], Ident(a.Name)
	if a.Median {
		form = "MEDIAN({x})"
	} else if a.Desc {
		column += " DESC"
	}
	return strings.NewReplacer("{x}", column, "{f}", fmt.Sprint(a.F), "{k}", fmt.Sprint(a.K)).Replace(form)
}

// Error is an error at a place in the SQL text.
type Error struct {
	Pos int // byte offset; -1 when unknown
	Msg string
}

func (e *Error) Error() string { return e.Msg }

// Errorf makes an [Error] at the position of e.
func Errorf(pos int, format string, args ...any) error {
	return &Error{Pos: pos, Msg: fmt.Sprintf(format, args...)}
}
