package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/table"
)

// Operation is one statement to measure, over any table.
type Operation struct {
	Name       string
	Attributes int // how many columns it takes
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
		return f.countWhere(fmt.Sprintf("%s BETWEEN %s AND %s", f.names[0], f.at(0, 20), f.at(0, 80)))
	}},
	{Name: "and4", Attributes: 4, query: func(f *facts) Query {
		return f.countWhere(strings.Join([]string{f.below(0, 60), f.below(1, 60), f.below(2, 60), f.below(3, 60)}, " AND "))
	}},
	{Name: "semilinear", Attributes: 4, query: func(f *facts) Query {
		return f.countWhere(fmt.Sprintf("3 * %s - 2 * %s + 5 * %s - 7 * %s < 0", f.names[0], f.names[1], f.names[2], f.names[3]))
	}},
	{Name: "sum", Attributes: 1, query: func(f *facts) Query { return f.aggregate("SUM(" + f.names[0] + ")") }},
	{Name: "avg", Attributes: 1, query: func(f *facts) Query { return f.aggregate("AVG(" + f.names[0] + ")") }},
	{Name: "min", Attributes: 1, query: func(f *facts) Query { return f.aggregate("MIN(" + f.names[0] + ")") }},
	{Name: "max", Attributes: 1, query: func(f *facts) Query { return f.aggregate("MAX(" + f.names[0] + ")") }},
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
	rows      int
	values    []int            // of each column: rows in which it is not NULL
	lo, hi    []int64          // of each column
	names     []string         // of the columns, quoted where need be
	quantiles []map[int]string // of each column: the constant by its percentage
}

// percentages are those of the quantiles that operations use.
var percentages = []int{20, 60, 80}

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
	f = &facts{table: quoted(t.Name), rows: t.Rows()}
	for col, field := range t.Fields {
		name := quoted(field.Name)
		var items []string
		for _, p := range percentages {
			items = append(items, fmt.Sprintf("percentile_disc(0.%d) WITHIN GROUP (ORDER BY %s)", p, name))
		}
		r, err := db.Query(ctx, "SELECT "+strings.Join(items, ", ")+" FROM "+f.table)
		if err != nil {
			return nil, err
		}
		constants := map[int]string{}
		for i, p := range percentages {
			constants[p] = r.Rows[0][i].String()
		}
		f.names, f.quantiles = append(f.names, name), append(f.quantiles, constants)
		f.extent(t, col)
	}
	return f, nil
}

// extent notes how many values a column has and between which they lie.
func (f *facts) extent(t *table.Table, col int) {
	values, lo, hi := 0, int64(0), int64(0)
	for _, c := range t.Chunks {
		seg := c.Segments[col]
		if seg.NonNull() == 0 {
			continue
		}
		from, to := table.IntFromOrdinal(seg.Base), table.IntFromOrdinal(seg.Base+seg.Max)
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

// at is the constant below which that percentage of column i lies.
func (f *facts) at(i, percent int) string { return f.quantiles[i][percent] }

// below selects that percentage of the rows by column i.
func (f *facts) below(i, percent int) string { return f.names[i] + " < " + f.at(i, percent) }

func (f *facts) countWhere(condition string) Query {
	return Query{SQL: "SELECT COUNT(*) FROM " + f.table + " WHERE " + condition}
}

func (f *facts) aggregate(item string) Query {
	return Query{SQL: "SELECT " + item + " FROM " + f.table}
}

// median is the element in the middle, as percentile_disc(0.5) defines it. SQLite
// sorts.
func (f *facts) median(condition string) Query {
	from, and := " FROM "+f.table, ""
	if condition != "" {
		from, and = from+" WHERE "+condition, " AND "+condition
	}
	x := f.names[0]
	sorted := fmt.Sprintf("SELECT %s FROM %s WHERE %s IS NOT NULL%s ORDER BY 1 LIMIT 1 OFFSET (SELECT (COUNT(%s) - 1) / 2%s)",
		x, f.table, x, and, x, from)
	return Query{
		SQL:   "SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY " + x + ")" + from,
		Peers: map[string]string{"sqlite": sorted},
	}
}
