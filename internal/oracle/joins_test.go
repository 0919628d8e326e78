package oracle

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/cpu/join"
	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/plan/rules"
	"github.com/stencildb/stencildb/table"
)

// joins draws statements over joins, which PostgreSQL, SQLite and DuckDB read alike.
type joins struct {
	texts
	pool  []*table.Table // a fact table, two of unique keys, and others
	from  []source
	where []string
	using bool // i is one column of all tables
}

// source is a table of FROM under the name that it has there.
type source struct {
	name string
	tab  *table.Table
}

// most is how many pairs of rows the tables of a statement have: the peers may look at each.
const most = 30_000

// joinFields are the columns that a table may have; each has the first.
var joinFields = []table.Field{
	{Name: "i", Type: table.Type{Kind: table.Integer}},
	{Name: "j", Type: table.Type{Kind: table.BigInt}},
	{Name: "k", Type: table.Type{Kind: table.SmallInt}},
	{Name: "x", Type: table.Type{Kind: table.Double}},
	{Name: "word", Type: table.Type{Kind: table.Varchar}},
	{Name: "name", Type: table.Type{Kind: table.Varchar}},
	{Name: "day", Type: table.Type{Kind: table.Date}},
	{Name: "flag", Type: table.Type{Kind: table.Boolean}},
	{Name: "money", Type: table.Type{Kind: table.Decimal, Precision: 18, Scale: 2}},
}

// joinTables draws the tables of some statements.
func joinTables(t *rapid.T, name func() string, decimals bool) (list []*table.Table) {
	for n := range 6 {
		rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		fields := joinFields[:1:1]
		for _, f := range joinFields[1:] {
			if (decimals || f.Type.Kind != table.Decimal) && (n == 0 || rnd.IntN(3) > 0) {
				fields = append(fields, f)
			}
		}
		fields = slices.Clone(fields)
		rnd.Shuffle(len(fields), func(a, b int) { fields[a], fields[b] = fields[b], fields[a] })
		for c := range fields {
			switch fields[c].Type.Kind {
			case table.Integer, table.BigInt, table.SmallInt:
				fields[c].Type.Kind = []table.Kind{table.Integer, table.BigInt, table.SmallInt}[rnd.IntN(3)]
			case table.Decimal:
				fields[c].Type.Scale = 1 + rnd.IntN(4)
			}
		}
		rows := []int{20 + rnd.IntN(200), 3 + rnd.IntN(12), rnd.IntN(30), max(0, rnd.IntN(9)-3), rnd.IntN(20), 10 + rnd.IntN(60)}[n]
		unique := n == 1 || n == 2
		list = append(list, joinTable(rnd, name(), fields, rows, unique))
	}
	return list
}

// joinTable is a table of few values, of which some are frequent; or the column i has each value once.
func joinTable(rnd *rand.Rand, name string, fields []table.Field, rows int, unique bool) *table.Table {
	chunk := 0
	if rows > 1 && rnd.IntN(2) == 0 {
		chunk = 1 + rnd.IntN(rows)
	}
	keys, nulls := rnd.Perm(rows), rnd.IntN(3)
	words := []string{"", "a", "A", "ab", "b", "éa", "z", "a b", "ß"}
	rnd.Shuffle(len(words), func(a, b int) { words[a], words[b] = words[b], words[a] })
	words = words[:1+rnd.IntN(len(words))]
	b := table.NewBuilder(name, fields, chunk)
	for row := range rows {
		for c, f := range fields {
			n := int64(rnd.IntN(14) - 3)
			if rnd.IntN(3) == 0 {
				n = 1
			}
			if unique && f.Name == "i" {
				n = int64(keys[row] - 2)
			} else if rnd.IntN(10) < nulls {
				b.Column(c).Null()
				continue
			}
			switch f.Type.Kind {
			case table.Double:
				b.Column(c).Float(float64(n) / 2)
			case table.Varchar:
				b.Column(c).String(words[int(n+3)%len(words)])
			case table.Boolean:
				b.Column(c).Int(n & 1)
			case table.Decimal:
				b.Column(c).Value(table.Dec(f.Type, big.NewInt(n*5*table.Pow10(f.Type.Scale-1).Int64())))
			default:
				b.Column(c).Int(n)
			}
		}
		if err := b.EndRow(); err != nil {
			panic(err) // a value was appended to every column
		}
	}
	return thinned(rnd, b.Table(), rnd.IntN(3))
}

// column is one of the tables given, as a statement writes it, "" where none is of the kinds.
func (g *joins) column(of []source, kinds ...table.Kind) string {
	var list []string
	for _, s := range of {
		for _, f := range s.tab.Fields {
			if slices.Contains(kinds, f.Type.Kind) {
				list = append(list, s.name+"."+f.Name)
			}
		}
	}
	if list == nil {
		return ""
	}
	return g.pick(list...)
}

var (
	wholes  = []table.Kind{table.SmallInt, table.Integer, table.BigInt}
	numbers = append(slices.Clone(wholes), table.Double, table.Decimal)
	classes = [][]table.Kind{numbers, numbers, {table.Varchar}, {table.Date}, {table.Boolean}}
)

// pair draws an expression of each of two lists of tables that compare.
func (g *joins) pair(l, r []source) (x, y string) {
	for {
		kinds := rapid.SampledFrom(classes).Draw(g.t, "class")
		if x, y = g.column(l, kinds...), g.column(r, kinds...); x != "" && y != "" {
			return x, y
		}
	}
}

// some is n of ten times.
func (g *joins) some(n int) bool { return rapid.IntRange(1, 10).Draw(g.t, "some") <= n }

// keys draws expressions that a join may find partners by.
func (g *joins) keys(l, r []source) (x, y string) {
	if g.some(7) {
		return g.pair(l, r)
	}
	a, b := g.column(l, wholes...), g.column(r, wholes...)
	switch rapid.IntRange(0, 6).Draw(g.t, "key") {
	case 0:
		return a + " % 3", b + " % 3"
	case 1:
		return a + " + 1", b
	case 2:
		return a, b + " * 2"
	case 3:
		return "coalesce(" + a + ", 1)", b
	case 4:
		if c := g.column(l, table.Varchar); c != "" {
			return "length(" + c + ")", b
		}
	case 5:
		if c, d := g.column(l, table.Varchar), g.column(r, table.Varchar); c != "" && d != "" {
			return "lower(" + c + ")", d
		}
	}
	return a + " + " + g.column(l, numbers...), b
}

// alone draws a condition on one column.
func (g *joins) alone(of []source) string {
	a := g.column(of, wholes...)
	switch rapid.IntRange(0, 6).Draw(g.t, "alone") {
	case 0:
		if c := g.column(of, table.Varchar); c != "" {
			return c + g.pick(" = 'a'", " LIKE 'a%'", " IN ('a', 'b', 'z')", " <> ''", " IS NULL")
		}
	case 1:
		if c := g.column(of, table.Date); c != "" {
			return c + g.pick(" > '1970-01-03'", " = '1970-01-02'", " <= '1969-12-31'")
		}
	case 2:
		if c := g.column(of, table.Boolean); c != "" {
			return g.pick("", "NOT ") + c
		}
	case 3:
		return g.column(of, numbers...) + " " + g.op() + " " + g.pick("1", "2.5", "-1")
	case 4:
		return a + g.pick(" IS NULL", " IS NOT NULL")
	case 5:
		return "coalesce(" + a + ", 0) " + g.op() + " 1"
	}
	return a + g.pick(" = 1", " > 0", " BETWEEN 0 AND 4", " % 2 = 0", " IN (1, 2, 7)")
}

// on draws a condition between two sides.
func (g *joins) on(l, r []source) string {
	equal := func() string {
		x, y := g.keys(l, r)
		if g.some(3) {
			x, y = y, x
		}
		return x + g.pick(" = ", " = ", " = ", " IS NOT DISTINCT FROM ") + y
	}
	either := l
	if g.some(5) {
		either = r
	}
	x, y := g.pair(l, r)
	switch rapid.IntRange(0, 11).Draw(g.t, "on") {
	case 0, 1:
		return equal() + " AND " + equal()
	case 2:
		return equal() + " AND " + g.alone(either)
	case 3:
		return equal() + " AND " + x + " " + g.op() + " " + y
	case 4:
		return x + " " + g.op() + " " + y
	case 5:
		return "(" + equal() + " OR " + equal() + ")"
	case 6:
		return g.pick("TRUE", "FALSE", g.alone(either), g.alone(either)+" AND "+x+" <> "+y)
	}
	return equal()
}

// take adds a table to FROM, one with which the pairs of rows are not too many.
func (g *joins) take(of []*table.Table) (s source, text string) {
	pairs := 1
	for _, f := range g.from {
		pairs *= max(1, f.tab.Rows())
	}
	smallest := slices.MinFunc(of, func(a, b *table.Table) int { return a.Rows() - b.Rows() })
	fits := []*table.Table{smallest}
	for _, tab := range of {
		if tab != smallest && pairs*tab.Rows() <= most {
			fits = append(fits, tab)
		}
	}
	s = source{string(rune('a' + len(g.from))), rapid.SampledFrom(fits).Draw(g.t, "table")}
	g.from = append(g.from, s)
	return s, s.tab.Name + g.pick(" ", " AS ") + s.name
}

// join adds a table to what is left of it, the tables since one, or two in parentheses.
func (g *joins) join(left string, since int) string {
	at := len(g.from)
	_, right := g.take(g.pool)
	if at < 3 && g.some(1) {
		right = "(" + g.join(right, at) + ")"
	}
	l, r := g.from[since:at:at], g.from[at:]
	switch rapid.IntRange(0, 9).Draw(g.t, "kind") {
	case 0:
		return left + " CROSS JOIN " + right
	case 1, 2:
		return left + " LEFT JOIN " + right + " ON " + g.on(l, r)
	case 3:
		return left + " RIGHT OUTER JOIN " + right + " ON " + g.on(l, r)
	case 4:
		return left + " FULL JOIN " + right + " ON " + g.on(l, r)
	}
	return left + g.pick(" JOIN ", " INNER JOIN ") + right + " ON " + g.on(l, r)
}

// tables draws FROM, and conditions of WHERE that join its tables.
func (g *joins) tables() string {
	g.from, g.where, g.using = nil, nil, false
	_, text := g.take(g.pool)
	more := rapid.IntRange(1, 3).Draw(g.t, "more")
	switch rapid.IntRange(0, 9).Draw(g.t, "from") {
	case 0, 1: // a star, its facts first or last
		g.from = nil
		fact, text := g.take(g.pool[:1])
		for _, key := range []string{"i", "j", "k"}[:min(2, more)] {
			s, dim := g.take(g.pool[1:3])
			on := fact.name + "." + key + " = " + s.name + ".i"
			switch {
			case len(g.where) > 0 || len(g.from) == 2 && g.some(6):
				text, g.where = g.pick(text+", "+dim, dim+", "+text), append(g.where, on)
			default:
				text += " JOIN " + dim + " ON " + on
			}
			if len(g.from) < 4 && g.some(3) { // a snowflake
				far, of := g.take(g.pool[1:])
				text, g.where = g.pick(text+", "+of, of+", "+text), append(g.where, g.column([]source{s}, wholes...)+" = "+far.name+".i")
			}
		}
		if g.some(2) {
			of := rapid.SampledFrom(g.pool).Draw(g.t, "set").Name
			g.where = append(g.where, g.pick("", "NOT ")+"EXISTS (SELECT 1 FROM "+of+" z WHERE z.i = "+g.column(g.from, wholes...)+")")
		}
		return text
	case 2, 3:
		for at := 1; at <= more; at++ {
			_, right := g.take(g.pool)
			text += ", " + right
			if g.some(8) {
				g.where = append(g.where, g.on(g.from[:at:at], g.from[at:]))
			}
		}
		return text
	case 4:
		g.using = true
		for range more {
			_, right := g.take(g.pool)
			text += g.pick(" JOIN ", " JOIN ", " LEFT JOIN ", " RIGHT JOIN ", " FULL JOIN ") + right + " USING (i)"
		}
		return text
	case 5:
		_, right := g.take(g.pool)
		return text + " NATURAL " + g.pick("", "LEFT ", "RIGHT ", "FULL ") + "JOIN " + right
	}
	for range more {
		if len(g.from) < 4 {
			text = g.join(text, 0)
		}
	}
	return text
}

// item draws an expression of the select list.
func (g *joins) item() string {
	if g.using && g.some(3) {
		return "i"
	}
	all := []table.Kind{table.Double, table.Decimal, table.Varchar, table.Date, table.Boolean}
	a, b := g.column(g.from, wholes...), g.column(g.from, numbers...)
	switch rapid.IntRange(0, 7).Draw(g.t, "item") {
	case 0:
		return a + " + " + b
	case 1:
		return "coalesce(" + a + ", " + g.column(g.from, wholes...) + ")"
	case 2:
		if c := g.column(g.from, table.Varchar); c != "" {
			return c + " || " + g.column(g.from, table.Varchar)
		}
	case 3:
		return "(" + a + " " + g.op() + " " + b + ")"
	}
	return g.column(g.from, append(all, wholes...)...)
}

func (g *joins) total() string {
	number, ordered := g.column(g.from, numbers...), g.column(g.from, append([]table.Kind{table.Varchar, table.Date}, numbers...)...)
	call := g.pick("COUNT(*)", "COUNT("+g.item()+")", "COUNT(DISTINCT "+ordered+")", "SUM("+number+")", "SUM("+number+" * 2)", "MIN("+ordered+")", "MAX("+ordered+")",
		"SUM(CASE WHEN "+g.alone(g.from)+" THEN "+number+" ELSE 0 END)", "COUNT(CASE WHEN "+g.alone(g.from)+" THEN "+number+" END)")
	if g.some(1) {
		call += " FILTER (WHERE " + g.alone(g.from) + ")"
	}
	return call
}

// statement draws one; ordered says that it puts all rows in order.
func (g *joins) statement() (text string, ordered bool) {
	from := g.tables()
	var items, keys []string
	for range rapid.IntRange(1, 4).Draw(g.t, "items") {
		items = append(items, g.item())
	}
	distinct := ""
	switch rapid.IntRange(0, 3).Draw(g.t, "form") {
	case 0:
		if keys = items[:min(2, len(items))]; g.some(4) {
			keys, items = nil, nil
		} else {
			items = slices.Clone(keys)
		}
		for range rapid.IntRange(1, 3).Draw(g.t, "totals") {
			items = append(items, g.total())
		}
	case 1:
		distinct = "DISTINCT "
	}
	for i := range items {
		items[i] += fmt.Sprintf(" AS c%d", i)
	}
	text = "SELECT " + distinct + strings.Join(items, ", ") + " FROM " + from
	for range max(0, rapid.IntRange(-2, 2).Draw(g.t, "where")) {
		g.where = append(g.where, g.pick(g.alone(g.from), g.on(g.from[:1:1], g.from[1:])))
	}
	if len(g.where) > 0 {
		text += " WHERE " + strings.Join(g.where, " AND ")
	}
	if len(keys) > 0 {
		text += " GROUP BY " + strings.Join(keys, ", ")
		if g.some(2) {
			text += " HAVING COUNT(*) > 1"
		}
	}
	if ordered = g.some(4); !ordered {
		return text, false
	}
	for n, i := range rapid.Permutation(items).Draw(g.t, "order") {
		text += []string{" ORDER BY ", ", "}[b2i(n > 0)] + i[strings.LastIndex(i, " c")+1:] + g.pick(" ASC", " DESC") + g.pick(" NULLS FIRST", " NULLS LAST")
	}
	if g.some(5) {
		text += " LIMIT " + strconv.Itoa(rapid.IntRange(0, 30).Draw(g.t, "limit"))
		if g.some(3) {
			text += " OFFSET " + strconv.Itoa(rapid.IntRange(0, 9).Draw(g.t, "offset"))
		}
	}
	return text, true
}

// joinsPerTables is how many statements are asked of each list of tables that is drawn.
const joinsPerTables = 25

// Joins have the rows that SQLite has, whichever backend and algorithm joins.
func TestSQLiteJoins(t *testing.T) { joinsAgree(t, openSQLite(t, sqlite{iso: true}), false) }

// joinsAgree puts random joins to the engine and a peer, which has DECIMALs or not.
func joinsAgree(t *testing.T, p *peer, decimals bool) {
	h := open(t)
	rapid.Check(t, func(t *rapid.T) {
		g := &joins{texts: texts{t: t}, pool: joinTables(t, h.name, decimals)}
		for _, tab := range g.pool {
			h.register(t, tab)
			if err := p.load(tab); err != nil {
				t.Fatal(err)
			}
		}
		for range joinsPerTables {
			text, ordered := g.statement()
			h.joinAgrees(t, g, text, ordered, p)
		}
		g.from = []source{{"a", g.pool[0]}, {"b", g.pool[5]}}
		h.joinAgrees(t, g, fmt.Sprintf("SELECT a.i AS c0, b.i AS c1 FROM %s a %sJOIN %s b ON a.i %s = b.i %s AND a.i %% 3 = b.i %% %s", g.pool[0].Name, g.pick("", "LEFT ", "FULL "), g.pool[5].Name,
			g.pick("+ 1", "* 2", "- 5"), g.pick("* 3", "- 4"), g.pick("2", "3", "4")), false, p)
		for _, tab := range g.pool {
			if err := p.drop(tab.Name); err != nil {
				t.Fatal(err)
			}
		}
	})
	t.Log(&h.tally)
	if h.some < h.compared/2 {
		t.Error("most joins are empty")
	}
	t.Logf("%d of them group rows before they are joined", h.pushed)
	if h.pushed < 10 {
		t.Error("few group rows before they are joined")
	}
	if h.several == 0 || h.made == 0 || h.chained == 0 {
		t.Errorf("compute has found the pairs of %d joins by several keys, of %d by keys that are computed, and of %d of a join's rows", h.several, h.made, h.chained)
	}
}

// enough is how many joins of a kind are looked for whose pairs compute has found.
const enough = 3

// ofGroups is an aggregate of aggregates.
var ofGroups = regexp.MustCompile(`Aggregate\(.*\("(SUM|COUNT|MIN|MAX)\(`)

// grouped counts the statements that group rows before they are joined.
func (h *harness) grouped(t *rapid.T, db namedDB, text string) {
	x, err := db.Explain(context.Background(), text, engine.ExplainOptions{})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	h.pushed += b2i(ofGroups.MatchString(strings.Join(x.Lines(), "\n")))
}

// pairsFound counts the joins of a statement whose pairs compute finds, as long as few have been seen.
func (h *harness) pairsFound(t *rapid.T, db namedDB, text string) {
	if db.Backend() != "compute" || h.several >= enough && h.made >= enough && h.chained >= enough {
		return
	}
	x, err := db.Explain(context.Background(), text, engine.ExplainOptions{Analyze: true})
	if errors.Is(err, engine.ErrUnsupported) { // with LIMIT 0 it was answered without the backend
		return
	}
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	joins := 0
	for _, s := range x.Steps {
		if strings.HasPrefix(s.Pass, "Join(") && strings.Contains(s.Pass, ") on compute") {
			if joins++; joins == 2 {
				h.chained++
			}
			h.several += b2i(strings.Contains(s.Pass, " AND "))
			h.made += b2i(strings.ContainsAny(s.Pass, "%+*"))
		}
	}
}

// joinAgrees checks that every backend has the rows of the peer, with a drawn algorithm: in order, or all of them in any.
func (h *harness) joinAgrees(t *rapid.T, g *joins, text string, ordered bool, p *peer) {
	h.queries++
	dumps := func() (all string) {
		for _, s := range g.from {
			all += dump(s.tab) + "\n"
		}
		return all
	}
	want, err := p.rows(text)
	if err != nil {
		t.Fatalf("%s\nthe peer: %v\n%s", text, err, dumps())
	}
	sort := func(rows [][]string) {
		if !ordered {
			slices.SortFunc(rows, slices.Compare)
		}
	}
	sort(want)
	dbs := h.dbs
	if last := len(dbs) - 1; !h.every { // drawn, so that a failure repeats whatever the tables are called
		dbs = []namedDB{rapid.SampledFrom(dbs[:last]).Draw(t, "backend"), dbs[last]}
	}
	for _, db := range dbs {
		way := rapid.SampledFrom(join.Algorithms).Draw(t, "way")
		engine.Inspect(db.DB).PushAggregates(g.some(7)) // the tables are too small for it to pay
		var off []string
		for _, r := range rules.Rules[b2i(g.some(5))*len(rules.Rules):] { // all rules, or some
			if g.some(3) {
				off = append(off, r.Name)
			}
		}
		for _, set := range []string{"SET join = '" + way + "'", "SET disable_rule = '" + strings.Join(off, ",") + "'"} {
			if _, err := db.Exec(context.Background(), set); err != nil {
				t.Fatal(err)
			}
		}
		rows, err := rowsOf(db.Query(context.Background(), text))
		if unsupported(db, err) {
			h.declined++
			continue
		}
		h.pairsFound(t, db, text)
		h.grouped(t, db, text)
		got := make([][]string, len(rows))
		for i, row := range rows {
			for _, v := range row {
				got[i] = append(got[i], printed(v))
			}
		}
		sort(got)
		if err != nil || !slices.EqualFunc(got, want, slices.Equal) {
			// SQLite 3.40 and 3.53 gave 31 rows of a statement of which they count none (IN of a join that is empty, with a NOT EXISTS): 0 is right.
			if n, _ := p.rows("SELECT COUNT(*) FROM (" + text + ") AS counted"); err == nil && len(n) == 1 && n[0][0] == fmt.Sprint(len(got)) && len(got) != len(want) {
				h.inexpressible++
				return
			}
			t.Fatalf("%s\n%s, join %s, without rules %q, has %d rows %v (%v)\nthe peer %d rows %v\n%s", text, db.name, way, off, len(got), got, err, len(want), want, dumps())
		}
	}
	h.compared++
	h.some += b2i(len(want) > 0)
}
