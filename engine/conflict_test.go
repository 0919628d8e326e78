package engine

import (
	"context"
	"strconv"
	"strings"
	"testing"
)

// INSERT ... ON CONFLICT leaves rows out, or changes those that are there, as PostgreSQL does.
func TestOnConflict(t *testing.T) {
	var proposed []string
	for g := 1; g <= 100; g++ {
		switch {
		case g%20 == 0:
			proposed = append(proposed, strconv.Itoa(101-g))
		case g <= 17:
			proposed = append(proposed, strconv.Itoa(100+g))
		default:
			proposed = append(proposed, "NULL")
		}
	}
	for _, backend := range []string{"cpu", "compute"} {
		db := open(t, Options{Backend: backend})
		for _, step := range []struct{ text, want string }{
			{"CREATE TABLE t (a int PRIMARY KEY, b text, n bigint DEFAULT 1 CHECK (n < 100), c int, UNIQUE (b, c))", ""},
			{"INSERT INTO t VALUES (1, 'x', 1, 1), (2, 'y', 2, NULL) ON CONFLICT DO NOTHING", ""},
			{"INSERT INTO t VALUES (1, 'z', 1, 4), (3, 'x', 9, 1), (4, 'y', 2, NULL), (5, 'v', 2, 2), (5, 'w', 2, 2), (6, 'v', 2, 2) ON CONFLICT DO NOTHING RETURNING a, b", "4|y;5|v"},
			{"INSERT INTO t VALUES (1, 'z', 5, 7), (7, 's', 5, 7) ON CONFLICT (a) DO UPDATE SET n = t.n + excluded.n, b = excluded.b || t.b RETURNING *", "1|zx|6|1;7|s|5|7"},
			{"INSERT INTO t AS q (a, n) SELECT a, 10 FROM t WHERE a < 5 ON CONFLICT ON CONSTRAINT t_pkey DO UPDATE SET (n, b) = (SELECT MAX(u.n) + excluded.n, 'm' FROM t AS u WHERE u.a <> q.a) WHERE q.a > 1", ""},
			{"SELECT * FROM t ORDER BY a", "1|zx|6|1;2|m|16|NULL;4|m|16|NULL;5|v|2|2;7|s|5|7"},
			{"INSERT INTO t (a) VALUES (1), (1) ON CONFLICT (a) DO UPDATE SET n = 3", "!ON CONFLICT DO UPDATE command cannot affect row a second time"},
			{"INSERT INTO t (a) VALUES (8), (8) ON CONFLICT (a) DO UPDATE SET n = 3", "!ON CONFLICT DO UPDATE command cannot affect row a second time"},
			{"INSERT INTO t (a) VALUES (1), (1) ON CONFLICT (a) DO UPDATE SET n = 3 WHERE t.n < 0", ""},
			{"INSERT INTO t VALUES (1, 'a', 100) ON CONFLICT (a) DO NOTHING", `!new row for relation "t" violates check constraint "t_n_check"`},
			{"INSERT INTO t VALUES (1) ON CONFLICT (a) DO UPDATE SET n = 100", `!new row for relation "t" violates check constraint "t_n_check"`},
			{"INSERT INTO t VALUES (1) ON CONFLICT (a) DO UPDATE SET a = NULL", `!null value in column "a"`},
			{"INSERT INTO t VALUES (1) ON CONFLICT (a) DO UPDATE SET a = 2", `!duplicate key value violates unique constraint "t_pkey": key (a)=(2) already exists`},
			{"INSERT INTO t VALUES (9, 'v', 2, 2) ON CONFLICT (a) DO NOTHING", `!duplicate key value violates unique constraint "t_b_c_key"`},
			{"INSERT INTO t VALUES (9) ON CONFLICT (b) DO NOTHING", "!there is no unique or exclusion constraint matching the ON CONFLICT specification"},
			{"INSERT INTO t VALUES (9) ON CONFLICT ON CONSTRAINT t_pky DO NOTHING", `!constraint "t_pky" for table "t" does not exist; did you mean t_pkey?`},
			{"INSERT INTO t VALUES (9) ON CONFLICT DO UPDATE SET b = 'k'", "!ON CONFLICT DO UPDATE requires the columns of a key"},
			{"INSERT INTO t VALUES (9) ON CONFLICT (a) DO UPDATE SET n = n + 1", `!column reference "n" is ambiguous; write t.n or excluded.n`},
			{"INSERT INTO t VALUES (9, 'v', 3, 2) ON CONFLICT (c, b) DO UPDATE SET a = DEFAULT", `!null value in column "a"`},
			{"INSERT INTO t VALUES (9, 'v', 3, 2) ON CONFLICT (c, b) DO UPDATE SET a = excluded.a RETURNING a, n", "9|2"},
			{"DELETE FROM t WHERE a = 1", ""},
			{"INSERT INTO t VALUES (1), (9) ON CONFLICT (a) DO UPDATE SET n = DEFAULT RETURNING a, b, n", "1|NULL|1;9|v|1"},
			{"SELECT * FROM t ORDER BY a", "1|NULL|1|NULL;2|m|16|NULL;4|m|16|NULL;7|s|5|7;9|v|1|2"},
			{"INSERT INTO t (a, n) VALUES (21, 1), (9, 50), (22, 2), (2, 3), (23, 3), (1, 51) ON CONFLICT (a) DO UPDATE SET n = excluded.n WHERE t.n < excluded.n RETURNING a, n", "21|1;9|50;22|2;23|3;1|51"}, // as they are given
			{"DELETE FROM t", ""},
			{"INSERT INTO t SELECT g, 'b', g % 10, g FROM generate_series(1, 100) AS s(g)", ""},
			{"INSERT INTO t SELECT CASE WHEN g % 20 = 0 THEN 101 - g ELSE 100 + g END, 'c', 3, g FROM generate_series(1, 100) AS s(g) ON CONFLICT (a) DO UPDATE SET n = excluded.n RETURNING CASE WHEN a > 117 THEN NULL ELSE a END", // joined
				strings.Join(proposed, ";")},
			{"DROP TABLE t", ""},
		} {
			got := said(Collect(db.Query(context.Background(), step.text)))
			if got != step.want && !(step.want != "" && strings.HasPrefix(got, step.want)) {
				t.Errorf("%s:\n got %s\nwant %s", step.text, got, step.want)
			}
		}
		nothingLeft(t, db)
	}
}
