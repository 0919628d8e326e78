package draw

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/table"
)

// Windows draws statements with window functions.
type Windows struct {
	Nested
}

// spec draws what a window partitions and orders by; total says that no two rows are alike.
func (g *Windows) spec(of []Source, total bool) (text, key string) {
	var parts []string
	if g.Some(6) {
		parts = append(parts, "PARTITION BY "+g.column(of, wholes...))
		if c := g.column(of, table.Varchar, table.Boolean, table.Date); c != "" && g.Some(3) {
			parts[0] += ", " + c
		}
	}
	var by []string
	direction := func(e string) string {
		return e + g.Pick(" ASC", " DESC") + g.Pick(" NULLS FIRST", " NULLS LAST")
	}
	if g.Some(7) {
		key = g.column(of, table.SmallInt, table.Integer, table.BigInt, table.Double, table.Varchar, table.Date)
		by = append(by, direction(key))
	}
	if total {
		by = append(by, direction(of[0].Name+".i"))
	}
	if len(by) > 0 {
		parts = append(parts, "ORDER BY "+strings.Join(by, ", "))
	}
	if len(by) != 1 {
		key = ""
	} else if key == "" {
		key = of[0].Name + ".i"
	}
	return strings.Join(parts, " "), key
}

// frame draws a frame; ordered says that there is an ORDER BY, key what it orders by alone.
func (g *Windows) frame(ordered bool, key string, kind table.Kind, total bool) string {
	if g.Some(3) {
		return ""
	}
	modes := []string{"RANGE"}
	if total {
		modes = append(modes, "ROWS", "ROWS")
	}
	if ordered {
		modes = append(modes, "GROUPS")
	}
	mode := g.Pick(modes...)
	least := 0
	if g.All && mode == "RANGE" {
		least = 1 // DuckDB 1.4 leaves peers out of frames that end 0 PRECEDING, or begin 0 FOLLOWING
	}
	number := func() string { return fmt.Sprint(rapid.IntRange(least, 4).Draw(g.T, "offset")) }
	offsets := mode != "RANGE"
	if mode == "RANGE" && key != "" && kind != table.Varchar {
		switch offsets = true; {
		case kind == table.Date && g.All:
			number = func() string {
				return "INTERVAL '" + fmt.Sprint(rapid.IntRange(1, 4).Draw(g.T, "days")) + g.Pick(" day", " day", " month", " hour") + "'"
			}
		case kind == table.Date:
			offsets = false
		case kind == table.Double:
			number = func() string { return fmt.Sprintf("%d.5", rapid.IntRange(0, 3).Draw(g.T, "offset")) }
		}
	}
	starts := []string{"UNBOUNDED PRECEDING", "CURRENT ROW"}
	if offsets {
		starts = append(starts, number()+" PRECEDING", number()+" FOLLOWING", number()+" PRECEDING")
	}
	start := g.Pick(starts...)
	var ends []string
	if !strings.HasSuffix(start, "FOLLOWING") {
		ends = append(ends, "CURRENT ROW")
		if offsets && strings.HasSuffix(start, "PRECEDING") {
			ends = append(ends, number()+" PRECEDING")
		}
	}
	if ends = append(ends, "UNBOUNDED FOLLOWING"); offsets {
		ends = append(ends, number()+" FOLLOWING")
	}
	end := g.Pick(ends...)
	text := " " + mode + " BETWEEN " + start + " AND " + end
	_, from, _ := strings.Cut(start, " ")
	// Of frames that end before they begin DuckDB 1.4 excludes rows that are not there.
	if empty := !strings.HasPrefix(start, "UN") && strings.HasSuffix(end, from); !empty && g.Some(3) {
		exclusions := []string{" EXCLUDE NO OTHERS", " EXCLUDE GROUP"}
		if total {
			exclusions = append(exclusions, " EXCLUDE CURRENT ROW", " EXCLUDE TIES")
		}
		text += g.Pick(exclusions...)
	}
	return text
}

// call draws a function and its window.
func (g *Windows) call(of []Source, total bool) string {
	spec, key := g.spec(of, total)
	var kind table.Kind
	for _, f := range of[0].Tab.Fields {
		if key == of[0].Name+"."+f.Name {
			kind = f.Type.Kind
		}
	}
	ordered := strings.Contains(spec, "ORDER BY")
	any := func() string {
		return g.column(of, table.SmallInt, table.Integer, table.BigInt, table.Double, table.Date, table.Varchar)
	}
	number := func() string { return g.column(of, table.SmallInt, table.Integer, table.BigInt, table.Double) }
	if ordered && g.Some(4) {
		ranks := []string{"rank()", "dense_rank()", "percent_rank()", "cume_dist()"}
		if total {
			x := any()
			n := fmt.Sprint(rapid.IntRange(1, 4).Draw(g.T, "n"))
			ranks = append(ranks, "row_number()", "ntile("+n+")", "lag("+x+")", "lead("+x+", "+n+")", "lag("+x+", "+n+", "+x+")")
		}
		return g.Pick(ranks...) + " OVER (" + spec + ")"
	}
	frame := g.frame(ordered, key, kind, total)
	aggs := []string{"COUNT(*)", "COUNT(" + any() + ")", "SUM(" + number() + ")", "AVG(" + number() + ")", "MIN(" + any() + ")", "MAX(" + any() + ")", "SUM(" + number() + ") + COUNT(*)"}
	if g.All {
		aggs = append(aggs, "bool_or("+number()+" > 2)", "bool_and("+number()+" > 0)")
	}
	if w := g.column(of, table.Varchar); w != "" && total && g.All { // SQLite 3.53 gives a separator for one empty text, where frames slide
		aggs = append(aggs, "string_agg("+w+", ', ')")
	}
	filter := ""
	if g.Some(2) {
		filter = " FILTER (WHERE " + g.alone(of) + ")"
	}
	over := filter + " OVER (" + spec + frame + ")"
	if x := any(); total && g.Some(3) {
		n := fmt.Sprint(rapid.IntRange(1, 4).Draw(g.T, "n"))
		return g.Pick("first_value("+x+")", "last_value("+x+")", "nth_value("+x+", "+n+")") + " OVER (" + spec + frame + ")"
	}
	a := g.Pick(aggs...)
	if i := strings.Index(a, ") + "); i >= 0 {
		return a[:i+1] + over + a[i+1:] + " OVER (" + spec + frame + ")"
	}
	return a + over
}

// Statement draws one.
func (g *Windows) Statement() string {
	g.n, g.From = 0, nil
	total := g.Some(7)
	s := Source{"t", rapid.SampledFrom(g.Pool[1:]).Draw(g.T, "table")}
	if total {
		s.Tab = rapid.SampledFrom(g.Pool[1:3]).Draw(g.T, "table")
	}
	g.From = append(g.From, s)
	of := []Source{s}
	items := []string{g.column(of, wholes...)}
	for range rapid.IntRange(1, 3).Draw(g.T, "functions") {
		items = append(items, g.call(of, total))
	}
	from := s.Tab.Name + " AS t"
	if g.Some(2) {
		from += " WHERE " + g.alone(of)
	}
	for i := range items {
		items[i] += fmt.Sprintf(" AS c%d", i)
	}
	text := "SELECT " + strings.Join(items, ", ") + " FROM " + from
	switch rapid.IntRange(0, 9).Draw(g.T, "around") {
	case 0:
		return "SELECT c1, COUNT(*) FROM (" + text + ") AS d GROUP BY c1"
	case 1:
		return "SELECT * FROM (" + text + ") AS d WHERE c1 IS NOT NULL"
	case 2:
		k, v := g.column(of, wholes...), g.column(of, wholes...)
		return "SELECT " + k + ", SUM(COUNT(*)) OVER (ORDER BY " + k + " NULLS LAST), rank() OVER (ORDER BY MAX(" + v + ") NULLS FIRST), MIN(SUM(" + v + ")) OVER () FROM " + from + " GROUP BY " + k
	}
	return text
}
