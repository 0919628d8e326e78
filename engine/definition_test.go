package engine_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stencildb/stencildb/engine"
)

// The SQL of definitions makes tables, views and indexes of the same definitions.
func TestDefinitionsMakeTheSameAgain(t *testing.T) {
	ctx := context.Background()
	const script = `CREATE TABLE t (id serial PRIMARY KEY, "Who" varchar(20) NOT NULL DEFAULT 'it''s', c char(3), price numeric(7,2) CHECK (price > 0), day date,
		big bigint GENERATED ALWAYS AS IDENTITY (START WITH 10 INCREMENT BY -2 MAXVALUE 20), UNIQUE (day, "Who"), CONSTRAINT soon CHECK (day < '2100-01-01' OR id > 3));
		CREATE TABLE "From" ("select" int, b boolean, x real, y double precision, at timestamp);
		CREATE VIEW v AS SELECT id + 1 AS next, "Who" FROM t WHERE price > 1.5;
		CREATE INDEX first ON t (day); CREATE UNIQUE INDEX second ON "From" ("select"); CREATE INDEX third ON t USING hash (c);
		INSERT INTO t (price) VALUES (2), (3);`
	db := func() *engine.DB {
		db, err := engine.Open(engine.Options{Backend: "cpu"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		return db
	}
	run := func(db *engine.DB, text string) {
		t.Helper()
		for _, err := range db.Each(ctx, text) {
			if err != nil {
				t.Errorf("%v in\n%s", err, text)
			}
		}
	}
	a, b := db(), db()
	run(a, script)
	all, err := a.Definitions(ctx, "")
	if err != nil || len(all) != 3 {
		t.Fatalf("%d definitions, %v", len(all), err)
	}
	for _, name := range []string{"T", "from", "v"} { // in this order: the view reads a table
		one, err := a.Definitions(ctx, name)
		if err != nil || len(one) != 1 {
			t.Fatalf("%s: %v, %v", name, one, err)
		}
		run(b, one[0].SQL)
		again, err := b.Definitions(ctx, name)
		if rows := map[string]int{"T": 2}[name]; err != nil || one[0].Rows != rows {
			t.Errorf("%s has %d rows, want %d (%v)", name, one[0].Rows, rows, err)
		}
		one[0].Rows = 0
		if d := cmp.Diff(one, again); d != "" {
			t.Errorf("%s is made as another one:\n%s", name, d)
		}
	}
	for _, want := range []string{"id serial,", `"Who" varchar(20) NOT NULL DEFAULT 'it''s'`, "character(3)", "(START WITH 10 INCREMENT BY -2", "CREATE INDEX third ON t USING hash (c);"} {
		if one, _ := a.Definitions(ctx, "t"); !strings.Contains(strings.ReplaceAll(one[0].SQL, "character varying", "varchar"), want) {
			t.Errorf("no %s in\n%s", want, one[0].SQL)
		}
	}
	if _, err := a.Definitions(ctx, "fro"); err == nil || !strings.Contains(err.Error(), `table "fro" does not exist; did you mean "From"?`) {
		t.Error(err)
	}
}
