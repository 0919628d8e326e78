package engine_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/stencildb/stencildb/engine"
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
