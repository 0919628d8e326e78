package storage

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/table"
)

var ctx = context.Background()

// every is a definition with a column of each type.
func every(name string) *Definition {
	d := &Definition{Name: name, Checks: []Check{{"positive", "id > 0"}}, Keys: []Key{{Name: "pk", Columns: []int{0}, Primary: true}}}
	for i, typ := range []table.Type{{Kind: table.BigInt}, {Kind: table.Varchar}, {Kind: table.Double}, {Kind: table.Boolean}, {Kind: table.SmallInt}, {Kind: table.Integer},
		{Kind: table.Decimal, Precision: 12, Scale: 2}, {Kind: table.Real}, {Kind: table.Date}, {Kind: table.Timestamp}} {
		d.Fields = append(d.Fields, table.Field{Name: fmt.Sprintf("c%d", i), Type: typ})
		d.Columns = append(d.Columns, Column{NotNull: i == 0})
	}
	d.Columns[4].Default = "1 + 1"
	return d
}

// draw is a value of a type, or NULL.
func draw(r *rand.Rand, t table.Type) table.Value {
	if r.IntN(4) == 0 {
		return table.Null(t)
	}
	v := table.Value{Type: t, I: int64(r.IntN(1 << r.IntN(15)))}
	switch t.Kind {
	case table.Boolean:
		v.I &= 1
	case table.BigInt:
		v.I = r.Int64() >> r.IntN(64)
	case table.Varchar:
		v.S = strings.Repeat("ä", r.IntN(3)) + strconv.Itoa(r.IntN(20))
	case table.Double, table.Real:
		v.F = []float64{math.NaN(), math.Inf(-1), 0, 1.5, -2}[r.IntN(5)]
	}
	return v
}

// database is a store with its tables, as an engine has them.
type database struct {
	*Store
	tables map[string]*table.Table
	next   int // the next id
}

func openOn(d disk) (*database, error) {
	s, err := open(ctx, d, "db", ingest.Options{})
	if err != nil {
		return nil, err
	}
	return loaded(s)
}

func openIn(dir string) (*database, error) {
	s, err := Open(ctx, dir, ingest.Options{})
	if err != nil {
		return nil, err
	}
	return loaded(s)
}

func loaded(s *Store) (*database, error) {
	db := &database{Store: s, tables: map[string]*table.Table{}}
	for _, saved := range s.Tables() {
		t, err := saved.Load(ctx, ingest.Options{})
		if err == nil {
			err = t.Check()
		}
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		db.tables[t.Name] = t
		if id, err := strconv.Atoi(t.Name[1:]); err == nil {
			db.next = max(db.next, id+1)
		}
		for _, c := range t.Chunks {
			for i := range c.Rows {
				db.next = max(db.next, int(c.Segments[0].Value(i).I)+1)
			}
		}
	}
	return db, nil
}

// state is all that the tables hold, in words.
func (db *database) state() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(db.tables)) {
		t := db.tables[name]
		fmt.Fprintln(&b, name, t.Fields)
		for _, c := range t.Chunks {
			for i := range c.Rows {
				if c.IsLive(i) {
					for f := range t.Fields {
						fmt.Fprintf(&b, "%s|", c.Segments[f].Value(i))
					}
					b.WriteByte('\n')
				}
			}
		}
	}
	return b.String()
}

// apply is the tables after a commit.
func apply(tables map[string]*table.Table, commit []Change) (map[string]*table.Table, error) {
	out := maps.Clone(tables)
	for i := range commit {
		c := &commit[i]
		t, err := c.Apply(out[c.Table])
		if err != nil {
			return nil, err
		}
		delete(out, c.Table)
		if t != nil {
			out[t.Name] = t
		}
	}
	return out, nil
}

// write appends a commit and does not wait for it.
func (db *database) write(commit ...Change) (Pending, error) {
	next, err := apply(db.tables, commit)
	if err != nil {
		return Pending{}, err
	}
	p, err := db.Append(commit)
	if err == nil {
		db.tables = next
	}
	return p, err
}

func (db *database) commit(commit ...Change) error {
	p, err := db.write(commit...)
	if err == nil {
		err = p.Wait()
	}
	return err
}

func (db *database) checkpoint() error {
	fresh, err := db.Checkpoint(ctx, slices.Collect(maps.Values(db.tables)))
	for _, t := range fresh {
		db.tables[t.Name] = t
	}
	return err
}

// beside is a checkpoint, and some commits during its parts. It is done at once where it has to be.
func (db *database) beside(commits func() error) error {
	b := db.Begin(slices.Collect(maps.Values(db.tables)))
	if b == nil {
		return db.checkpoint()
	}
	err := commits()
	if err == nil {
		err = b.Write(ctx)
	}
	if err == nil {
		err = commits()
	}
	if err != nil {
		b.Drop()
		return err
	}
	_, err = b.Finish()
	return err
}

// add adds rows to a table, a new one at times, in files of their own. Before it finishes it tells the tables as they will be.
func (db *database) add(r *rand.Rand, tell func(*database)) error {
	name := fmt.Sprintf("t%d", db.next)
	c := Change{Table: name}
	if names := slices.Sorted(maps.Keys(db.tables)); len(names) > 2 || len(names) > 0 && r.IntN(3) > 0 {
		name = names[r.IntN(len(names))]
		c.Table = name
	} else {
		db.next++
		c.Define = every(name)
	}
	def := cmp.Or(c.Define, find(db.Store.tables, name).definition())
	a, err := db.BulkLoad(def)
	if err != nil {
		return err
	}
	defer a.Drop()
	for range 1 + r.IntN(3) {
		t := &table.Table{Name: name, Fields: def.Fields}
		t.Chunks = []*table.Chunk{db.rows(r, t, 1+r.IntN(4))}
		if err := a.Add(ctx, t); err != nil {
			return err
		}
		c.Append = append(c.Append, t.Chunks...)
	}
	next, err := apply(db.tables, []Change{c})
	if err != nil {
		return err
	}
	tell(&database{tables: next})
	fresh, err := a.Finish(ctx, slices.Collect(maps.Values(db.tables)))
	if err != nil {
		return err
	}
	for _, t := range fresh {
		if next[t.Name] = t; t.Name == name {
			next[name], err = (&Change{Table: name, Append: c.Append}).Apply(t)
		}
	}
	db.tables = next
	return err
}

func (k *kept) definition() *Definition {
	if k == nil {
		return nil
	}
	return k.def
}

// rows are new ones for a table.
func (db *database) rows(r *rand.Rand, t *table.Table, n int) *table.Chunk {
	c := &table.Chunk{Rows: n}
	for i, f := range t.Fields {
		var list []table.Value
		for range n {
			v := draw(r, f.Type)
			if i == 0 {
				v = table.Int(int64(db.next))
				db.next++
			}
			list = append(list, v)
		}
		c.Segments = append(c.Segments, table.SegmentOf(f.Type, list...))
	}
	return c
}

// random is a commit of one or two changes.
func (db *database) random(r *rand.Rand) (commit []Change) {
	names := slices.Sorted(maps.Keys(db.tables))
	if len(names) == 0 || len(names) < 3 && r.IntN(6) == 0 {
		name := fmt.Sprintf("t%d", db.next)
		db.next++
		return []Change{{Table: name, Define: every(name)}}
	}
	for range 1 + r.IntN(2) {
		name := names[r.IntN(len(names))]
		t := db.tables[name]
		total := 0
		var live []int
		for _, c := range t.Chunks {
			for i := range c.Rows {
				if c.IsLive(i) && r.IntN(3) == 0 {
					live = append(live, total+i)
				}
			}
			total += c.Rows
		}
		c := Change{Table: name}
		switch r.IntN(12) {
		case 0:
			c.Compact = true
		case 1:
			d := every(name)
			for k := r.IntN(2); k > 0; k-- {
				d.Fields = append(d.Fields, table.Field{Name: "more", Type: table.Type{Kind: table.Varchar}})
				d.Columns = append(d.Columns, Column{})
			}
			c.Define = d
			for i := range d.Fields {
				c.From, c.Fill = append(c.From, i), append(c.Fill, table.Value{})
				if i >= len(t.Fields) {
					c.From[i], c.Fill[i] = -1, table.Str("new")
				}
			}
		case 2:
			if len(names) > 1 {
				return []Change{{Table: name, Drop: true}}
			}
		case 3, 4:
			c.Delete = live
		case 5, 6:
			for _, col := range []int{1, 1 + r.IntN(len(t.Fields)-1)} {
				u := Update{Column: col, Rows: live}
				var list []table.Value
				for range live {
					list = append(list, draw(r, t.Fields[col].Type))
				}
				u.Values = table.SegmentOf(t.Fields[col].Type, list...)
				c.Update = append(c.Update, u)
			}
		default:
			c.Append = []*table.Chunk{db.rows(r, t, 1+r.IntN(5))}
		}
		commit = append(commit, c)
		if c.Define != nil {
			break
		}
		names = slices.DeleteFunc(names, func(n string) bool { return n == name })
		if len(names) == 0 {
			break
		}
	}
	return commit
}

// A store that is closed and opened again has what it had; nothing is wrong in it.
func TestTablesComeBack(t *testing.T) {
	defer func(n, rows int) { batchCells, partRows = n, rows }(batchCells, partRows)
	for seed := range uint64(12) {
		if seed == 3 { // files are full soon
			partRows = 3
		}
		if seed == 6 { // tables are read for what the log changes of them
			batchCells = 8
		}
		r := rand.New(rand.NewPCG(seed, 1))
		dir := filepath.Join(t.TempDir(), "db")
		db, err := openIn(dir)
		for i := range 60 {
			if err == nil {
				err = db.commit(db.random(r)...)
			}
			if points := seed < 6 || i < 15; err == nil && points && r.IntN(12) == 0 {
				err = db.checkpoint()
			}
			if points := seed < 6 || i < 15; err == nil && points && r.IntN(8) == 0 {
				err = db.beside(func() (err error) {
					for n := r.IntN(3); n > 0 && err == nil; n-- {
						err = db.commit(db.random(r)...)
					}
					return err
				})
			}
			if points := seed < 6 || i < 15; err == nil && points && r.IntN(12) == 0 {
				will := ""
				if err = db.add(r, func(next *database) { will = next.state() }); err == nil && db.state() != will {
					t.Fatalf("seed %d, commit %d:\n%s\nnot\n%s", seed, i, db.state(), will)
				}
			}
			for _, k := range db.Store.tables {
				for _, p := range k.files {
					if p.Rows > partRows {
						t.Fatalf("seed %d, commit %d: %s has %d rows", seed, i, p.Name, p.Rows)
					}
				}
			}
			if err == nil && r.IntN(10) == 0 {
				before := db.state()
				if err = db.Close(); err == nil {
					if db, err = openIn(dir); err == nil && db.state() != before {
						t.Fatalf("seed %d, commit %d:\n%s\nnot\n%s", seed, i, db.state(), before)
					}
				}
			}
			if err != nil {
				t.Fatalf("seed %d, commit %d: %v", seed, i, err)
			}
		}
		found, err := Verify(ctx, dir)
		if err != nil || len(found.Problems) > 0 {
			t.Fatal(found, err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// Small changes of the log are put off, and large ones between them are not.
func TestChangesOfManyRowsComeBack(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	d := newModelled()
	db, err := openOn(d)
	if err != nil {
		t.Fatal(err)
	}
	update := func(rows ...int) Change {
		var values []table.Value
		for range rows {
			values = append(values, draw(r, table.Type{Kind: table.Varchar}))
		}
		return Change{Table: "t", Update: []Update{{1, rows, table.SegmentOf(table.Type{Kind: table.Varchar}, values...)}}}
	}
	insert := func(n int) Change { return Change{Table: "t", Append: []*table.Chunk{db.rows(r, db.tables["t"], n)}} }
	var many []int
	for i := range 2 * smallChange {
		many = append(many, i)
	}
	for i, change := range []func() Change{
		func() Change { return Change{Table: "t", Define: every("t")} },
		func() Change { return insert(3) },
		func() Change { return insert(2 * smallChange) },
		func() Change { return insert(2) },
		func() Change { return update(1, 5, 2*smallChange+4) },
		func() Change { return update(many...) },
		func() Change { return update(5) },
		func() Change { return Change{Table: "t", Delete: []int{5, 2*smallChange + 3}} },
		func() Change { return Change{Table: "t", Delete: many[7:]} },
		func() Change { return update(2*smallChange+1, 2*smallChange+4) },
		func() Change { return Change{Table: "t", Compact: true} },
		func() Change { return update(0, 8) },
	} {
		if err := db.commit(change()); err != nil {
			t.Fatal(err)
		}
		if again, err := openOn(d.after(r)); err != nil || again.state() != db.state() {
			t.Fatalf("after commit %d: %v", i, err)
		}
	}
}

// run does a workload until an error. It returns the states after each commit, from that at the opening on, and how
// many commits were written and how many acknowledged.
func run(d disk, seed uint64) (states []string, acknowledged int, err error) {
	r := rand.New(rand.NewPCG(seed, 2))
	states = []string{""}
	for range 2 {
		db, err := openOn(d)
		if err != nil {
			return states, acknowledged, err
		}
		commit := func() error {
			commit := db.random(r)
			next, err := apply(db.tables, commit)
			if err != nil {
				return err
			}
			states = append(states, (&database{tables: next}).state())
			p, err := db.write(commit...)
			if err == nil && r.IntN(3) > 0 {
				if err = p.Wait(); err == nil {
					acknowledged = len(states) - 1
				}
			}
			return err
		}
		for range 8 {
			err := commit()
			if points := r.IntN(6); err == nil && points < 3 {
				switch points {
				case 0:
					err = db.checkpoint()
				case 1:
					err = db.beside(commit)
				default:
					err = db.add(r, func(next *database) { states = append(states, next.state()) })
				}
				if err == nil {
					acknowledged = len(states) - 1
				}
			}
			if err != nil {
				return states, acknowledged, err
			}
		}
		if err := db.Close(); err != nil {
			return states, acknowledged, err
		}
		acknowledged = len(states) - 1
	}
	return states, acknowledged, nil
}

// The power is lost at every step of a workload: every acknowledged commit is there, no half one is.
func TestPowerIsLostAtEveryStep(t *testing.T) {
	for seed := range uint64(2) {
		whole := newModelled()
		if _, _, err := run(whole, seed); err != nil {
			t.Fatal(err)
		}
		for stop := 1; stop <= whole.steps; stop++ {
			d := newModelled()
			d.stopAt = stop
			states, acknowledged, err := run(d, seed)
			if err == nil {
				t.Fatalf("seed %d: the disk stopped at step %d, and all went well", seed, stop)
			}
			for again := range uint64(3) {
				after := d.after(rand.New(rand.NewPCG(uint64(stop), again)))
				db, err := openOn(after)
				if err != nil {
					t.Fatalf("seed %d, step %d: %v", seed, stop, err)
				}
				at := slices.Index(states[acknowledged:], db.state())
				if at < 0 {
					t.Fatalf("seed %d, step %d: of %d commits %d were acknowledged, and there is\n%s", seed, stop, len(states)-1, acknowledged, db.state())
				}
				found, err := verifyAll(ctx, after)
				problems := found.Problems
				if err == nil && len(problems) == 0 {
					err = db.commit(Change{Table: "more", Define: every("more")})
				}
				if err != nil || len(problems) > 0 {
					t.Fatalf("seed %d, step %d: afterwards: %v, %v", seed, stop, problems, err)
				}
			}
		}
	}
}

// A sync that fails ends all writing; what was acknowledged before is there.
func TestSyncThatFails(t *testing.T) {
	whole := newModelled()
	if _, _, err := run(whole, 1); err != nil {
		t.Fatal(err)
	}
	for at := 1; at <= whole.steps; at++ {
		d := newModelled()
		d.failSync = at
		states, acknowledged, err := run(d, 1)
		if err == nil {
			continue // the step is no sync
		}
		if !errors.Is(err, errSync) {
			t.Fatalf("step %d: %v", at, err)
		}
		db, err := openOn(d.after(rand.New(rand.NewPCG(uint64(at), 1))))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(states[acknowledged:], db.state()) {
			t.Fatalf("step %d: %d of %d commits were acknowledged, and there is\n%s", at, acknowledged, len(states)-1, db.state())
		}
	}
	d := newModelled()
	db, err := openOn(d)
	if err != nil {
		t.Fatal(err)
	}
	d.failSync = d.steps + 2 // behind the write of the record, which is too long for zeros behind it
	if err := db.commit(Change{Table: "t", Define: every("t")}); !errors.Is(err, errSync) {
		t.Fatal(err)
	}
	if _, err := db.Append([]Change{{Table: "t", Compact: true}}); !errors.Is(err, errSync) {
		t.Fatalf("a commit after a failed sync: %v", err)
	}
}

// A commit for which there is no room has not happened, and smaller ones go on.
func TestFullDisk(t *testing.T) {
	d := newModelled()
	db, err := openOn(d)
	if err == nil {
		err = db.commit(Change{Table: "t", Define: every("t")})
	}
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	for room := range 40 {
		d.room = 60 * room
		before := db.state()
		err := db.commit(Change{Table: "t", Append: []*table.Chunk{db.rows(r, db.tables["t"], 1+room)}})
		if err != nil && (!errors.Is(err, errFull) || db.state() != before) {
			t.Fatal(err)
		}
		d.room = 3 * room
		if err := db.checkpoint(); err != nil && !errors.Is(err, errFull) {
			t.Fatal(err)
		}
		d.room = 100 * room
		if err := db.beside(func() error { return nil }); err != nil && !errors.Is(err, errFull) {
			t.Fatal(err)
		}
		before = db.state()
		d.room = 150 * room
		if err := db.add(r, func(*database) {}); err != nil && (!errors.Is(err, errFull) || db.state() != before) {
			t.Fatal(err)
		}
		d.room = -1
		if err := db.commit(Change{Table: "t", Append: []*table.Chunk{db.rows(r, db.tables["t"], 1)}}); err != nil {
			t.Fatal(err)
		}
		again, err := openOn(d.after(r))
		if err != nil || again.state() != db.state() {
			t.Fatalf("room %d: %v", room, err)
		}
	}
}

// Each bit that changes in a file is an error that names the file, or changes nothing.
func TestDamage(t *testing.T) {
	d := newModelled()
	db, err := openOn(d)
	r := rand.New(rand.NewPCG(5, 5))
	small := &Definition{Name: "s", Fields: []table.Field{{Name: "id", Type: table.Type{Kind: table.BigInt}}, {Name: "w", Type: table.Type{Kind: table.Varchar}}}, Columns: make([]Column, 2)}
	for _, do := range []func() error{
		func() error { return db.commit(Change{Table: "s", Define: small}) },
		func() error {
			return db.commit(Change{Table: "s", Append: []*table.Chunk{db.rows(r, db.tables["s"], 5)}})
		},
		func() error { return db.checkpoint() },
		func() error {
			return db.commit(Change{Table: "s", Append: []*table.Chunk{db.rows(r, db.tables["s"], 2)}})
		},
		func() error { return db.commit(Change{Table: "s", Delete: []int{1, 3}}) },
		func() error { return db.Close() },
	} {
		if err == nil {
			err = do()
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	want := db.state()
	used := append(db.manifest.names(), manifestName)
	for _, name := range used {
		size := len(d.names[name].now)
		for at := range size {
			for _, cut := range []bool{false, true} {
				damaged := d.after(r)
				data := damaged.names[name].now
				if cut {
					damaged.names[name].now = data[:at]
				} else {
					data[at] ^= 1 << r.IntN(8)
				}
				got, err := openOn(damaged)
				switch {
				case err == nil && got.state() != want:
					t.Fatalf("byte %d of %s (cut: %v) is damaged, and other rows come back", at, name, cut)
				case err != nil && !strings.Contains(err.Error(), name):
					t.Fatalf("byte %d of %s: the error does not name the file: %v", at, name, err)
				}
				if found, err2 := verifyAll(ctx, damaged); err != nil && (err2 != nil || len(found.Problems) == 0 || found.Problems[0].File != name) {
					t.Fatalf("byte %d of %s: %v, %v, and opening says %v", at, name, found.Problems, err2, err)
				}
			}
		}
	}
	for _, name := range used {
		damaged := d.after(r)
		delete(damaged.names, name)
		if _, err := openOn(damaged); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("without %s: %v", name, err)
		}
	}
}

func TestOneProcessWrites(t *testing.T) {
	dir := t.TempDir()
	db, err := openIn(dir)
	if err == nil {
		err = db.commit(Change{Table: "t", Define: every("t")})
	}
	if err != nil {
		t.Fatal(err)
	}
	reader, err := openIn(dir)
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("process %d writes to it", os.Getpid()); reader.ReadOnly() != want || db.ReadOnly() != "" || reader.state() != db.state() {
		t.Errorf("%q, want %s", reader.ReadOnly(), want)
	}
	if err := reader.commit(Change{Table: "t", Drop: true}); err == nil || !strings.Contains(err.Error(), "read only") {
		t.Error(err)
	}
	if err := errors.Join(reader.Close(), db.Close()); err != nil {
		t.Fatal(err)
	}
	if db, err = openIn(dir); err != nil || db.ReadOnly() != "" {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// A writer whose lock was removed commits nothing more, for another process may write to the folder, and leaves that one's files alone.
func TestLockThatIsRemoved(t *testing.T) {
	for _, replaced := range []bool{false, true} {
		dir := t.TempDir()
		db, err := openIn(dir)
		if err == nil {
			err = db.commit(Change{Table: "t", Define: every("t")})
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(filepath.Join(dir, lockName)); err != nil {
			t.Fatal(err)
		}
		want := db.state()
		if replaced {
			other, err := openIn(dir)
			if err != nil || other.ReadOnly() != "" {
				t.Fatal(err)
			}
			if err := other.commit(Change{Table: "u", Define: every("u")}); err != nil {
				t.Fatal(err)
			}
			want = other.state()
			defer other.Close()
		}
		if err := db.commit(Change{Table: "w", Define: every("w")}); !errors.Is(err, errUnlocked) || !strings.Contains(err.Error(), dir) {
			t.Errorf("a commit without the lock: %v", err)
		}
		if err := db.checkpoint(); !errors.Is(err, errUnlocked) {
			t.Errorf("a checkpoint without the lock: %v", err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
		if again, err := openIn(dir); err != nil || again.state() != want {
			t.Errorf("%v, %s, want %s", err, again.state(), want)
		} else {
			again.Close()
		}
	}
}

// unwritten is a disk that cannot be written to.
type unwritten struct{ disk }

func (unwritten) lock() (string, *lock, error) { return unwritable, nil, nil }

func TestFolderThatCannotBeWrittenTo(t *testing.T) {
	d := newModelled()
	db, err := openOn(d)
	if err == nil {
		err = db.commit(Change{Table: "t", Define: every("t")})
	}
	if err != nil {
		t.Fatal(err)
	}
	reader, err := openOn(unwritten{d})
	if err != nil || reader.ReadOnly() != unwritable || reader.state() != db.state() {
		t.Fatal(err)
	}
	if err := reader.commit(Change{Table: "t", Drop: true}); fmt.Sprint(err) != "storage: db is read only here: the folder cannot be written to" {
		t.Error(err)
	}
}

// A folder without its manifest is said to be so by the name of the file.
func TestVerifyNamesTheManifest(t *testing.T) {
	dir := t.TempDir()
	db, err := openIn(dir)
	if err == nil {
		err = errors.Join(db.commit(Change{Table: "t", Define: every("t")}), db.Close(), os.Remove(filepath.Join(dir, manifestName)))
	}
	if err != nil {
		t.Fatal(err)
	}
	if found, err := Verify(ctx, dir); err != nil || len(found.Problems) != 1 || found.Problems[0].String() != "manifest: the manifest is missing, and log-1 is there" {
		t.Errorf("%v, %v", found.Problems, err)
	}
	if _, err := Verify(ctx, t.TempDir()); fmt.Sprint(err) != "there is no database in the folder: it has no file manifest" {
		t.Error(err)
	}
}

// What Verify is for besides damage.
func TestVerifyFindsRowsThatBreakTheDefinition(t *testing.T) {
	d := newModelled()
	db, err := openOn(d)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	rows := func(first table.Value) Change {
		c := db.rows(r, db.tables["t"], 1)
		c.Segments[0] = table.SegmentOf(first.Type, first)
		return Change{Table: "t", Append: []*table.Chunk{c}}
	}
	err = db.commit(Change{Table: "t", Define: every("t")})
	for _, v := range []table.Value{table.Int(1), table.Int(2), table.Int(1), table.Null(table.Int(0).Type)} {
		if err == nil {
			err = db.commit(rows(v))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	found, err := verifyAll(ctx, d)
	if err != nil || len(found.Problems) != 3 || !strings.Contains(found.Problems[2].String(), "row 2 has the values of key pk") {
		t.Fatal(found, err)
	}
}

// Commits of many goroutines share syncs.
func TestCommitsShareSyncs(t *testing.T) {
	d := newModelled()
	db, err := openOn(d)
	if err == nil {
		err = db.commit(Change{Table: "t", Define: every("t")})
	}
	if err != nil {
		t.Fatal(err)
	}
	row := db.rows(rand.New(rand.NewPCG(1, 1)), db.tables["t"], 1)
	var wg sync.WaitGroup
	written := func() Pending {
		p, err := db.Append([]Change{{Table: "t", Append: []*table.Chunk{row}}})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	wait := func(p Pending) {
		wg.Go(func() {
			if err := p.Wait(); err != nil {
				t.Error(err)
			}
		})
	}
	before := d.syncs
	began, release := make(chan struct{}), make(chan struct{})
	d.syncing = func() { close(began); <-release }
	wait(written())
	<-began // and meanwhile others commit
	for range 16 {
		wait(written())
	}
	close(release)
	wg.Wait()
	if got := d.syncs - before; got != 2 {
		t.Errorf("17 commits took %d syncs; 16 of them were there when the first sync ended", got)
	}
	again, err := openOn(d.after(rand.New(rand.NewPCG(1, 1))))
	if err != nil || again.tables["t"].Rows() != 17 {
		t.Fatal(err)
	}
}

// Records of any length, of many goroutines, are in the log when their wait is over, wherever the disk stops or fails. None comes
// twice, and none in part.
func TestLogStops(t *testing.T) {
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 8))
		d := newModelled()
		l, err := newLog(d, 1)
		if err == nil {
			err = d.sync()
		}
		if err != nil {
			t.Fatal(err)
		}
		switch r.IntN(4) {
		case 0:
			d.room = r.IntN(20_000)
		case 1:
			d.failSync = 3 + r.IntN(100)
		default:
			d.stopAt = 3 + r.IntN(200)
		}
		var mu sync.Mutex
		acked, given := map[string]bool{}, map[string]bool{}
		var wg sync.WaitGroup
		for g := range 3 {
			r := rand.New(rand.NewPCG(seed, uint64(g)))
			wg.Go(func() {
				for i := range 40 {
					n := r.IntN(60)
					if r.IntN(6) == 0 {
						n = r.IntN(3 * int(logAhead))
					}
					commit := []byte(fmt.Sprintf("%d of %d%s", i, g, strings.Repeat(".", n)))
					mu.Lock()
					given[string(commit)] = true
					mu.Unlock()
					parts := [][]byte{make([]byte, recordHead)} // of any sizes
					for at := 0; at < len(commit); {
						n := min(len(commit)-at, []int{1, 30, int(logBlock), int(logAhead)}[r.IntN(4)])
						if i := len(parts) - 1; r.IntN(2) == 0 {
							parts[i] = append(parts[i], commit[at:at+n]...)
						} else {
							parts = append(parts, commit[at:at+n])
						}
						at += n
					}
					end, err := l.append(parts...)
					if err != nil && !errors.Is(err, errStopped) && !errors.Is(err, errFull) && !errors.Is(err, errSync) {
						t.Error(seed, err)
					}
					if err == nil && r.IntN(3) > 0 {
						err = l.wait(end)
						if err == nil {
							mu.Lock()
							acked[string(commit)] = true
							mu.Unlock()
						} else if !errors.Is(err, errStopped) && !errors.Is(err, errFull) && !errors.Is(err, errSync) {
							t.Error(seed, err)
						}
					}
				}
			})
		}
		wg.Wait()
		if r.IntN(2) == 0 && l.close() == nil {
			clear(acked) // all that was taken is there
		}
		again := d.after(r)
		there := map[string]bool{}
		back, err := openLog(again, 1, func(_ int64, commit []byte) error {
			if there[string(commit)] || !given[string(commit)] {
				return fmt.Errorf("the log has %.20q", commit)
			}
			there[string(commit)] = true
			return nil
		})
		if err == nil {
			err = back.cut()
		}
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for commit := range acked {
			if !there[commit] {
				t.Fatalf("seed %d: %.20q was acknowledged, and of %d records %d are there", seed, commit, len(given), len(there))
			}
		}
		end, err := back.append(append(make([]byte, recordHead), "one more"...)) // behind what was read
		if err == nil {
			err = back.wait(end)
		}
		n := 0
		if err == nil {
			_, err = openLog(again.after(r), 1, func(int64, []byte) error { n++; return nil })
		}
		if err != nil || n != len(there)+1 {
			t.Fatalf("seed %d: %d records after one more than %d: %v", seed, n, len(there), err)
		}
	}
}

// A log that was closed has a mark of all of it, however close its commits were. One that was not has a mark of one of the first of
// them.
func TestLogIsMarked(t *testing.T) {
	defer func(d time.Duration) { markEvery = d }(markEvery)
	markEvery = time.Hour
	for _, commits := range []int{1, 5} {
		d := newModelled()
		l, err := newLog(d, 1)
		for i := 0; i < commits && err == nil; i++ {
			var end int64
			if end, err = l.append([]byte(strings.Repeat("0", recordHead) + "a commit")); err == nil {
				err = l.wait(end)
			}
		}
		if err == nil && commits > 1 {
			err = l.close()
		}
		if err != nil {
			t.Fatal(err)
		}
		d.names[logName(1)].now[l.end-1] ^= 1
		if _, err := openLog(d, 1, func(int64, []byte) error { return nil }); !errors.As(err, new(*damage)) {
			t.Errorf("the last of %d records is damaged, and the log opens: %v", commits, err)
		}
	}
}

// TestMain is also the process that [TestKill] kills.
func TestMain(m *testing.M) {
	if dir := os.Getenv("STORAGE_TEST_DIR"); dir != "" {
		if err := child(dir); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		return
	}
	logAhead, logBlock, markEvery = 512, 128, 0 // of a modelled disk, whose logs are short
	os.Exit(m.Run())
}

// child commits rows of one number each, in two tables at a time, and prints the numbers that are acknowledged.
func child(dir string) error {
	db, err := openIn(dir)
	if err != nil {
		return err
	}
	n := 0
	if len(db.tables) == 0 {
		err = db.commit(Change{Table: "a", Define: numbers("a")}, Change{Table: "b", Define: numbers("b")})
	} else {
		n = db.tables["a"].Rows()
	}
	add := func() error {
		row := []*table.Chunk{{Rows: 1, Segments: []*table.Segment{table.SegmentOf(table.Int(0).Type, table.Int(int64(n)))}}}
		err := db.commit(Change{Table: "a", Append: row}, Change{Table: "b", Append: row})
		if err == nil {
			fmt.Println(n)
			n++
		}
		return err
	}
	for err == nil {
		switch err = add(); {
		case err != nil:
		case n%64 == 0:
			err = db.checkpoint()
		case n%32 == 0:
			err = db.beside(add)
		}
	}
	return err
}

func numbers(name string) *Definition {
	return &Definition{Name: name, Fields: []table.Field{{Name: "n", Type: table.Type{Kind: table.BigInt}}}, Columns: make([]Column, 1), Keys: []Key{{Name: "n", Columns: []int{0}, Primary: true}}}
}

// A process is killed at any moment, 200 times: what it acknowledged is there, and no half a commit is.
func TestKill(t *testing.T) {
	times := 200
	if testing.Short() {
		times = 20
	}
	dir := filepath.Join(t.TempDir(), "db")
	r := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1))
	for i := range times {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), "STORAGE_TEST_DIR="+dir)
		out, err := c.StdoutPipe()
		if err == nil {
			err = c.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		kill := time.AfterFunc(time.Duration(r.IntN(40_000))*time.Microsecond, func() { _ = c.Process.Kill() })
		last := -1
		for lines.Scan() {
			n, err := strconv.Atoi(lines.Text())
			if err != nil {
				t.Fatal(lines.Text())
			}
			last = n
		}
		_ = c.Wait()
		kill.Stop()
		db, err := openIn(dir)
		if err != nil {
			t.Fatalf("after kill %d: %v", i, err)
		}
		if len(db.tables) > 0 {
			a, b := db.tables["a"], db.tables["b"]
			if a.Rows() != b.Rows() || a.Rows() <= last {
				t.Fatalf("after kill %d: %d was acknowledged, and there are %d and %d rows", i, last, a.Rows(), b.Rows())
			}
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		if i%20 == 19 {
			if found, err := Verify(ctx, dir); err != nil || len(found.Problems) > 0 {
				t.Fatal(found, err)
			}
		}
	}
}

// A folder of other files becomes no database, and nothing is written to it.
func TestFolderOfOtherFiles(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, ".hidden"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	db, err := openIn(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.Close(), os.WriteFile(filepath.Join(dir, "notes.txt"), nil, 0o666)); err != nil {
		t.Fatal(err)
	}
	if db, err = openIn(dir); err != nil { // it has a manifest
		t.Fatal(err)
	}
	foreign := t.TempDir()
	if err := errors.Join(db.Close(), os.WriteFile(filepath.Join(foreign, "notes.txt"), nil, 0o666)); err != nil {
		t.Fatal(err)
	}
	if _, err := openIn(foreign); err == nil || !strings.Contains(err.Error(), "notes.txt") {
		t.Error(err)
	}
	if names, err := os.ReadDir(foreign); err != nil || len(names) != 1 {
		t.Errorf("there are %v, %v", names, err)
	}
}

// A checkpoint beside commits is not begun where a quarter of a table's rows is deleted: it would write these, too.
func TestBesideLeavesManyDeletedRows(t *testing.T) {
	db, err := openOn(newModelled())
	if err == nil {
		err = db.commit(Change{Table: "t", Define: every("t")})
	}
	if err == nil {
		err = db.commit(Change{Table: "t", Append: []*table.Chunk{db.rows(rand.New(rand.NewPCG(1, 1)), db.tables["t"], 8)}})
	}
	for n, row := range []int{3, 5, 6} {
		if err == nil {
			err = db.commit(Change{Table: "t", Delete: []int{row}})
		}
		if err != nil {
			t.Fatal(err)
		}
		b := db.Begin(slices.Collect(maps.Values(db.tables)))
		if began := b != nil; began != (n < 2) {
			t.Errorf("%d of 8 rows are deleted, and it is begun: %v", n+1, began)
		}
		if b != nil {
			b.Drop()
		}
	}
}
