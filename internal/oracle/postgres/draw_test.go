package postgres

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"pgregory.net/rapid"
)

// kind is what an expression is of; whole is any of the integer types.
type kind int

const (
	whole kind = iota
	decimal
	float
	text
	date
	instant
	truth
	kinds // their number
)

// column is a column that an expression may name.
type column struct {
	of, name string
	kind     kind
}

// relation is something that FROM may name, with its columns' names and kinds.
type relation struct {
	name    string
	columns []column
}

// tables are what each check makes anew, with rows that are drawn.
var tables = []relation{
	{"a", []column{{"a", "i", whole}, {"a", "s", text}, {"a", "x", float}}},
	{"o", []column{{"o", "k", whole}, {"o", "l", whole}, {"o", "s", text}, {"o", "d", date}}},
	{"p", []column{{"p", "i", whole}, {"p", "h", whole}, {"p", "n", decimal}, {"p", "b", truth}, {"p", "ts", instant}}},
}

// tableTypes are their columns' types in SQL.
var tableTypes = map[string]string{
	"a": "i integer, s text, x double precision",
	"o": "k integer, l bigint, s text, d date",
	"p": "i integer, h smallint, n numeric(8,2), b boolean, ts timestamp",
}

// scope is what an expression may name at its place.
type scope struct {
	own    []column // of the query itself, or its keys where it is grouped
	outer  []column // of the queries around it
	inside []column // of the query itself, inside an aggregate: where it is grouped alone
	over   bool     // whether a window function may stand here
	all    []column // all names that are visible, for names without a table
}

func (s *scope) grouped() bool { return s.inside != nil }

// draws draws statements over tables and the names that WITH gives.
type draws struct {
	t     *rapid.T
	n     int  // names so far
	room  int  // subqueries that may still come
	wrong bool // whether names and types may be wrong
	named []relation
}

func (g *draws) intn(n int) int { return rapid.IntRange(0, n-1).Draw(g.t, "n") }

// some is true n times in ten.
func (g *draws) some(n int) bool { return rapid.IntRange(0, 9).Draw(g.t, "some") >= 10-n }

// rare is true n times in a hundred.
func (g *draws) rare(n int) bool { return rapid.IntRange(0, 99).Draw(g.t, "rare") >= 100-n }

func (g *draws) pick(list ...string) string { return list[g.intn(len(list))] }

func (g *draws) kind() kind {
	return []kind{whole, whole, whole, text, text, decimal, float, date, instant, truth}[g.intn(10)]
}

// literal is a constant of a kind.
func (g *draws) literal(k kind) string {
	switch k {
	case whole:
		return strconv.Itoa(rapid.IntRange(-3, 6).Draw(g.t, "whole"))
	case decimal:
		return g.pick("0.5", "1.25", "-2.00", "3.10", "10.5")
	case float:
		return g.pick("0.25", "-1.5", "2.0", "4.75") + "::float8"
	case text:
		return g.pick("'a'", "'b'", "'ab'", "''", "'B'", "'é'", "'1'")
	case date:
		return "DATE " + g.pick("'2020-02-29'", "'2021-03-01'", "'1999-12-31'", "'2020-03-01'")
	case instant:
		return "TIMESTAMP " + g.pick("'2020-02-29 12:30:00'", "'2021-03-01 00:00:00'", "'1999-12-31 23:59:59.5'")
	}
	return g.pick("TRUE", "FALSE")
}

// ofKind are the columns of a kind.
func ofKind(list []column, k kind) (out []column) {
	for _, c := range list {
		if c.kind == k {
			out = append(out, c)
		}
	}
	return out
}

// ref names a column, at times without its table where that is clear.
func (g *draws) ref(s *scope, c column) string {
	same := 0
	for _, other := range s.all {
		if other.name == c.name {
			same++
		}
	}
	if same == 1 && g.some(2) {
		return c.name
	}
	if g.wrong && g.rare(5) {
		return g.pick(c.name, "nosuch", "t1."+c.name, "o.k", "a."+c.name)
	}
	return c.of + "." + c.name
}

// leaf is a column of the kind, or a constant.
func (g *draws) leaf(k kind, s *scope) string {
	if g.wrong && g.rare(5) {
		k = g.kind()
	}
	own, outer := ofKind(s.own, k), ofKind(s.outer, k)
	switch {
	case len(outer) > 0 && (len(own) == 0 || g.some(3)):
		return g.ref(s, outer[g.intn(len(outer))])
	case len(own) > 0 && !g.rare(15):
		return g.ref(s, own[g.intn(len(own))])
	}
	return g.literal(k)
}

// expr is an expression of the kind; deep is how many operators may stand in one another.
func (g *draws) expr(k kind, deep int, s *scope) string {
	if s.grouped() && g.some(5) {
		return g.aggregate(k, deep, s)
	}
	if s.over && g.rare(12) {
		if w := g.window(k, s); w != "" {
			return w
		}
	}
	if deep <= 0 || g.some(4) {
		return g.leaf(k, s)
	}
	if g.room > 0 && g.rare(18) {
		return g.scalar(k, s)
	}
	deep--
	e := func(k kind) string { return g.expr(k, deep, s) }
	switch g.intn(8) {
	case 0:
		return "coalesce(" + e(k) + ", " + e(k) + ")"
	case 1:
		return "CASE WHEN " + e(truth) + " THEN " + e(k) + g.pick("", " ELSE "+e(k)) + " END"
	case 2:
		if k != truth {
			return g.pick("nullif", "greatest", "least") + "(" + e(k) + ", " + e(k) + ")"
		}
	}
	switch k {
	case whole:
		switch g.intn(11) {
		case 0, 1:
			return "(" + e(whole) + g.pick(" + ", " - ") + e(whole) + ")"
		case 2:
			return "(" + e(whole) + " * " + g.literal(whole) + ")"
		case 3:
			return "abs(" + e(whole) + ")"
		case 4:
			return "length(" + e(text) + ")"
		case 5:
			return "(" + e(whole) + g.pick(" / ", " % ") + g.pick("2", "3", "-4") + ")"
		case 6:
			return g.pick("extract(day FROM "+e(date)+")::int", "extract(hour FROM "+e(instant)+")::int", "("+e(date)+" - "+g.literal(date)+")")
		case 7:
			return "(" + e(truth) + ")::int"
		case 8:
			return "(" + e(float) + ")::int"
		case 9:
			return "(- " + e(whole) + ")"
		}
		return "CAST(" + e(whole) + " AS " + g.pick("bigint", "integer") + ")"
	case decimal:
		switch g.intn(5) {
		case 0:
			return "(" + e(decimal) + g.pick(" + ", " - ") + e(decimal) + ")"
		case 1:
			return "(" + e(decimal) + " * " + g.literal(whole) + ")"
		case 2:
			return "round(" + e(decimal) + ", 1)"
		case 3:
			return "abs(" + e(decimal) + ")"
		}
		return "(" + e(decimal) + " + " + e(whole) + ")"
	case float:
		switch g.intn(4) {
		case 0:
			return "(" + e(float) + g.pick(" + ", " - ", " * ") + g.literal(float) + ")"
		case 1:
			return "(" + e(whole) + ")::float8"
		case 2:
			return "floor(" + e(float) + ")"
		}
		return "abs(" + e(float) + ")"
	case text:
		switch g.intn(7) {
		case 0, 1:
			return "(" + e(text) + " || " + e(text) + ")"
		case 2:
			return g.pick("upper", "lower", "trim", "reverse") + "(" + e(text) + ")"
		case 3:
			return "substr(" + e(text) + ", " + g.pick("1", "2") + g.pick("", ", 1") + ")"
		case 4:
			return "(" + e(whole) + ")::text"
		case 5:
			return "left(" + e(text) + ", " + g.pick("1", "-1") + ")"
		}
		return "(" + e(date) + ")::text"
	case date:
		switch g.intn(3) {
		case 0:
			return "(" + e(date) + g.pick(" + ", " - ") + g.pick("1", "30") + ")"
		case 1:
			return "(" + e(instant) + ")::date"
		}
		return g.leaf(k, s)
	case instant:
		switch g.intn(3) {
		case 0:
			return "(" + e(instant) + " + INTERVAL " + g.pick("'1 day'", "'1 month'", "'-90 minutes'") + ")"
		case 1:
			return "(" + e(date) + ")::timestamp"
		}
		return "date_trunc(" + g.pick("'month'", "'hour'") + ", " + "(" + e(instant) + ")::timestamp)" // of a DATE PostgreSQL makes a timestamptz
	}
	return g.condition(deep, s)
}

// comparison are the operators that compare.
func (g *draws) op() string { return g.pick(" = ", " = ", " = ", " < ", " <> ", " >= ") }

// condition is a truth of operators, at times of a subquery.
func (g *draws) condition(deep int, s *scope) string {
	if g.room > 0 && g.rare(30) {
		return g.subquery(deep, s)
	}
	e := func(k kind) string { return g.expr(k, deep-1, s) }
	switch g.intn(10) {
	case 0, 1, 2:
		k := g.kind()
		return "(" + e(k) + g.op() + e(k) + ")"
	case 3:
		return "(" + e(g.kind()) + g.pick(" IS NULL", " IS NOT NULL") + ")"
	case 4:
		k := g.kind()
		return "(" + e(k) + g.pick("", " NOT") + " IN (" + e(k) + ", " + g.literal(k) + g.pick("", ", NULL") + "))"
	case 5:
		k := kind(g.intn(int(text) + 1))
		return "(" + e(k) + g.pick("", " NOT") + " BETWEEN " + e(k) + " AND " + e(k) + ")"
	case 6:
		return "(" + e(text) + g.pick("", " NOT") + " LIKE " + g.pick("'a%'", "'%b'", "'_'", "'%'") + ")"
	case 7:
		k := g.kind()
		return "(" + e(k) + " IS " + g.pick("", "NOT ") + "DISTINCT FROM " + e(k) + ")"
	case 8:
		if deep > 0 {
			return "(" + g.condition(deep-1, s) + g.pick(" AND ", " OR ") + g.condition(deep-1, s) + ")"
		}
	case 9:
		if deep > 0 {
			return g.pick("(NOT "+g.condition(deep-1, s)+")", "("+g.condition(deep-1, s)+" IS NOT TRUE)")
		}
	}
	return "(" + g.leaf(whole, s) + g.op() + g.leaf(whole, s) + ")"
}

// aggregate is one of a grouped query.
func (g *draws) aggregate(k kind, deep int, s *scope) string {
	in := &scope{own: s.inside, outer: s.outer, all: s.all}
	// An aggregate of outer columns alone belongs to the query around: one of its own stands in each.
	arg := func(k kind) string {
		if own := ofKind(s.inside, k); len(own) > 0 {
			if c := g.ref(s, own[g.intn(len(own))]); g.some(7) {
				return c
			} else {
				return "coalesce(" + c + ", " + g.expr(k, min(deep, 1), in) + ")"
			}
		}
		c := s.inside[g.intn(len(s.inside))]
		return "CASE WHEN " + g.ref(s, c) + " IS NOT NULL THEN " + g.literal(k) + " END"
	}
	filter := ""
	if g.rare(15) && len(ofKind(s.inside, whole)) > 0 {
		filter = " FILTER (WHERE " + arg(whole) + g.op() + g.literal(whole) + ")"
	}
	switch k {
	case whole:
		switch g.intn(5) {
		case 0:
			return "count(*)" + filter
		case 1:
			return "count(" + g.pick("", "DISTINCT ") + arg(g.kind()) + ")" + filter
		case 2:
			return "sum(" + arg(whole) + ")" + filter
		}
	case float:
		if g.some(5) {
			return "(avg(" + arg(whole) + ")" + filter + ")::float8"
		}
		return "sum(" + arg(float) + ")" + filter
	case decimal:
		if g.some(5) {
			return "sum(" + arg(decimal) + ")" + filter
		}
	case text:
		if g.some(3) {
			a := arg(text)
			return "string_agg(" + a + ", ',' ORDER BY " + a + ")" + filter
		}
	case truth:
		return g.pick("bool_and", "bool_or") + "(" + arg(truth) + ")" + filter
	}
	return g.pick("min", "max") + "(" + arg(k) + ")" + filter
}

// window is a window function whose value is the same however rows that are alike lie.
func (g *draws) window(k kind, s *scope) string {
	e := func(k kind) string { return g.leaf(k, s) }
	over := " OVER (" + g.pick("", "PARTITION BY "+e(g.kind())+" ") + "ORDER BY " + e(whole) + g.pick("", " DESC", ", "+e(text)) + ")"
	part := " OVER (PARTITION BY " + e(g.kind()) + ")"
	switch k {
	case whole:
		return g.pick("rank()"+over, "dense_rank()"+over, "count(*)"+over, "count("+e(text)+")"+part, "sum("+e(whole)+")"+over, "max("+e(whole)+")"+part)
	case float:
		return g.pick("sum("+e(float)+")"+part, "percent_rank()"+over, "cume_dist()"+over)
	case truth:
		return "bool_or(" + e(truth) + ")" + part
	}
	return g.pick("min", "max") + "(" + e(k) + ")" + g.pick(over, part)
}

// fresh is a name that is new, or at times one of those around, which it hides.
func (g *draws) fresh(s []column) string {
	if len(s) > 0 && g.rare(15) {
		return s[g.intn(len(s))].of
	}
	g.n++
	return fmt.Sprintf("t%d", g.n)
}

// without takes the columns of a name away.
func without(list []column, of string) []column {
	return slices.DeleteFunc(slices.Clone(list), func(c column) bool { return c.of == of })
}

// renamed are a relation's columns under an alias.
func renamed(list []column, of string) []column {
	out := slices.Clone(list)
	for i := range out {
		out[i].of = of
	}
	return out
}

// row draws the values of a row of a table.
func (g *draws) row(r relation) string {
	var values []string
	for _, c := range r.columns {
		switch {
		case g.rare(18):
			values = append(values, "NULL")
		case c.kind == whole:
			values = append(values, strconv.Itoa(rapid.IntRange(-1, 5).Draw(g.t, "whole")))
		default:
			values = append(values, g.literal(c.kind))
		}
	}
	return "(" + strings.Join(values, ", ") + ")"
}
