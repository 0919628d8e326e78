//go:build duckdb

package duckdb

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	duck "github.com/duckdb/duckdb-go/v2"
	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/oracle/draw"
	"github.com/stencildb/stencildb/internal/oracle/harness"
	"github.com/stencildb/stencildb/internal/oracle/reference"
	"github.com/stencildb/stencildb/internal/plantest"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// aggregateForms write aggregates in DuckDB: of x and y, f and k, in an order. MODE and ANY_VALUE, which
// take another of several values there, are not among them.
var aggregateForms = map[expr.AggKind]string{
	expr.CountAll: "COUNT(*)", expr.Count: "COUNT({x})", expr.Sum: "SUM({x})", expr.Avg: "AVG({x})", expr.Min: "MIN({x})", expr.Max: "MAX({x})",
	expr.Percentile: "percentile_disc({f}) WITHIN GROUP (ORDER BY {x}{order})", expr.PercentileCont: "percentile_cont({f}) WITHIN GROUP (ORDER BY CAST({x} AS DOUBLE){order})",
	expr.KthLargest: "list({x} ORDER BY {x} DESC NULLS LAST)", expr.KthSmallest: "list({x} ORDER BY {x} NULLS LAST)",
	expr.VarPop: "var_pop({x})", expr.VarSamp: "var_samp({x})", expr.StddevPop: "stddev_pop({x})", expr.StddevSamp: "stddev_samp({x})",
	expr.BoolAnd: "bool_and({x})", expr.BoolOr: "bool_or({x})", expr.Corr: "corr({x}, {y})", expr.CovarPop: "covar_pop({x}, {y})", expr.CovarSamp: "covar_samp({x}, {y})",
	expr.BitAnd: "bit_and({x})", expr.BitOr: "bit_or({x})", expr.BitXor: "bit_xor({x})",
	expr.RegrCount: "regr_count({x}, {y})", expr.RegrAvgX: "regr_avgx({x}, {y})", expr.RegrAvgY: "regr_avgy({x}, {y})",
	expr.RegrSXX: "regr_sxx({x}, {y})", expr.RegrSYY: "regr_syy({x}, {y})", expr.RegrSXY: "regr_sxy({x}, {y})",
	expr.Selectivity: "COUNT(*)", expr.StringAgg: "string_agg({x}, {y}{order})",
}

// largest are the values by which rounding is measured, where DuckDB rounds at each step. They are of
// aggregates that are no value of a column, nor exact.
var largest = map[expr.AggKind]string{
	expr.Sum: "COUNT({x}) * {X}", expr.Avg: "{X}", expr.PercentileCont: "{X}",
	expr.VarPop: "{X} * {X}", expr.VarSamp: "{X} * {X}", expr.StddevPop: "{X} * {X}", expr.StddevSamp: "{X} * {X}",
	expr.Corr: "{X} * {Y} / (stddev_pop({x}){where} * stddev_pop({y}){where})", expr.CovarPop: "{X} * {Y}", expr.CovarSamp: "{X} * {Y}",
	expr.RegrAvgX: "{Y}", expr.RegrAvgY: "{X}", expr.RegrSXX: "COUNT(*) * {Y} * {Y}", expr.RegrSYY: "COUNT(*) * {X} * {X}", expr.RegrSXY: "COUNT(*) * {X} * {Y}",
}

// aggregate writes one, and what its rounding is measured by, "" where it is exact.
func (d dialect) aggregate(w *harness.Writer, a expr.Aggregate, rows int) (text, scale string) {
	form, ok := aggregateForms[a.Kind]
	if !ok {
		w.Refuse("%v", a)
		return "NULL", ""
	}
	part := func(e expr.Expr) string {
		if e == nil {
			return ""
		}
		one := &harness.Writer{Dialect: d}
		one.Put(e)
		if one.Refused != "" {
			w.Refuse("%s", one.Refused)
		}
		return one.Text.String()
	}
	x, y, where := part(a.Argument()), part(a.Y), "TRUE"
	if a.Filter != nil {
		where = part(a.Filter)
	}
	if y != "" {
		where += " AND " + x + " IS NOT NULL AND " + y + " IS NOT NULL"
	}
	where = " FILTER (WHERE " + where + ")"
	order := map[bool]string{true: " DESC"}[a.Desc]
	if a.Kind == expr.StringAgg {
		if _, constant := a.Separator.(*expr.Const); !constant {
			w.Refuse("%v", a)
		}
		y = part(a.Separator)
		var keys []string
		for _, k := range a.Order {
			keys = append(keys, part(k.E)+draw.OrderKey{SortKey: k}.Order(true))
		}
		if !a.Distinct {
			keys = append(keys, "place")
		}
		order = " ORDER BY " + strings.Join(keys, ", ")
	}
	size := func(x string) string { return "MAX(ABS(CAST(" + x + " AS DOUBLE)))" + where }
	write := func(form, x string) string {
		return strings.NewReplacer("{x}", x, "{y}", y, "{f}", fmt.Sprint(a.F), "{order}", order,
			"{X}", size(x), "{Y}", size(y), "{where}", where).Replace(form)
	}
	if a.Kind != expr.Sum || a.Arg.IsFloat() {
		scale = write(largest[a.Kind], x)
	}
	if a.Distinct {
		x = "DISTINCT " + x
	}
	text = write(form, x) + where
	switch a.Kind {
	case expr.KthLargest, expr.KthSmallest:
		text = fmt.Sprintf("(%s)[%d]", text, a.K)
	case expr.Selectivity:
		text = fmt.Sprintf("(%s / CAST(nullif(%d, 0) AS DOUBLE))", text, rows)
	}
	return text, scale
}

// groupItem is an item of a select list as DuckDB computes it.
type groupItem struct {
	at    int // in the list
	text  string
	scale string // by which its rounding is measured; "" where it is exact
	of    expr.AggKind
}

// groupItems are the items that DuckDB can compute, and the rest of the statement, which orders groups by
// their first rows.
func (d dialect) groupItems(tab *table.Table, tree plan.Node) (list []groupItem, rest string, refused bool) {
	items, having, n := reference.AggregateOf(tree)
	w := &harness.Writer{Dialect: d}
	var keys, refs, scales []string
	w.Put(" FROM (SELECT *, rowid AS place")
	for i, k := range n.Keys {
		refs, scales = append(refs, fmt.Sprintf("key%d", i)), append(scales, "")
		keys = append(keys, refs[i])
		w.Put(", ", k, " AS ", refs[i])
	}
	w.Put(" FROM ", tab.Name)
	if where := reference.Selecting(n); where != nil {
		w.Put(" WHERE ", where)
	}
	w.Put(")")
	if len(keys) > 0 {
		w.Put(" GROUP BY ", strings.Join(keys, ", "))
	}
	unknown := map[int]bool{}
	for _, a := range n.Aggs {
		one := &harness.Writer{Dialect: d}
		text, scale := d.aggregate(one, a, tab.Rows())
		unknown[len(refs)] = one.Refused != ""
		refs, scales = append(refs, text), append(scales, scale)
	}
	w.Refs = refs
	said := func(e expr.Expr) bool {
		return !slices.ContainsFunc(aggregateRefs(e), func(i int) bool { return unknown[i] })
	}
	if having != nil {
		w.Put(" HAVING ", having)
	}
	w.Put(" ORDER BY MIN(place)")
	for at, item := range items {
		i := groupItem{at: at}
		if ref, ok := item.E.(*expr.AggRef); ok {
			i.scale = scales[ref.Index]
			if ref.Index >= len(keys) {
				i.of = n.Aggs[ref.Index-len(keys)].Kind
			}
		}
		one := &harness.Writer{Dialect: d, Refs: refs}
		if one.Put(item.E); one.Refused == "" && said(item.E) {
			i.text = d.Output(one.Text.String(), item.E.Type())
			list = append(list, i)
		}
	}
	return list, w.Text.String(), w.Refused != "" || having != nil && !said(having)
}

// aggregateRefs are the keys and aggregates that an expression takes.
func aggregateRefs(e expr.Expr) (list []int) {
	expr.Walk(e, func(e expr.Expr) {
		if ref, ok := e.(*expr.AggRef); ok {
			list = append(list, ref.Index)
		}
	})
	return list
}

// close reports an answer of DuckDB that differs from ours by rounding, measured by a scale.
func (i groupItem) close(theirs, ours table.Value, scale float64) bool {
	if i.scale == "" || theirs.Null || ours.Null && i.of != expr.Corr {
		return false
	}
	rounding := 1e-12 * scale
	if ours.Type.Kind == table.Real {
		rounding = 1e-6 * scale
	}
	x, y := theirs.F, ours.F
	huge := !(scale <= 1e305) // what is added up may overflow there; of infinity and NaN most is NaN here
	switch i.of {
	case expr.Sum, expr.Avg:
		huge = huge && (math.IsInf(x, 0) || math.IsNaN(x))
	case expr.StddevPop, expr.StddevSamp:
		x, y = x*x, y*y
	case expr.Corr:
		if rounding >= 1e-3 { // its divisor may be rounding alone
			return true
		}
	}
	return huge || math.Abs(x-y) <= rounding
}

// raised reports an error of values, not of the statement.
func raised(err error) bool {
	var e *duck.Error
	return errors.As(err, &e) && slices.Contains([]duck.ErrorType{duck.ErrorTypeOutOfRange, duck.ErrorTypeConversion, duck.ErrorTypeInvalidInput}, e.Type)
}

// Groups and their aggregates are those of DuckDB, in the order of their first rows.
func TestDuckDBGroups(t *testing.T) {
	h := &harness.Harness{}
	h.Add(t, "cpu")
	p := open(t)
	rapid.Check(t, func(t *rapid.T) {
		k := plantest.Default()
		k.Narrow, k.Special = rapid.IntRange(0, 3).Draw(t, "narrow") > 0, rapid.Bool().Draw(t, "special")
		tab := draw.Table(t, h.NewName(), draw.GroupFields, k, 300)
		h.Register(t, tab)
		if err := p.Load(tab); err != nil {
			t.Fatal(err)
		}
		g := &draw.Aggregations{Texts: draw.Texts{T: t, Tab: tab}}
		for range 8 {
			h.Queries++
			groupsAsInDuckDB(t, h, tab, g.Statement(), p)
		}
		if err := p.Drop(tab.Name); err != nil {
			t.Fatal(err)
		}
	})
	t.Log(&h.Tally)
	if h.Compared < h.Queries/3 {
		t.Error("most statements fail")
	}
}

// groupsAsInDuckDB compares a statement with an aggregation, on cpu, with DuckDB.
func groupsAsInDuckDB(t *rapid.T, h *harness.Harness, tab *table.Table, text string, p *harness.Peer) {
	tree, err := harness.Bind(tab, text)
	if err != nil {
		t.Fatalf("%s\n%v", text, err)
	}
	want, err := harness.RowsOf(h.DBs[0].Query(context.Background(), text))
	if err != nil {
		h.Failed++
		return
	}
	list, rest, refused := dialect{}.groupItems(tab, tree)
	if refused || len(list) == 0 {
		h.Inexpressible++
		return
	}
	var columns []string
	for _, i := range list {
		scale := "0"
		if i.scale != "" {
			scale = "CAST(" + i.scale + " AS DOUBLE)"
		}
		columns = append(columns, i.text, scale)
	}
	theirs := "SELECT " + strings.Join(columns, ", ") + rest
	got, err := p.Values(theirs)
	if raised(err) {
		h.Inexpressible++
		return
	}
	if err != nil || len(got) != len(want) {
		t.Fatalf("%s\n%s\nDuckDB: %v, %d rows, want %d\n%s", text, theirs, err, len(got), len(want), harness.Dump(tab))
	}
	h.Compared++
	for r, row := range got {
		for c, i := range list {
			value := want[r][i.at]
			v, err := harness.FromPeer(row[2*c], value.Type)
			scale, _ := row[2*c+1].(float64)
			if err != nil || !harness.Same(v, value) && !i.close(v, value, scale) {
				t.Fatalf("%s\n%s\nDuckDB has %v (%v) in row %d, column %d, cpu %v\n%s", text, theirs, v, err, r, i.at, value, harness.Dump(tab))
			}
		}
	}
}
