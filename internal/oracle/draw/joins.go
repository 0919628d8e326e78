package draw

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/table"
)

// Joins draws statements over joins, which PostgreSQL, SQLite and DuckDB read alike.
type Joins struct {
	Texts
	Pool  []*table.Table // a fact table, two of unique keys, and others
	From  []Source
	where []string
	using bool // i is one column of all tables
}

// Source is a table of FROM under the name that it has there.
type Source struct {
	Name string
	Tab  *table.Table
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

// JoinTables draws the tables of some statements.
func JoinTables(t *rapid.T, name func() string, decimals bool) (list []*table.Table) {
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
func (g *Joins) column(of []Source, kinds ...table.Kind) string {
	var list []string
	for _, s := range of {
		for _, f := range s.Tab.Fields {
			if slices.Contains(kinds, f.Type.Kind) {
				list = append(list, s.Name+"."+f.Name)
			}
		}
	}
	if list == nil {
		return ""
	}
	return g.Pick(list...)
}

var (
	wholes  = []table.Kind{table.SmallInt, table.Integer, table.BigInt}
	numbers = append(slices.Clone(wholes), table.Double, table.Decimal)
	classes = [][]table.Kind{numbers, numbers, {table.Varchar}, {table.Date}, {table.Boolean}}
)

// pair draws an expression of each of two lists of tables that compare.
func (g *Joins) pair(l, r []Source) (x, y string) {
	for {
		kinds := rapid.SampledFrom(classes).Draw(g.T, "class")
		if x, y = g.column(l, kinds...), g.column(r, kinds...); x != "" && y != "" {
			return x, y
		}
	}
}

// Some is n of ten times.
func (g *Joins) Some(n int) bool { return rapid.IntRange(1, 10).Draw(g.T, "some") <= n }

// keys draws expressions that a join may find partners by.
func (g *Joins) keys(l, r []Source) (x, y string) {
	if g.Some(7) {
		return g.pair(l, r)
	}
	a, b := g.column(l, wholes...), g.column(r, wholes...)
	switch rapid.IntRange(0, 6).Draw(g.T, "key") {
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
func (g *Joins) alone(of []Source) string {
	a := g.column(of, wholes...)
	switch rapid.IntRange(0, 6).Draw(g.T, "alone") {
	case 0:
		if c := g.column(of, table.Varchar); c != "" {
			return c + g.Pick(" = 'a'", " LIKE 'a%'", " IN ('a', 'b', 'z')", " <> ''", " IS NULL")
		}
	case 1:
		if c := g.column(of, table.Date); c != "" {
			return c + g.Pick(" > '1970-01-03'", " = '1970-01-02'", " <= '1969-12-31'")
		}
	case 2:
		if c := g.column(of, table.Boolean); c != "" {
			return g.Pick("", "NOT ") + c
		}
	case 3:
		return g.column(of, numbers...) + " " + g.op() + " " + g.Pick("1", "2.5", "-1")
	case 4:
		return a + g.Pick(" IS NULL", " IS NOT NULL")
	case 5:
		return "coalesce(" + a + ", 0) " + g.op() + " 1"
	}
	return a + g.Pick(" = 1", " > 0", " BETWEEN 0 AND 4", " % 2 = 0", " IN (1, 2, 7)")
}

// on draws a condition between two sides.
func (g *Joins) on(l, r []Source) string {
	equal := func() string {
		x, y := g.keys(l, r)
		if g.Some(3) {
			x, y = y, x
		}
		return x + g.Pick(" = ", " = ", " = ", " IS NOT DISTINCT FROM ") + y
	}
	either := l
	if g.Some(5) {
		either = r
	}
	x, y := g.pair(l, r)
	switch rapid.IntRange(0, 11).Draw(g.T, "on") {
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
		return g.Pick("TRUE", "FALSE", g.alone(either), g.alone(either)+" AND "+x+" <> "+y)
	}
	return equal()
}

// take adds a table to FROM, one with which the pairs of rows are not too many.
func (g *Joins) take(of []*table.Table) (s Source, text string) {
	pairs := 1
	for _, f := range g.From {
		pairs *= max(1, f.Tab.Rows())
	}
	smallest := slices.MinFunc(of, func(a, b *table.Table) int { return a.Rows() - b.Rows() })
	fits := []*table.Table{smallest}
	for _, tab := range of {
		if tab != smallest && pairs*tab.Rows() <= most {
			fits = append(fits, tab)
		}
	}
	s = Source{string(rune('a' + len(g.From))), rapid.SampledFrom(fits).Draw(g.T, "table")}
	g.From = append(g.From, s)
	return s, s.Tab.Name + g.Pick(" ", " AS ") + s.Name
}

// join adds a table to what is left of it, the tables since one, or two in parentheses.
func (g *Joins) join(left string, since int) string {
	at := len(g.From)
	_, right := g.take(g.Pool)
	if at < 3 && g.Some(1) {
		right = "(" + g.join(right, at) + ")"
	}
	l, r := g.From[since:at:at], g.From[at:]
	switch rapid.IntRange(0, 9).Draw(g.T, "kind") {
	case 0:
		return left + " CROSS JOIN " + right
	case 1, 2:
		return left + " LEFT JOIN " + right + " ON " + g.on(l, r)
	case 3:
		return left + " RIGHT OUTER JOIN " + right + " ON " + g.on(l, r)
	case 4:
		return left + " FULL JOIN " + right + " ON " + g.on(l, r)
	}
	return left + g.Pick(" JOIN ", " INNER JOIN ") + right + " ON " + g.on(l, r)
}

// tables draws FROM, and conditions of WHERE that join its tables.
func (g *Joins) tables() string {
	g.From, g.where, g.using = nil, nil, false
	_, text := g.take(g.Pool)
	more := rapid.IntRange(1, 3).Draw(g.T, "more")
	switch rapid.IntRange(0, 9).Draw(g.T, "from") {
	case 0, 1: // a star, its facts first or last
		g.From = nil
		fact, text := g.take(g.Pool[:1])
		for _, key := range []string{"i", "j", "k"}[:min(2, more)] {
			s, dim := g.take(g.Pool[1:3])
			on := fact.Name + "." + key + " = " + s.Name + ".i"
			switch {
			case len(g.where) > 0 || len(g.From) == 2 && g.Some(6):
				text, g.where = g.Pick(text+", "+dim, dim+", "+text), append(g.where, on)
			default:
				text += " JOIN " + dim + " ON " + on
			}
			if len(g.From) < 4 && g.Some(3) { // a snowflake
				far, of := g.take(g.Pool[1:])
				text, g.where = g.Pick(text+", "+of, of+", "+text), append(g.where, g.column([]Source{s}, wholes...)+" = "+far.Name+".i")
			}
		}
		if g.Some(2) {
			of := rapid.SampledFrom(g.Pool).Draw(g.T, "set").Name
			g.where = append(g.where, g.Pick("", "NOT ")+"EXISTS (SELECT 1 FROM "+of+" z WHERE z.i = "+g.column(g.From, wholes...)+")")
		}
		return text
	case 2, 3:
		for at := 1; at <= more; at++ {
			_, right := g.take(g.Pool)
			text += ", " + right
			if g.Some(8) {
				g.where = append(g.where, g.on(g.From[:at:at], g.From[at:]))
			}
		}
		return text
	case 4:
		g.using = true
		for range more {
			_, right := g.take(g.Pool)
			text += g.Pick(" JOIN ", " JOIN ", " LEFT JOIN ", " RIGHT JOIN ", " FULL JOIN ") + right + " USING (i)"
		}
		return text
	case 5:
		_, right := g.take(g.Pool)
		return text + " NATURAL " + g.Pick("", "LEFT ", "RIGHT ", "FULL ") + "JOIN " + right
	}
	for range more {
		if len(g.From) < 4 {
			text = g.join(text, 0)
		}
	}
	return text
}

// item draws an expression of the select list.
func (g *Joins) item() string {
	if g.using && g.Some(3) {
		return "i"
	}
	all := []table.Kind{table.Double, table.Decimal, table.Varchar, table.Date, table.Boolean}
	a, b := g.column(g.From, wholes...), g.column(g.From, numbers...)
	switch rapid.IntRange(0, 7).Draw(g.T, "item") {
	case 0:
		return a + " + " + b
	case 1:
		return "coalesce(" + a + ", " + g.column(g.From, wholes...) + ")"
	case 2:
		if c := g.column(g.From, table.Varchar); c != "" {
			return c + " || " + g.column(g.From, table.Varchar)
		}
	case 3:
		return "(" + a + " " + g.op() + " " + b + ")"
	}
	return g.column(g.From, append(all, wholes...)...)
}

func (g *Joins) total() string {
	number, ordered := g.column(g.From, numbers...), g.column(g.From, append([]table.Kind{table.Varchar, table.Date}, numbers...)...)
	call := g.Pick("COUNT(*)", "COUNT("+g.item()+")", "COUNT(DISTINCT "+ordered+")", "SUM("+number+")", "SUM("+number+" * 2)", "MIN("+ordered+")", "MAX("+ordered+")",
		"SUM(CASE WHEN "+g.alone(g.From)+" THEN "+number+" ELSE 0 END)", "COUNT(CASE WHEN "+g.alone(g.From)+" THEN "+number+" END)")
	if g.Some(1) {
		call += " FILTER (WHERE " + g.alone(g.From) + ")"
	}
	return call
}

// Statement draws one; ordered says that it puts all rows in order.
func (g *Joins) Statement() (text string, ordered bool) {
	from := g.tables()
	var items, keys []string
	for range rapid.IntRange(1, 4).Draw(g.T, "items") {
		items = append(items, g.item())
	}
	distinct := ""
	switch rapid.IntRange(0, 3).Draw(g.T, "form") {
	case 0:
		if keys = items[:min(2, len(items))]; g.Some(4) {
			keys, items = nil, nil
		} else {
			items = slices.Clone(keys)
		}
		for range rapid.IntRange(1, 3).Draw(g.T, "totals") {
			items = append(items, g.total())
		}
	case 1:
		distinct = "DISTINCT "
	}
	for i := range items {
		items[i] += fmt.Sprintf(" AS c%d", i)
	}
	text = "SELECT " + distinct + strings.Join(items, ", ") + " FROM " + from
	for range max(0, rapid.IntRange(-2, 2).Draw(g.T, "where")) {
		g.where = append(g.where, g.Pick(g.alone(g.From), g.on(g.From[:1:1], g.From[1:])))
	}
	if len(g.where) > 0 {
		text += " WHERE " + strings.Join(g.where, " AND ")
	}
	if len(keys) > 0 {
		text += " GROUP BY " + strings.Join(keys, ", ")
		if g.Some(2) {
			text += " HAVING COUNT(*) > 1"
		}
	}
	if ordered = g.Some(4); !ordered {
		return text, false
	}
	for n, i := range rapid.Permutation(items).Draw(g.T, "order") {
		text += []string{" ORDER BY ", ", "}[Int(n > 0)] + i[strings.LastIndex(i, " c")+1:] + g.Pick(" ASC", " DESC") + g.Pick(" NULLS FIRST", " NULLS LAST")
	}
	if g.Some(5) {
		text += " LIMIT " + strconv.Itoa(rapid.IntRange(0, 30).Draw(g.T, "limit"))
		if g.Some(3) {
			text += " OFFSET " + strconv.Itoa(rapid.IntRange(0, 9).Draw(g.T, "offset"))
		}
	}
	return text, true
}
