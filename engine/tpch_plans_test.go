package engine_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/generate"
	"github.com/stencildb/stencildb/testdata"
)

var update = flag.Bool("update", false, "write testdata/tpch/plans")

// varies is what differs from one run or machine to the next: predictions and times.
var varies = regexp.MustCompile(`Predicted \(.*\n(  .*\n)*|Nodes, each.*\n(  .*\n)*|Execution time.*\n|, \d+\.\d+ ms|  \(\d+\.\d+ ms\)`)

// The plans of TPC-H's queries at scale 0.01, with the rows that their parts gave, are those of testdata/tpch/plans.
func TestPlansOfTPCH(t *testing.T) {
	db, err := engine.Open(engine.Options{Backend: "cpu"})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	list, err := generate.Databases()[1].Tables(0.01)
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
	engine.NumberSubplansAnew()
	var errors []float64 // of the estimates
	for _, q := range testdata.TPCH(0.01) {
		x, err := db.Explain(context.Background(), q.SQL, engine.ExplainOptions{Analyze: true})
		if err != nil {
			t.Errorf("%s: %v", q.Name, err)
			continue
		}
		var own []float64
		for _, e := range x.QErrors() {
			own = append(own, e.Factor())
			if e.Factor() > 5 {
				t.Logf("%s: %.0f: %d rows, %d expected: %s", q.Name, e.Factor(), e.Rows, e.Expected, e.Of)
			}
		}
		if slices.Sort(own); len(own) > 0 {
			t.Logf("%s: %d nodes, median q-error %.2f, largest %.2f", q.Name, len(own), own[len(own)/2], own[len(own)-1])
		}
		errors = append(errors, own...)
		got := varies.ReplaceAllString(strings.Join(x.Lines(), "\n")+"\n", "")
		path := filepath.Join("..", "testdata", "tpch", "plans", q.Name+".txt")
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
			t.Errorf("%s (go test ./engine -run TestPlansOfTPCH -update writes it):\n%s", q.Name, diff)
		}
	}
	slices.Sort(errors)
	t.Logf("q-errors of %d nodes: median %.2f, largest %.2f", len(errors), errors[len(errors)/2], errors[len(errors)-1])
	if errors[len(errors)/2] > 2 {
		t.Error("the estimates are off by more than 2, mostly")
	}
}
