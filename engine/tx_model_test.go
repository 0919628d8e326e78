package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The model of a database under snapshot isolation, in plain Go: a table t with a key, and u without.

// modelRow is a row by its identity, which no statement sees.
type modelRow struct{ id, v int64 }

// modelTable has rows in the order in which they were added; each insert's rows have identities above all before.
type modelTable struct {
	made int // which table of the name it is: TRUNCATE makes another one
	rows map[int]modelRow
}

func (m modelTable) clone() modelTable { return modelTable{m.made, maps.Clone(m.rows)} }

func (m modelTable) order() []int { return slices.Sorted(maps.Keys(m.rows)) }

// duplicate reports that two rows have the same id.
func (m modelTable) duplicate() bool {
	seen := map[int64]bool{}
	for _, r := range m.rows {
		if seen[r.id] {
			return true
		}
		seen[r.id] = true
	}
	return false
}

func (m modelTable) String() string {
	var list []string
	for _, k := range m.order() {
		list = append(list, fmt.Sprintf("%d|%d", m.rows[k].id, m.rows[k].v))
	}
	return strings.Join(list, ";")
}

// model is what is committed.
type model struct {
	tables  map[string]modelTable
	commits int
	changed map[string]map[int]int // of each table the commit that changed or deleted a row last
	wrote   map[string]int         // the commit that changed a table last
	next    int                    // identities of rows and of tables
}

// modelTx is a transaction of the model.
type modelTx struct {
	began   int
	failed  bool
	tables  map[string]modelTable
	touched map[string]map[int]bool // rows of the snapshot
	whole   map[string]bool         // tables that it truncated
	written map[string]bool
	saved   []*modelTx // at its savepoints
}

// clone is the transaction as it is now.
func (tx *modelTx) clone() *modelTx {
	out := *tx
	out.tables, out.touched = map[string]modelTable{}, map[string]map[int]bool{}
	for name, t := range tx.tables {
		out.tables[name], out.touched[name] = t.clone(), maps.Clone(tx.touched[name])
	}
	out.whole, out.written = maps.Clone(tx.whole), maps.Clone(tx.written)
	return &out
}

func (m *model) begin() *modelTx {
	tx := &modelTx{began: m.commits, tables: map[string]modelTable{}, touched: map[string]map[int]bool{"t": {}, "u": {}}, whole: map[string]bool{}, written: map[string]bool{}}
	for name, t := range m.tables {
		tx.tables[name] = t.clone()
	}
	return tx
}

// modelStatement is a statement as the model has it: what it does to a table.
type modelStatement struct {
	kind     string // "insert", "upsert", "insert new", "set v", "set id", "delete", "truncate"
	table    string
	ids      []int64 // of those that insert
	v        int64
	mod, rem int64 // of rows with id % mod = rem
}

func (s modelStatement) SQL() string {
	where := fmt.Sprintf("WHERE id %% %d = %d", s.mod, s.rem)
	switch s.kind {
	case "insert", "upsert", "insert new":
		var rows []string
		for _, id := range s.ids {
			rows = append(rows, fmt.Sprintf("(%d, %d)", id, s.v))
		}
		conflict := map[string]string{"upsert": " ON CONFLICT (id) DO UPDATE SET v = t.v + excluded.v", "insert new": " ON CONFLICT DO NOTHING"}[s.kind]
		return fmt.Sprintf("INSERT INTO %s VALUES %s%s", s.table, strings.Join(rows, ", "), conflict)
	case "set v":
		return fmt.Sprintf("UPDATE %s SET v = v + %d %s", s.table, s.v, where)
	case "set id":
		return fmt.Sprintf("UPDATE %s SET id = id + %d %s", s.table, s.v, where)
	case "delete":
		return fmt.Sprintf("DELETE FROM %s %s", s.table, where)
	}
	return "TRUNCATE " + s.table
}

// apply does a statement, or nothing where it breaks the key of t.
func (m *model) apply(tx *modelTx, s modelStatement) bool {
	old := tx.tables[s.table]
	t := old.clone()
	touched, wrote := []int{}, false
	have := map[int64]int{} // the row of an id, of t
	for k, r := range old.rows {
		have[r.id] = k
	}
	for i, id := range s.ids {
		switch k, there := have[id]; {
		case s.table == "t" && s.kind == "insert new" && (there || slices.Contains(s.ids[:i], id)):
		case s.kind == "upsert" && slices.Contains(s.ids[:i], id):
			return false
		case s.kind == "upsert" && there:
			t.rows[k] = modelRow{id, old.rows[k].v + s.v}
			touched, wrote = append(touched, k), true
		default:
			m.next++
			t.rows[m.next], wrote = modelRow{id, s.v}, true
		}
	}
	for k, r := range old.rows {
		if s.ids != nil || s.kind != "truncate" && r.id%s.mod != s.rem {
			continue
		}
		touched, wrote = append(touched, k), true
		switch s.kind {
		case "set v":
			r.v += s.v
			t.rows[k] = r
		case "set id":
			r.id += s.v
			t.rows[k] = r
		default:
			delete(t.rows, k)
		}
	}
	if s.table == "t" && t.duplicate() {
		return false
	}
	if s.kind == "truncate" {
		m.next++
		t.made, wrote = m.next, true
		tx.whole[s.table] = true
	}
	tx.tables[s.table] = t
	for _, k := range touched {
		tx.touched[s.table][k] = true
	}
	if wrote {
		tx.written[s.table] = true
	}
	return true
}

// commit is false for a conflict.
func (m *model) commit(tx *modelTx) bool {
	next := map[string]modelTable{}
	for name := range tx.written {
		now, own := m.tables[name], tx.tables[name]
		if m.wrote[name] <= tx.began {
			next[name] = own
			continue
		}
		if base := m.wrote[name+" made"]; tx.whole[name] || base > tx.began {
			return false
		}
		merged := now.clone()
		for k := range tx.touched[name] {
			if m.changed[name][k] > tx.began {
				return false
			}
			if _, ours := own.rows[k]; !ours {
				delete(merged.rows, k)
			}
		}
		for _, k := range own.order() {
			r := own.rows[k]
			if _, there := now.rows[k]; there {
				if tx.touched[name][k] {
					merged.rows[k] = r
				}
			} else if m.added(tx, name, k) { // behind those that others have added
				m.next++
				merged.rows[m.next] = r
			}
		}
		if name == "t" && merged.duplicate() {
			return false
		}
		next[name] = merged
	}
	if len(next) == 0 {
		return true
	}
	m.commits++
	for name, t := range next {
		m.wrote[name] = m.commits
		if tx.whole[name] {
			m.wrote[name+" made"] = m.commits
		}
		for k := range tx.touched[name] {
			m.changed[name][k] = m.commits
		}
		m.tables[name] = t
	}
	return true
}

// added reports that a row is the transaction's own: no snapshot has had it, deleted or not.
func (m *model) added(tx *modelTx, name string, k int) bool {
	return m.changed[name][k] == 0
}

// TestSnapshotIsolation has several sessions interleave statements, and compares every read, every error and every commit's
// outcome with the model. It goes through restarts of the folder, and reads the folder as a crash would leave it.
func TestSnapshotIsolation(t *testing.T) {
	ctx := context.Background()
	conflicts, merges, aborted, undone, apart, refused := 0, 0, 0, 0, 0, 0
	filled, many := filledFolder(t)
	rapid.Check(t, func(rt *rapid.T) {
		beyond := rapid.IntRange(0, 11).Draw(rt, "beyond") == 0 // the host memory has no room for the tables
		inFolder := beyond || rapid.IntRange(0, 2).Draw(rt, "folder") == 0
		dir, budget, moduli := "", int64(0), [2]int{1, 11}
		if inFolder {
			dir = filepath.Join(t.TempDir(), "db")
		}
		if beyond {
			budget, moduli = modelBudget, [2]int{29, 40}
			if err := os.CopyFS(dir, os.DirFS(filled)); err != nil {
				rt.Fatal(err)
			}
		}
		reopen := func(at string) *DB {
			db, err := Open(Options{Backend: "cpu", Folder: at, HostMemory: budget, Calibrations: t.TempDir()})
			if err != nil {
				rt.Fatal(err)
			}
			return db
		}
		db := reopen(dir)
		defer func() { db.Close() }()
		for _, text := range modelTables {
			if _, err := db.Exec(ctx, text); err != nil && !beyond {
				rt.Fatal(err)
			}
		}
		m := &model{tables: map[string]modelTable{"t": {rows: map[int]modelRow{}}, "u": {rows: map[int]modelRow{}}}, changed: map[string]map[int]int{"t": {}, "u": {}}, wrote: map[string]int{}}
		if beyond {
			for name := range m.tables {
				m.tables[name] = modelTable{rows: maps.Clone(many)}
			}
			m.next = len(many)
		}
		sessions := []*Session{nil, nil, nil}
		open := make([]*modelTx, len(sessions))
		fresh := func() {
			for i := range sessions {
				sessions[i], open[i] = db.Session(), nil
			}
		}
		fresh()
		exec := func(i int, text string) error {
			_, err := sessions[i].Exec(ctx, text)
			rt.Logf("%d: %s -- %v", i, text, err)
			return err
		}
		reads := func(what string, ask func(text string) (*Rows, error), want map[string]modelTable) {
			for _, name := range []string{"t", "u"} {
				if got := said(Collect(ask("SELECT id, v FROM " + name))); got != want[name].String() {
					rt.Fatalf("%s: table %s is %s, want %s", what, name, got, want[name])
				}
				n := 0
				for _, r := range want[name].rows {
					if r.v > 1 {
						n++
					}
				}
				if got := said(Collect(ask("SELECT COUNT(*) AS n FROM " + name + " WHERE v > 1"))); got != fmt.Sprint(n) {
					rt.Fatalf("%s: %s rows of table %s, want %d", what, got, name, n)
				}
			}
		}
		root := func(text string) (*Rows, error) { return db.Query(ctx, text) }
		for range rapid.IntRange(20, 60).Draw(rt, "steps") {
			i := rapid.IntRange(0, len(sessions)-1).Draw(rt, "session")
			tx := open[i]
			switch act := rapid.IntRange(0, 23).Draw(rt, "action"); {
			case act < 5 && tx == nil:
				if err := exec(i, "BEGIN"); err != nil {
					rt.Fatal(err)
				}
				open[i] = m.begin()
			case act < 3 && tx != nil:
				err := exec(i, "COMMIT")
				open[i] = nil
				tooMuch := err != nil && beyond && strings.Contains(err.Error(), "what is changed of tables that are not in memory")
				switch want := !tx.failed && !tooMuch && m.commit(tx); {
				case tooMuch:
					refused++
				case want != (err == nil):
					rt.Fatalf("commit: %v, the model's succeeds: %v", err, want)
				case tx.failed:
					aborted++
				case !want:
					if conflicts++; !errors.Is(err, ErrConflict) {
						rt.Fatalf("commit: %v is no conflict", err)
					}
				case m.commits > tx.began+1:
					merges++
				}
			case act == 3 && tx != nil:
				if err := exec(i, "ROLLBACK"); err != nil {
					rt.Fatal(err)
				}
				open[i] = nil
			case act > 19 && tx != nil && !tx.failed && (act == 20 || len(tx.saved) == 0):
				if err := exec(i, fmt.Sprintf("SAVEPOINT s%d", len(tx.saved))); err != nil {
					rt.Fatal(err)
				}
				tx.saved = append(tx.saved, tx.clone())
			case act > 19 && tx != nil && len(tx.saved) > 0:
				at := rapid.IntRange(0, len(tx.saved)-1).Draw(rt, "savepoint")
				if !tx.failed && rapid.IntRange(0, 3).Draw(rt, "release") == 0 {
					if err := exec(i, fmt.Sprintf("RELEASE s%d", at)); err != nil {
						rt.Fatal(err)
					}
					tx.saved = tx.saved[:at:at]
					break
				}
				if err := exec(i, fmt.Sprintf("ROLLBACK TO s%d", at)); err != nil {
					rt.Fatal(err)
				}
				undone++
				saved := tx.saved[: at+1 : at+1]
				*tx = *saved[at].clone()
				tx.saved = saved
			case act == 5 && inFolder:
				if err := db.tables.Writer.Acquire(ctx, 1); err != nil {
					rt.Fatal(err)
				}
				err := db.checkpoint(ctx, nil)
				db.tables.Writer.Release(1)
				if err != nil {
					rt.Fatal(err)
				}
			case act == 6 && inFolder:
				if rapid.Bool().Draw(rt, "crash") {
					at := filepath.Join(t.TempDir(), "copy")
					if err := os.CopyFS(at, os.DirFS(dir)); err != nil {
						rt.Fatal(err)
					}
					other := reopen(at)
					if rapid.Bool().Draw(rt, "reads") {
						reads("after a crash", func(text string) (*Rows, error) { return other.Query(ctx, text) }, m.tables)
					}
					if err := db.Close(); err != nil {
						rt.Fatal(err)
					}
					db, dir = other, at // whose log has changes of its files
					fresh()
					break
				}
				if err := db.Close(); err != nil {
					rt.Fatal(err)
				}
				db = reopen(dir)
				fresh()
			case act < 8:
				if tx == nil {
					reads("committed", root, m.tables)
				} else if !tx.failed {
					reads("in a transaction", func(text string) (*Rows, error) { return sessions[i].Query(ctx, text) }, tx.tables)
				} else if err := exec(i, "SELECT 1"); err == nil {
					rt.Fatal("an aborted transaction takes a statement")
				}
			default:
				s := modelStatement{table: rapid.SampledFrom([]string{"t", "t", "u"}).Draw(rt, "table"),
					kind: rapid.SampledFrom([]string{"insert", "insert", "insert", "upsert", "insert new", "set v", "set v", "set v", "set id", "delete", "delete", "truncate"}).Draw(rt, "kind"),
					v:    int64(rapid.IntRange(1, 5).Draw(rt, "v")), mod: int64(rapid.IntRange(moduli[0], moduli[1]).Draw(rt, "modulus"))}
				s.rem = int64(rapid.IntRange(0, int(s.mod)-1).Draw(rt, "rest"))
				if s.kind == "truncate" && rapid.IntRange(0, 6).Draw(rt, "really") > 0 {
					s.kind = "delete"
				}
				if s.kind == "upsert" {
					s.table = "t"
				}
				inserts := 0
				if s.kind == "upsert" || strings.HasPrefix(s.kind, "insert") {
					inserts = rapid.IntRange(1, 4).Draw(rt, "rows")
				}
				for range inserts {
					s.ids = append(s.ids, int64(rapid.IntRange(0, 40).Draw(rt, "id")))
				}
				of, alone := tx, tx == nil
				if alone {
					of = m.begin()
				}
				err := exec(i, s.SQL())
				tooMuch := err != nil && beyond && strings.Contains(err.Error(), "what is changed of tables that are not in memory")
				if beyond {
					if e := sessions[i].DB().entry(s.table); e != nil && e.Open != nil && err == nil && s.ids == nil {
						apart++
					}
				}
				if tooMuch { // as a whole, and no fault of the statement
					refused++
				}
				want := !of.failed && !tooMuch && m.apply(of, s)
				if want != (err == nil) {
					rt.Fatalf("%s: %v, the model's succeeds: %v", s.SQL(), err, want)
				}
				if of.failed = !want; alone && want && !m.commit(of) {
					rt.Fatal("a statement alone conflicts")
				}
			}
		}
		reads("at the end", root, m.tables)
		for _, s := range sessions {
			if s.Begun() {
				if err := s.Close(); err != nil {
					rt.Fatal(err)
				}
			}
		}
		if db.snapshots.Len()+len(db.commits.open)+len(db.commits.history) > 0 {
			rt.Fatalf("%d snapshots are in use, %d transactions open, %d commits noted", db.snapshots.Len(), len(db.commits.open), len(db.commits.history))
		}
	})
	t.Logf("%d conflicts, %d merges, %d aborted, %d back to a savepoint, %d changes of rows in files, %d refused for what is changed", conflicts, merges, aborted, undone, apart, refused)
}

var modelTables = []string{"CREATE TABLE t (id bigint PRIMARY KEY, v bigint)", "CREATE TABLE u (id bigint, v bigint)"}

// modelBudget has no room for the tables of a folder that is filled.
const modelBudget = 14_000

// filledFolder is a folder whose tables have many rows each, in several files, and these rows.
func filledFolder(t *testing.T) (dir string, rows map[int]modelRow) {
	dir, rows = filepath.Join(t.TempDir(), "filled"), map[int]modelRow{}
	db := open(t, Options{Backend: "cpu", Folder: dir})
	for _, text := range modelTables {
		do(t, db, text)
	}
	for n := 130; n > 80; n -= 5 { // a file each, for it is smaller than the one before
		var list []string
		for range n {
			k := len(rows) + 1
			h := uint64(k) * 0x9e3779b97f4a7c15
			rows[k] = modelRow{int64(h>>2 | 64), int64(h >> 9)}
			list = append(list, fmt.Sprintf("(%d, %d)", rows[k].id, rows[k].v))
		}
		for _, name := range []string{"t", "u"} {
			do(t, db, "INSERT INTO "+name+" VALUES "+strings.Join(list, ", "))
		}
		do(t, db, "CHECKPOINT")
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return dir, rows
}
