package engine

import (
	"context"
	"strings"
	"testing"
)

// steps runs statements, each with how its answer begins, as [said] writes it.
func steps(t *testing.T, db interface {
	Query(ctx context.Context, text string, args ...any) (*Rows, error)
}, list [][2]string) {
	t.Helper()
	for _, step := range list {
		got := said(Collect(db.Query(context.Background(), step[0])))
		if got != step[1] && !(step[1] != "" && strings.HasPrefix(got, step[1])) {
			t.Errorf("%s:\n got %s\nwant %s", step[0], got, step[1])
		}
	}
}

// CREATE TABLE (LIKE t) has the columns of t, and what INCLUDING names of it.
func TestCreateTableLike(t *testing.T) {
	db := open(t, Options{Backend: "cpu"})
	if err := db.Add(small(t)); err != nil {
		t.Fatal(err)
	}
	steps(t, db, [][2]string{
		{"CREATE TABLE t (a int PRIMARY KEY, b varchar(3) DEFAULT 'x' NOT NULL, c numeric(8,2) CHECK (t.c > 0), d text, UNIQUE (b, c))", ""},
		{"INSERT INTO t VALUES (1, 'b', 2, 'd')", ""},
		{"CREATE TABLE plain (LIKE t)", ""},
		{"INSERT INTO plain VALUES (1, 'a', -1), (1, 'a', -1)", ""}, // neither keys nor checks,
		{"INSERT INTO plain (a) VALUES (1)", `!null value in column "b" of relation "plain" violates not-null constraint`}, // nor defaults, but NOT NULL
		{"INSERT INTO plain VALUES (1, 'abcd')", `!`}, // and the length, which is the type's
		{"SELECT * FROM plain", "1|a|-1.00|NULL;1|a|-1.00|NULL"},
		{"CREATE TABLE whole (z int, LIKE t INCLUDING ALL, CHECK (z > a))", ""},
		{"INSERT INTO whole VALUES (9, 1)", ""},
		{"INSERT INTO whole VALUES (9, 1)", `!duplicate key value violates unique constraint "whole_pkey"`},
		{"INSERT INTO whole VALUES (9, 2, 'q', 0)", `!new row for relation "whole" violates check constraint "t_c_check"`},
		{"INSERT INTO whole VALUES (1, 2)", `!new row for relation "whole" violates check constraint "whole_check"`},
		{"INSERT INTO whole VALUES (9, 3, 'q', 1), (9, 4, 'q', 1)", `!duplicate key value violates unique constraint "whole_b_c_key"`},
		{"SELECT * FROM whole", "9|1|x|NULL|NULL"},
		{"CREATE TABLE part (LIKE t INCLUDING DEFAULTS INCLUDING CONSTRAINTS EXCLUDING CONSTRAINTS)", ""},
		{"INSERT INTO part VALUES (1, DEFAULT, -3) RETURNING *", "1|x|-3.00|NULL"},
		{"CREATE TABLE file (LIKE small, e text)", ""},
		{"INSERT INTO file VALUES (1, 1.5, 'z') RETURNING *", "1|1.5|z"},
		{"CREATE VIEW v AS SELECT a + 1 AS n, b FROM t", ""},
		{"CREATE TABLE of_view (LIKE v)", ""},
		{"INSERT INTO of_view VALUES (NULL, 'more than three')", ""},
		{"CREATE TABLE two (a int, LIKE t)", `!column "a" specified more than once (line 1, column 31)`},
		{"CREATE TABLE of_none (LIKE nobody)", `!table "nobody" does not exist`},
	})
}

// SELECT ... INTO makes a table, as CREATE TABLE AS does.
func TestSelectInto(t *testing.T) {
	db := open(t, Options{Backend: "cpu"})
	steps(t, db, [][2]string{
		{"SELECT 1 AS a, 'x' AS b INTO t UNION ALL SELECT 2, 'y' ORDER BY 1", ""},
		{"SELECT a * 10 AS a INTO TEMP TABLE u FROM t WHERE a > 1", ""},
		{"SELECT * FROM t, u", "1|x|20;2|y|20"},
		{"WITH w AS (SELECT COUNT(*) AS n FROM t) SELECT n INTO w FROM w", ""},
		{"UPDATE w SET n = n + 1 RETURNING n", "3"},
		{"SELECT 1 AS a INTO t", `!relation "t" already exists (line 1, column 20)`},
		{"SELECT * FROM (SELECT 1 AS a INTO x) s", `!INTO in this place is not supported`},
		{"SELECT 1 AS a UNION SELECT 2 INTO x", `!INTO in this place is not supported`},
	})
}
