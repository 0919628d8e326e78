package render

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stencildb/stencildb/bench/reporttest"
	"github.com/stencildb/stencildb/papers/lab"
)

// No two systems look the same without colours.
func TestFiguresCanBeReadInGrey(t *testing.T) {
	seen := map[string]string{}
	for _, l := range styles {
		key := fmt.Sprintf("%T %v", l.glyph, l.dashes)
		if other, ok := seen[key]; ok {
			t.Errorf("%s looks like %s", l.system, other)
		}
		seen[key] = l.system
	}
}

// Writers that fail are errors.
func TestFiguresThatCannotBeWritten(t *testing.T) {
	r := reporttest.Report("paper", "median", 1000, map[string][]float64{"classic": {1}})
	r.Results[0].Figure, r.Results[0].X = "8", 1000
	if err := Of(r).WriteFigures(filepath.Join(t.TempDir(), "gone")); err == nil {
		t.Error("no error for a folder that is not there")
	}
	if err := Of(r).WriteHTML(io.Discard); err != nil {
		t.Error(err)
	}
}

// A published table has ours beside the paper's, cell by cell.
func TestPublishedTables(t *testing.T) {
	r := reporttest.Batches()
	list := Of(r).Published(lab.Figure{Name: "table1", Tables: []lab.Table{{Title: "t", Heads: []string{"way", "16", "1k"},
		Rows: []lab.Row{{Name: "classic", Paper: []float64{0.3, 5.1}, Here: []lab.Value{lab.Speedup("search_16", "classic", "cpu"), lab.Speedup("search_1024", "classic", "cpu")}},
			{Name: "gone", Paper: []float64{1}, Here: []lab.Value{{}, lab.Median("gone", "cpu")}}}}}})
	want := [][]string{{"way", "16, paper", "here", "1k, paper", "here"}, {"classic", "0.3", "0.25", "5.1", "2"}, {"gone", "1", "–", "–", "–"}}
	if len(list) != 1 || !slices.EqualFunc(list[0].Rows, want, slices.Equal) {
		t.Errorf("%v", list)
	}
}
