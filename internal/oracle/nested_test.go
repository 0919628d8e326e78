package oracle

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/table"
)

// nested draws statements with subqueries, WITH and set operations, up to three deep.
type nested struct {
	joins
	all  bool // what SQLite does not have, too
	ctes []source
	n    int // names so far
}

// frame is a SELECT that is being drawn: its tables, and those around it.
type frame struct{ own, outer []source }

func (f frame) sees() []source { return slices.Concat(f.own, f.outer) }

func (g *nested) named(prefix string) string {
	g.n++
	return fmt.Sprintf("%s%d", prefix, g.n)
}

// nestedKinds are the kinds of columns that a query gives.
var nestedKinds = [][]table.Kind{wholes, wholes, {table.Double}, {table.Varchar}, {table.Date}, {table.Boolean}}

// relation draws an item of FROM.
func (g *nested) relation(depth int, outer []source) (s source, text string) {
	if depth > 0 && g.some(4) {
		q, fields := g.query(depth-1, nil, nil)
		s = source{g.named("d"), &table.Table{Fields: fields}}
		return s, "(" + q + ") AS " + s.name
	}
	if len(g.ctes) > 0 && g.some(4) {
		c := rapid.SampledFrom(g.ctes).Draw(g.t, "cte")
		s = source{g.named("w"), c.tab}
		return s, c.name + " AS " + s.name
	}
	s = source{g.named("t"), rapid.SampledFrom(g.pool[1:]).Draw(g.t, "table")}
	return s, s.tab.Name + " AS " + s.name
}

// condition draws one of WHERE.
func (g *nested) condition(depth int, f frame) string {
	if depth == 0 || g.some(4) {
		if len(f.outer) > 0 && g.some(7) {
			x, y := g.pair(f.own, f.outer)
			return x + g.pick(" = ", " = ", " = ", " < ", " <> ") + y
		}
		if len(f.own) > 1 && g.some(4) {
			x, y := g.pair(f.own[:1], f.own[1:])
			return x + " = " + y
		}
		return g.alone(f.own)
	}
	if g.some(1) {
		return "(" + g.condition(depth-1, f) + g.pick(" OR ", " AND ") + g.condition(depth-1, f) + ")"
	}
	return g.test(depth, f)
}

// test draws a condition with a subquery.
func (g *nested) test(depth int, f frame) string {
	not := g.pick("", "", "NOT ")
	kinds := rapid.SampledFrom(nestedKinds).Draw(g.t, "kinds")
	of := f.own
	if len(f.outer) > 0 && g.some(5) {
		of = f.outer
	}
	x := g.column(of, kinds...)
	switch rapid.IntRange(0, 4).Draw(g.t, "test") {
	case 0, 1:
		q, _ := g.query(depth-1, nil, f.sees())
		if !g.all && strings.HasPrefix(q, "SELECT DISTINCT ") && strings.Contains(q, " OFFSET ") {
			q = "SELECT * FROM (" + q + ") AS " + g.named("e") // SQLite 3.40 and 3.53 leave out the DISTINCT of an EXISTS, and skip rows that are alike
		}
		return not + "EXISTS (" + q + ")"
	case 2:
		if x != "" {
			return g.column(f.own, wholes...) + " " + g.op() + " (" + g.scalar(depth, f) + ")"
		}
	case 3:
		if g.all && x != "" && kinds[0] != table.Boolean {
			q, _ := g.query(depth-1, [][]table.Kind{kinds}, f.sees())
			return x + " " + g.op() + g.pick(" ANY (", " ALL (") + q + ")"
		}
	}
	if x == "" {
		return g.alone(f.own)
	}
	q, _ := g.query(depth-1, [][]table.Kind{kinds}, f.sees())
	return x + " " + not + "IN (" + q + ")"
}

// scalar draws a query of one whole number.
func (g *nested) scalar(depth int, f frame) string {
	s, text := g.relation(depth-1, nil)
	inner := frame{[]source{s}, f.sees()}
	col := g.column(inner.own, wholes...)
	if col == "" {
		col = "1"
	}
	text = "SELECT " + g.pick("COUNT(*)", "MAX("+col+")", "MIN("+col+")", "COUNT("+col+") + 1", "coalesce(MIN("+col+"), 0) - 1") + " FROM " + text
	if g.some(7) {
		text += " WHERE " + g.condition(depth-1, inner)
	}
	return text
}

// query draws a SELECT, or a set operation, of columns of some kinds (nil: of any) that sees tables around it.
func (g *nested) query(depth int, kinds [][]table.Kind, outer []source) (string, []table.Field) {
	if kinds == nil {
		for range rapid.IntRange(1, 3).Draw(g.t, "columns") {
			kinds = append(kinds, rapid.SampledFrom(nestedKinds).Draw(g.t, "kinds"))
		}
		kinds[0] = wholes
	}
	text, fields := g.selected(depth, kinds, outer)
	if depth > 0 && g.some(2) {
		op := g.pick(" UNION ", " UNION ALL ", " INTERSECT ", " EXCEPT ")
		if g.all {
			op = g.pick(op, op, " INTERSECT ALL ", " EXCEPT ALL ")
		}
		right, _ := g.selected(depth-1, kinds, outer)
		text += op + right
		if !g.all {
			return text, fields // SQLite 3.53 orders groups of a UNION by ASC where DESC is asked for
		}
	}
	if len(outer) > 0 && g.some(2) {
		text += g.first(len(fields))
	}
	return text, fields
}

// first draws ORDER BY of all columns, with LIMIT and OFFSET.
func (g *nested) first(columns int) string {
	text := " ORDER BY " + g.ordering(columns) + fmt.Sprintf(" LIMIT %d", rapid.IntRange(0, 4).Draw(g.t, "limit"))
	if g.some(3) {
		text += fmt.Sprintf(" OFFSET %d", rapid.IntRange(1, 2).Draw(g.t, "offset"))
	}
	return text
}

// ordering draws an order by the first columns.
func (g *nested) ordering(columns int) string {
	var by []string
	for i := range columns {
		by = append(by, fmt.Sprintf("%d", i+1)+g.pick(" ASC", " DESC")+g.pick(" NULLS FIRST", " NULLS LAST"))
	}
	return strings.Join(by, ", ")
}

// selected draws a SELECT.
func (g *nested) selected(depth int, kinds [][]table.Kind, outer []source) (string, []table.Field) {
	var f frame
	f.outer = outer
	s, from := g.relation(depth, outer)
	f.own = append(f.own, s)
	var where []string
	if g.some(4) {
		r, right := g.relation(max(0, depth-1), outer)
		x, y := g.pair(f.own, []source{r})
		switch on := x + " = " + y; rapid.IntRange(0, 4).Draw(g.t, "join") {
		case 0:
			kind := " LEFT JOIN "
			if !g.all && depth > 0 && g.some(5) { // DuckDB has no subqueries there
				sees := frame{[]source{s, r}, outer}
				if kind = g.pick(kind, " RIGHT JOIN ", " FULL JOIN "); kind == " FULL JOIN " {
					sees.outer = nil // which this refuses
				}
				on += " AND " + g.test(depth, sees)
			}
			from += kind + right + " ON " + on
		case 1:
			from += ", " + right
			where = append(where, on)
		case 2:
			if g.all && depth > 0 {
				inner := frame{[]source{{g.named("l"), g.pool[1]}}, f.own}
				name := g.named("x")
				r = source{name, &table.Table{Fields: []table.Field{{Name: "c0", Type: table.Type{Kind: table.BigInt}}}}}
				x, y := g.pair(inner.own, f.own)
				item, first := "COUNT(*)", ""
				if g.some(5) {
					item, first = g.column(inner.own, wholes...), g.first(1)
					if g.some(3) {
						item = g.pick("row_number()", "COUNT(*)") + " OVER (ORDER BY " + item + g.pick(" ASC", " DESC") + g.pick(" NULLS FIRST", " NULLS LAST") + ")"
					}
				}
				from += ", LATERAL (SELECT " + item + " AS c0 FROM " + g.pool[1].Name + " AS " + inner.own[0].name + " WHERE " + x + " = " + y + first + ") AS " + name
				break
			}
			fallthrough
		default:
			from += " JOIN " + right + " ON " + on
		}
		f.own = append(f.own, r)
	}
	var items []string
	var fields []table.Field
	grouped := g.some(2)
	var keys []string
	for i, k := range kinds {
		e := g.column(f.own, k...)
		switch {
		case e == "":
			e = map[table.Kind]string{table.Double: "CAST(0.5 AS DOUBLE PRECISION)", table.Varchar: "'a'", table.Date: "CAST(NULL AS DATE)", table.Boolean: "(1 = 1)"}[k[0]]
			if e == "" {
				e = "1"
			}
		case grouped && len(k) > 1 && i > 0:
			e = g.pick("COUNT(*)", "MAX("+e+")", "COUNT("+e+")")
		case grouped:
			keys = append(keys, e)
		case len(k) > 1 && depth > 0 && g.some(2):
			e = "(" + g.scalar(depth, f) + ")"
		case k[0] == table.Boolean && depth > 0 && g.some(5):
			e = "(" + g.test(depth, f) + ")"
		}
		items = append(items, e+fmt.Sprintf(" AS c%d", i))
		t := table.Type{Kind: k[0]}
		if len(k) > 1 {
			t.Kind = table.BigInt
		}
		fields = append(fields, table.Field{Name: fmt.Sprintf("c%d", i), Type: t})
	}
	text := "SELECT "
	if !grouped && g.some(2) {
		text += "DISTINCT "
	}
	text += strings.Join(items, ", ") + " FROM " + from
	for range max(0, rapid.IntRange(-1, 1).Draw(g.t, "where")) {
		where = append(where, g.condition(depth, f))
	}
	if len(where) > 0 {
		text += " WHERE " + strings.Join(where, " AND ")
	}
	if len(keys) > 0 {
		around := "" // a column of a query around this one, perhaps of the name of a key
		if len(outer) > 0 && !g.all && g.some(3) {
			around = g.column(outer, wholes...)
		}
		if text += " GROUP BY "; around != "" && g.some(5) {
			text += around + ", "
		}
		text += strings.Join(keys, ", ")
		switch {
		case around != "" && len(kinds[0]) > 1:
			text += " HAVING " + keys[0] + g.pick(" = ", " < ") + around
		case g.some(3):
			text += " HAVING COUNT(*) " + g.op() + " 1"
		}
	}
	return text, fields
}

// statement draws one; ordered says that it puts all rows in order.
func (g *nested) statement() (text string, ordered bool) {
	g.ctes, g.n, g.from = nil, 0, nil
	var with []string
	for range max(0, rapid.IntRange(-1, 2).Draw(g.t, "with")) {
		q, fields := g.query(1, nil, nil)
		c := source{g.named("cte"), &table.Table{Fields: fields}}
		with = append(with, c.name+" AS ("+q+")")
		g.ctes = append(g.ctes, c)
	}
	if len(with) > 0 {
		text = "WITH " + strings.Join(with, ", ") + " "
	}
	q, fields := g.query(rapid.IntRange(1, 3).Draw(g.t, "depth"), nil, nil)
	if ordered = g.some(3); ordered && !g.all {
		q = "SELECT * FROM (" + q + ") AS o" // SQLite 3.53 orders groups of a UNION by ASC where DESC is asked for
	}
	text += q
	if ordered {
		text += " ORDER BY " + g.ordering(len(fields))
		if g.some(5) {
			text += fmt.Sprintf(" LIMIT %d", rapid.IntRange(0, 20).Draw(g.t, "limit"))
		}
	}
	for _, tab := range g.pool[1:] {
		g.from = append(g.from, source{"t", tab})
	}
	return text, ordered
}

// Statements with subqueries have the rows that SQLite has.
func TestSQLiteNested(t *testing.T) { nestedAgree(t, openSQLite(t, sqlite{iso: true}), false) }

// nestedAgree puts random nested statements to the engine and a peer, which has all or what SQLite has.
func nestedAgree(t *testing.T, p *peer, all bool) {
	h := open(t)
	rapid.Check(t, func(t *rapid.T) {
		g := &nested{joins: joins{texts: texts{t: t}, pool: joinTables(t, h.name, false)}, all: all}
		for _, tab := range g.pool {
			h.register(t, tab)
			if err := p.load(tab); err != nil {
				t.Fatal(err)
			}
		}
		n := joinsPerTables / 2
		if !all { // fewer: DuckDB is asked more
			n /= 2
		}
		for range n {
			text, ordered := g.statement()
			h.joinAgrees(t, &g.joins, text, ordered, p)
		}
		for _, tab := range g.pool {
			if err := p.drop(tab.Name); err != nil {
				t.Fatal(err)
			}
		}
	})
	t.Log(&h.tally)
	if h.some < h.compared/3 {
		t.Error("most answers are empty")
	}
}
