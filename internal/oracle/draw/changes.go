package draw

import (
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"
)

// Script draws statements that change two tables, t and u, and read them and a view of both.
type Script struct {
	T    *rapid.T
	more []string // columns of t that ALTER TABLE has added
	made int      // how many it has named

	Saved [][]string // what more was at BEGIN, and at each savepoint since; nil outside of a transaction
}

// Transaction draws a statement that begins, ends or divides a transaction.
func (g *Script) Transaction() string {
	if g.Saved == nil {
		g.Saved = [][]string{slices.Clone(g.more)}
		return "BEGIN"
	}
	points := len(g.Saved) - 1
	at := g.Int("savepoint", 1, max(points, 1))
	switch kind := g.Int("transaction", 0, 5); {
	case kind == 0:
		g.Saved = nil
		return "COMMIT"
	case kind == 1:
		g.more, g.Saved = g.Saved[0], nil
		return "ROLLBACK"
	case kind == 2 && points > 0:
		g.Saved = g.Saved[:at]
		return fmt.Sprintf("RELEASE s%d", at)
	case kind == 3 && points > 0:
		g.more, g.Saved = slices.Clone(g.Saved[at]), g.Saved[:at+1]
		return fmt.Sprintf("ROLLBACK TO s%d", at)
	}
	g.Saved = append(g.Saved, slices.Clone(g.more))
	return fmt.Sprintf("SAVEPOINT s%d", len(g.Saved)-1)
}

func (g *Script) Int(label string, lo, hi int) int { return rapid.IntRange(lo, hi).Draw(g.T, label) }

func (g *Script) Of(label string, list ...string) string {
	return rapid.SampledFrom(list).Draw(g.T, label)
}

func (g *Script) table() string { return g.Of("table", "t", "t", "u") }

func (g *Script) number() string {
	return g.Of("number", "NULL", fmt.Sprint(g.Int("small", -5, 300)), fmt.Sprint(g.Int("large", -1<<40, 1<<40)), "7")
}

func (g *Script) text() string {
	return g.Of("text", "NULL", "''", "'a'", fmt.Sprintf("'w%d'", g.Int("word", 0, 40)), "'é'", "'it''s'")
}

// where is a condition over the columns of t or u.
func (g *Script) where(of string) string {
	return g.Of("where", "", "WHERE 1 = 0",
		fmt.Sprintf("WHERE %s.id %% %d = 0", of, g.Int("modulus", 1, 9)),
		fmt.Sprintf("WHERE %s.v BETWEEN %d AND 200", of, g.Int("from", -9, 100)),
		fmt.Sprintf("WHERE %s.s IS NULL OR %s.s > 'w2'", of, of),
		fmt.Sprintf("WHERE %s.id = %d", of, g.Int("key", 0, 60)),
		fmt.Sprintf("WHERE %s.id IN (SELECT id FROM u WHERE v > %d)", of, g.Int("bound", 0, 150)),
		fmt.Sprintf("WHERE %s.v = (SELECT MAX(v) FROM t)", of))
}

func (g *Script) returning(of string) string {
	return g.Of("returning", "", "", " RETURNING id, v, s", " RETURNING v * 2, s IS NULL, id")
}

// upsert draws an INSERT with ON CONFLICT. With DO UPDATE its rows have different keys: SQLite changes a row twice.
func (g *Script) upsert() string {
	of := g.table()
	key, other := map[string]string{"t": "(id)", "u": "(id, s)"}[of], map[string]string{"t": "u", "u": "t"}[of] // SQLite's subqueries see the rows before in the same table
	if g.Int("nothing", 0, 2) == 0 {
		do := g.Of("target", "", key) + " DO NOTHING" + g.returning(of)
		if g.Int("query", 0, 1) == 0 {
			return fmt.Sprintf("INSERT INTO %s (id, v, s) SELECT id + %d, v, s FROM u WHERE id IS NOT NULL ON CONFLICT %s", of, g.Int("shift", -3, 3), do)
		}
		var rows []string
		for range g.Int("rows", 1, 6) {
			rows = append(rows, fmt.Sprintf("(%d, %s, %s)", g.Int("key", 0, 20), g.number(), g.text()))
		}
		return fmt.Sprintf("INSERT INTO %s (id, v, s) VALUES %s ON CONFLICT %s", of, strings.Join(rows, ", "), do)
	}
	set := g.Of("set", "v = excluded.v", "v = "+of+".v + excluded.v + 1", "v = excluded.id, s = "+of+".s || 'n'", "v = (SELECT COUNT(*) FROM "+other+")", "s = NULL")
	where := g.Of("where", "", fmt.Sprintf(" WHERE %s.v > excluded.v", of), fmt.Sprintf(" WHERE %s.id %% 2 = 0", of))
	do := fmt.Sprintf("%s DO UPDATE SET %s%s%s", key, set, where, g.returning(of))
	if g.Int("query", 0, 1) == 0 {
		return fmt.Sprintf("INSERT INTO %s (id, v, s) SELECT id, MIN(v), 'q' FROM u WHERE id > %d GROUP BY id ON CONFLICT %s", of, g.Int("key", 0, 30), do)
	}
	var rows []string
	first := g.Int("key", 0, 30)
	for i := range g.Int("rows", 1, 6) {
		rows = append(rows, fmt.Sprintf("(%d, %s, %s)", first+i*3, g.number(), g.text()))
	}
	return fmt.Sprintf("INSERT INTO %s (id, v, s) VALUES %s ON CONFLICT %s", of, strings.Join(rows, ", "), do)
}

// alter draws an ALTER TABLE of t, or an UPDATE of what one has added.
func (g *Script) alter() string {
	at := g.Int("column", 0, max(len(g.more)-1, 0))
	switch kind := g.Int("alter", 0, 3); {
	case kind == 0 || len(g.more) == 0:
		g.made++
		g.more = append(g.more, fmt.Sprintf("c%d", g.made))
		return fmt.Sprintf("ALTER TABLE t ADD COLUMN c%d %s", g.made, g.Of("type", "BIGINT", "BIGINT DEFAULT 5", "TEXT DEFAULT 'd'", "BIGINT NOT NULL DEFAULT 0"))
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
	return fmt.Sprintf("UPDATE t SET %s = %d %s", g.more[at], g.Int("value", 0, 300), g.where("t"))
}

func (g *Script) Statement() string {
	of := g.table()
	switch g.Int("statement", 0, 14) {
	case 10, 11:
		return g.upsert()
	case 12:
		return g.alter()
	case 13:
		return "SELECT id, n, m FROM w " + g.Of("of view", "", "WHERE n > 1", "WHERE id IN (SELECT w.id + 1 FROM w)")
	case 14:
		return fmt.Sprintf("INSERT INTO u (id, v, s) SELECT id + %d, n, 'view' FROM w WHERE m > 3", g.Int("shift", 1, 500))
	case 0, 1, 2:
		var rows []string
		for range g.Int("rows", 1, 6) {
			rows = append(rows, fmt.Sprintf("(%d, %s, %s)", g.Int("key", 0, 60), g.number(), g.text()))
		}
		return fmt.Sprintf("INSERT INTO %s (id, v, s) VALUES %s%s", of, strings.Join(rows, ", "), g.returning(of))
	case 3:
		return fmt.Sprintf("INSERT INTO %s (s, id) SELECT s, id + %d FROM t %s", of, g.Int("shift", 1, 500), g.where("t"))
	case 4:
		return fmt.Sprintf("INSERT INTO %s (id) VALUES (%d)", of, g.Int("key", 0, 60))
	case 5, 6:
		set := g.Of("set", "v = v + 1", "v = "+g.number(), "s = "+g.text(), "v = NULL, s = 'n' || id", "v = id, s = NULL", "(v, s) = (1, 'b')", "v = (SELECT COUNT(*) FROM u)")
		return fmt.Sprintf("UPDATE %s SET %s %s%s", of, set, g.where(of), g.returning(of))
	case 7:
		return fmt.Sprintf("UPDATE t SET v = w.v, s = w.s FROM (SELECT id, MAX(v) AS v, MAX(s) AS s FROM u GROUP BY id) AS w WHERE w.id = t.id AND t.id > %d", g.Int("key", 0, 60))
	case 8:
		return fmt.Sprintf("UPDATE %s SET id = %d WHERE id = %d", of, g.Int("key", 0, 60), g.Int("other key", 0, 60))
	}
	return fmt.Sprintf("DELETE FROM %s %s%s", of, g.where(of), g.returning(of))
}
