package postgres

import (
	"fmt"
	"strconv"
	"strings"
)

// keyed is a table with a key, which is changed beside the others.
var keyed = relation{"q", []column{{"q", "id", whole}, {"q", "v", whole}, {"q", "w", whole}, {"q", "s", text}, {"q", "r", text}}}

// keyedRows are rows of it: their keys are small and different.
func (g *draws) keyedRows(from int) (rows []string) {
	for id := from; id < from+6; id++ {
		if g.some(6) {
			row := g.row(relation{"q", keyed.columns[1:]})
			rows = append(rows, "("+strconv.Itoa(id)+", "+row[1:])
		}
	}
	return rows
}

// change draws a statement that changes a table, and the table's name.
func (g *draws) change() (statement, name string) {
	g.wrong = g.rare(8)
	r := append(tables, keyed)[g.intn(len(tables)+1)]
	switch g.intn(5) {
	case 0:
		return g.insert(r), r.name
	case 1, 2:
		return g.update(r), r.name
	case 3:
		return g.delete(r), r.name
	}
	return g.merge(r), r.name
}

// returning is RETURNING of expressions over a table's columns, without subqueries.
func (g *draws) returning(s *scope) string {
	if g.some(4) {
		return ""
	}
	if g.some(3) && len(s.own) <= len(keyed.columns) {
		return " RETURNING *"
	}
	room := g.room
	g.room = 0
	defer func() { g.room = room }()
	var items []string
	for range 1 + g.intn(3) {
		k := g.kind()
		items = append(items, g.typed(k, g.expr(k, 1, s)))
	}
	return " RETURNING " + strings.Join(items, ", ")
}

// tableScope is what a change of a table may name.
func tableScope(r relation, more ...column) *scope {
	own := append(renamed(r.columns, r.name), more...)
	return &scope{own: own, all: own}
}

func (g *draws) insert(r relation) string {
	var names []string
	var ks []kind
	for _, c := range r.columns {
		if c.name == "id" || g.some(8) {
			names, ks = append(names, c.name), append(ks, c.kind)
		}
	}
	if len(names) == 0 {
		names, ks = []string{r.columns[0].name}, []kind{r.columns[0].kind}
	}
	text := "INSERT INTO " + r.name + " (" + strings.Join(names, ", ") + ") "
	if r.name != "q" {
		q, _ := g.query(1, nil, ks)
		return text + q + g.returning(tableScope(r))
	}
	var rows []string
	for _, id := range []int{g.intn(4), 4 + g.intn(4), 8 + g.intn(4)} {
		row := []string{strconv.Itoa(id)}
		for _, k := range ks[1:] {
			row = append(row, g.expr(k, 1, &scope{}))
		}
		rows = append(rows, "("+strings.Join(row, ", ")+")")
	}
	text += "VALUES " + strings.Join(rows[:1+g.intn(3)], ", ")
	s := tableScope(r)
	both := tableScope(r, renamed(r.columns, "excluded")...)
	both.all = append(both.all, both.all...) // names alone are the table's there and ambiguous elsewhere
	switch g.intn(3) {
	case 0:
		text += " ON CONFLICT (id) DO NOTHING"
	case 1:
		text += " ON CONFLICT (id) DO UPDATE SET " + g.assignments(r, both)
		if g.some(3) {
			text += " WHERE " + g.condition(1, both)
		}
	}
	return text + g.returning(s)
}

// assignments are those of SET: often one column into another's place.
func (g *draws) assignments(r relation, s *scope) string {
	var list []string
	room := g.room
	if s.own[len(s.own)-1].of == "excluded" {
		g.room = 0
	}
	defer func() { g.room = room }()
	for _, c := range r.columns {
		if c.name == "id" || g.some(5) {
			continue
		}
		value := g.expr(c.kind, 1, s)
		if same := ofKind(s.own, c.kind); g.some(5) {
			from := same[g.intn(len(same))]
			value = from.of + "." + from.name
		}
		list = append(list, c.name+" = "+value)
	}
	if list == nil {
		c := r.columns[len(r.columns)-1]
		list = []string{c.name + " = " + g.expr(c.kind, 1, s)}
	}
	return strings.Join(list, ", ")
}

// source draws rows of which each value of the first column is there once.
func (g *draws) source(alias string) (string, []column) {
	q, ks := g.query(1, nil, []kind{whole, g.kind(), g.kind()})
	columns := renamed(numbered(ks), alias)
	agg := func(i int) string {
		if ks[i] == truth {
			return "bool_or(c" + strconv.Itoa(i+1) + ")"
		}
		return "max(c" + strconv.Itoa(i+1) + ")"
	}
	return fmt.Sprintf("(SELECT c1, %s, %s FROM (%s) AS y(c1, c2, c3) GROUP BY c1) AS %s(c1, c2, c3)", agg(1), agg(2), q, alias), columns
}

func (g *draws) update(r relation) string {
	s := tableScope(r)
	from, joined := "", ""
	if g.some(3) {
		text, columns := g.source("x")
		s = tableScope(r, columns...)
		key := ofKind(s.own[:len(r.columns)], whole)[0]
		from, joined = " FROM "+text, r.name+"."+key.name+" = x.c1"
	}
	text := "UPDATE " + r.name + " SET " + g.assignments(r, s) + from
	where := ""
	if g.some(6) {
		where = g.condition(2, s)
	}
	switch {
	case joined != "" && where != "":
		text += " WHERE " + joined + " AND " + where
	case joined+where != "":
		text += " WHERE " + joined + where
	}
	return text + g.returning(s)
}

func (g *draws) delete(r relation) string {
	s := tableScope(r)
	text := "DELETE FROM " + r.name
	if g.some(3) {
		from, columns := g.source("x")
		s = tableScope(r, columns...)
		key := ofKind(s.own[:len(r.columns)], whole)[0]
		return text + " USING " + from + " WHERE " + r.name + "." + key.name + " = x.c1 AND " + g.condition(1, s) + g.returning(s)
	}
	return text + " WHERE " + g.condition(2, s) + g.returning(s)
}

func (g *draws) merge(r relation) string {
	source, columns := g.source("x")
	s := tableScope(r, columns...)
	key := ofKind(s.own[:len(r.columns)], whole)[0]
	text := "MERGE INTO " + r.name + " USING " + source + " ON " + r.name + "." + key.name + " = x.c1"
	and := func(s *scope) string {
		if g.some(4) {
			return " AND " + g.condition(1, s)
		}
		return ""
	}
	room := g.room
	g.room = 0
	defer func() { g.room = room }()
	if g.some(7) {
		text += " WHEN MATCHED" + and(s) + " THEN " + g.pick("DELETE", "DO NOTHING", "UPDATE SET "+g.assignments(r, s))
		if g.some(3) && strings.Contains(text, "MATCHED AND") {
			text += " WHEN MATCHED THEN UPDATE SET " + g.assignments(r, s)
		}
	}
	of := &scope{own: columns, all: append(columns, s.all...)}
	var names, values []string
	for _, c := range r.columns {
		if c.name == key.name {
			names, values = append(names, c.name), append(values, "x.c1")
		} else if g.some(6) {
			names, values = append(names, c.name), append(values, g.expr(c.kind, 1, of))
		}
	}
	if g.some(6) || !strings.Contains(text, "WHEN") {
		condition := and(of)
		if r.name == "q" && !strings.Contains(condition, "c1 IS NOT NULL") {
			condition = " AND x.c1 IS NOT NULL" + condition
		}
		text += " WHEN NOT MATCHED" + condition + " THEN INSERT (" + strings.Join(names, ", ") + ") VALUES (" + strings.Join(values, ", ") + ")"
	}
	return text
}
