package slt

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/plan/rules"
	"github.com/stencildb/stencildb/testdata"
)

var update = flag.Bool("update", false, "write the answers of the backend cpu into testdata/slt")

// gpu are the backends on the GPU, and compute on two devices.
var gpu = []string{"compute", "fused", "classic", "devices"}

// asked counts the statements of a backend.
type asked struct{ all, declined int }

// backends are the DBs that the files share, by backend and rows of a chunk. So a device is opened once for each, and programs
// that several files need are compiled once.
type backends struct {
	t      *testing.T
	dbs    map[string]*engine.DB
	counts map[string]*asked
	soft   bool // OpenGL runs on the CPU
}

func openBackends(t *testing.T) *backends {
	ctx, err := glctx.Open(glctx.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := &backends{t: t, dbs: map[string]*engine.DB{}, counts: map[string]*asked{}, soft: ctx.Caps().Software}
	if err := ctx.Close(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for name, db := range b.dbs {
			if err := db.Close(); err != nil {
				t.Error(name, err)
			}
		}
	})
	return b
}

// db is the DB of a backend, without calibration.
func (b *backends) db(backend string, chunkRows int) *engine.DB {
	key := fmt.Sprint(backend, chunkRows)
	if b.dbs[key] == nil {
		o := engine.Options{Backend: backend, Calibrations: b.t.TempDir(), ChunkRows: chunkRows, StatementTimeout: time.Minute}
		if backend == "devices" {
			o.Backend, o.Device = "compute", "0,1"
		}
		db, err := engine.Open(o)
		if err != nil {
			b.t.Fatal(err)
		}
		b.dbs[key] = db
	}
	return b.dbs[key]
}

// answer is a DB that answers as a Database for one file. What "norules" names is cpu without the rules of the optimizer. A query that a
// backend on the GPU leaves to others is declined, and what changes something is done by cpu. A device in software takes its time:
// there one of these backends is asked each query, unless in a soak.
func (b *backends) answer(t *testing.T, f *File, name string) Database {
	t.Helper()
	backend := name
	if name == "norules" {
		backend = "cpu"
	}
	mine, of := slices.Index(gpu, backend), uint32(len(gpu))
	if f.ChunkRows == 0 {
		of-- // without devices
	}
	if !b.soft || os.Getenv("STENCILDB_SOAK") != "" {
		mine = -1
	}
	n := b.counts[name]
	if n == nil {
		n = &asked{}
		b.counts[name] = n
	}
	db := b.db(backend, f.ChunkRows)
	sessions := map[string]*engine.Session{}
	t.Cleanup(func() {
		for _, s := range sessions {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
		empty(t, db)
	})
	return func(connection, sql string) ([][]Value, error) {
		session := sessions[connection]
		if session == nil {
			session = db.Session()
			sessions[connection] = session
			if name == "norules" {
				if _, err := session.Exec(context.Background(), "SET disable_rule = '"+strings.Join(ruleNames(), ", ")+"'"); err != nil {
					return nil, err
				}
			}
		}
		query := func(sql string) (*engine.Result, error) {
			return engine.Collect(session.Query(context.Background(), sql))
		}
		reads := reading.MatchString(sql) && !changing.MatchString(sql)
		if hash := fnv.New32a(); mine >= 0 && reads && !session.Begun() { // an error of a query ends a transaction
			hash.Write([]byte(sql))
			if int(hash.Sum32()%of) != mine {
				return nil, ErrDeclined
			}
		}
		n.all++
		var unplanned error
		if name == "cpu" && !session.Begun() && planned.MatchString(sql) && !strings.Contains(sql, " MERGE ") {
			_, unplanned = query("EXPLAIN (PIPELINES) " + sql)
		}
		r, err := query(sql)
		if err == nil && unplanned != nil {
			t.Errorf("%s\nhas no pipelines: %v", sql, unplanned)
		}
		if errors.Is(err, engine.ErrUnsupported) && slices.Contains(gpu, backend) {
			if n.declined++; reads {
				return nil, errors.Join(ErrDeclined, err)
			}
			if _, err := query("SET backend = cpu"); err != nil {
				return nil, err
			}
			r, err = query(sql)
			if _, err := query("RESET backend"); err != nil {
				return nil, err
			}
		}
		if err != nil {
			return nil, err
		}
		var rows [][]Value
		for _, row := range r.Rows {
			var values []Value
			for _, v := range row {
				values = append(values, Value{v.String(), v.Null})
			}
			rows = append(rows, values)
		}
		return rows, nil
	}
}

// ruleNames are the rules of the optimizer.
func ruleNames() (names []string) {
	for _, r := range rules.Rules {
		names = append(names, r.Name)
	}
	return names
}

// empty drops what a file has left, so that the next one finds nothing.
func empty(t *testing.T, db *engine.DB) {
	t.Helper()
	ctx := context.Background()
	for _, name := range db.Names(ctx, "").Tables {
		_, err := db.Exec(ctx, "DROP TABLE IF EXISTS "+name+" CASCADE")
		if err != nil {
			_, err = db.Exec(ctx, "DROP VIEW IF EXISTS "+name+" CASCADE")
		}
		if err != nil {
			t.Error(err)
		}
	}
	for _, name := range db.Names(ctx, "").Indexes { // of files
		if _, err := db.Exec(ctx, "DROP INDEX "+name); err != nil {
			t.Error(err)
		}
	}
	if n := db.Names(ctx, ""); len(n.Tables)+len(n.Indexes) > 0 {
		t.Errorf("the tables %q and the indexes %q are left", n.Tables, n.Indexes)
	}
}

// What matches reading and not changing leaves the database as it is; what matches planned has pipelines.
var (
	reading  = regexp.MustCompile(`^(SELECT|WITH|VALUES)\b`)
	planned  = regexp.MustCompile(`^(SELECT|WITH|VALUES|INSERT|UPDATE|DELETE)\b|^CREATE TABLE \S+ AS\b`)
	changing = regexp.MustCompile(`\b(INTO|UPDATE|INSERT|DELETE|MERGE|nextval|setval)\b`)
)

// Every file has its answers on every backend, and on cpu without the rules of the optimizer. The files are in the test
// binary, which runs on machines without them.
func TestFiles(t *testing.T) {
	paths, err := fs.Glob(testdata.SLT, "slt/*.slt")
	if err != nil || len(paths) == 0 {
		t.Fatal("no files", err)
	}
	folder, err := filepath.Abs("../../testdata")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := Unpack("."); err != nil {
		t.Fatal(err)
	}
	all := openBackends(t)
	for _, path := range paths {
		text, err := testdata.SLT.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f, err := Parse(filepath.Base(path), string(text))
		if err != nil {
			t.Fatal(err)
		}
		t.Run(filepath.Base(path), func(t *testing.T) {
			if *update {
				updated, err := f.Update("cpu", all.answer(t, f, "cpu"))
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(folder, path), []byte(updated), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			for _, name := range append([]string{"cpu", "auto", "norules"}, gpu...) {
				if name == "devices" && f.ChunkRows == 0 {
					continue
				}
				t.Run(name, func(t *testing.T) {
					if err := f.Run(name, all.answer(t, f, name)); err != nil {
						t.Error(err)
					}
				})
			}
		})
	}
	for backend, n := range all.counts {
		if n.declined > n.all/10 {
			t.Errorf("%s declines %d of %d statements", backend, n.declined, n.all)
		}
	}
}

// coded is an error with a SQLSTATE.
type coded struct{ error }

func (coded) SQLState() string { return "42P01" }

// fixed answers by the text of the statement.
func fixed(connection, sql string) ([][]Value, error) {
	switch sql {
	case "two":
		return [][]Value{{{Text: "2"}, {Null: true}}, {{Text: "1"}, {}}}, nil
	case "session":
		return [][]Value{{{Text: connection}}}, nil
	case "half":
		return [][]Value{{{Text: "0.5"}}}, nil
	case "none":
		return nil, nil
	case "coded":
		return nil, coded{errors.New("there is none")}
	case "elsewhere":
		return nil, fmt.Errorf("on classic: %w", ErrDeclined)
	}
	return nil, errors.New("there is no " + sql)
}

// The runner tells what differs by file and line, and what does not differ passes.
func TestRun(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"query IT\ntwo\n----\n2\tNULL\n1\t(empty)\n", ""},
		{"query IT\ntwo\n----\n2\nNULL\n1\n(empty)\n", ""},
		{"query IT\ntwo\n----\n2\tNULL\n1\tx\n", `f:1: two`},
		{"query IT\ntwo\n----\n2\tNULL\n", `f:1: two`},
		{"query IT\ntwo\n----\n1\t(empty)\n2\tNULL\n", `f:1: two`},
		{"query IT rowsort\ntwo\n----\n1\t(empty)\n2\tNULL\n", ""},
		{"query IT valuesort\ntwo\n----\n(empty)\n1\n2\nNULL\n", ""},
		{"query IT nosort\ntwo\n----\n4 values hashing to 52ef44aa1b9f4fa1fa84a3d82bb8a8be\n", `got ["2" "NULL" "1" "(empty)"]`},
		{"query I\ntwo\n----\n", "f:1: 2 columns, want 1"},
		{"query R\nhalf\n----\n0.500\n", ""},
		{"query T\nhalf\n----\n0.5\n", ""},
		{"query I\nhalf\n----\n", "f:1: column 1: 0.5 is no integer"},
		{"query I\nnone\n----\n", ""},
		{"query I\nnone\n----\n1\n", "f:1: none"},
		{"# words\n\nquery I\nall\n----\n1\n", "f:3: error: there is no all"},
		{"statement ok\nnone\n", ""},
		{"statement ok\nelsewhere\n\nquery I\nelsewhere\n----\n1\n", ""},
		{"statement ok\nall\n", "f:1: error: there is no all"},
		{"statement error no all\nall\n", ""},
		{"statement error\nall\n", ""},
		{"statement error 42P01\ncoded\n", ""},
		{"statement error 42P01 there is none\ncoded\n", ""},
		{"statement error none\ncoded\n", ""},
		{"statement error 42703\ncoded\n", `f:1: error "42P01 there is none", want "42703"`},
		{"statement error other\nall\n", `f:1: error "there is no all", want "other"`},
		{"statement error\nnone\n", "f:1: no error"},
		{"skipif cpu\nstatement ok\nall\n", ""},
		{"onlyif cpu\nstatement ok\nall\n", "f:2: error"},
		{"onlyif auto\nstatement ok\nall\n", ""},
		{"halt\n\nstatement ok\nall\n", ""},
		{"query R nosort x\nhalf\n----\n0.500\n\nquery T nosort x\nhalf\n----\n0.5\n", "labelled x"},
		{"query\nnone\n", "f:1: query takes types"},
		{"query I sorted\nnone\n", "f:1: a query is sorted by"},
		{"statement\nnone\n", "f:1: statement takes"},
		{"statement ok\n", "f:2: a record without SQL"},
		{"statement ok\nnone\n----\n1\n", "f:3: a statement has no answer"},
		{"\nselect\n", "f:2: \"select\" is no record"},
		{"hash-threshold x\n", "f:1: hash-threshold takes"},
		{"control chunkrows 4\n\nquery I\nnone\n----\n", ""},
		{"control chunkrows 0\n", "f:1: control chunkrows takes"},
		{"statement ok\nnone\n\ncontrol chunkrows 4\n", "f:4: control chunkrows takes"},
		{"query T\nsession\n----\n(empty)\n\nconnection a\n\nquery T\nsession\n----\na\n\nquery T\nsession\n----\na\n", ""},
		{"connection a\n\nconnection default\n\nquery T\nsession\n----\n(empty)\n", ""},
		{"connection\n", "f:1: connection takes a name"},
		{"skipif cpu\nconnection a\n", "f:2: connection takes a name"},
		{"skipif cpu\n", "f:1: a condition without a record"},
	} {
		f, err := Parse("f", c.text)
		if err == nil {
			err = f.Run("cpu", fixed)
		}
		if err == nil && c.want != "" || err != nil && (c.want == "" || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%q: %v, want %q", c.text, err, c.want)
		}
	}
}

// Update writes answers in the place of others, a hash for long ones, and leaves the rest; the file passes then.
func TestUpdate(t *testing.T) {
	f, err := Parse("f", "# head\nquery IT rowsort\ntwo\n\nquery T\nhalf\n----\n7\n8\n\nhash-threshold 3\n\nquery IT\ntwo\n----\n\nstatement error\nall\n")
	if err != nil {
		t.Fatal(err)
	}
	got, err := f.Update("cpu", fixed)
	want := "# head\nquery IT rowsort\ntwo\n----\n1\t(empty)\n2\tNULL\n\nquery T\nhalf\n----\n0.5\n\nhash-threshold 3\n\nquery IT\ntwo\n----\n4 values hashing to "
	if err != nil || !strings.HasPrefix(got, want) {
		t.Fatalf("%v, %q\nwant %q", err, got, want)
	}
	if f, err = Parse("f", got); err != nil {
		t.Fatal(err)
	}
	if err := f.Run("cpu", fixed); err != nil {
		t.Error(err)
	}
	if f, err = Parse("f", "statement ok\nall\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Update("cpu", fixed); err == nil {
		t.Error("a statement that fails is no answer")
	}
}

// Another database may order rows otherwise where nothing orders them, and differ in the last digits of numbers.
func TestRunPeer(t *testing.T) {
	for _, c := range []struct {
		text string
		same bool
	}{
		{"query IT\ntwo\n----\n1\t(empty)\n2\tNULL\n", true},
		{"query IT\ntwo\n----\n1\tNULL\n2\t(empty)\n", false},
		{"query IT\ntwo\n----\n2\tNULL\n", false},
		{"query T\nhalf\n----\n0.50000000000001\n", true},
		{"query T\nhalf\n----\n0.500000000001\n", false},
		{"onlyif duckdb\nquery T\nhalf\n----\n1\n", false},
		{"skipif duckdb\nquery T\nhalf\n----\n1\n", true},
	} {
		f, err := Parse("f", c.text)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.RunPeer("duckdb", fixed); (err == nil) != c.same {
			t.Errorf("%q: %v", c.text, err)
		}
	}
}
