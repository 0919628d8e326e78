package draw

import (
	"strconv"
	"strings"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/table"
)

// Texts draws statements that PostgreSQL and SQLite read alike, over sqliteFields
// with narrow integers. SQLite has no dates: there they are ISO text, which
// compares as they do.
type Texts struct {
	T   *rapid.T
	Tab *table.Table
}

func (g *Texts) Pick(list ...string) string { return rapid.SampledFrom(list).Draw(g.T, "pick") }

func (g *Texts) op() string { return g.Pick("<", "<=", "=", "<>", ">=", ">") }

func (g *Texts) integer() string { return strconv.Itoa(rapid.IntRange(-300, 300).Draw(g.T, "n")) }

// quarter is a number that a double holds exactly.
func (g *Texts) quarter() string {
	return strconv.FormatFloat(float64(rapid.IntRange(-400, 400).Draw(g.T, "quarters"))/4, 'f', 2, 64)
}

func (g *Texts) word() string {
	return g.Pick("''", "'a'", "'A'", "'ab'", "'b'", "'éa'", "'z'", "' 3 '", "'true'", "'it''s'")
}

func (g *Texts) day() string {
	return g.Pick("'1970-01-01'", "'1969-12-31'", "'1972-02-29'", "'2000-06-15'")
}

// number is an integer expression of a column or two: few shapes.
func (g *Texts) number() string {
	n := g.integer()
	return g.Pick("s", "i", "j", "k", "i + "+n, "j * "+n, "2*i - j", "s + i*"+n, "i*i + 3*j*k", "-i", "i + j + k",
		"(s - i) * "+n, "i % 7", "(i + j) / 5", "j % 2", "i / 3", "abs(i)", "abs(j - i)", "coalesce(i, s, 3)", "nullif(j, "+n+")",
		"i & 7", "i | j", "~k", "i << 2", "CASE WHEN i < j THEN i WHEN s > "+n+" THEN k ELSE 4 END", "CASE s WHEN 1 THEN 2 WHEN "+n+" THEN i END")
}

// leaf draws a condition without AND, OR and NOT.
func (g *Texts) leaf() string {
	switch rapid.IntRange(0, 18).Draw(g.T, "leaf") {
	case 0, 1, 2:
		return g.number() + " " + g.op() + " " + g.Pick(g.integer(), g.quarter())
	case 3:
		return "i " + g.op() + " " + g.Pick("j", "s", "x", "i + k", "2 * s")
	case 4:
		return g.number() + " " + g.Pick("", "NOT ") + "BETWEEN " + g.integer() + " AND " + g.Pick(g.integer(), g.quarter())
	case 5:
		return g.Pick("i", "j", "s") + g.Pick("", " NOT") + " IN (" + strings.Join([]string{g.integer(), g.integer(), g.Pick("NULL", g.quarter()), g.integer()}, ", ") + ")"
	case 6:
		return g.Pick("x", "y", "r") + " " + g.op() + " " + g.Pick(g.integer(), g.quarter(), "1e3", "-2.5e-1")
	case 7:
		return "x " + g.op() + " " + g.Pick("y", "i", "x * 2", "y - x", "r")
	case 8:
		return "x" + g.Pick("", " NOT") + " BETWEEN " + g.integer() + " AND " + g.Pick(g.integer(), "y")
	case 9:
		return "word" + g.Pick("", " NOT") + " LIKE " + g.Pick("'a%'", "'%a'", "'_'", "'%b%'", "'A%'", "''", "'é_'", "'%'")
	case 10:
		return "word " + g.op() + " " + g.Pick(g.word(), "name")
	case 11:
		return "name" + g.Pick("", " NOT") + " IN (" + g.word() + ", " + g.word() + ")"
	case 12:
		return "day " + g.op() + " " + g.day()
	case 13:
		return "day BETWEEN " + g.day() + " AND " + g.day()
	case 14:
		return g.Pick("flag", "flag = TRUE", "flag <> FALSE", "flag IS TRUE", "flag IS NOT FALSE", "flag IS NULL", "NOT flag")
	case 15:
		return g.Pick("i", "x", "word", "day", "flag", "j + i") + g.Pick(" IS NULL", " IS NOT NULL")
	case 16:
		return g.Pick("length(word)", "length(word || name)", "octet_length(name)", "length(trim(word))") + " " + g.op() + " " + g.Pick("0", "1", "2", "s")
	case 17:
		return g.Pick("lower(word)", "word || 'a'", "replace(word, 'a', 'b')", "substr(word, 2, 1)", "trim(name)", "ltrim(word, 'a')", "rtrim(word, 'b ')",
			"coalesce(word, name)", "nullif(word, 'a')", "CASE WHEN i > j THEN word ELSE name END") + " " + g.op() + " " + g.word()
	}
	return g.Pick("i IS DISTINCT FROM j", "s IS NOT DISTINCT FROM "+g.integer(), "word IS DISTINCT FROM name", "x IS NOT DISTINCT FROM y")
}

func (g *Texts) condition(depth int) string {
	if depth == 0 {
		return g.leaf()
	}
	switch rapid.IntRange(0, 6).Draw(g.T, "junction") {
	case 0, 1:
		return g.condition(depth-1) + " AND " + g.condition(depth-1)
	case 2:
		return g.condition(depth-1) + " OR " + g.condition(depth-1) + " AND " + g.leaf()
	case 3:
		return "(" + g.condition(depth-1) + " OR " + g.condition(depth-1) + ") AND " + g.leaf()
	case 4:
		return "NOT (" + g.condition(depth-1) + ")"
	case 5:
		return g.Pick("", "NOT ") + "(" + g.condition(depth-1) + ") IS " + g.Pick("", "NOT ") + g.Pick("TRUE", "FALSE", "NULL")
	}
	return g.leaf()
}

// Statement draws aggregates that both databases print alike.
func (g *Texts) Statement() string {
	items := []string{"COUNT(*)"}
	for range rapid.IntRange(1, 3).Draw(g.T, "items") {
		items = append(items, g.Pick("COUNT(i)", "SUM(i)", "SUM(j) + 1", "MIN(s)", "MAX(i) - MIN(i) AS width", "SUM(s) * 2 - COUNT(s)", "-MAX(k)",
			"MIN(x)", "MAX(y)", "MIN(word)", "MAX(name)", "MIN(day)", "MAX(day)", "COUNT(*) / 2", "COUNT(flag) % 3", "MAX(i) + 0.5", "COUNT(*) > 3", "MIN(i) IS NULL"))
	}
	text := "SELECT " + strings.Join(items, ", ") + " FROM " + g.Tab.Name
	if rapid.IntRange(0, 9).Draw(g.T, "where") > 0 {
		text += " WHERE " + g.condition(rapid.IntRange(0, 3).Draw(g.T, "depth"))
	}
	return text
}

// Groups draws a statement with groups that both databases print alike.
func (g *Texts) Groups() string {
	var keys, items []string
	for range rapid.IntRange(1, 2).Draw(g.T, "keys") {
		keys = append(keys, g.Pick("s", "flag", "word", "day", "x", "i % 3", "i > j", "i & 3", "replace(name, 'a', 'b')", "coalesce(word, 'z')", "abs(s)"))
	}
	items = append(items, keys...)
	for range rapid.IntRange(0, 3).Draw(g.T, "items") {
		item := g.Pick("COUNT(*)", "COUNT(DISTINCT i)", "COUNT(DISTINCT word)", "SUM("+g.number()+")", "SUM(DISTINCT s)", "MIN("+g.number()+")", "MAX(x * 2)", "MIN(word)", "MAX(day)", "COUNT("+g.number()+")")
		if rapid.IntRange(0, 3).Draw(g.T, "filtered") == 0 {
			item += " FILTER (WHERE " + g.leaf() + ")"
		}
		items = append(items, item)
	}
	text := "SELECT " + strings.Join(items, ", ") + " FROM " + g.Tab.Name
	if rapid.Bool().Draw(g.T, "where") {
		text += " WHERE " + g.leaf()
	}
	text += " GROUP BY " + strings.Join(keys, ", ")
	if rapid.IntRange(0, 3).Draw(g.T, "having") == 0 {
		text += " HAVING " + g.Pick("COUNT(*) > 1", "MAX(i) > 3", "SUM(s) IS NOT NULL AND MIN(j) < MAX(j)")
	}
	return text
}
