package engine

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/engine/catalog"
	"github.com/stencildb/stencildb/internal/plantest"
	"github.com/stencildb/stencildb/table"
)

// Look-ups of a key make its index, before and after which they find the same.
func TestLookupsMakeAnIndex(t *testing.T) {
	for _, backend := range []string{"cpu", "auto"} {
		db := open(t, Options{Backend: backend})
		do(t, db, "CREATE TABLE t (k int PRIMARY KEY, v bigint)")
		do(t, db, "INSERT INTO t SELECT g, g * 3 FROM generate_series(1, 5000) AS q (g)")
		for k := range 40 {
			want := ""
			if k > 0 {
				want = strconv.Itoa(3 * k)
			}
			if got := said(do(t, db, "SELECT v FROM t WHERE k = $1", k), nil); got != want {
				t.Errorf("%s: %d has %s", backend, k, got)
			}
		}
		for _, c := range db.entry("t").Table.Load().Chunks {
			if c.Rows >= catalog.ScannedRows && catalog.KeyIndex(c.Segments[0]) == nil {
				t.Errorf("%s: no index has been made", backend)
			}
		}
	}
}

// An answer by a key has the columns that it has otherwise, and its value in Arrow the same type.
func TestColumnsOfLookups(t *testing.T) {
	db := open(t, Options{Backend: "cpu"})
	do(t, db, `CREATE TABLE t (k bigint PRIMARY KEY, s text NOT NULL, d numeric(9,2), r real, b boolean, at timestamp)`)
	do(t, db, `INSERT INTO t VALUES (1, 'a', 1.5, 2.5, true, '2020-01-02 03:04:05'), (2, 'b', NULL, NULL, NULL, NULL)`)
	const items = "SELECT *, d * d AS dd, d + 1 AS e, s || 'x' AS sx, r / 2 AS half, k / 2, d / 3 AS q, s AS again, NULL, 7 AS seven, CASE WHEN k = 1 THEN s END AS c FROM t WHERE "
	for _, k := range []string{"1", "2", "3"} {
		var answers []string
		for _, where := range []string{"k = " + k, "k + 0 = " + k} {
			rows, err := db.Query(context.Background(), items+where)
			if err != nil {
				t.Fatal(err)
			}
			columns := fmt.Sprintf("%+v", rows.Columns())
			for b, err := range rows.Batches() {
				if err != nil {
					t.Fatal(err)
				}
				columns += b.Schema().String()
				for i := range b.Columns() {
					columns += "|" + b.Column(i).ValueStr(0)
				}
				b.Release()
			}
			answers = append(answers, columns)
		}
		if answers[0] != answers[1] {
			t.Errorf("k = %s: by the key\n%s\notherwise\n%s", k, answers[0], answers[1])
		}
	}
}

// EXPLAIN says that rows are looked for by a key, where they are.
func TestExplainOfLookups(t *testing.T) {
	db := open(t, Options{Backend: "cpu"})
	do(t, db, `CREATE TABLE t (k bigint, "The day" date, v bigint, PRIMARY KEY ("The day", k))`)
	do(t, db, "INSERT INTO t VALUES (1, '2020-01-02', 7)")
	const where = ` WHERE k = 1 AND v > 3 AND "The day" = '2020-01-02'`
	for _, text := range []string{"SELECT v FROM t" + where, "UPDATE t SET v = v" + where, "DELETE FROM t" + where} {
		for _, how := range []string{"EXPLAIN ", "EXPLAIN ANALYZE "} {
			lines := strings.Join(asText(t, db, how+text), "\n")
			if !strings.Contains(lines, `Look up(t_pkey: "The day" = DATE '2020-01-02', k = 1)`) || strings.Contains(lines, "Rows: 1") != (how != "EXPLAIN ") {
				t.Errorf("%s%s:\n%s", how, text, lines)
			}
		}
	}
	if got := said(do(t, db, "SELECT COUNT(*) FROM t"), nil); got != "0" {
		t.Errorf("%s rows are left", got)
	}
	for _, text := range []string{"SELECT v FROM t WHERE k = 1", "INSERT INTO t SELECT k + 1, \"The day\", v FROM t" + where, "SELECT v, (SELECT COUNT(*) FROM t) FROM t" + where} {
		if lines := strings.Join(asText(t, db, "EXPLAIN ANALYZE "+text), "\n"); strings.Contains(lines, "Look up") {
			t.Errorf("it is planned:\n%s", lines)
		}
	}
}

// pointModel is a table of a key and two columns, in plain Go.
type pointModel map[int]string

func (m pointModel) rows() string {
	var list []string
	for k, v := range m {
		list = append(list, fmt.Sprintf("%d|%s", k, v))
	}
	slices.Sort(list)
	return strings.Join(list, ";")
}

// pointOp draws a change of the rows of one key, does it in the model, and returns it with the rows that it changes.
func (m pointModel) pointOp(r *rand.Rand, k int) (text string, changed int) {
	v, there := m[k]
	n := r.IntN(100) - 20 // beyond the codes that the columns had
	word := []string{"a", "m", "zz", "new " + strconv.Itoa(r.IntN(9))}[r.IntN(4)]
	set := func(text string) {
		m[k], changed = text, 1
	}
	switch r.IntN(6) {
	case 0, 1:
		if there {
			_, old, _ := strings.Cut(v, "|")
			set(fmt.Sprintf("%d|%s", n, old))
		}
		return fmt.Sprintf("UPDATE t SET v = %d WHERE k = %d", n, k), changed
	case 2:
		if there {
			old, _, _ := strings.Cut(v, "|")
			set(old + "|" + word)
		}
		return fmt.Sprintf("UPDATE t SET s = '%s' WHERE k = %d", word, k), changed
	case 3:
		if there {
			delete(m, k)
			changed = 1
		}
		return fmt.Sprintf("DELETE FROM t WHERE k = %d", k), changed
	case 4:
		if !there {
			set(fmt.Sprintf("%d|%s", n, word))
		}
		return fmt.Sprintf("INSERT INTO t VALUES (%d, %d, '%s') ON CONFLICT DO NOTHING", k, n, word), changed
	default:
		if there {
			_, old, _ := strings.Cut(v, "|")
			set(fmt.Sprintf("%d|%s", n, old))
		} else {
			set(fmt.Sprintf("%d|%s", n, word))
		}
		return fmt.Sprintf("INSERT INTO t VALUES (%d, %d, '%s') ON CONFLICT (k) DO UPDATE SET v = excluded.v", k, n, word), changed
	}
}

// Changes of single rows, with cursors half read and a transaction under way, are those of a model. Every cursor gives the rows that
// there were when it began, and every transaction reads those and its own changes. A folder has them after it has been opened again.
func TestPointChangesBesideCursors(t *testing.T) {
	ctx := context.Background()
	const rows = 5000
	for _, in := range []string{"memory", "folder"} {
		t.Run(in, func(t *testing.T) {
			r := plantest.Random(t)
			dir := ""
			if in == "folder" {
				dir = filepath.Join(t.TempDir(), "db")
			}
			db := open(t, Options{Backend: "cpu", Folder: dir})
			do(t, db, "CREATE TABLE t (k bigint PRIMARY KEY, v bigint, s text)")
			do(t, db, "INSERT INTO t SELECT g, g % 50, 'm' FROM generate_series(1, $1) AS q (g)", rows)
			m := pointModel{}
			for k := 1; k <= rows; k++ {
				m[k] = fmt.Sprintf("%d|m", k%50)
			}
			type cursor struct {
				rows *Rows
				read []string
				want string
			}
			var cursors []*cursor
			begin := func(rows *Rows, err error, m pointModel) {
				if err != nil {
					t.Fatal(err)
				}
				c := &cursor{rows: rows, want: m.rows()}
				for range r.IntN(3) {
					if rows.Next() {
						c.read = append(c.read, joined(rows.Values()))
					}
				}
				cursors = append(cursors, c)
			}
			end := func(c *cursor) {
				t.Helper()
				for c.rows.Next() {
					c.read = append(c.read, joined(c.rows.Values()))
				}
				slices.Sort(c.read)
				if got := strings.Join(c.read, ";"); c.rows.Err() != nil || got != c.want {
					t.Fatalf("a cursor has other rows than when it began, or %v", c.rows.Err())
				}
			}
			change := func(ask func(string) (Stats, error), m pointModel, k int) {
				t.Helper()
				text, n := m.pointOp(r, k)
				if st, err := ask(text); err != nil || st.Changed != n {
					t.Fatalf("%s: %d rows are changed, %v; want %d", text, st.Changed, err, n)
				}
			}
			one := func(got string, m pointModel, k int) {
				t.Helper()
				if got != m[k] {
					t.Fatalf("row %d is %s, want %s", k, got, m[k])
				}
			}
			const byKey = "SELECT v, s FROM t WHERE k = $1"
			var tx *Tx
			var own pointModel        // as tx sees the table
			changed := map[int]bool{} // by tx
			for range 300 {
				key := func() int { return 2 * (1 + r.IntN(rows/2+40)) } // tx has the odd ones
				if r.IntN(2) == 0 {
					key = func() int { return 2 * (1 + r.IntN(20)) }
				}
				switch act := r.IntN(40); {
				case act == 0:
					rows, err := db.Query(ctx, "SELECT * FROM t")
					begin(rows, err, m)
				case act == 1 && len(cursors) > 0:
					i := r.IntN(len(cursors))
					end(cursors[i])
					cursors = slices.Delete(cursors, i, i+1)
				case act < 4 && tx == nil:
					var err error
					if tx, err = db.Begin(ctx, TxOptions{}); err != nil {
						t.Fatal(err)
					}
					own = maps.Clone(m)
					clear(changed)
				case act == 2:
					if err := tx.Commit(ctx); err != nil {
						t.Fatal(err)
					}
					tx = nil
					for k := range changed {
						if delete(m, k); own[k] != "" {
							m[k] = own[k]
						}
					}
				case act == 3 && r.IntN(2) == 0:
					_ = tx.Rollback()
					tx = nil
				case act == 4 && tx != nil:
					rows, err := tx.Query(ctx, "SELECT * FROM t")
					begin(rows, err, own)
				case act < 12 && tx != nil:
					k := key() - 1
					change(func(text string) (Stats, error) { return tx.Exec(ctx, text) }, own, k)
					changed[k] = true
					one(said(Collect(tx.Query(ctx, byKey, k))), own, k)
				case act < 18:
					k := key()
					if tx != nil {
						one(said(Collect(tx.Query(ctx, byKey, k))), own, k)
					}
					one(said(do(t, db, byKey, k), nil), m, k)
				default:
					change(func(text string) (Stats, error) { return db.Exec(ctx, text) }, m, key())
				}
			}
			if tx != nil {
				_ = tx.Rollback()
			}
			for _, c := range cursors {
				end(c)
			}
			whole, err := db.Query(ctx, "SELECT * FROM t")
			begin(whole, err, m)
			end(cursors[len(cursors)-1])
			if dir == "" {
				return
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			db = open(t, Options{Backend: "cpu", Folder: dir})
			one(said(do(t, db, byKey, 8), nil), m, 8)
			change(func(text string) (Stats, error) { return db.Exec(ctx, text) }, m, 8)
			again, err := db.Query(ctx, "SELECT * FROM t")
			cursors = nil
			begin(again, err, m)
			end(cursors[0])
		})
	}
}

// joined is a row in words.
func joined(row []table.Value) string {
	var cells []string
	for _, v := range row {
		cells = append(cells, v.String())
	}
	return strings.Join(cells, "|")
}
