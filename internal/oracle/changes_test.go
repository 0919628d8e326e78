package oracle

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/engine"
)

// changesPerScript is how many statements a script has.
const changesPerScript = 30

// scripted draws statements that change two tables, t and u, and read them.
type scripted struct{ t *rapid.T }

func (g scripted) int(label string, lo, hi int) int { return rapid.IntRange(lo, hi).Draw(g.t, label) }

func (g scripted) of(label string, list ...string) string {
	return rapid.SampledFrom(list).Draw(g.t, label)
}

func (g scripted) table() string { return g.of("table", "t", "t", "u") }

func (g scripted) number() string {
	return g.of("number", "NULL", fmt.Sprint(g.int("small", -5, 300)), fmt.Sprint(g.int("large", -1<<40, 1<<40)), "7")
}

func (g scripted) text() string {
	return g.of("text", "NULL", "''", "'a'", fmt.Sprintf("'w%d'", g.int("word", 0, 40)), "'é'", "'it''s'")
}

// where is a condition over the columns of t or u.
func (g scripted) where(of string) string {
	return g.of("where", "", "WHERE 1 = 0",
		fmt.Sprintf("WHERE %s.id %% %d = 0", of, g.int("modulus", 1, 9)),
		fmt.Sprintf("WHERE %s.v BETWEEN %d AND 200", of, g.int("from", -9, 100)),
		fmt.Sprintf("WHERE %s.s IS NULL OR %s.s > 'w2'", of, of),
		fmt.Sprintf("WHERE %s.id = %d", of, g.int("key", 0, 60)),
		fmt.Sprintf("WHERE %s.id IN (SELECT id FROM u WHERE v > %d)", of, g.int("bound", 0, 150)),
		fmt.Sprintf("WHERE %s.v = (SELECT MAX(v) FROM t)", of))
}

func (g scripted) returning(of string) string {
	return g.of("returning", "", "", " RETURNING id, v, s", " RETURNING v * 2, s IS NULL, id")
}

func (g scripted) statement() string {
	of := g.table()
	switch g.int("statement", 0, 9) {
	case 0, 1, 2:
		var rows []string
		for range g.int("rows", 1, 6) {
			rows = append(rows, fmt.Sprintf("(%d, %s, %s)", g.int("key", 0, 60), g.number(), g.text()))
		}
		return fmt.Sprintf("INSERT INTO %s (id, v, s) VALUES %s%s", of, strings.Join(rows, ", "), g.returning(of))
	case 3:
		return fmt.Sprintf("INSERT INTO %s (s, id) SELECT s, id + %d FROM t %s", of, g.int("shift", 1, 500), g.where("t"))
	case 4:
		return fmt.Sprintf("INSERT INTO %s (id) VALUES (%d)", of, g.int("key", 0, 60))
	case 5, 6:
		set := g.of("set", "v = v + 1", "v = "+g.number(), "s = "+g.text(), "v = NULL, s = 'n' || id", "v = id, s = NULL", "(v, s) = (1, 'b')", "v = (SELECT COUNT(*) FROM u)")
		return fmt.Sprintf("UPDATE %s SET %s %s%s", of, set, g.where(of), g.returning(of))
	case 7:
		return fmt.Sprintf("UPDATE t SET v = w.v, s = w.s FROM (SELECT id, MAX(v) AS v, MAX(s) AS s FROM u GROUP BY id) AS w WHERE w.id = t.id AND t.id > %d", g.int("key", 0, 60))
	case 8:
		return fmt.Sprintf("UPDATE %s SET id = %d WHERE id = %d", of, g.int("key", 0, 60), g.int("other key", 0, 60))
	}
	return fmt.Sprintf("DELETE FROM %s %s%s", of, g.where(of), g.returning(of))
}

// Random scripts leave the same tables, and end with an error at the same statements, as in SQLite.
func TestSQLiteChanges(t *testing.T) {
	p := openSQLite(t, sqlite{iso: true})
	dbs := map[string]*engine.DB{}
	for _, backend := range []string{"cpu", "auto", "compute"} {
		db, err := engine.Open(engine.Options{Backend: backend})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		dbs[backend] = db
	}
	ctx := context.Background()
	wrong, right := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		g := scripted{t}
		script := []string{"DROP TABLE IF EXISTS t", "DROP TABLE IF EXISTS u",
			"CREATE TABLE t (id BIGINT NOT NULL, v BIGINT, s VARCHAR DEFAULT 'none', PRIMARY KEY (id), CHECK (v <> 7))",
			"CREATE TABLE u (id BIGINT NOT NULL, v BIGINT DEFAULT 3, s TEXT, UNIQUE (id, s))"}
		for range changesPerScript {
			script = append(script, g.statement())
		}
		asked := []string{"cpu", g.of("backend", "auto", "compute")}
		for _, text := range script {
			want, refused := p.values(text)
			if refused != nil {
				wrong++
			} else {
				right++
			}
			for _, backend := range asked {
				db := dbs[backend]
				got, err := engine.Collect(db.Query(ctx, text))
				if (err != nil) != (refused != nil) {
					t.Fatalf("%s on %s: %v, SQLite: %v\n%s", text, backend, err, refused, strings.Join(script, ";\n"))
				}
				if err == nil && strings.Contains(text, "RETURNING") {
					leftAlike(t, text, backend, got, want)
				}
				for _, of := range []string{"t", "u"} {
					if strings.HasPrefix(text, "DROP") || strings.HasPrefix(text, "CREATE TABLE t") {
						break
					}
					read := "SELECT id, v, s FROM " + of
					have, err := engine.Collect(db.Query(ctx, read))
					if err != nil {
						t.Fatal(err)
					}
					stored, err := p.values(read)
					if err != nil {
						t.Fatal(err)
					}
					leftAlike(t, text+" and then "+read, backend, have, stored)
				}
			}
		}
	})
	if t.Logf("%d statements, and %d that are errors", right, wrong); wrong == 0 || right < wrong {
		t.Error("the scripts are one-sided")
	}
}

// leftAlike compares rows without regard to their order.
func leftAlike(t *rapid.T, text, backend string, got *engine.Result, want [][]any) {
	var a, b []string
	for _, row := range got.Rows {
		var cells []string
		for _, v := range row {
			cell := v.String()
			if v.Null {
				cell = "NULL"
			}
			cells = append(cells, strings.NewReplacer("true", "1", "false", "0").Replace(cell))
		}
		a = append(a, strings.Join(cells, "|"))
	}
	for _, row := range want {
		var cells []string
		for _, v := range row {
			if v == nil {
				v = "NULL"
			}
			cells = append(cells, fmt.Sprint(v))
		}
		b = append(b, strings.Join(cells, "|"))
	}
	slices.Sort(a)
	slices.Sort(b)
	if !slices.Equal(a, b) {
		t.Fatalf("%s on %s:\n got %v\nwant %v", text, backend, a, b)
	}
}
