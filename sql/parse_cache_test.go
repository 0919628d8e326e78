package sql

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/testdata"
)

// parsedAlike fails where a text is another statement with the trees of a cache than without. It says whether its form was there before.
func parsedAlike(t interface{ Fatalf(string, ...any) }, c *ParseCache, text string) (known bool) {
	alone, err := Parse(text)
	list, failed := c.Parse(text)
	if fmt.Sprint(err) != fmt.Sprint(failed) || len(alone) != len(list) {
		t.Fatalf("%q: %d statements, %v, and alone %d, %v", text, len(list), failed, len(alone), err)
	}
	for i, s := range list {
		of := alone[i]
		if fmt.Sprint(s.err) != fmt.Sprint(of.err) || s.Text != of.Text || s.Offset != of.Offset || s.Params != of.Params || s.Clock != of.Clock || s.IsSelect() != of.IsSelect() {
			t.Fatalf("%q: %v, and alone %v", s.Text, s.err, of.err)
		}
		sel, done, err := s.query()
		if err != nil || !proto.Equal(sel, of.sel) {
			t.Fatalf("%q: %v\n%v\nand alone\n%v", s.Text, err, sel, of.sel)
		}
		done()
		known = known || s.kept != nil && s.kept.sel != nil && len(s.kept.constants) > 0
	}
	return known
}

// forms are queries of which # is any number and ? any text; numbers with a point are $.
var forms = []string{
	"SELECT a, # FROM t WHERE b = ? AND c < $ LIMIT # OFFSET #", "SELECT -#, - #, -$, - -#, -(#), +#, a-#, a=-#, a<-#, a - -# FROM t", "SELECT a FROM t WHERE d >= DATE ? AND d < DATE ? + INTERVAL ? YEAR",
	"SELECT CAST(a AS DECIMAL(#,#)), a::varchar(#), FLOAT ?, a::float(#) FROM t GROUP BY # ORDER BY # DESC", "SELECT a FROM t WHERE s LIKE ? AND s IN (?, ?, ?) AND n IN (#, #) AND s BETWEEN ? AND ?",
	"WITH w AS (SELECT # AS n) SELECT (SELECT max(n) FROM w WHERE n > #) FROM t WHERE EXISTS (SELECT # FROM t WHERE s = ?) UNION ALL VALUES (#), ($)",
	"SELECT sum(a) OVER (ORDER BY b ROWS BETWEEN # PRECEDING AND # FOLLOWING), CASE WHEN a > # THEN ? ELSE ? END, EXTRACT(year FROM d), EXTRACT(? FROM d), substring(s FROM # FOR #), s[#] FROM t",
	"SELECT a FROM t FETCH FIRST # ROWS ONLY", "SELECT INTERVAL ? DAY, INTERVAL(#) ?, TIMESTAMP ?, TIMESTAMP(#) ?, ? AT TIME ZONE ?, a::int[#] FROM t", "SELECT ?? FROM t", "SELECT ?  \n ? FROM t", "SELECT ? ? FROM t",
	"SELECT #x, # x FROM t", "SELECT #.#, #.., #e#, 0x#, #_# FROM t", "SELECT $1, $#, $1 + # FROM t", "SELECT E?, e ?, b?, U&? UESCAPE ?, N? FROM t", "SELECT \"#\", $$?$$ FROM t", "SELECT # /* # */, ? -- ?\n FROM t",
	"SELECT a FROM ? WHERE b = #", "SELECT f(a := #), f(a : = #), t.# FROM t", "SELECT a FROM t GROUP BY ALL LIMIT #", "SELECT now(), # FROM t; SELECT # FROM u", "SELECT t.a.#, $.a FROM t", "SELECT TRUE, NULL, #, ?",
	"SELECT count(*) FROM t TABLESAMPLE BERNOULLI (#) WHERE a = ANY (?) AND (a, b) = (#, ?) AND a IS DISTINCT FROM # AND s SIMILAR TO ? ESCAPE ?", "SELECT a FROM t WHERE b = ?x", "SELECT a FROM t WHERE b = #'c'", "SELECT ?", "SELECT #x0", "SELECT -#, -$", "SELECT a FROM ?", "SELECT a FROM t LIMIT #", "SELECT a::decimal(#, #) FROM t", "SELECT a::float(#) FROM t", "SELECT a::int[#] FROM t", "SELECT U&? UESCAPE ?", "SELECT a=-# FROM t", "SELECT - -#", "SELECT a FROM t GROUP BY ALL", "SELECT ?\n?", "INSERT INTO t VALUES (#, ?)",
}

// number and text are constants.
var (
	someNumbers = []string{"0", "1", "7", "42", "007", "999999999", "1000000000", "2147483648", "99999999999999999999"}
	someTexts   = []string{"''", "'a'", "'it''s'", "''''", "'1994-01-01'", "'%x_'", "'é'", "'a", "'a''", "'--'", "'\\'", "'a\nb'", "'0i'"}
	somePoints  = []string{"1.5", "1.50", ".5", "5.", "0.0", "12345678901.5", "1.5e3"}
)

// fill is a form with constants that pick chooses of lists.
func fill(form string, pick func([]string) string) string {
	var out strings.Builder
	for i, c := range form {
		switch {
		case c == '#':
			out.WriteString(pick(someNumbers))
		case c == '?':
			out.WriteString(pick(someTexts))
		case c == '$' && !strings.HasPrefix(form[i:], "$1") && !strings.Contains(form, "$$"):
			out.WriteString(pick(somePoints))
		default:
			out.WriteRune(c)
		}
	}
	return out.String()
}

// The tree of a text whose form was parsed before is that of the text alone, with its places. What no grammar takes is refused.
func TestTreesOfForms(t *testing.T) {
	c, rng := NewParseCache(1000), rand.New(rand.NewPCG(1, 2))
	known := map[string]int{}
	for range 60 {
		for _, form := range forms {
			if parsedAlike(t, c, fill(form, func(list []string) string { return list[rng.IntN(len(list))] })) {
				known[form]++
			}
		}
	}
	for _, form := range forms[:6] {
		if form != forms[1] && form != forms[3] && known[form] == 0 {
			t.Errorf("no tree of %s was kept", form)
		}
	}
	for _, q := range testdata.TPCH(1) {
		if !parsedAlike(t, c, q.SQL) {
			t.Errorf("the tree of %s is not kept", q.Name)
		}
	}
}

// Of texts of any tokens, side by side or apart, too.
func TestTreesOfTokens(t *testing.T) {
	tokens := []string{"select", "SELECT", "with", "a", "b", "x1", "e", "u&", "from", "t", "where", "and", "as", "in", "interval", "date", "limit", "(", ")", ",", ".", "..", ";", "*", "-", "+", "=", "<", "::", ":", "$1", "$", "\"q\"", "0", "5", "12", "0x0", "0b", "1_0", "1e5", "1.5", ".5", "5.", "''", "'a'", "'", "E'a'", "$$a$$", "--c\n", "/*c*/", "\n"}
	rapid.Check(t, func(t *rapid.T) {
		c := NewParseCache(10)
		list := rapid.SliceOfN(rapid.SampledFrom(tokens), 1, 10).Draw(t, "tokens")
		gaps := rapid.SliceOfN(rapid.Bool(), len(list), len(list)).Draw(t, "gaps")
		text := func(other func(string) string) string {
			out := "SELECT "
			for i, k := range list {
				out += other(k)
				if gaps[i] {
					out += " "
				}
			}
			return out
		}
		parsedAlike(t, c, text(func(k string) string { return k }))
		parsedAlike(t, c, text(func(k string) string {
			switch {
			case k[0] == '\'':
				return rapid.SampledFrom(someTexts).Draw(t, "text")
			case isDigit(k[0]) && len(k) < 3:
				return rapid.SampledFrom(someNumbers).Draw(t, "number")
			case strings.Contains(k, "5"):
				return rapid.SampledFrom(somePoints).Draw(t, "point")
			}
			return k
		}))
	})
}

// Statements of one form are bound at the same time, and each has its own values.
func TestFormsAreBoundAtTheSameTime(t *testing.T) {
	c := NewParseCache(10)
	catalog := One(&table.Table{Name: "t", Fields: []table.Field{{Name: "a", Type: table.Type{Kind: table.BigInt}}}})
	var group sync.WaitGroup
	for g := range 8 {
		group.Go(func() {
			for i := range 50 {
				n := 1000*g + i
				list, err := c.Parse(fmt.Sprintf("SELECT a + %d FROM t WHERE a > %d", n, n*7))
				if err != nil {
					t.Error(err)
					return
				}
				bound, err := list[0].Bind(catalog)
				if err != nil {
					t.Error(err)
					return
				}
				p := bound.(*plan.Project)
				if item, where := fmt.Sprint(p.Items[0].E), fmt.Sprint(p.Input.(*plan.Filter).Where); item != fmt.Sprintf("a + %d", n) || where != fmt.Sprintf("a > %d", n*7) {
					t.Errorf("%d: %s, %s", n, item, where)
				}
			}
		})
	}
	group.Wait()
}
