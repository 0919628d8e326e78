package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/table"
)

// Operation is one statement to measure, over any table.
type Operation struct {
	Name       string
	Attributes int  // how many columns it takes; one may be used twice
	Integers   bool // of integers only
	query      func(*facts) Query

	figure int                    // of the paper; 0 for none
	x      func(f *facts) float64 // on the figure's axis; nil: the number of rows
	only   []string               // the systems that run it; nil: all that are not special
	extra  []string               // special systems that run it too
}

// operations are the paper's operations. Constants are quantiles of the columns, so
// that the selectivities are the paper's on any data; a column with few distinct
// values comes as close as it can.
var operations = []Operation{
	{Name: "count", Attributes: 1, query: func(f *facts) Query { return f.countWhere(f.below(0, 60)) }},
	{Name: "between", Attributes: 1, query: func(f *facts) Query {
		return f.countWhere(f.between(0))
	}},
	{Name: "and4", Attributes: 4, query: func(f *facts) Query { return f.countWhere(f.conjunction(4)) }},
	{Name: "semilinear", Attributes: 4, Integers: true, query: func(f *facts) Query {
		return f.linear(func(x func(int) string) string {
			return fmt.Sprintf("3 * %s - 2 * %s + 5 * %s - 7 * %s < 0", x(0), x(1), x(2), x(3))
		})
	}},
	{Name: "sum", Attributes: 1, query: func(f *facts) Query { return f.aggregate("SUM") }},
	{Name: "avg", Attributes: 1, query: func(f *facts) Query { return f.aggregate("AVG") }},
	{Name: "min", Attributes: 1, query: func(f *facts) Query { return f.aggregate("MIN") }},
	{Name: "max", Attributes: 1, query: func(f *facts) Query { return f.aggregate("MAX") }},
	{Name: "median", Attributes: 1, query: func(f *facts) Query { return f.median("") }},
	{Name: "median_where", Attributes: 2, query: func(f *facts) Query { return f.median(f.below(1, 80)) }},
}

// operationsSuite is every operation on every system.
func operationsSuite() Suite {
	return Suite{
		Name:     "operations",
		Doc:      "the paper's operations over up to four attributes, on every backend and peer",
		Rows:     defaultRows,
		Backends: allBackends, Peers: Peers,
		Operations: operations,
		Summary:    writeRatios,
	}
}

func defaultRows(Machine) []int { return []int{1_000, 100_000, 1_000_000, 16_000_000} }

// allBackends lists the backends with auto last.
func allBackends() []string {
	list := slices.DeleteFunc(slices.Clone(engine.Backends()), func(s string) bool { return s == "auto" })
	return append(list, "auto")
}

// facts are what the statements over a table are made of.
type facts struct {
	table     string
	types     []table.Type     // of the columns, those of integers first
	integers  int              // how many columns are of integers
	values    []int            // of each column: rows in which it is not NULL
	lo, hi    []int64          // of each column of integers
	names     []string         // of the columns, quoted
	quantiles []map[int]string // of each column: the constant by its percentage
}

// percentages are those of the quantiles that operations use.
var percentages = []int{20, 40, 60, 80}

// survey finds the quantiles of a table's columns.
func survey(ctx context.Context, t *table.Table) (f *facts, err error) {
	db, err := engine.Open(engine.Options{Backend: "cpu"})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := db.Add(t); err != nil {
		return nil, err
	}
	f = &facts{table: quoted(t.Name)}
	for col, field := range t.Fields {
		name := quoted(field.Name)
		var items []string
		for _, p := range percentages {
			items = append(items, fmt.Sprintf("percentile_disc(0.%d) WITHIN GROUP (ORDER BY %s)", p, name))
		}
		r, err := engine.Collect(db.Query(ctx, "SELECT "+strings.Join(items, ", ")+" FROM "+f.table))
		if err != nil {
			return nil, err
		}
		constants := map[int]string{}
		for i, p := range percentages {
			constants[p] = literal(r.Rows[0][i])
		}
		f.names, f.types, f.quantiles = append(f.names, name), append(f.types, field.Type), append(f.quantiles, constants)
		if field.Type.IsInteger() {
			f.integers++
		}
		f.extent(t, col)
	}
	return f, nil
}

// literal writes a value as SQL that has exactly this value.
func literal(v table.Value) string {
	switch {
	case v.Null:
	case math.IsNaN(v.F) || math.IsInf(v.F, 0):
		return "CAST('" + v.String() + "' AS double precision)"
	case v.Type.IsFloat(): // without an exponent DuckDB takes it for a decimal
		return strconv.FormatFloat(v.F, 'e', -1, 64)
	case v.Type.Kind == table.Date:
		return "DATE '" + v.String() + "'"
	case v.Type.Kind == table.Timestamp:
		return "TIMESTAMP '" + v.String() + "'"
	}
	return v.String()
}

// extent notes how many values a column has and, of integers, between which they lie.
func (f *facts) extent(t *table.Table, col int) {
	values, lo, hi := 0, int64(0), int64(0)
	for _, c := range t.Chunks {
		seg := c.Segments[col]
		if seg.NonNull() == 0 {
			continue
		}
		from, to := table.IntFromOrdinal(seg.Base), table.IntFromOrdinal(seg.Base+seg.Max) // of integers
		if values == 0 {
			lo, hi = from, to
		}
		lo, hi = min(lo, from), max(hi, to)
		values += seg.NonNull()
	}
	f.values, f.lo, f.hi = append(f.values, values), append(f.lo, lo), append(f.hi, hi)
}

// quoted writes a name so that SQL takes it as it is.
func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// lacks says why an operation cannot run over the table, or "".
func (f *facts) lacks(op Operation) string {
	have, what := len(f.names), "attributes"
	if op.Integers {
		have, what = f.integers, "attributes of integers"
	}
	if op.Attributes <= uses*have {
		return ""
	}
	return fmt.Sprintf("this takes %d %s, each twice at most; the table has %d", op.Attributes, what, have)
}

// name is the i-th attribute that an operation takes. Beyond those of the table they
// are used again.
func (f *facts) name(i int) string { return f.names[i%len(f.names)] }

// integer is the i-th one of integers, likewise.
func (f *facts) integer(i int) string { return f.names[i%f.integers] }

// linear counts by a condition on a linear combination of attributes of integers. DuckDB,
// which computes with their own width, gets SMALLINT as INTEGER.
func (f *facts) linear(condition func(attribute func(int) string) string) Query {
	q := f.countWhere(condition(f.integer))
	wide := f.countWhere(condition(func(i int) string {
		if f.types[i%f.integers].Kind == table.SmallInt {
			return "CAST(" + f.integer(i) + " AS INTEGER)"
		}
		return f.integer(i)
	}))
	q.Peers = map[string]string{"duckdb": wide.SQL}
	return q
}

// at is the constant below which that percentage of attribute i lies.
func (f *facts) at(i, percent int) string { return f.quantiles[i%len(f.names)][percent] }

// below selects that percentage of the rows by attribute i.
func (f *facts) below(i, percent int) string { return f.name(i) + " < " + f.at(i, percent) }

// from selects that percentage of the rows by attribute i, the others than below.
func (f *facts) from(i, percent int) string { return f.name(i) + " >= " + f.at(i, 100-percent) }

// between is the range of the paper's figure 4.
func (f *facts) between(i int) string {
	return fmt.Sprintf("%s BETWEEN %s AND %s", f.name(i), f.at(i, 20), f.at(i, 80))
}

// conjunction is AND of n attributes, 60 % each; an attribute that is used again gives
// its largest 60 %.
func (f *facts) conjunction(n int) string {
	var parts []string
	for i := range n {
		if i < len(f.names) {
			parts = append(parts, f.below(i, 60))
		} else {
			parts = append(parts, f.from(i, 60))
		}
	}
	return strings.Join(parts, " AND ")
}

func (f *facts) countWhere(condition string) Query {
	return Query{SQL: "SELECT COUNT(*) FROM " + f.table + " WHERE " + condition}
}

// aggregate is an aggregate of the first attribute.
func (f *facts) aggregate(function string) Query {
	q := f.value(function + "(" + f.names[0] + ")")
	if (function == "SUM" || function == "AVG") && !f.types[0].IsNumeric() {
		q.Cannot = fmt.Sprintf("%s is of type %v, which has no %s", f.names[0], f.types[0], function)
	}
	return q
}

// value is a statement whose answer is made of the first attribute.
func (f *facts) value(item string) Query {
	q := Query{SQL: "SELECT " + item + " FROM " + f.table}
	if !f.types[0].IsExact() {
		q.Alone = fmt.Sprintf("values of type %v are written, or added, in another way", f.types[0])
	}
	return q
}

// median is the element in the middle, as percentile_disc(0.5) defines it. SQLite
// sorts.
func (f *facts) median(condition string) Query {
	where, and := "", ""
	if condition != "" {
		where, and = " WHERE "+condition, " AND "+condition
	}
	x := f.names[0]
	q := f.value("percentile_disc(0.5) WITHIN GROUP (ORDER BY " + x + ")")
	q.SQL += where
	q.Peers = map[string]string{"sqlite": fmt.Sprintf(
		"SELECT (SELECT %s FROM %s WHERE %s IS NOT NULL%s ORDER BY 1 LIMIT 1 OFFSET (SELECT (COUNT(%s) - 1) / 2 FROM %s%s))",
		x, f.table, x, and, x, f.table, where)}
	return q
}
