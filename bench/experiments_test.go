package bench

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stencildb/stencildb/bench/evaluation"
	"github.com/stencildb/stencildb/bench/meter"
	"github.com/stencildb/stencildb/bench/render"
	"github.com/stencildb/stencildb/bench/report"
	"github.com/stencildb/stencildb/bench/reporttest"
	"github.com/stencildb/stencildb/bench/workload"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/papers/lab"
)

// ready is a configuration of a small run.
func ready(t *testing.T, rows int) Config {
	t.Helper()
	machine, err := report.ReadMachine(glctx.Options{}, "test")
	if err != nil {
		t.Fatal(err)
	}
	return Config{Rows: []int{rows}, Rounds: 2, Machine: machine, Command: "stencildb bench", Source: workload.Generated("uniform", 1)}
}

// Every paper's experiments run, over few rows and in two rounds: verified, drawn, all claims judged, the JSON as the schema says.
func TestExperiments(t *testing.T) {
	for _, s := range Suites() {
		if !s.Experiments() {
			continue
		}
		t.Run(s.Name, func(t *testing.T) { runExperiments(t, s) })
	}
}

func runExperiments(t *testing.T, s Suite) {
	rows := 4096
	if s.Name == "hsu" { // its statements are many, over five sizes of table
		rows = 2000
	}
	r, err := s.Run(t.Context(), ready(t, rows))
	if err != nil {
		t.Fatalf("%s: %v", s.Name, err)
	}
	checkSchema(t, r)
	judged := map[string]bool{}
	for _, h := range r.Headlines {
		if judged[h.What] = true; h.Verdict == "" || h.Where == "" || h.On == "" || !strings.Contains(h.Sentence, "The paper: ") {
			t.Errorf("%s: %+v", s.Name, h)
		}
	}
	for _, c := range s.experiments.Claims {
		ofSizes := c.What == "the join's best size" // 4,096 tuples have one of the text's
		without := func(x report.Skip) bool { return x.System == c.Of || c.Over != "" && x.System == c.Over }
		if !judged[c.What] && !ofSizes && !slices.ContainsFunc(r.Skipped, without) {
			t.Errorf("%s: nothing is said of %s", s.Name, c.What)
		}
	}
	dir := t.TempDir()
	var text bytes.Buffer
	if err := errors.Join(render.Of(r).WriteFigures(dir), render.Of(r).WriteText(&text), render.Of(r).WriteGo(&text)); err != nil {
		t.Fatalf("%s: %v", s.Name, err)
	}
	page, err := os.ReadFile(filepath.Join(dir, "report.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range s.Figures {
		if s.Name == "hsu" && slices.Contains([]lab.Name{"4-8", "table4-4"}, f.Name) { // turning points beside SQLite, which a build tag brings
			continue
		}
		if n := len(render.Of(r).Panels(f)); n != len(f.Panels) {
			t.Errorf("%s: %v has points in %d panels, want %d", s.Name, f.Name, n, len(f.Panels))
		}
		if n := len(render.Of(r).Published(f)); n != len(f.Tables) {
			t.Errorf("%s: %v has %d tables, want %d", s.Name, f.Name, n, len(f.Tables))
		}
		if !bytes.Contains(page, []byte(`id="`+f.File()+`"`)) {
			t.Errorf("%s: the page lacks %v", s.Name, f.Name)
		}
	}
	for _, x := range r.Results {
		if x.Work <= 0 || x.Unit == "" || x.Figure == "" || len(x.MS) != 2 {
			t.Errorf("%s: %+v", s.Name, x)
		}
	}
}

// try is a suite of one case, whose ways are given.
func try(ways ...lab.Way) Suite {
	return suiteOfPaper(lab.Paper{Name: "try", Hardware: "nothing", Counted: "things", Rows: 1,
		Figures: []lab.Figure{{Name: "1", Panels: []lab.Panel{{Operations: []string{"a", "b"}}}}},
		Cases: func(s *lab.Setting) (list []lab.Case, err error) {
			for _, name := range []string{"a", "b"} {
				list = append(list, lab.Case{Figure: "1", Name: name, Rows: s.Rows, Work: 1, Unit: "things", Open: func(context.Context) ([]lab.Way, error) { return ways, nil }})
			}
			return list, nil
		}}, nil)
}

// gives is a way that gives a digest, and counts how often it is run.
func gives(system string, digest uint32, runs *int) lab.Way {
	return lab.Way{System: system, Run: func(context.Context) (lab.Outcome, error) {
		*runs++
		return lab.Outcome{Took: lab.Took{Wall: time.Millisecond}, Digest: lab.Digest{digest}}, nil
	}}
}

// A run from some number of rows on leaves out smaller tables, and claims that compare them.
func TestExperimentsFromARow(t *testing.T) {
	s, err := FindSuite("wisconsin")
	if err == nil {
		s, err = s.OnlyFigures("7")
	}
	c := ready(t, 2000)
	c.From = 2000
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Run(t.Context(), c)
	if err != nil || len(r.Results) == 0 {
		t.Fatal(r, err)
	}
	for _, x := range r.Results {
		if x.Rows != 2000 {
			t.Errorf("%+v", x)
		}
	}
	for _, h := range r.Headlines {
		if strings.Contains(h.What, "smallest") {
			t.Errorf("%+v", h)
		}
	}
	c.From = 3000
	if _, err := s.Run(t.Context(), c); err == nil || !strings.Contains(err.Error(), "no case of the suite wisconsin has a table of 3000 rows or more") {
		t.Error(err)
	}
}

// A form that gives a wrong output ends the run before anything is timed: by its check, or since its digest differs.
func TestAWrongFormEndsTheRun(t *testing.T) {
	wrong, runs := errors.New("place 3 is 7, and is 8"), 0
	checked := gives("b", 1, &runs)
	checked.Check = func(context.Context) error { return wrong }
	for name, ways := range map[string][]lab.Way{"checked": {checked}, "digest": {gives("a", 1, &runs), gives("b", 2, &runs)}} {
		runs = 0
		r, err := try(ways...).Run(t.Context(), ready(t, 10))
		if name == "checked" && (!errors.Is(err, wrong) || runs != 0) || name == "digest" && (!errors.As(err, new(*meter.DifferError)) || runs > 3) || r != nil {
			t.Errorf("%s: %v after %d runs", name, err, runs)
		}
	}
}

// A way that cannot run is left out with its reason. One that stops on the way has no output. Counters are those of one run.
func TestWaysOfACase(t *testing.T) {
	runs := 0
	counts := gives("a", 1, &runs)
	counts.Counters = func(context.Context) (map[string]float64, error) { return map[string]float64{"reads": 5}, nil }
	counts.Sections = func(context.Context) ([]lab.Section, error) {
		return []lab.Section{{What: "w", Name: "s", Took: time.Second}}, nil
	}
	part := gives("part", 9, &runs)
	part.Partial = true
	r, err := try(counts, part, lab.Way{System: "none", Cannot: "there is one device"}).Run(t.Context(), ready(t, 10))
	if err != nil || len(r.Results) != 4 || len(r.Skipped) != 2 || r.Skipped[0].Reason != "there is one device" {
		t.Fatalf("%v: %+v", err, r)
	}
	if x := r.Find("a", 10, "a"); x.Counters["reads"] != 5 || len(x.Sections) != 1 || x.Sections[0].Name != "s" || len(x.Sections[0].MS) != 2 || x.Sections[0].MedianMS != 1000 || x.MedianMS != 1 {
		t.Errorf("%+v", x)
	}
}

// What was measured before an interruption is complete.
func TestAnInterruptedExperiment(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	runs, c := 0, ready(t, 10)
	c.Progress = func(p Progress) {
		if p.Doing == "b" {
			cancel()
		}
	}
	r, err := try(gives("a", 1, &runs)).Run(ctx, c)
	if !errors.Is(err, context.Canceled) || r == nil || !r.Interrupted || len(r.Results) != 1 || len(r.Results[0].MS) != 2 {
		t.Errorf("%v: %+v", err, r)
	}
}

// Parts of a run by figures are one report.
func TestPartsOfExperiments(t *testing.T) {
	var parts []*report.Report
	for _, name := range []string{"table1", "8"} {
		s, err := suite(t, "pary").OnlyFigures(name)
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.Run(t.Context(), ready(t, 64))
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, r)
	}
	r, err := evaluation.Merge(parts...)
	if err != nil || len(r.Results) != len(parts[0].Results)+len(parts[1].Results) || len(r.Headlines) != len(parts[0].Headlines)+len(parts[1].Headlines) {
		t.Errorf("%v: %+v", err, r)
	}
	if _, err := evaluation.Merge(parts[0], reporttest.Report("paper", "predicate", 1000, map[string][]float64{"cpu": reporttest.Five(1)})); err == nil || !strings.Contains(err.Error(), "the suites pary and paper") {
		t.Errorf("%v, want that the suites differ", err)
	}
}
