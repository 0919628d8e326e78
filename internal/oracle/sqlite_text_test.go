package oracle

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/internal/plantest"
	"github.com/stencildb/stencildb/table"
)

// texts draws statements that PostgreSQL and SQLite read alike, over sqliteFields
// with narrow integers. SQLite has no dates: there they are ISO text, which
// compares as they do.
type texts struct {
	t   *rapid.T
	tab *table.Table
}

func (g *texts) pick(list ...string) string { return rapid.SampledFrom(list).Draw(g.t, "pick") }

func (g *texts) op() string { return g.pick("<", "<=", "=", "<>", ">=", ">") }

func (g *texts) integer() string { return strconv.Itoa(rapid.IntRange(-300, 300).Draw(g.t, "n")) }

// quarter is a number that a double holds exactly.
func (g *texts) quarter() string {
	return strconv.FormatFloat(float64(rapid.IntRange(-400, 400).Draw(g.t, "quarters"))/4, 'f', 2, 64)
}

func (g *texts) word() string {
	return g.pick("''", "'a'", "'A'", "'ab'", "'b'", "'éa'", "'z'", "' 3 '", "'true'", "'it''s'")
}

func (g *texts) day() string {
	return g.pick("'1970-01-01'", "'1969-12-31'", "'1972-02-29'", "'2000-06-15'")
}

// number is an integer expression of a column or two: few shapes.
func (g *texts) number() string {
	n := g.integer()
	return g.pick("s", "i", "j", "k", "i + "+n, "j * "+n, "2*i - j", "s + i*"+n, "i*i + 3*j*k", "-i", "i + j + k",
		"(s - i) * "+n, "i % 7", "(i + j) / 5", "j % 2", "i / 3", "abs(i)", "abs(j - i)", "coalesce(i, s, 3)", "nullif(j, "+n+")",
		"i & 7", "i | j", "~k", "i << 2", "CASE WHEN i < j THEN i WHEN s > "+n+" THEN k ELSE 4 END", "CASE s WHEN 1 THEN 2 WHEN "+n+" THEN i END")
}

// leaf draws a condition without AND, OR and NOT.
func (g *texts) leaf() string {
	switch rapid.IntRange(0, 18).Draw(g.t, "leaf") {
	case 0, 1, 2:
		return g.number() + " " + g.op() + " " + g.pick(g.integer(), g.quarter())
	case 3:
		return "i " + g.op() + " " + g.pick("j", "s", "x", "i + k", "2 * s")
	case 4:
		return g.number() + " " + g.pick("", "NOT ") + "BETWEEN " + g.integer() + " AND " + g.pick(g.integer(), g.quarter())
	case 5:
		return g.pick("i", "j", "s") + g.pick("", " NOT") + " IN (" + strings.Join([]string{g.integer(), g.integer(), g.pick("NULL", g.quarter()), g.integer()}, ", ") + ")"
	case 6:
		return g.pick("x", "y", "r") + " " + g.op() + " " + g.pick(g.integer(), g.quarter(), "1e3", "-2.5e-1")
	case 7:
		return "x " + g.op() + " " + g.pick("y", "i", "x * 2", "y - x", "r")
	case 8:
		return "x" + g.pick("", " NOT") + " BETWEEN " + g.integer() + " AND " + g.pick(g.integer(), "y")
	case 9:
		return "word" + g.pick("", " NOT") + " LIKE " + g.pick("'a%'", "'%a'", "'_'", "'%b%'", "'A%'", "''", "'é_'", "'%'")
	case 10:
		return "word " + g.op() + " " + g.pick(g.word(), "name")
	case 11:
		return "name" + g.pick("", " NOT") + " IN (" + g.word() + ", " + g.word() + ")"
	case 12:
		return "day " + g.op() + " " + g.day()
	case 13:
		return "day BETWEEN " + g.day() + " AND " + g.day()
	case 14:
		return g.pick("flag", "flag = TRUE", "flag <> FALSE", "flag IS TRUE", "flag IS NOT FALSE", "flag IS NULL", "NOT flag")
	case 15:
		return g.pick("i", "x", "word", "day", "flag", "j + i") + g.pick(" IS NULL", " IS NOT NULL")
	case 16:
		return g.pick("length(word)", "length(word || name)", "octet_length(name)", "length(trim(word))") + " " + g.op() + " " + g.pick("0", "1", "2", "s")
	case 17:
		return g.pick("lower(word)", "word || 'a'", "replace(word, 'a', 'b')", "substr(word, 2, 1)", "trim(name)", "ltrim(word, 'a')", "rtrim(word, 'b ')",
			"coalesce(word, name)", "nullif(word, 'a')", "CASE WHEN i > j THEN word ELSE name END") + " " + g.op() + " " + g.word()
	}
	return g.pick("i IS DISTINCT FROM j", "s IS NOT DISTINCT FROM "+g.integer(), "word IS DISTINCT FROM name", "x IS NOT DISTINCT FROM y")
}

func (g *texts) condition(depth int) string {
	if depth == 0 {
		return g.leaf()
	}
	switch rapid.IntRange(0, 6).Draw(g.t, "junction") {
	case 0, 1:
		return g.condition(depth-1) + " AND " + g.condition(depth-1)
	case 2:
		return g.condition(depth-1) + " OR " + g.condition(depth-1) + " AND " + g.leaf()
	case 3:
		return "(" + g.condition(depth-1) + " OR " + g.condition(depth-1) + ") AND " + g.leaf()
	case 4:
		return "NOT (" + g.condition(depth-1) + ")"
	case 5:
		return g.pick("", "NOT ") + "(" + g.condition(depth-1) + ") IS " + g.pick("", "NOT ") + g.pick("TRUE", "FALSE", "NULL")
	}
	return g.leaf()
}

// statement draws aggregates that both databases print alike.
func (g *texts) statement() string {
	items := []string{"COUNT(*)"}
	for range rapid.IntRange(1, 3).Draw(g.t, "items") {
		items = append(items, g.pick("COUNT(i)", "SUM(i)", "SUM(j) + 1", "MIN(s)", "MAX(i) - MIN(i) AS width", "SUM(s) * 2 - COUNT(s)", "-MAX(k)",
			"MIN(x)", "MAX(y)", "MIN(word)", "MAX(name)", "MIN(day)", "MAX(day)", "COUNT(*) / 2", "COUNT(flag) % 3", "MAX(i) + 0.5", "COUNT(*) > 3", "MIN(i) IS NULL"))
	}
	text := "SELECT " + strings.Join(items, ", ") + " FROM " + g.tab.Name
	if rapid.IntRange(0, 9).Draw(g.t, "where") > 0 {
		text += " WHERE " + g.condition(rapid.IntRange(0, 3).Draw(g.t, "depth"))
	}
	return text
}

// groups draws a statement with groups that both databases print alike.
func (g *texts) groups() string {
	var keys, items []string
	for range rapid.IntRange(1, 2).Draw(g.t, "keys") {
		keys = append(keys, g.pick("s", "flag", "word", "day", "x", "i % 3", "i > j", "i & 3", "replace(name, 'a', 'b')", "coalesce(word, 'z')", "abs(s)"))
	}
	items = append(items, keys...)
	for range rapid.IntRange(0, 3).Draw(g.t, "items") {
		item := g.pick("COUNT(*)", "COUNT(DISTINCT i)", "COUNT(DISTINCT word)", "SUM("+g.number()+")", "SUM(DISTINCT s)", "MIN("+g.number()+")", "MAX(x * 2)", "MIN(word)", "MAX(day)", "COUNT("+g.number()+")")
		if rapid.IntRange(0, 3).Draw(g.t, "filtered") == 0 {
			item += " FILTER (WHERE " + g.leaf() + ")"
		}
		items = append(items, item)
	}
	text := "SELECT " + strings.Join(items, ", ") + " FROM " + g.tab.Name
	if rapid.Bool().Draw(g.t, "where") {
		text += " WHERE " + g.leaf()
	}
	text += " GROUP BY " + strings.Join(keys, ", ")
	if rapid.IntRange(0, 3).Draw(g.t, "having") == 0 {
		text += " HAVING " + g.pick("COUNT(*) > 1", "MAX(i) > 3", "SUM(s) IS NOT NULL AND MIN(j) < MAX(j)")
	}
	return text
}

// rows runs a statement and prints its rows, numbers by their value: 2.0 is 2.
func (p *peer) rows(text string) (out [][]string, err error) {
	rows, err := p.values(text)
	for _, values := range rows {
		var row []string
		for _, v := range values {
			switch v := v.(type) {
			case nil:
				row = append(row, "NULL")
			case float64:
				row = append(row, table.Float(v).String())
			case []byte:
				row = append(row, string(v))
			case bool:
				row = append(row, strconv.Itoa(b2i(v)))
			case time.Time:
				row = append(row, v.Format(time.DateOnly))
			case fmt.Stringer: // a DECIMAL
				f, _ := strconv.ParseFloat(v.String(), 64)
				row = append(row, table.Float(f).String())
			default:
				row = append(row, fmt.Sprint(v))
			}
		}
		out = append(out, row)
	}
	return out, err
}

// printed writes a value as [peer.row] does.
func printed(v table.Value) string {
	switch {
	case v.Null:
	case v.Type.Kind == table.Boolean:
		return strconv.FormatInt(v.I, 10)
	case v.Type.Kind == table.Real:
		return table.Float(v.F).String()
	case v.Type.Kind == table.Decimal && v.Type.Scale > 0:
		f, _ := strconv.ParseFloat(v.String(), 64)
		return table.Float(f).String()
	}
	return v.String()
}

// The same text means the same to the engine and to SQLite: how literals and
// columns of different types are brought together is each one's own.
func TestSQLiteReadsTheSameText(t *testing.T) {
	h := open(t)
	p := openSQLite(t, sqlite{iso: true})
	k := plantest.Default()
	k.Special, k.Narrow = false, true
	rapid.Check(t, func(t *rapid.T) {
		tab := drawTable(t, h.name(), sqliteFields, k, 2000)
		h.register(t, tab)
		if err := p.load(tab); err != nil {
			t.Fatal(err)
		}
		g := &texts{t, tab}
		for range 10 {
			h.checkText(t, tab, g.statement(), p)
		}
		for range 4 {
			h.checkGroups(t, tab, g.groups(), p)
		}
		if err := p.drop(tab.Name); err != nil {
			t.Fatal(err)
		}
	})
	t.Log(&h.tally)
}

// checkText runs a statement word for word on every backend and on the peer; the
// scalar oracle runs what it binds to.
func (h *harness) checkText(t fataler, tab *table.Table, text string, p *peer) {
	want, err := h.checkCount(t, tab, text)
	if err != nil {
		h.failed++
		return
	}
	h.selected(want[0].I, tab)
	h.compared++
	h.sqliteHas(t, tab, text, p, [][]table.Value{want})
}

// checkGroups is checkText of a statement with groups, which come in any order.
func (h *harness) checkGroups(t fataler, tab *table.Table, text string, p *peer) {
	h.queries++
	tree, err := bind(tab, text)
	if err != nil {
		t.Fatalf("%s\n%v", text, err)
	}
	want, err := defined(tab, tree)
	if !h.rowsAgree(t, tab, text, want, err) {
		return
	}
	h.compared++
	h.sqliteHas(t, tab, text, p, want)
}

// sqliteHas checks that SQLite has these rows, in any order.
func (h *harness) sqliteHas(t fataler, tab *table.Table, text string, p *peer, rows [][]table.Value) {
	var want [][]string
	for _, r := range rows {
		var row []string
		for _, v := range r {
			row = append(row, printed(v))
		}
		want = append(want, row)
	}
	got, err := p.rows(text)
	slices.SortFunc(got, slices.Compare)
	slices.SortFunc(want, slices.Compare)
	if err != nil || !slices.EqualFunc(got, want, slices.Equal) {
		t.Fatalf("%s\nSQLite has %v (%v), the engine %v\n%s", text, got, err, want, dump(tab))
	}
}
