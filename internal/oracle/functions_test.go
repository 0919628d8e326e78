package oracle

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/internal/plantest"
	"github.com/stencildb/stencildb/table"
)

// functions draws expressions with functions over sqliteFields, those that raise errors among
// them.
type functions struct{ texts }

func (g *functions) double(depth int) string {
	if depth == 0 {
		return g.pick("x", "y", "i", "s", "0.5::float8", "-3")
	}
	x, y := g.double(depth-1), g.double(0)
	return g.pick("abs("+x+")", "round("+x+")", "floor("+x+")", "ceil("+x+")", "trunc("+x+", 1)", "sqrt("+x+")", "sqrt(abs("+x+"))", "ln("+x+")",
		"sign("+x+")", "radians("+x+")", "atan2("+x+", "+y+")", "greatest("+x+", "+y+")", "least("+y+", "+x+", 1)", "coalesce("+x+", "+y+")",
		"nullif("+x+", "+y+")", "CASE WHEN "+x+" > "+y+" THEN "+y+" WHEN flag THEN "+x+" END", "power(2, least("+x+", 9))", "round("+x+", 2)")
}

func (g *functions) integer(depth int) string {
	if depth == 0 {
		return g.pick("i", "j", "k", "s", "7", "NULL::bigint")
	}
	x, y := g.integer(depth-1), g.integer(0)
	return g.pick("abs("+x+")", "mod("+x+", "+y+")", "("+x+" & "+y+")", "("+x+" # "+y+")", "(~"+x+")", "greatest("+x+", "+y+")", "coalesce("+x+", 5)",
		"CASE WHEN "+x+" < "+y+" THEN "+x+" ELSE "+y+" END", "CASE "+x+" WHEN 1 THEN 2 WHEN "+y+" THEN 3 END", "nullif("+x+", 7)")
}

func (g *functions) text(depth int) string {
	if depth == 0 {
		return g.pick("word", "name", "'a'", "i || ''")
	}
	x, y := g.text(depth-1), g.text(0)
	return g.pick("upper("+x+")", "reverse("+x+")", "left("+x+", i)", "right("+x+", -1)", "repeat("+x+", least(i, 3))", "lpad("+x+", 4, "+y+")",
		"split_part("+x+", 'a', j)", "substring("+x+", i, 2)", "concat("+x+", i, flag)", "coalesce("+x+", "+y+")", "greatest("+x+", "+y+")", "chr(least(i, 99))")
}

func (g *functions) value() string {
	depth := rapid.IntRange(1, 2).Draw(g.t, "depth")
	switch rapid.IntRange(0, 2).Draw(g.t, "type") {
	case 0:
		return g.integer(depth)
	case 1:
		return g.pick("length(", "strpos('ab', ", "ascii(") + g.text(depth) + ")"
	}
	return g.double(depth)
}

func (g *functions) condition() string {
	c := g.value() + " " + g.op() + " " + g.pick("2", "0.5", "-1", "j")
	switch rapid.IntRange(0, 7).Draw(g.t, "shape") {
	case 0:
		return "NOT (" + c + ") OR " + g.value() + " IS NULL"
	case 1:
		return "(" + c + ") IS NOT TRUE AND i > 0"
	case 2:
		return "i > 0 AND " + c + " AND " + g.value() + " IS NOT NULL"
	case 3:
		return g.value() + " IN (1, 2, 3.5)"
	case 4:
		return g.value() + " BETWEEN -1 AND " + g.value()
	case 5:
		return "coalesce(" + c + ", flag)"
	}
	if rapid.IntRange(0, 3).Draw(g.t, "days") == 0 {
		return g.pick("extract(month from day) = 6", "date_trunc('year', day) = day", "date_part('dow', day) < i", g.text(1)+" ~ '^.?a'")
	}
	return c
}

// Functions of columns have on every backend the values, NULLs and errors that they have one
// row at a time, in conditions and in select lists.
func TestFunctionsOfColumns(t *testing.T) {
	h := open(t)
	rapid.Check(t, func(t *rapid.T) {
		k := plantest.Default()
		k.Narrow = rapid.Bool().Draw(t, "narrow")
		tab := drawTable(t, h.name(), sqliteFields, k, 300)
		h.register(t, tab)
		g := &functions{texts{t, tab}}
		for range 3 {
			where := " FROM " + tab.Name + " WHERE " + g.condition()
			_, _ = h.checkCount(t, tab, "SELECT COUNT(*)"+where)
			h.checkSelect(t, tab, "SELECT "+g.value()+" AS a, "+g.value()+" AS b"+where)
		}
	})
	t.Log(&h.tally)
}

// checkCount compares the aggregates of a statement on every backend with those of one row
// at a time, and returns these.
func (h *harness) checkCount(t fataler, tab *table.Table, text string) ([]table.Value, error) {
	h.queries++
	q, err := bind(tab, text)
	if err != nil {
		t.Fatalf("%s\n%v", text, err)
	}
	want, err := scalar(tab, q)
	h.backends(t, tab, text, want, err)
	return want, err
}

// checkSelect compares the rows of a statement with those computed one at a time.
func (h *harness) checkSelect(t fataler, tab *table.Table, text string) {
	h.queries++
	tree, err := bind(tab, text)
	if err != nil {
		t.Fatalf("%s\n%v", text, err)
	}
	want, wantErr := reference(tab, tree)
	h.rowsAgree(t, tab, text, want, wantErr)
}
