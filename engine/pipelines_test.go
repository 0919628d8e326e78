package engine_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/testdata"
)

// The pipelines of TPC-H's queries at scale 0.01 are those of testdata/tpch/pipelines.
func TestPipelinesOfTPCH(t *testing.T) {
	db := openTPCH(t, engine.Options{Backend: "cpu"})
	for _, q := range testdata.TPCH(0.01) {
		x, err := db.Explain(context.Background(), q.SQL, engine.ExplainOptions{Pipelines: true})
		if err != nil {
			t.Errorf("%s: %v", q.Name, err)
			continue
		}
		got := strings.Join(x.Lines(), "\n") + "\n"
		path := filepath.Join("..", "testdata", "tpch", "pipelines", q.Name+".txt")
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s (go test ./engine -run TestPipelinesOfTPCH -update writes it):\n%s", q.Name, diff)
		}
	}
}

// A table that memory has no room for comes in batches of its file, and of a join the one that is.
func TestPipelinesOfBatches(t *testing.T) {
	tab := table.NewBuilder("f", []table.Field{{Name: "k", Type: table.Type{Kind: table.BigInt}}, {Name: "v", Type: table.Type{Kind: table.BigInt}}}, 4096)
	for row := range 60_000 {
		tab.Column(0).Value(table.Int(int64(row)))
		tab.Column(1).Value(table.Int(int64(uint64(row) * 0x9e3779b97f4a7c15)))
		if err := tab.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "f.parquet")
	if err := ingest.WriteFile(context.Background(), path, tab.Table()); err != nil {
		t.Fatal(err)
	}
	db, err := engine.Open(engine.Options{Backend: "cpu", HostMemory: 400_000})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(context.Background(), "CREATE TABLE d AS SELECT n AS k FROM generate_series(1, 100) AS x(n)"); err != nil {
		t.Fatal(err)
	}
	for sql, want := range map[string]string{
		"SELECT COUNT(*), SUM(v) FROM '" + path + "' WHERE v > 5":        `  Batches\(.*: v\) pruned by v > 5\n  Filter\(v > 5\) .*\n  Aggregate`,
		"SELECT COUNT(f.v) FROM '" + path + "' AS f JOIN d ON f.k = d.k": `  Batches\(.* AS f: k, v\)\n`,
		"SELECT MAX(k) FROM d": `  Scan\(d: k\)\n`,
		"SUMMARIZE d":          `  Aggregate\(COUNT\(\*\), .*COUNT\(DISTINCT k\)\)\n.*\n  Relation\(pipeline 1\)\n  Unpivot\(1 row of each\) .*\n`,
		"SELECT k FROM d WHERE k IN (SELECT k FROM '" + path + "') AND k % 10 = 3": `  Probe\(note matches, pipeline 1 by k\)`,
	} {
		x, err := db.Explain(context.Background(), sql, engine.ExplainOptions{Pipelines: true})
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		if text := strings.Join(x.Lines(), "\n"); !regexp.MustCompile(want).MatchString(text) {
			t.Errorf("%s:\n%s\nhas no %s", sql, text, want)
		}
	}
}
