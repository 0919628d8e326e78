package sql_test

import (
	"testing"

	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/sql"
)

// TestOrderBy shows what ORDER BY sorts by: PostgreSQL's rules.
func TestOrderBy(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"SELECT x FROM t ORDER BY y", "Sort(y)"},
		{"SELECT x FROM t ORDER BY y DESC, x ASC", "Sort(y DESC, x)"},
		{"SELECT x FROM t ORDER BY y NULLS FIRST, s DESC NULLS LAST", "Sort(y NULLS FIRST, s DESC NULLS LAST)"},
		{"SELECT x FROM t ORDER BY y NULLS LAST, s DESC NULLS FIRST", "Sort(y, s DESC)"},
		// An output name stands before a column of the input, but only alone.
		{"SELECT -x AS y FROM t ORDER BY y", "Sort(-x)"},
		{"SELECT -x AS y FROM t ORDER BY y + 1", "Sort(y + 1)"},
		{"SELECT -x AS y FROM t ORDER BY t.y", "Sort(y)"},
		{"SELECT -x AS y FROM t ORDER BY (y)", "Sort(-x)"},
		{"SELECT x AS \"A\", y AS a FROM t ORDER BY a", "Sort(y)"},
		{"SELECT x AS \"A\" FROM t ORDER BY a", "Sort(x)"},
		{"SELECT x AS a, x AS a FROM t ORDER BY a", "Sort(x)"},
		{"SELECT x + 1, x + 2, x + 3 FROM t ORDER BY x", "Sort(x)"}, // three items named ?column?
		{"SELECT * FROM flights ORDER BY time", "Sort(time)"},
		{"SELECT lower(v) FROM t ORDER BY lower", "Sort(lower(v))"},
		// Positions; another expression of integers is one.
		{"SELECT x, y + 1 FROM t ORDER BY 2, 1 DESC", "Sort(y + 1, x DESC)"},
		{"SELECT x, y FROM t ORDER BY 1 + 1, x", "Sort(x)"},
		{"SELECT x FROM t ORDER BY 1 + 1", ""},
		{"SELECT 5, x FROM t ORDER BY 1", ""},
		{"SELECT u FROM t ORDER BY u", ""},
		{"SELECT x FROM t ORDER BY v COLLATE \"C\", ts + interval '1 day'", "Sort(v, ts + INTERVAL '1 day')"},
		// Of aggregates, also those that are not selected.
		{"SELECT SUM(x) AS total FROM t ORDER BY total", "Sort(SUM(x))"},
		{"SELECT SUM(x) FROM t ORDER BY COUNT(*), 1", "Sort(COUNT(*), SUM(x))"},
		{"SELECT x FROM t GROUP BY x, y ORDER BY y, x % 2", "Sort(y, x % 2)"},
		{"SELECT x % 2 AS a FROM t GROUP BY a HAVING COUNT(*) > 1 ORDER BY a DESC, MAX(y)", "Sort(x % 2 DESC, MAX(y))"},
		{"SELECT 1 AS a ORDER BY a", ""},
		{"SELECT x FROM t ORDER BY x, y, x DESC", "Sort(x, y)"},
		// The columns of DISTINCT are those of the select list; DISTINCT ON sorts by its own.
		{"SELECT DISTINCT x + 1 AS a, y FROM t ORDER BY y DESC, a", "Sort(y DESC, a)"},
		{"SELECT DISTINCT x + 1 FROM t ORDER BY x + 1", "Sort(\"?column?\")"},
		{"SELECT DISTINCT x FROM t", ""},
		{"SELECT DISTINCT ON (x) y FROM t", "Sort(x) DISTINCT ON(x)"},
		{"SELECT DISTINCT ON (x, y) s AS x FROM t ORDER BY y DESC, x, i", "Sort(y DESC, s, i) DISTINCT ON(y, s)"},
		{"SELECT DISTINCT ON (y, 1, x % 2) s FROM t ORDER BY s", "Sort(s, y, x % 2) DISTINCT ON(s, y, x % 2)"},
	} {
		list, err := sql.Parse(c.in)
		if err != nil {
			t.Fatal(err)
		}
		tree, err := list[0].Bind(tables())
		if err != nil {
			t.Errorf("%s: %s", c.in, sql.Describe(c.in, err))
			continue
		}
		got := ""
		plan.Walk(tree, func(n plan.Node, _ int) {
			if s, ok := n.(*plan.Sort); ok {
				got = s.String()
			}
		})
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.in, got, c.want)
		}
	}
}

// A fragment gives the columns that are sorted by, besides those that are selected.
func TestOrderByReadsItsColumns(t *testing.T) {
	q, err := bind(t, "SELECT y FROM t WHERE s > 1 ORDER BY x + i LIMIT 5")
	if err != nil {
		t.Fatal(err)
	}
	if got := q.Reads(); len(got) != 4 || got[0] != 2 || got[1] != 3 || got[2] != 4 || got[3] != 1 {
		t.Errorf("columns %v are read, want those of i, x, y and s", got)
	}
}
