package postgres

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Values of a column of doubles, of which some are equal and print differently.
var signedZeros = []string{"'-0'", "0", "'-0'", "0", "1.5", "-1.5", "'NaN'", "NULL", "'-Infinity'", "1e-30"}

// zeroTables are drawn rows of two tables with doubles, and one that statements write to.
func (g *draws) zeroTables() string {
	script := "DROP TABLE IF EXISTS l; DROP TABLE IF EXISTS r; DROP TABLE IF EXISTS w;"
	for _, name := range []string{"l", "r"} {
		var rows []string
		for i := range 1 + g.intn(9) {
			rows = append(rows, fmt.Sprintf("(%d, %d, %s, %s)", i, g.intn(3), g.pick(signedZeros...), g.pick(signedZeros...)))
		}
		script += fmt.Sprintf("\nCREATE TABLE %s (id integer, k integer, x double precision, y real);\nINSERT INTO %[1]s VALUES %s;", name, strings.Join(rows, ", "))
	}
	return script + "\nCREATE TABLE w (id integer, k integer, x double precision, y real);"
}

// zeroValue is an expression of doubles that keeps the sign of a zero, or makes one.
func (g *draws) zeroValue(of string) string {
	x := of + "." + g.pick("x", "x", "y")
	return g.pick(x, x, x, x, "-"+x, x+"::float8", x+"::real", x+"::text", "'<' || "+x+" || '>'", "coalesce("+x+", '-0')", "CASE WHEN "+of+".k > 0 THEN "+x+" ELSE '-0' END",
		"greatest("+x+", '-0')", "nullif("+x+", 1.5)", "atan2("+x+", -1)", "abs("+x+")", x+" * -1", "round("+x+")", "(SELECT z.x FROM r z WHERE z.id = "+of+".id)")
}

// zeroCondition is a condition for which -0 and 0 are equal, or which tells them by their text.
func (g *draws) zeroCondition(of string) string {
	x := of + "." + g.pick("x", "x", "y")
	return g.pick("true", x+" = 0", x+" = '-0'", x+" < 0", x+" >= '-0'", x+" IN (0, 1.5)", x+" <> 0", x+"::text = '-0'", x+"::text LIKE '-%'", "-"+x+" < 1",
		x+" IS NOT DISTINCT FROM '-0'", x+" BETWEEN '-0' AND 0", x+" = 0 AND "+x+"::text = '0'", x+" IN (SELECT x FROM r)", x+" NOT IN (SELECT y FROM r WHERE y IS NOT NULL)",
		"EXISTS (SELECT 1 FROM r e WHERE e.x = "+x+")", x+" = (SELECT min(x) FROM l)", "atan2("+x+", -1) > 0")
}

// zeroJoin is a FROM in which the zeros of two tables meet, and the names of its keys.
func (g *draws) zeroJoin() (from string, keys []string) {
	kind := g.pick("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN")
	both := []string{"l.id", "r.id"}
	l, r := g.pick("l", "l", "(SELECT id, k, x, y FROM l) l", "(SELECT * FROM l ORDER BY x, id LIMIT 6) l"), g.pick("r", "r", "(SELECT * FROM r UNION ALL SELECT 20 + id, k, -x, y FROM r) r")
	switch g.intn(4) {
	case 0:
		return l + " " + kind + " " + r + " USING (" + g.pick("x", "y", "x, k") + ")", both
	case 1:
		return l + " " + kind + " " + r + " ON l.x = r." + g.pick("x", "y"), both
	case 2:
		return l + " " + kind + " " + r + " ON l.k = r.k AND l.x = r.x", both
	}
	return l + " JOIN " + r + " ON l.k = r.k AND " + g.pick("l.x <= r.x", "l.x >= r.y", "l.id <> r.id"), both
}

// zeroWindow is a function of other rows, whose value is one of theirs.
func (g *draws) zeroWindow() string {
	f := g.pick("lag(x) OVER w", "lead(x, 1, '-0'::float8) OVER w", "first_value(x) OVER w", "last_value(y) OVER w", "nth_value(x, 2) OVER w", "lag(-x) OVER w",
		"first_value(x) OVER w", "rank() OVER (ORDER BY x)", "count(*) OVER (PARTITION BY x)", "row_number() OVER (PARTITION BY y ORDER BY x, id)", "dense_rank() OVER (ORDER BY -x)",
		"count(*) OVER (ORDER BY x)", "string_agg(x::text, ',') OVER w")
	return f
}

// zeroRows is a query whose rows are those of tables: each has its own text. It is ordered.
func (g *draws) zeroRows() string {
	switch g.intn(4) {
	case 0:
		from, keys := g.zeroJoin()
		items := slices.Clone(keys)
		for range 1 + g.intn(3) {
			items = append(items, g.zeroValue(g.pick("l", "r")))
		}
		if using := strings.Index(from, "USING ("); using >= 0 && g.some(7) {
			items = append(items, from[using+7:len(from)-1])
		}
		where := ""
		if g.some(4) {
			where = " WHERE " + g.zeroCondition(g.pick("l", "r"))
		}
		return "SELECT " + strings.Join(items, ", ") + " FROM " + from + where + " ORDER BY " + strings.Join(keys, ", ")
	case 1:
		w := "WINDOW w AS (" + g.pick("", "PARTITION BY k ", "PARTITION BY x ", "PARTITION BY y, k ") + "ORDER BY " + g.pick("id", "x, id", "y DESC, id") +
			g.pick("", "", " ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING", " ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING") + ")"
		return "SELECT id, x, " + g.zeroWindow() + " AS f, " + g.zeroWindow() + " AS h FROM " + g.pick("l", "(SELECT id, k, -x AS x, y FROM l) l") + " " + w + " ORDER BY id"
	case 2:
		a, b := g.zeroValue("l"), g.zeroValue("l")
		if strings.Contains(a, "text") || strings.Contains(a, "'<'") {
			b = a
		}
		return "SELECT * FROM (SELECT id, " + a + " AS v FROM l UNION ALL SELECT id + 20, " + b + " FROM l) u ORDER BY id"
	}
	return "SELECT id, " + g.zeroValue("l") + ", " + g.zeroValue("l") + " FROM l WHERE " + g.zeroCondition("l") + " ORDER BY " + g.pick("id", "x, id", "y DESC, id", "-x, id DESC") + g.pick("", "", " LIMIT 4")
}

// zeroGroups is a query that has one row for keys that are equal, whose text is that of one of them.
func (g *draws) zeroGroups() string {
	x := g.pick("x", "y", "-x", "x * -1", "abs(x)")
	return g.pick(
		"SELECT "+x+", count(*), count(DISTINCT x), min(id), sum(id) FROM l GROUP BY 1",
		"SELECT DISTINCT "+x+" FROM l",
		"SELECT DISTINCT "+x+", k FROM l",
		"SELECT k, min("+x+"), max("+x+"), count(DISTINCT "+x+") FROM l GROUP BY k",
		"SELECT min("+x+"), max("+x+"), count(DISTINCT "+x+") FROM l",
		"SELECT min(x), max(y) FROM l WHERE "+g.zeroCondition("l"),
		"SELECT "+x+" FROM l UNION SELECT "+g.pick("x", "y", "-y")+" FROM r",
		"SELECT "+x+" FROM l INTERSECT "+g.pick("", "ALL ")+"SELECT "+g.pick("x", "y", "-y")+" FROM r",
		"SELECT "+x+" FROM l EXCEPT "+g.pick("", "ALL ")+"SELECT "+g.pick("x", "y", "-y")+" FROM r",
		"SELECT l.x, count(*), min(r.id) FROM l JOIN r ON l.x = r.x GROUP BY l.x",
		"SELECT r.y, l.k, count(*) FROM l JOIN r ON l.k = r.k GROUP BY 1, 2",
		"SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY "+x+"), mode() WITHIN GROUP (ORDER BY k) FROM l",
		"SELECT x, k, count(*) FROM l GROUP BY ROLLUP (x, k)",
		"WITH RECURSIVE t AS (SELECT x FROM l UNION SELECT -x FROM t) SELECT x FROM t",
		"SELECT min(x) OVER (ORDER BY id), max(x) OVER (PARTITION BY k), sum(x) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM l WHERE abs(x) < 2",
	)
}

// otherSigns reports that rows in one order, which are equal, have a -0 where the others have 0, or other texts of such.
func otherSigns(a, b answer) bool {
	return !slices.EqualFunc(a.rows, b.rows, func(x, y []*string) bool {
		return slices.EqualFunc(x, y, func(v, w *string) bool {
			return v == nil || w == nil || *v == *w || *v != "-0" && *w != "-0" && !strings.ContainsAny(*v, "<,")
		})
	})
}

// zeroDifference is difference; with signs, that of -0 counts.
func (p *pair) zeroDifference(text, backend string, signs bool) string {
	want, got := p.ofPostgreSQL(text), p.ofEngine(backend, text)
	if d := p.difference(text, backend, want, got, signs); d != "" || want.err != nil || got.err != nil || !signs || !otherSigns(want, got) {
		return d
	}
	return fmt.Sprintf("PostgreSQL gives %s\n%s gives %s", want.print(), backend, got.print())
}

// -0 is equal to 0, and each row has the text of its own.
func TestNegativeZeros(t *testing.T) {
	p := openPair(t)
	defer p.close()
	rapid.Check(t, func(t *rapid.T) {
		g := &draws{t: t}
		script := g.zeroTables()
		p.both(t, script)
		for range statements / 3 {
			text, signs := g.zeroGroups(), false
			if g.some(7) {
				text, signs = g.zeroRows(), true
			}
			on := []string{"cpu"}
			if g.some(4) {
				on = append(on, g.pick(backends...))
			}
			for _, backend := range on {
				if d := p.zeroDifference(text, backend, signs); d != "" {
					t.Fatalf("%s\n%s;\n%s", script, text, d)
				}
			}
			if !g.some(2) {
				continue
			}
			change := g.pick("INSERT INTO w SELECT id, k, x, y FROM l", "INSERT INTO w SELECT r.id, l.k, l.x, r.y FROM l JOIN r ON l.x = r.x", "UPDATE l SET x = -x WHERE k < 2", "UPDATE l SET x = y, y = x",
				"UPDATE l SET x = '-0' WHERE x = 0 AND k = 1", "UPDATE l SET x = r.x FROM r WHERE r.id = l.id", "DELETE FROM l WHERE x = '-0' AND k = 0", "DELETE FROM w WHERE x::text = '-0'",
				"UPDATE w SET y = 0 WHERE id < 3", "DROP TABLE w; CREATE TABLE w AS SELECT id, k, x, -y AS y FROM l", "INSERT INTO l VALUES (30, 1, '-0', 0)")
			p.both(t, change)
			script += "\n" + change + ";"
			for _, name := range []string{"l", "w"} {
				if d := p.zeroDifference("SELECT * FROM "+name+" ORDER BY id, k, x::text, y::text", "cpu", true); d != "" {
					t.Fatalf("%s\n%s", script, d)
				}
			}
		}
	})
	t.Log(&p.tally)
}
