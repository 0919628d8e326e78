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

// scripted draws statements that change two tables, t and u, and read them and a view of both.
type scripted struct {
	t    *rapid.T
	more []string // columns of t that ALTER TABLE has added
	made int      // how many it has named

	saved [][]string // what more was at BEGIN, and at each savepoint since; nil outside of a transaction
}

// transaction draws a statement that begins, ends or divides a transaction.
func (g *scripted) transaction() string {
	if g.saved == nil {
		g.saved = [][]string{slices.Clone(g.more)}
		return "BEGIN"
	}
	points := len(g.saved) - 1
	at := g.int("savepoint", 1, max(points, 1))
	switch kind := g.int("transaction", 0, 5); {
	case kind == 0:
		g.saved = nil
		return "COMMIT"
	case kind == 1:
		g.more, g.saved = g.saved[0], nil
		return "ROLLBACK"
	case kind == 2 && points > 0:
		g.saved = g.saved[:at]
		return fmt.Sprintf("RELEASE s%d", at)
	case kind == 3 && points > 0:
		g.more, g.saved = slices.Clone(g.saved[at]), g.saved[:at+1]
		return fmt.Sprintf("ROLLBACK TO s%d", at)
	}
	g.saved = append(g.saved, slices.Clone(g.more))
	return fmt.Sprintf("SAVEPOINT s%d", len(g.saved)-1)
}

func (g *scripted) int(label string, lo, hi int) int { return rapid.IntRange(lo, hi).Draw(g.t, label) }

func (g *scripted) of(label string, list ...string) string {
	return rapid.SampledFrom(list).Draw(g.t, label)
}

func (g *scripted) table() string { return g.of("table", "t", "t", "u") }

func (g *scripted) number() string {
	return g.of("number", "NULL", fmt.Sprint(g.int("small", -5, 300)), fmt.Sprint(g.int("large", -1<<40, 1<<40)), "7")
}

func (g *scripted) text() string {
	return g.of("text", "NULL", "''", "'a'", fmt.Sprintf("'w%d'", g.int("word", 0, 40)), "'é'", "'it''s'")
}

// where is a condition over the columns of t or u.
func (g *scripted) where(of string) string {
	return g.of("where", "", "WHERE 1 = 0",
		fmt.Sprintf("WHERE %s.id %% %d = 0", of, g.int("modulus", 1, 9)),
		fmt.Sprintf("WHERE %s.v BETWEEN %d AND 200", of, g.int("from", -9, 100)),
		fmt.Sprintf("WHERE %s.s IS NULL OR %s.s > 'w2'", of, of),
		fmt.Sprintf("WHERE %s.id = %d", of, g.int("key", 0, 60)),
		fmt.Sprintf("WHERE %s.id IN (SELECT id FROM u WHERE v > %d)", of, g.int("bound", 0, 150)),
		fmt.Sprintf("WHERE %s.v = (SELECT MAX(v) FROM t)", of))
}

func (g *scripted) returning(of string) string {
	return g.of("returning", "", "", " RETURNING id, v, s", " RETURNING v * 2, s IS NULL, id")
}

// upsert draws an INSERT with ON CONFLICT. With DO UPDATE its rows have different keys: SQLite changes a row twice.
func (g *scripted) upsert() string {
	of := g.table()
	key, other := map[string]string{"t": "(id)", "u": "(id, s)"}[of], map[string]string{"t": "u", "u": "t"}[of] // SQLite's subqueries see the rows before in the same table
	if g.int("nothing", 0, 2) == 0 {
		do := g.of("target", "", key) + " DO NOTHING" + g.returning(of)
		if g.int("query", 0, 1) == 0 {
			return fmt.Sprintf("INSERT INTO %s (id, v, s) SELECT id + %d, v, s FROM u WHERE id IS NOT NULL ON CONFLICT %s", of, g.int("shift", -3, 3), do)
		}
		var rows []string
		for range g.int("rows", 1, 6) {
			rows = append(rows, fmt.Sprintf("(%d, %s, %s)", g.int("key", 0, 20), g.number(), g.text()))
		}
		return fmt.Sprintf("INSERT INTO %s (id, v, s) VALUES %s ON CONFLICT %s", of, strings.Join(rows, ", "), do)
	}
	set := g.of("set", "v = excluded.v", "v = "+of+".v + excluded.v + 1", "v = excluded.id, s = "+of+".s || 'n'", "v = (SELECT COUNT(*) FROM "+other+")", "s = NULL")
	where := g.of("where", "", fmt.Sprintf(" WHERE %s.v > excluded.v", of), fmt.Sprintf(" WHERE %s.id %% 2 = 0", of))
	do := fmt.Sprintf("%s DO UPDATE SET %s%s%s", key, set, where, g.returning(of))
	if g.int("query", 0, 1) == 0 {
		return fmt.Sprintf("INSERT INTO %s (id, v, s) SELECT id, MIN(v), 'q' FROM u WHERE id > %d GROUP BY id ON CONFLICT %s", of, g.int("key", 0, 30), do)
	}
	var rows []string
	first := g.int("key", 0, 30)
	for i := range g.int("rows", 1, 6) {
		rows = append(rows, fmt.Sprintf("(%d, %s, %s)", first+i*3, g.number(), g.text()))
	}
	return fmt.Sprintf("INSERT INTO %s (id, v, s) VALUES %s ON CONFLICT %s", of, strings.Join(rows, ", "), do)
}

// alter draws an ALTER TABLE of t, or an UPDATE of what one has added.
func (g *scripted) alter() string {
	at := g.int("column", 0, max(len(g.more)-1, 0))
	switch kind := g.int("alter", 0, 3); {
	case kind == 0 || len(g.more) == 0:
		g.made++
		g.more = append(g.more, fmt.Sprintf("c%d", g.made))
		return fmt.Sprintf("ALTER TABLE t ADD COLUMN c%d %s", g.made, g.of("type", "BIGINT", "BIGINT DEFAULT 5", "TEXT DEFAULT 'd'", "BIGINT NOT NULL DEFAULT 0"))
	case kind == 1:
		name := g.more[at]
		g.more = slices.Delete(g.more, at, at+1)
		return "ALTER TABLE t DROP COLUMN " + name
	case kind == 2:
		g.made++
		was := g.more[at]
		g.more[at] = fmt.Sprintf("c%d", g.made)
		return fmt.Sprintf("ALTER TABLE t RENAME COLUMN %s TO c%d", was, g.made)
	}
	return fmt.Sprintf("UPDATE t SET %s = %d %s", g.more[at], g.int("value", 0, 300), g.where("t"))
}

func (g *scripted) statement() string {
	of := g.table()
	switch g.int("statement", 0, 14) {
	case 10, 11:
		return g.upsert()
	case 12:
		return g.alter()
	case 13:
		return "SELECT id, n, m FROM w " + g.of("of view", "", "WHERE n > 1", "WHERE id IN (SELECT w.id + 1 FROM w)")
	case 14:
		return fmt.Sprintf("INSERT INTO u (id, v, s) SELECT id + %d, n, 'view' FROM w WHERE m > 3", g.int("shift", 1, 500))
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

// Random scripts, with transactions and savepoints, leave the same tables, and have an error at the same statements, as in SQLite; on cpu the tables are in a
// folder, which is closed and opened again in between.
func TestSQLiteChanges(t *testing.T) {
	p := openSQLite(t, sqlite{iso: true})
	dbs := map[string]*engine.DB{}
	dir := t.TempDir() // of the tables on cpu, which is closed and opened again now and then
	open := func(backend, dir string) *engine.DB {
		db, err := engine.Open(engine.Options{Backend: backend, Folder: dir})
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
	for backend, of := range map[string]string{"cpu": dir, "auto": "", "compute": ""} {
		dbs[backend] = open(backend, of)
		engine.Inspect(dbs[backend]).UpdateThere(true)
	}
	defer func() {
		for _, db := range dbs {
			db.Close()
		}
	}()
	ctx := context.Background()
	wrong, right := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		g := &scripted{t: t}
		script := []string{"DROP VIEW IF EXISTS w", "DROP TABLE IF EXISTS t", "DROP TABLE IF EXISTS u",
			"CREATE TABLE t (id BIGINT NOT NULL, v BIGINT, s VARCHAR DEFAULT 'none', PRIMARY KEY (id), CHECK (v <> 7))",
			"CREATE TABLE u (id BIGINT NOT NULL, v BIGINT DEFAULT 3, s TEXT, UNIQUE (id, s))",
			"CREATE VIEW w (id, n, m) AS SELECT t.id, COUNT(*), MAX(u.v) FROM t LEFT JOIN u ON u.id = t.id GROUP BY t.id"}
		begun := len(script)
		for range changesPerScript {
			if divide := g.int("divide", 0, 5); divide == 0 {
				script = append(script, g.transaction())
				continue
			}
			text := g.statement()
			if g.saved == nil {
				script = append(script, text)
				continue
			}
			// A statement that fails leaves a transaction where it was, also where only SQLite would do so by itself.
			script = append(script, "SAVEPOINT before", text, "RELEASE before")
		}
		if g.saved != nil {
			script = append(script, g.of("end", "COMMIT", "ROLLBACK"))
		}
		asked := []string{"cpu", g.of("backend", "auto", "compute")}
		_, _ = p.values("ROLLBACK") // of a script that ended in a transaction
		sessions := map[string]*engine.Session{}
		for _, backend := range asked {
			sessions[backend] = dbs[backend].Session()
			defer func() { sessions[backend].Close() }()
		}
		failed := false
		for i, text := range script {
			if again := g.int("again", 0, 39); again == 0 && !sessions["cpu"].Begun() {
				if err := dbs["cpu"].Close(); err != nil {
					t.Fatal(err)
				}
				dbs["cpu"] = open("cpu", dir)
				sessions["cpu"] = dbs["cpu"].Session()
			}
			if text == "RELEASE before" && failed {
				text = "ROLLBACK TO before"
			}
			want, refused := p.values(text)
			failed = refused != nil
			if refused != nil {
				wrong++
			} else {
				right++
			}
			for _, backend := range asked {
				db := sessions[backend]
				got, err := engine.Collect(db.Query(ctx, text))
				if (err != nil) != (refused != nil) {
					t.Fatalf("%s on %s: %v, SQLite: %v\n%s", text, backend, err, refused, strings.Join(script[:i+1], ";\n"))
				}
				if err == nil && (strings.Contains(text, "RETURNING") || strings.HasPrefix(text, "SELECT")) {
					leftAlike(t, text, backend, got, want)
				}
				for _, of := range []string{"t", "u"} {
					if i < begun-1 || failed && db.Begun() || strings.HasPrefix(text, "SELECT") || strings.HasPrefix(text, "SAVEPOINT") || strings.HasPrefix(text, "RELEASE") {
						break
					}
					read := "SELECT * FROM " + of
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
