package postgres

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// query draws a query of columns of these kinds (nil: any), which may name outer columns. Its columns are called c1, c2, ...
// It ends with an ORDER BY of all columns where ordered.
func (g *draws) query(depth int, outer []column, want []kind) (string, []kind) {
	if want == nil {
		for range 1 + g.intn(3) {
			want = append(want, g.kind())
		}
	}
	before := len(g.named)
	defer func() { g.named = g.named[:before] }()
	with := ""
	if depth > 0 && g.rare(20) {
		with = g.with(depth-1, outer)
	}
	body := ""
	switch {
	case depth > 0 && g.rare(12):
		left, right := g.operand(depth-1, outer, want), g.operand(depth-1, outer, want)
		body = left + g.pick(" UNION ", " UNION ALL ", " INTERSECT ", " EXCEPT ", " EXCEPT ALL ", " INTERSECT ALL ") + right
	case g.rare(6):
		body = g.values(outer, want)
	default:
		body = g.selects(depth, outer, want)
	}
	return with + body, want
}

// operand is a query in parentheses or a plain SELECT.
func (g *draws) operand(depth int, outer []column, want []kind) string {
	text, _ := g.query(depth, outer, want)
	return "(" + text + ")"
}

// values is VALUES of one to three rows.
func (g *draws) values(outer []column, want []kind) string {
	s := &scope{outer: outer, all: outer}
	var rows []string
	for range 1 + g.intn(3) {
		var row []string
		for _, k := range want {
			row = append(row, g.typed(k, g.expr(k, 1, s)))
		}
		rows = append(rows, "("+strings.Join(row, ", ")+")")
	}
	return "VALUES " + strings.Join(rows, ", ")
}

// typed gives an expression the type that all of its kind have where columns of several queries meet.
func (g *draws) typed(k kind, e string) string {
	if k == text {
		return "(" + e + ")::text" // a constant alone has no type there
	}
	return e
}

// with is WITH of one or two names, at times those of tables, which they hide.
func (g *draws) with(depth int, outer []column) string {
	var parts []string
	names := map[string]bool{}
	for range 1 + g.intn(2) {
		g.n++
		name := fmt.Sprintf("w%d", g.n)
		if g.rare(20) {
			name = tables[g.intn(len(tables))].name
		}
		if names[name] {
			continue
		}
		names[name] = true
		var q string
		var ks []kind
		recursive := ""
		if g.rare(10) {
			recursive, ks = "RECURSIVE ", []kind{whole}
			s := &scope{outer: outer, all: outer}
			if len(parts) > 0 { // RECURSIVE would have to stand before the first
				continue
			}
			q = "SELECT " + g.expr(whole, 1, s) + " UNION " + g.pick("", "ALL ") + "SELECT c1 + 1 FROM " + name + " WHERE c1 < " + g.pick("3", "5")
			parts = append(parts, recursive+name+"(c1) AS ("+q+")")
		} else {
			q, ks = g.query(depth, outer, nil)
			var list []string
			for i := range ks {
				list = append(list, "c"+strconv.Itoa(i+1))
			}
			parts = append(parts, name+"("+strings.Join(list, ", ")+") AS "+g.pick("", "", "MATERIALIZED ", "NOT MATERIALIZED ")+"("+q+")")
		}
		g.named = append(g.named, relation{name, numbered(ks)})
	}
	return "WITH " + strings.Join(parts, ", ") + " "
}

// numbered are columns c1, c2, ... of these kinds.
func numbered(ks []kind) (out []column) {
	for i, k := range ks {
		out = append(out, column{"", "c" + strconv.Itoa(i+1), k})
	}
	return out
}

// selects is a SELECT.
func (g *draws) selects(depth int, outer []column, want []kind) string {
	from, own := "", []column(nil)
	if !g.rare(4) {
		from, own = g.from(depth, outer)
	}
	hidden := outer
	for _, c := range own {
		hidden = without(hidden, c.of)
	}
	s := &scope{own: own, outer: hidden, all: slices.Concat(own, outer)}
	where := ""
	if from != "" {
		from = " FROM " + from
		if g.some(6) {
			where = " WHERE " + g.condition(2, s)
		}
	}
	group, having, distinct := "", "", ""
	switch {
	case len(own) > 0 && g.some(3):
		group, s = g.group(s)
		if g.some(2) {
			having = " HAVING " + g.condition(1, s)
		}
	case g.rare(10):
		distinct = "DISTINCT "
	default:
		s.over = len(own) > 0
	}
	var items []string
	for i, k := range want {
		items = append(items, g.typed(k, g.expr(k, 2, s))+" AS c"+strconv.Itoa(i+1))
	}
	order := ""
	if distinct == "" && group == "" && from != "" && g.rare(8) {
		e, _, _ := strings.Cut(items[0], " AS c1")
		if _, err := strconv.Atoi(e); err == nil || strings.Contains(e, "SELECT") || g.some(3) {
			e = "1"
		}
		distinct, order = "DISTINCT ON ("+e+") ", orderAll(len(want), " ")
	} else if g.rare(12) {
		order = orderAll(len(want), g.pick(" ", " DESC", " NULLS FIRST")) + " LIMIT " + g.pick("1", "2", "3") + g.pick("", "", " OFFSET 1")
	}
	return "SELECT " + distinct + strings.Join(items, ", ") + from + where + group + having + order
}

// orderAll puts rows in the order of all their columns.
func orderAll(n int, how string) string {
	var list []string
	for i := range n {
		list = append(list, strconv.Itoa(i+1)+strings.TrimRight(how, " "))
	}
	return " ORDER BY " + strings.Join(list, ", ")
}

// group draws GROUP BY and what may then be named.
func (g *draws) group(s *scope) (string, *scope) {
	var keys []column
	for range g.intn(3) {
		if c := s.own[g.intn(len(s.own))]; !slices.Contains(keys, c) {
			keys = append(keys, c)
		}
	}
	out := &scope{own: keys, outer: s.outer, inside: s.own, all: s.all}
	if len(keys) == 0 {
		return "", out
	}
	var list []string
	for _, c := range keys {
		list = append(list, c.of+"."+c.name)
	}
	if g.wrong && g.some(3) { // the first key is not written
		if list = list[1:]; len(list) == 0 {
			return "", out
		}
	}
	all := strings.Join(list, ", ")
	if g.rare(15) {
		return " GROUP BY " + g.pick("ROLLUP (", "CUBE (", "GROUPING SETS ((), ") + all + ")", out
	}
	return " GROUP BY " + all, out
}

// from draws a FROM, and its columns.
func (g *draws) from(depth int, outer []column) (string, []column) {
	text, own := g.tree(depth, outer, nil)
	if g.rare(20) { // a comma
		right, more := g.tree(depth, outer, own)
		for _, c := range more {
			if slices.ContainsFunc(own, func(o column) bool { return o.of == c.of }) {
				return text, own
			}
		}
		text, own = text+", "+right, append(own, more...)
	}
	return text, own
}

// tree draws an item of FROM, or joins of some; left are the columns before it, which LATERAL sees.
func (g *draws) tree(depth int, outer, left []column) (string, []column) {
	text, own := g.item(depth, outer, left)
	for g.rare(30) {
		join := g.pick(" JOIN ", " JOIN ", " LEFT JOIN ", " CROSS JOIN ", " RIGHT JOIN ", " FULL JOIN ")
		sees := slices.Concat(left, own)
		if join == " RIGHT JOIN " || join == " FULL JOIN " {
			sees = nil
		}
		var right string
		var more []column
		if sees != nil && depth > 0 && g.rare(12) {
			right, more = g.tree(depth-1, outer, sees)
			right = "(" + right + ")"
			if !strings.Contains(right, "JOIN") {
				right = right[1 : len(right)-1]
			}
		} else {
			right, more = g.item(depth, outer, sees)
		}
		if slices.ContainsFunc(more, func(c column) bool {
			return slices.ContainsFunc(slices.Concat(left, own), func(o column) bool { return o.of == c.of })
		}) {
			return text, own
		}
		both := append(slices.Clone(own), more...)
		hidden := outer
		for _, c := range both {
			hidden = without(hidden, c.of)
		}
		on := ""
		if join != " CROSS JOIN " {
			on = " ON " + g.on(own, more, both, hidden, join == " FULL JOIN ")
		}
		text, own = text+join+right+on, both
	}
	return text, own
}

// on draws the condition of a join.
func (g *draws) on(left, right, both, outer []column, plain bool) string {
	s := &scope{own: both, outer: outer, all: slices.Concat(both, outer)}
	for range 4 {
		c := left[g.intn(len(left))]
		if list := ofKind(right, c.kind); len(list) > 0 && c.kind != truth {
			d := list[g.intn(len(list))]
			on := c.of + "." + c.name + " = " + d.of + "." + d.name
			if !plain && g.rare(25) {
				on += " AND " + g.condition(1, s)
			}
			return on
		}
	}
	if plain {
		return "TRUE"
	}
	return g.condition(1, s)
}

// item draws a table, a name of WITH, a subquery, a LATERAL subquery, VALUES or a series.
func (g *draws) item(depth int, outer, left []column) (string, []column) {
	hides := slices.Concat(outer, left)
	if len(left) > 0 {
		hides = outer
	}
	alias := g.fresh(hides)
	for slices.ContainsFunc(left, func(c column) bool { return c.of == alias }) {
		alias = g.fresh(nil)
	}
	if depth > 0 && g.room > 0 && g.rare(30) {
		g.room--
		lateral, sees := "", outer
		if g.some(5) {
			lateral, sees = "LATERAL ", slices.Concat(outer, left)
			for _, c := range left {
				sees = without(outer, c.of)
			}
			sees = slices.Concat(sees, left)
		}
		q, ks := g.query(depth-1, sees, nil)
		columns := renamed(numbered(ks), alias)
		var list []string
		for _, c := range columns {
			list = append(list, c.name)
		}
		return lateral + "(" + q + ") AS " + alias + "(" + strings.Join(list, ", ") + ")", columns
	}
	if g.rare(5) {
		s := &scope{own: left, outer: outer, all: hides}
		if left == nil {
			s = &scope{outer: outer, all: outer}
		}
		return "generate_series(" + g.pick("1", "-1", "2") + ", " + g.pick("2", "3", g.leaf(whole, s)) + g.pick("", "", ", 2", ", -1") + ") AS " + alias + "(c1)", []column{{alias, "c1", whole}}
	}
	r := tables[g.intn(len(tables))]
	if len(g.named) > 0 && g.some(5) {
		r = g.named[g.intn(len(g.named))]
	}
	for _, n := range g.named { // the last one of a name is meant
		if n.name == r.name {
			r = n
		}
	}
	return r.name + " AS " + alias, renamed(r.columns, alias)
}

// around is what a subquery at this place sees of outer columns.
func (s *scope) around() []column { return slices.Concat(s.own, s.outer) }

// scalar is a subquery of one row and column.
func (g *draws) scalar(k kind, s *scope) string {
	g.room--
	outer := s.around()
	from, own := g.from(1, outer)
	hidden := outer
	for _, c := range own {
		hidden = without(hidden, c.of)
	}
	in := &scope{own: own, outer: hidden, all: slices.Concat(own, outer)}
	where := ""
	if g.some(8) {
		where = " WHERE " + g.condition(1, in)
	}
	if g.some(3) {
		return "(SELECT " + g.typed(k, g.expr(k, 1, in)) + " FROM " + from + where + " ORDER BY 1 LIMIT 1)"
	}
	in = &scope{outer: hidden, inside: own, all: in.all}
	return "(SELECT " + g.typed(k, g.aggregate(k, 1, in)) + " FROM " + from + where + ")"
}

// subquery is a truth of a subquery.
func (g *draws) subquery(deep int, s *scope) string {
	g.room--
	outer := s.around()
	depth := min(2, g.room)
	not := g.pick("", "", "NOT ")
	if g.some(5) {
		q, _ := g.query(depth, outer, []kind{whole})
		return "(" + not + "EXISTS (" + q + "))"
	}
	k := g.kind()
	x := g.expr(k, 1, s)
	if g.rare(10) {
		k2 := g.kind()
		q, _ := g.query(depth, outer, []kind{k, k2})
		return "((" + x + ", " + g.expr(k2, 0, s) + ") " + not + "IN (" + q + "))"
	}
	q, _ := g.query(depth, outer, []kind{k})
	if g.some(7) {
		return "(" + x + " " + not + "IN (" + q + "))"
	}
	return "(" + x + g.op() + g.pick("ANY", "ALL") + " (" + q + "))"
}

// statement draws a query to put to both; ordered says that the order of its rows is given.
func (g *draws) statement() (text string, ordered bool) {
	g.wrong = g.rare(8)
	q, ks := g.query(2, nil, nil)
	if g.some(3) {
		return "SELECT * FROM (" + q + ") AS q" + orderAll(len(ks), g.pick(" ", " DESC", " NULLS FIRST")), true
	}
	return q, false
}
