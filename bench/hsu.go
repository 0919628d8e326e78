package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/bench/peer"
	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/papers/hsu"
	"github.com/stencildb/stencildb/papers/lab"
)

// hsuSuite repeats Hsu 2009: the same functions as SQL run beside it, on the engine's backends and on other databases.
func hsuSuite() Suite {
	var shared *hsuDatabases
	return suiteOfPaper(hsu.Paper(), func(ctx context.Context, s *lab.Setting, c *lab.Case) ([]lab.Way, error) {
		q, ok := c.Data.(*hsu.Question)
		if !ok {
			return nil, nil
		}
		if shared == nil || shared.setting != s {
			var err error
			if shared, err = openHsuDatabases(s); err != nil {
				return nil, err
			}
			s.AtEnd(func() error {
				defer func() { shared = nil }()
				return shared.close()
			})
		}
		return shared.ways(ctx, q)
	})
}

// hsuDatabase is a database beside the published one. Table b has the data, t is a copy that is asked, u one that is changed, and d is what
// is inserted into.
type hsuDatabase struct {
	changer
	system          string
	device, indexed bool // it runs on the OpenGL device; its tables have an index on c1
}

// hsuDatabases are all that cases share. They hold the data of one question.
type hsuDatabases struct {
	setting *lab.Setting
	list    []*hsuDatabase
	data    *int32 // the first of them
}

func openHsuDatabases(s *lab.Setting) (d *hsuDatabases, err error) {
	d = &hsuDatabases{setting: s}
	add := func(x hsuDatabase, open func() (changer, error)) {
		if err == nil {
			if x.changer, err = open(); err == nil {
				d.list = append(d.list, &x)
			}
		}
	}
	for _, b := range []struct{ system, backend string }{{hsu.SQLCompute, "compute"}, {hsu.SQLCPU, "cpu"}, {hsu.SQLAuto, "auto"}} {
		add(hsuDatabase{system: b.system, device: b.backend != "cpu"}, func() (changer, error) {
			return changingEngine(engine.Options{Backend: b.backend, Device: s.Options.Device, GPUMemory: s.Options.Memory})
		})
	}
	for _, p := range []struct {
		system, driver string
		indexed        bool
	}{{hsu.SQLiteIndex, sqliteDriver, true}, {hsu.SQLiteScan, sqliteDriver, false}, {hsu.DuckDB, duckDBDriver, false}} {
		if hasDriver(p.driver) {
			add(hsuDatabase{system: p.system, indexed: p.indexed}, func() (changer, error) { return changingPeer(p.driver, "") })
		}
	}
	if err != nil {
		return nil, errors.Join(err, d.close())
	}
	return d, nil
}

func (d *hsuDatabases) close() (err error) {
	for _, x := range d.list {
		err = errors.Join(err, x.close())
	}
	return err
}

// ways are those of a question.
func (d *hsuDatabases) ways(ctx context.Context, q *hsu.Question) (list []lab.Way, err error) {
	if first := &q.Data[hsu.C1][0]; d.data != first {
		for _, x := range d.list {
			if err := x.hold(ctx, q.Data); err != nil {
				return nil, fmt.Errorf("%s: %w", x.system, err)
			}
		}
		d.data = first
	}
	for _, x := range d.list {
		if q.Function == hsu.Insert && x.system == hsu.DuckDB {
			list = append(list, lab.Way{System: x.system, Cannot: "it is not made for statements of one record, which take it a thousand times as long as one of many"})
			continue
		}
		list = append(list, q.Way(x.system, x.device, x.do(q)))
		if q.Function == hsu.Insert && x.system == hsu.SQLCPU {
			list = append(list, q.Way(hsu.SQLBulk, false, x.bulk(q)))
		}
	}
	for _, missing := range []struct {
		driver, peer string
		systems      []string
	}{{sqliteDriver, "sqlite", []string{hsu.SQLiteIndex, hsu.SQLiteScan}}, {duckDBDriver, "duckdb", []string{hsu.DuckDB}}} {
		for _, system := range missing.systems {
			if !hasDriver(missing.driver) {
				reason := peer.Check(missing.peer).Error()
				if missing.peer == "sqlite" {
					reason += "; without it there are no turning points"
				}
				list = append(list, lab.Way{System: system, Cannot: reason})
			}
		}
	}
	return list, nil
}

const hsuColumns = " (c1 INTEGER, c2 INTEGER, c3 INTEGER)"

// all runs statements in turn.
func (x *hsuDatabase) all(ctx context.Context, texts ...string) error {
	for _, text := range texts {
		if err := x.exec(ctx, text); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	return nil
}

// sqlite reports whether it is SQLite.
func (x *hsuDatabase) sqlite() bool { return x.name == sqliteDriver }

// hold makes tables of the data.
func (x *hsuDatabase) hold(ctx context.Context, data hsu.Records) error {
	err := x.all(ctx, "DROP TABLE IF EXISTS t", "DROP TABLE IF EXISTS u", "DROP TABLE IF EXISTS d", "DROP TABLE IF EXISTS b", "CREATE TABLE b"+hsuColumns)
	if err == nil {
		err = x.load(ctx, "b", data)
	}
	if err == nil && x.sqlite() {
		err = x.all(ctx, "CREATE INDEX b_c1 ON b (c1)")
	}
	if err != nil {
		return err
	}
	return x.copied(ctx, "t")
}

// copied makes a table a copy of the data. Its columns are resident afterwards where they are to be.
func (x *hsuDatabase) copied(ctx context.Context, name string) error {
	texts := []string{"DROP TABLE IF EXISTS " + name, "CREATE TABLE " + name + " AS SELECT * FROM b"}
	if x.indexed {
		texts = append(texts, "CREATE INDEX "+name+"_c1 ON "+name+" (c1)")
	}
	if x.device {
		texts = append(texts, "SELECT SUM(c2), SUM(c3) FROM "+name+" WHERE c1 <= 1")
	}
	return x.all(ctx, texts...)
}

// before makes what a run changes what it was; last is how many records the run before it selected, 0 for none.
func (x *hsuDatabase) before(ctx context.Context, q *hsu.Question, last int) error {
	switch f := q.Function; {
	case !f.Changes(), f == hsu.UpdateSelected && last > 0:
		return nil
	case f == hsu.InsertSelect:
		return x.all(ctx, "DROP TABLE IF EXISTS d", "CREATE TABLE d"+hsuColumns)
	case last == 0 || !x.sqlite():
		return x.copied(ctx, "u")
	case f == hsu.Insert:
		return x.exec(ctx, "DELETE FROM u WHERE c1 > $1", len(q.Data[hsu.C1]))
	}
	return x.exec(ctx, "INSERT INTO u SELECT * FROM b WHERE c1 <= $1", last)
}

// after is what a run has changed: the contents of the table, or their summary.
func (x *hsuDatabase) after(ctx context.Context, f hsu.Function, whole bool, value int32) (hsu.Records, error) {
	name := "u"
	if f == hsu.InsertSelect {
		name = "d"
	}
	switch {
	case whole:
		return x.integers(ctx, "SELECT c1, c2, c3 FROM "+name)
	case f == hsu.UpdateSelected:
		return x.integers(ctx, "SELECT COUNT(*), SUM(c1), SUM(c2), COUNT(CASE WHEN c3 = $1 THEN 1 END) FROM "+name, int64(value))
	}
	return x.integers(ctx, "SELECT COUNT(*), SUM(c1), SUM(c2), SUM(c3) FROM "+name)
}

// do runs a question's function.
func (x *hsuDatabase) do(q *hsu.Question) hsu.Do {
	last, runs := 0, 0
	return func(ctx context.Context, n int, whole bool) (out hsu.Records, took lab.Took, err error) {
		if err := x.before(ctx, q, last); err != nil {
			return nil, took, err
		}
		last, runs = n, runs+1
		value := hsu.Value(runs)
		timed, err := lab.Timed(func() (err error) {
			switch q.Function {
			case hsu.Insert:
				for i := range n {
					if err := x.exec(ctx, "INSERT INTO u VALUES ($1, $2, $3)", int64(q.More[hsu.C1][i]), int64(q.More[hsu.C2][i]), int64(q.More[hsu.C3][i])); err != nil {
						return err
					}
				}
				return nil
			case hsu.InsertSelect:
				return x.exec(ctx, "INSERT INTO d SELECT c1, c2, c3 FROM t WHERE c1 <= $1", n)
			case hsu.UpdateSelected:
				return x.exec(ctx, "UPDATE u SET c3 = $1 WHERE c1 <= $2", int64(value), n)
			case hsu.DeleteSelected:
				return x.exec(ctx, "DELETE FROM u WHERE c1 <= $1", n)
			}
			out, err = x.integers(ctx, strings.Replace(q.Function.SQL(), "<= q", "<= $1", 1), n)
			return err
		})
		if err == nil && q.Function.Changes() {
			out, err = x.after(ctx, q.Function, whole, value)
		}
		return out, timed.Took, err
	}
}

// bulk inserts all records at once.
func (x *hsuDatabase) bulk(q *hsu.Question) hsu.Do {
	return func(ctx context.Context, n int, whole bool) (out hsu.Records, took lab.Took, err error) {
		if err := x.copied(ctx, "u"); err != nil {
			return nil, took, err
		}
		part := slices.Clone(q.More)
		for c := range part {
			part[c] = part[c][:n]
		}
		timed, err := lab.Timed(func() error { return x.load(ctx, "u", part) })
		if err == nil {
			out, err = x.after(ctx, q.Function, whole, 0)
		}
		return out, timed.Took, err
	}
}
