package draw

import (
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/table"
)

// Nested draws statements with subqueries, WITH and set operations, up to three deep.
type Nested struct {
	Joins
	All  bool // what SQLite does not have, too
	ctes []Source
	n    int // names so far
}

// frame is a SELECT that is being drawn: its tables, and those around it.
type frame struct{ own, outer []Source }

func (f frame) sees() []Source { return slices.Concat(f.own, f.outer) }

func (g *Nested) named(prefix string) string {
	g.n++
	return fmt.Sprintf("%s%d", prefix, g.n)
}

// nestedKinds are the kinds of columns that a query gives.
var nestedKinds = [][]table.Kind{wholes, wholes, {table.Double}, {table.Varchar}, {table.Date}, {table.Boolean}}

// relation draws an item of FROM.
func (g *Nested) relation(depth int, outer []Source) (s Source, text string) {
	if depth > 0 && g.Some(4) {
		q, fields := g.query(depth-1, nil, nil)
		s = Source{g.named("d"), &table.Table{Fields: fields}}
		return s, "(" + q + ") AS " + s.Name
	}
	if len(g.ctes) > 0 && g.Some(4) {
		c := rapid.SampledFrom(g.ctes).Draw(g.T, "cte")
		s = Source{g.named("w"), c.Tab}
		return s, c.Name + " AS " + s.Name
	}
	s = Source{g.named("t"), rapid.SampledFrom(g.Pool[1:]).Draw(g.T, "table")}
	return s, s.Tab.Name + " AS " + s.Name
}

// condition draws one of WHERE.
func (g *Nested) condition(depth int, f frame) string {
	if depth == 0 || g.Some(4) {
		if len(f.outer) > 0 && g.Some(7) {
			x, y := g.pair(f.own, f.outer)
			return x + g.Pick(" = ", " = ", " = ", " < ", " <> ") + y
		}
		if len(f.own) > 1 && g.Some(4) {
			x, y := g.pair(f.own[:1], f.own[1:])
			return x + " = " + y
		}
		return g.alone(f.own)
	}
	if g.Some(1) {
		return "(" + g.condition(depth-1, f) + g.Pick(" OR ", " AND ") + g.condition(depth-1, f) + ")"
	}
	return g.test(depth, f)
}

// test draws a condition with a subquery.
func (g *Nested) test(depth int, f frame) string {
	not := g.Pick("", "", "NOT ")
	kinds := rapid.SampledFrom(nestedKinds).Draw(g.T, "kinds")
	of := f.own
	if len(f.outer) > 0 && g.Some(5) {
		of = f.outer
	}
	x := g.column(of, kinds...)
	switch rapid.IntRange(0, 4).Draw(g.T, "test") {
	case 0, 1:
		q, _ := g.query(depth-1, nil, f.sees())
		if !g.All && strings.HasPrefix(q, "SELECT DISTINCT ") && strings.Contains(q, " OFFSET ") {
			q = "SELECT * FROM (" + q + ") AS " + g.named("e") // SQLite 3.40 and 3.53 leave out the DISTINCT of an EXISTS, and skip rows that are alike
		}
		return not + "EXISTS (" + q + ")"
	case 2:
		if x != "" {
			return g.column(f.own, wholes...) + " " + g.op() + " (" + g.scalar(depth, f) + ")"
		}
	case 3:
		if g.All && x != "" && kinds[0] != table.Boolean {
			q, _ := g.query(depth-1, [][]table.Kind{kinds}, f.sees())
			return x + " " + g.op() + g.Pick(" ANY (", " ALL (") + q + ")"
		}
	}
	if x == "" {
		return g.alone(f.own)
	}
	q, _ := g.query(depth-1, [][]table.Kind{kinds}, f.sees())
	return x + " " + not + "IN (" + q + ")"
}

// scalar draws a query of one whole number.
func (g *Nested) scalar(depth int, f frame) string {
	s, text := g.relation(depth-1, nil)
	inner := frame{[]Source{s}, f.sees()}
	col := g.column(inner.own, wholes...)
	if col == "" {
		col = "1"
	}
	text = "SELECT " + g.Pick("COUNT(*)", "MAX("+col+")", "MIN("+col+")", "COUNT("+col+") + 1", "coalesce(MIN("+col+"), 0) - 1") + " FROM " + text
	if g.Some(7) {
		text += " WHERE " + g.condition(depth-1, inner)
	}
	return text
}

// query draws a SELECT, or a set operation, of columns of some kinds (nil: of any) that sees tables around it.
func (g *Nested) query(depth int, kinds [][]table.Kind, outer []Source) (string, []table.Field) {
	if kinds == nil {
		for range rapid.IntRange(1, 3).Draw(g.T, "columns") {
			kinds = append(kinds, rapid.SampledFrom(nestedKinds).Draw(g.T, "kinds"))
		}
		kinds[0] = wholes
	}
	text, fields := g.selected(depth, kinds, outer)
	if depth > 0 && g.Some(2) {
		op := g.Pick(" UNION ", " UNION ALL ", " INTERSECT ", " EXCEPT ")
		if g.All {
			op = g.Pick(op, op, " INTERSECT ALL ", " EXCEPT ALL ")
		}
		right, _ := g.selected(depth-1, kinds, outer)
		text += op + right
		if !g.All {
			return text, fields // SQLite 3.53 orders groups of a UNION by ASC where DESC is asked for
		}
	}
	if len(outer) > 0 && g.Some(2) {
		text += g.first(len(fields))
	}
	return text, fields
}

// first draws ORDER BY of all columns, with LIMIT and OFFSET.
func (g *Nested) first(columns int) string {
	text := " ORDER BY " + g.ordering(columns) + fmt.Sprintf(" LIMIT %d", rapid.IntRange(0, 4).Draw(g.T, "limit"))
	if g.Some(3) {
		text += fmt.Sprintf(" OFFSET %d", rapid.IntRange(1, 2).Draw(g.T, "offset"))
	}
	return text
}

// ordering draws an order by the first columns.
func (g *Nested) ordering(columns int) string {
	var by []string
	for i := range columns {
		by = append(by, fmt.Sprintf("%d", i+1)+g.Pick(" ASC", " DESC")+g.Pick(" NULLS FIRST", " NULLS LAST"))
	}
	return strings.Join(by, ", ")
}

// selected draws a SELECT.
func (g *Nested) selected(depth int, kinds [][]table.Kind, outer []Source) (string, []table.Field) {
	var f frame
	f.outer = outer
	s, from := g.relation(depth, outer)
	f.own = append(f.own, s)
	var where []string
	if g.Some(4) {
		r, right := g.relation(max(0, depth-1), outer)
		x, y := g.pair(f.own, []Source{r})
		switch on := x + " = " + y; rapid.IntRange(0, 4).Draw(g.T, "join") {
		case 0:
			kind := " LEFT JOIN "
			if !g.All && depth > 0 && g.Some(5) { // DuckDB has no subqueries there
				sees := frame{[]Source{s, r}, outer}
				if kind = g.Pick(kind, " RIGHT JOIN ", " FULL JOIN "); kind == " FULL JOIN " {
					sees.outer = nil // which this refuses
				}
				on += " AND " + g.test(depth, sees)
			}
			from += kind + right + " ON " + on
		case 1:
			from += ", " + right
			where = append(where, on)
		case 2:
			if g.All && depth > 0 {
				inner := frame{[]Source{{g.named("l"), g.Pool[1]}}, f.own}
				name := g.named("x")
				r = Source{name, &table.Table{Fields: []table.Field{{Name: "c0", Type: table.Type{Kind: table.BigInt}}}}}
				x, y := g.pair(inner.own, f.own)
				item, first := "COUNT(*)", ""
				if g.Some(5) {
					item, first = g.column(inner.own, wholes...), g.first(1)
					if g.Some(3) {
						item = g.Pick("row_number()", "COUNT(*)") + " OVER (ORDER BY " + item + g.Pick(" ASC", " DESC") + g.Pick(" NULLS FIRST", " NULLS LAST") + ")"
					}
				}
				from += ", LATERAL (SELECT " + item + " AS c0 FROM " + g.Pool[1].Name + " AS " + inner.own[0].Name + " WHERE " + x + " = " + y + first + ") AS " + name
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
	grouped := g.Some(2)
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
			e = g.Pick("COUNT(*)", "MAX("+e+")", "COUNT("+e+")")
		case grouped:
			keys = append(keys, e)
		case len(k) > 1 && depth > 0 && g.Some(2):
			e = "(" + g.scalar(depth, f) + ")"
		case k[0] == table.Boolean && depth > 0 && g.Some(5):
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
	if !grouped && g.Some(2) {
		text += "DISTINCT "
	}
	text += strings.Join(items, ", ") + " FROM " + from
	for range max(0, rapid.IntRange(-1, 1).Draw(g.T, "where")) {
		where = append(where, g.condition(depth, f))
	}
	if len(where) > 0 {
		text += " WHERE " + strings.Join(where, " AND ")
	}
	if len(keys) > 0 {
		around := "" // a column of a query around this one, perhaps of the name of a key
		if len(outer) > 0 && !g.All && g.Some(3) {
			around = g.column(outer, wholes...)
		}
		if text += " GROUP BY "; around != "" && g.Some(5) {
			text += around + ", "
		}
		text += strings.Join(keys, ", ")
		switch {
		case around != "" && len(kinds[0]) > 1:
			text += " HAVING " + keys[0] + g.Pick(" = ", " < ") + around
		case g.Some(3):
			text += " HAVING COUNT(*) " + g.op() + " 1"
		}
	}
	return text, fields
}

// Statement draws one; ordered says that it puts all rows in order.
func (g *Nested) Statement() (text string, ordered bool) {
	g.ctes, g.n, g.From = nil, 0, nil
	var with []string
	for range max(0, rapid.IntRange(-1, 2).Draw(g.T, "with")) {
		q, fields := g.query(1, nil, nil)
		c := Source{g.named("cte"), &table.Table{Fields: fields}}
		with = append(with, c.Name+" AS ("+q+")")
		g.ctes = append(g.ctes, c)
	}
	if len(with) > 0 {
		text = "WITH " + strings.Join(with, ", ") + " "
	}
	q, fields := g.query(rapid.IntRange(1, 3).Draw(g.T, "depth"), nil, nil)
	if ordered = g.Some(3); ordered && !g.All {
		q = "SELECT * FROM (" + q + ") AS o" // SQLite 3.53 orders groups of a UNION by ASC where DESC is asked for
	}
	text += q
	if ordered {
		text += " ORDER BY " + g.ordering(len(fields))
		if g.Some(5) {
			text += fmt.Sprintf(" LIMIT %d", rapid.IntRange(0, 20).Draw(g.T, "limit"))
		}
	}
	for _, tab := range g.Pool[1:] {
		g.From = append(g.From, Source{"t", tab})
	}
	return text, ordered
}
