package bench

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stencildb/stencildb/bench/workload"
	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/generate"
)

var update = flag.Bool("update", false, "write testdata/ssb/pipelines")

// The pipelines of the Star Schema Benchmark's queries at scale 0.01 are those of testdata/ssb/pipelines.
func TestPipelinesOfSSB(t *testing.T) {
	db, err := engine.Open(engine.Options{Backend: "cpu"})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	list, err := generate.Databases()[0].Tables(0.01)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range list {
		tab, err := g.Generate(context.Background(), g.DefaultRows, 1, 0)
		if err == nil {
			err = db.Add(tab)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, o := range workload.SSBOperations() {
		x, err := db.Explain(context.Background(), o.Query(nil).SQL, engine.ExplainOptions{Pipelines: true})
		if err != nil {
			t.Errorf("%s: %v", o.Name, err)
			continue
		}
		got := strings.Join(x.Lines(), "\n") + "\n"
		path := filepath.Join("..", "testdata", "ssb", "pipelines", o.Name+".txt")
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s (go test ./bench -run TestPipelinesOfSSB -update writes it):\n%s", o.Name, diff)
		}
	}
}
