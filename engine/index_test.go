package engine

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stencildb/stencildb/table"
)

// A table that CREATE TABLE has not made takes no unique index and is not dropped.
func TestTablesThatAreOnlyRead(t *testing.T) {
	db := openTyped(t, 5)
	for text, want := range map[string]string{
		"CREATE UNIQUE INDEX ON typed (i)": `!table "typed" is not one that CREATE TABLE has made and cannot be changed; CREATE TABLE x AS TABLE typed makes one that can (line 1, column 24)`,
		"DROP TABLE typed":                 `!table "typed" is not one that CREATE TABLE has made: it is not dropped (line 1, column 12)`,
	} {
		if got := said(Collect(db.Query(context.Background(), text))); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

// An index serves the conditions that it finds few rows for, and EXPLAIN says so.
func TestExplainNamesIndexes(t *testing.T) {
	db := openTypedOn(t, 4000, Options{Backend: "auto"})
	asText(t, db, "CREATE INDEX by_i ON typed (i)")
	asText(t, db, `CREATE INDEX "By S" ON typed USING hash (s)`)
	for _, c := range []struct{ where, want string }{
		{"i = 77", "Index(by_i: i = 77)"},
		{"i BETWEEN 1990 AND 2011 AND r > 0", "Index(by_i: i BETWEEN 1990 AND 2011)"},
		{"i IN (1, 3, 5, 7, 9, 11, 13) OR i > 3990", "Index(by_i: "},
		{"s = 's077'", `Index("By S": s = 's077')`},
		{"s = 's077' AND i < 100", `finds 2 of 4001 records`},
		{"s IN ('s077', 's078') AND i < 3000", `finds 8 of 4001 records`},
		{"i > 1000", "Index(by_i: i > 1000)"},
		{"i > 1000 AND r > 600", ""},
		{"s > 's900'", ""},
		{"i > 77 AND i < 3000 OR s = 's078'", ""},
		{"big = 77", ""},
	} {
		lines := strings.Join(asText(t, db, "EXPLAIN SELECT COUNT(*) FROM typed WHERE "+c.where), "\n")
		if got := strings.Contains(lines, "Index("); got != (c.want != "") || !strings.Contains(lines, c.want) {
			t.Errorf("%s: %q is not in\n%s", c.where, c.want, lines)
		}
		if c.want != "" && !strings.Contains(lines, "Backend cpu") {
			t.Errorf("%s is not left to cpu:\n%s", c.where, lines)
		}
	}
}

// The answers are the same with and without indexes, of all types, and after the table has changed.
func TestAnswersByIndex(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	fields := []table.Field{{Name: "b", Type: table.Type{Kind: table.Boolean}}, {Name: "i", Type: table.Type{Kind: table.Integer}},
		{Name: "w", Type: table.Type{Kind: table.BigInt}}, {Name: "r", Type: table.Type{Kind: table.Real}}, {Name: "d", Type: table.Type{Kind: table.Double}},
		{Name: "n", Type: table.Type{Kind: table.Decimal, Precision: 9, Scale: 2}}, {Name: "s", Type: table.Type{Kind: table.Varchar}},
		{Name: "day", Type: table.Type{Kind: table.Date}}, {Name: "at", Type: table.Type{Kind: table.Timestamp}}}
	odd := []float64{math.NaN(), math.Copysign(0, -1), 0, math.Inf(1), math.Inf(-1)}
	value := func(f table.Field, far int64) table.Value {
		v := table.Value{Type: f.Type, I: int64(r.IntN(300)) - 100 + far, Null: r.IntN(9) == 0}
		switch {
		case f.Type.Kind == table.Boolean:
			v.I &= 1
		case f.Name == "w":
			v.I *= 1 << 50
		case f.Type.Kind == table.Varchar:
			v.S = strings.Repeat("ab", r.IntN(3)) + fmt.Sprint(v.I)
		case f.Type.IsFloat():
			if v.F = float64(v.I) / 4; r.IntN(5) == 0 {
				v.F = odd[r.IntN(len(odd))]
			}
		}
		if v.Null {
			v = table.Null(f.Type)
		}
		return v
	}
	b := table.NewBuilder("t", fields, 3000)
	for i := range 7000 {
		for k, f := range fields {
			b.Column(k).Value(value(f, int64(i/3000)*50))
		}
		if err := b.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	plain, indexed := open(t, Options{Backend: "cpu"}), open(t, Options{Backend: "cpu"})
	now := b.Table()
	for _, db := range []*DB{plain, indexed} {
		if err := db.Add(now); err != nil {
			t.Fatal(err)
		}
	}
	for i, f := range fields {
		asText(t, indexed, fmt.Sprintf("CREATE INDEX ON t USING %s (%s)", []string{"sorted", "hash"}[r.IntN(2)], f.Name))
		if i%3 == 0 {
			asText(t, indexed, fmt.Sprintf("CREATE INDEX ON t (%s)", f.Name))
		}
	}
	constant := func() (string, string) {
		f := fields[r.IntN(len(fields))]
		v := value(f, 0)
		for v.Null {
			v = value(f, 0)
		}
		if text := v.String(); f.Type.Kind != table.Boolean && f.Type.Kind != table.Integer && f.Type.Kind != table.BigInt && f.Type.Kind != table.Decimal {
			return f.Name, "'" + text + "'"
		}
		return f.Name, v.String()
	}
	condition := func() string {
		c, x := constant()
		switch y := x; r.IntN(6) {
		case 0:
			return c + " < " + x
		case 1:
			for of := ""; of != c; {
				of, y = constant()
			}
			return c + " BETWEEN " + x + " AND " + y
		case 2:
			for of := ""; of != c; {
				of, y = constant()
			}
			return c + " IN (" + x + ", " + y + ")"
		case 3:
			return c + " <> " + x
		}
		return c + " = " + x
	}
	used := 0
	for round := range 2 {
		for range 35 {
			where := condition()
			for range r.IntN(3) {
				where = []string{where + " AND " + condition(), "(" + where + " OR " + condition() + ")", "NOT (" + condition() + ") AND " + where}[r.IntN(3)]
			}
			for _, list := range []string{"*", "COUNT(*), COUNT(s), SUM(n), MEDIAN(d), MAX(s), AVG(r)", "b, COUNT(*), MIN(at)"} {
				text := "SELECT " + list + " FROM t WHERE " + where
				if strings.HasPrefix(list, "b,") {
					text += " GROUP BY b ORDER BY 1"
				}
				if want, got := asText(t, plain, text), asText(t, indexed, text); !slices.Equal(want, got) {
					t.Fatalf("%s: %s", text, cmp.Diff(want, got))
				}
				if slices.ContainsFunc(asText(t, indexed, "EXPLAIN "+text), func(l string) bool { return strings.Contains(l, "Index(") }) {
					used++
				}
			}
		}
		if round == 0 { // other values in the second chunk, fewer rows in the third
			changed := *now.Chunks[1]
			for col, f := range fields {
				rows, values := r.Perm(3000)[:500], make([]table.Value, 500)
				for i := range values {
					values[i] = value(f, 400)
				}
				slices.Sort(rows)
				next, err := changed.Assign(col, rows, table.SegmentOf(f.Type, values...), 0)
				if err != nil {
					t.Fatal(err)
				}
				changed = *next
			}
			fewer, err := now.Chunks[2].Delete(r.Perm(1000)[:300])
			if err != nil {
				t.Fatal(err)
			}
			now = now.With(now.Chunks[0], &changed, fewer)
			for _, db := range []*DB{plain, indexed} {
				if err := db.replace(now); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if used < 35 {
		t.Errorf("indexes served %d statements", used)
	}
}

// A join looks few rows up in the index of a table that it does not read, and EXPLAIN ANALYZE says so.
func TestJoinsByIndex(t *testing.T) {
	db := openStar(t, Options{Backend: "cpu"})
	text := "SELECT COUNT(*), MIN(far.name), SUM(fact.n) FROM fact JOIN far ON fact.b = far.key WHERE fact.m = 3 AND fact.n = 77"
	all := "SELECT COUNT(*), MIN(far.name), SUM(fact.n) FROM fact JOIN far ON fact.b = far.key"
	want := map[string][]string{text: asText(t, db, text), all: asText(t, db, all)}
	for _, c := range []struct {
		before, text string
		used         bool
	}{
		{"SHOW INDEXES", text, false},
		{"CREATE INDEX ON far (key)", text, true},
		{"SHOW INDEXES", all, false},
		{"SET join = index", all, true},
		{"DROP INDEX far_key_idx", all, false},
		{"CREATE INDEX by_hash ON far USING hash (key)", all, true},
		{"SET join = hash", text, false},
	} {
		asText(t, db, c.before)
		if diff := cmp.Diff(want[c.text], asText(t, db, c.text)); diff != "" {
			t.Errorf("%s after %s: %s", c.text, c.before, diff)
		}
		if lines := strings.Join(asText(t, db, "EXPLAIN ANALYZE "+c.text), "\n"); strings.Contains(lines, "index ") != c.used {
			t.Errorf("%s after %s:\n%s", c.text, c.before, lines)
		}
	}
}

// An index of a file is that of what the file has now.
func TestIndexOfAFile(t *testing.T) {
	db := open(t, Options{Backend: "cpu"})
	path := filepath.Join(t.TempDir(), "x.csv")
	write := func(lines string) {
		if err := os.WriteFile(path, []byte(lines), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	rows := func(from int) (lines string) {
		for i := range 1000 {
			lines += fmt.Sprintf("%d,%d\n", from+i, i)
		}
		return lines
	}
	write("a,b\n" + rows(0))
	asText(t, db, `CREATE INDEX by_a ON "`+path+`" (a, b DESC)`) // which finds rows by a
	for _, c := range []struct{ file, item, want string }{{"", "b", "[7]"}, {"a,b\n" + rows(-1), "b", "[8]"}, {"c,a\n" + rows(7), "c", "[14]"}} {
		if c.file != "" {
			write(c.file)
		}
		if got := words(db.Query(context.Background(), "SELECT "+c.item+" FROM '"+path+"' WHERE a = 7")); !slices.Equal(got, []string{c.want}) {
			t.Errorf("%q, want %q", got, c.want)
		}
		explained := strings.Join(words(db.Query(context.Background(), "EXPLAIN SELECT 1 FROM '"+path+"' WHERE a = 7")), "\n")
		if !strings.Contains(explained, "Index(by_a: a = 7)") {
			t.Errorf("no index is used:\n%s", explained)
		}
	}
	if n := db.Names(t.Context(), ""); !slices.Contains(n.Indexes, "by_a") {
		t.Errorf("the names %q have no index", n)
	}
}

// An index that a transaction creates has the rows that it inserted before.
func TestIndexesOfTransactions(t *testing.T) {
	ctx := context.Background()
	db := open(t, Options{Backend: "cpu"})
	do(t, db, "CREATE TABLE t (a int, b int)")
	do(t, db, "INSERT INTO t SELECT g, g % 100 FROM generate_series(1, 10000) AS s(g)")
	tx, err := db.Begin(ctx, TxOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"INSERT INTO t VALUES (0, 7)", "CREATE INDEX ta ON t (a)"} {
		if _, err := tx.Exec(ctx, text); err != nil {
			t.Fatal(err)
		}
	}
	if err := tx.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	if got := said(do(t, db, "SELECT b FROM t WHERE a = 0"), nil) + said(do(t, db, "SHOW INDEXES"), nil); got != "7ta|t|a|sorted|10001|"+strings.Split(got, "|")[5] {
		t.Errorf("after the commit there is %s", got)
	}
}
