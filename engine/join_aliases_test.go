package engine

import (
	"context"
	"slices"
	"testing"
)

// Kinds of joins that other databases have are aliases here, which a note says.
func TestJoinsThatAreAliases(t *testing.T) {
	var notes []string
	db := open(t, Options{Backend: "cpu", Note: func(text string) { notes = append(notes, text) }})
	do(t, db, "CREATE TABLE a AS SELECT 1 AS x")
	for _, c := range []struct {
		sql string
		n   int
	}{
		{"SELECT * FROM a SEMI JOIN a b ON semi.x = b.x", 1},
		{"SELECT COUNT(*) FROM a Anti JOIN a b ON anti.x = b.x", 1},
		{`SELECT COUNT(*) FROM "a" asof join a b USING (x)`, 1},
		{"SELECT COUNT(*) FROM a AS semi JOIN a b USING (x)", 0},
		{`SELECT COUNT(*) FROM a "anti" JOIN a b USING (x)`, 0},
		{"WITH semi AS (SELECT 1 AS x) SELECT COUNT(*) FROM semi JOIN a USING (x)", 0},
	} {
		notes = nil
		if _, err := Collect(db.Query(context.Background(), c.sql)); err != nil {
			t.Errorf("%s: %v", c.sql, err)
		}
		if len(notes) != c.n {
			t.Errorf("%s: the notes %q, want %d", c.sql, notes, c.n)
		}
	}
	for range db.Each(context.Background(), "SELECT 1; SELECT * FROM a SEMI JOIN a b ON semi.x = b.x") {
	}
	const want = "SEMI JOIN is read as a JOIN with a table that has the alias semi, as PostgreSQL reads it; WHERE EXISTS (SELECT 1 FROM ...) keeps the rows that have a partner"
	if !slices.Equal(notes, []string{want}) {
		t.Errorf("the notes of a script %q, want %q", notes, want)
	}
}
