package sqlite

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/internal/oracle/draw"
)

// changesPerScript is how many statements a script has.
const changesPerScript = 30

// Random scripts, with transactions and savepoints, leave the same tables as in SQLite, and have an error at the same statements. On
// cpu the tables are in a folder, which is closed and opened again in between.
func TestSQLiteChanges(t *testing.T) {
	p := open(t, dialect{iso: true})
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
		g := &draw.Script{T: t}
		script := []string{"DROP VIEW IF EXISTS w", "DROP TABLE IF EXISTS t", "DROP TABLE IF EXISTS u",
			"CREATE TABLE t (id BIGINT NOT NULL, v BIGINT, s VARCHAR DEFAULT 'none', PRIMARY KEY (id), CHECK (v <> 7))",
			"CREATE TABLE u (id BIGINT NOT NULL, v BIGINT DEFAULT 3, s TEXT, UNIQUE (id, s))",
			"CREATE VIEW w (id, n, m) AS SELECT t.id, COUNT(*), MAX(u.v) FROM t LEFT JOIN u ON u.id = t.id GROUP BY t.id"}
		begun := len(script)
		for range changesPerScript {
			if divide := g.Int("divide", 0, 5); divide == 0 {
				script = append(script, g.Transaction())
				continue
			}
			text := g.Statement()
			if g.Saved == nil {
				script = append(script, text)
				continue
			}
			// A statement that fails leaves a transaction where it was, also where only SQLite would do so by itself.
			script = append(script, "SAVEPOINT before", text, "RELEASE before")
		}
		if g.Saved != nil {
			script = append(script, g.Of("end", "COMMIT", "ROLLBACK"))
		}
		asked := []string{"cpu", g.Of("backend", "auto", "compute")}
		_, _ = p.Values("ROLLBACK") // of a script that ended in a transaction
		sessions := map[string]*engine.Session{}
		for _, backend := range asked {
			sessions[backend] = dbs[backend].Session()
			defer func() { sessions[backend].Close() }()
		}
		failed := false
		for i, text := range script {
			if again := g.Int("again", 0, 39); again == 0 && !sessions["cpu"].Begun() {
				if err := dbs["cpu"].Close(); err != nil {
					t.Fatal(err)
				}
				dbs["cpu"] = open("cpu", dir)
				sessions["cpu"] = dbs["cpu"].Session()
			}
			if text == "RELEASE before" && failed {
				text = "ROLLBACK TO before"
			}
			want, refused := p.Values(text)
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
					stored, err := p.Values(read)
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
