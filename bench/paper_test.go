package bench

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/bench/answer"
	"github.com/stencildb/stencildb/bench/meter"
	"github.com/stencildb/stencildb/bench/peer"
	"github.com/stencildb/stencildb/bench/render"
	"github.com/stencildb/stencildb/bench/report"
	"github.com/stencildb/stencildb/bench/workload"
	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/engine/devicepool"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/papers/lab"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
)

// figure is the suite of one figure.
func figure(t *testing.T, name string) Suite {
	t.Helper()
	s, err := suite(t, "paper").OnlyFigures(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// tiny runs the suite over two small tables.
func tiny(t *testing.T, s Suite, c Config) *report.Report {
	t.Helper()
	machine, err := report.ReadMachine(glctx.Options{}, "test")
	if err != nil {
		t.Fatal(err)
	}
	c.Machine, c.Rounds, c.Peers, c.Command = machine, 2, []string{}, "stencildb bench"
	if c.Source.Table == nil {
		c.Source, c.Rows = workload.Generated("tcpip", 1), []int{300, 1100}
	}
	r, err := s.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Every figure has every system that it is to have, at every place of its axis.
func TestEveryFigure(t *testing.T) {
	r := tiny(t, suite(t, "paper"), Config{})
	common := []string{"classic", "fused", "compute", "cpu", "cpu-scalar"}
	for figure, want := range map[lab.Name]struct {
		systems []string
		places  int
	}{
		"2": {[]string{"classic"}, 2}, "3": {append(common, report.CopyExcluded, report.ClassicCountOnly), 2}, "4": {append(common, report.CopyExcluded, report.ClassicCountOnly), 2},
		"5": {append(common, report.CopyExcluded, report.ClassicCountOnly), 2}, "6": {append(common, report.ClassicFloat), 6}, "7": {append(common, report.CopyExcluded, report.Quickselect), 6},
		"8": {append(common, report.CopyExcluded, report.Quickselect), 2}, "9": {append(common, report.CopyExcluded, report.Quickselect), 2},
		"10": {append(common, report.MipmapSum), 2}, "11": {[]string{"classic", report.ClassicNoCount}, 7},
	} {
		systems, places := map[string]bool{}, map[float64]bool{}
		for _, x := range r.Results {
			if x.Figure == figure {
				systems[x.System], places[x.X] = true, true
			}
		}
		if len(systems) != len(want.systems) || len(places) != want.places {
			t.Errorf("figure %s has %v at %v, want %v at %d places", figure, systems, places, want.systems, want.places)
		}
		for _, s := range want.systems {
			if !systems[s] {
				t.Errorf("figure %s lacks %s", figure, s)
			}
		}
	}
	for _, s := range r.Skipped {
		if s.System != report.ClassicNoGuard || !r.Machine.Software {
			t.Errorf("skipped %+v", s)
		}
	}
	if len(r.Floors) != 2 || len(r.Headlines) != 20 || r.Interrupted {
		t.Errorf("floors %v, %d headlines", r.Floors, len(r.Headlines))
	}
	checkResults(t, r)
	checkFiles(t, r)
	checkSchema(t, r)
	text, err := report.Bytes(render.Of(r).WriteText)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"The paper's headlines", "The mipmap sum", "Classes of gain", "The floor of the device", "over floor", "The passes of classic",
		"KthSmallest", "seed 1: data_count"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the text lacks %q:\n%s", want, text)
		}
	}
	lines, err := report.Bytes(render.Of(r).WriteGo)
	runs := 0
	for _, x := range r.Results {
		runs += len(x.MS)
	}
	if got := strings.Count(string(lines), "\nBenchmarkPaper/op="); err != nil || got != runs {
		t.Errorf("%d lines of benchmarks for %d runs: %v", got, runs, err)
	}
}

func checkResults(t *testing.T, r *report.Report) {
	for _, x := range r.Results {
		onDevice := slices.Contains([]string{"classic", "fused", "compute"}, x.System) && x.Figure != "2" && x.Figure != "11"
		approximate := x.System == report.MipmapSum || x.System == report.ClassicFloat
		switch {
		case x.MinMS <= 0 || len(x.MS) >= report.MinRounds && (x.P5MS > x.MedianMS || x.P95MS < x.MedianMS):
			t.Errorf("%s on %s: %v, %v, %v", x.Operation, x.System, x.P5MS, x.MedianMS, x.P95MS)
		case onDevice != (len(x.Cold) == 3):
			t.Errorf("%s on %s: %d cold runs", x.Operation, x.System, len(x.Cold))
		case onDevice && x.OfFloor <= 0:
			t.Errorf("%s on %s has no floor", x.Operation, x.System)
		case (x.System == "classic" && x.Figure != "2" && x.Figure != "11") != (len(x.Passes) > 0):
			t.Errorf("%s on %s has %d passes", x.Operation, x.System, len(x.Passes))
		case approximate != (x.Error != nil) || (x.System == report.ClassicFloat) != (x.Wrong != nil):
			t.Errorf("%s on %s: error %v, wrong %v", x.Operation, x.System, x.Error, x.Wrong)
		case x.Error != nil && *x.Error > 1e-2:
			t.Errorf("%s is off by %v", x.System, *x.Error)
		}
	}
}

// checkFiles writes all files of a report and looks into them.
func checkFiles(t *testing.T, r *report.Report) {
	dir := t.TempDir()
	if err := render.Of(r).WriteFigures(dir); err != nil {
		t.Fatal(err)
	}
	read := func(name string) []byte {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	html := string(read("report.html"))
	for number := 2; number <= 11; number++ {
		name := fmt.Sprintf("figure-%02d", number)
		if svg := read(name + ".svg"); !bytes.Contains(svg, []byte("<svg")) || !bytes.Contains(svg, []byte(fmt.Sprintf("Figure %d", number))) {
			t.Errorf("%s.svg is no figure", name)
		}
		img, err := png.Decode(bytes.NewReader(read(name + ".png")))
		if err != nil || img.Bounds().Dx() < 500 || img.Bounds().Dy() < 300 {
			t.Errorf("%s.png: %v", name, err)
		}
		lines, err := csv.NewReader(bytes.NewReader(read(name + ".csv"))).ReadAll()
		points := 0
		for _, x := range r.Results {
			if x.Figure == lab.Name(strconv.Itoa(number)) {
				points++
			}
		}
		if err != nil || len(lines) != 1+points {
			t.Errorf("%s.csv has %d lines for %d points: %v", name, len(lines), points, err)
		}
		if !strings.Contains(html, fmt.Sprintf(`id="figure-%02d"`, number)) {
			t.Errorf("report.html lacks figure %d", number)
		}
	}
	if strings.Count(html, "<svg") != 10 || strings.Contains(html, "src=") || strings.Contains(html, "<link") {
		t.Error("report.html is not complete by itself")
	}
	for _, h := range r.Headlines {
		if !strings.Contains(html, strings.ReplaceAll(h.Sentence, "'", "&#39;")) {
			t.Errorf("report.html lacks %q", h.Sentence)
		}
	}
	_, text, _ := strings.Cut(html, `id="report">`)
	text, _, _ = strings.Cut(text, "</script>")
	if _, err := report.ReadJSON(strings.NewReader(text)); err != nil {
		t.Errorf("the report in report.html: %v", err)
	}
}

// checkSchema checks the report's JSON, and that wrong JSON would be found.
func checkSchema(t *testing.T, r *report.Report) {
	text, err := os.ReadFile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema map[string]any
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	b, err := report.Bytes(r.WriteJSON)
	if err != nil {
		t.Fatal(err)
	}
	var value any
	if err := json.Unmarshal(b, &value); err != nil {
		t.Fatal(err)
	}
	for _, problem := range violations(schema, value, "report") {
		t.Error(problem)
	}
	for wrong, want := range map[string]string{
		`{"schema": 2}`: "schema is 2", `{"results": [{"rows": "7"}]}`: "rows is no number",
		`{"more": 1}`: "more is not in the schema", `[]`: "is no object",
	} {
		var value any
		if err := json.Unmarshal([]byte(wrong), &value); err != nil {
			t.Fatal(err)
		}
		if found := strings.Join(violations(schema, value, "report"), "\n"); !strings.Contains(found, want) {
			t.Errorf("%s: %q, want %q", wrong, found, want)
		}
	}
}

// violations lists where a value is not as a schema says: the few words of JSON
// Schema that schema.json uses.
func violations(schema map[string]any, value any, at string) (list []string) {
	if types, ok := schema["type"].([]any); ok { // one of several
		for _, one := range types {
			if len(violations(map[string]any{"type": one}, value, at)) == 0 {
				return nil
			}
		}
		return append(list, fmt.Sprintf("%s is none of %v", at, types))
	}
	if enum, ok := schema["enum"].([]any); ok && !slices.Contains(enum, value) {
		list = append(list, fmt.Sprintf("%s is %v", at, value))
	}
	switch schema["type"] {
	case "object":
		object, ok := value.(map[string]any)
		if !ok {
			return append(list, at+" is no object")
		}
		properties, _ := schema["properties"].(map[string]any)
		required, _ := schema["required"].([]any)
		for _, name := range required {
			if _, ok := object[name.(string)]; !ok {
				list = append(list, fmt.Sprintf("%s lacks %v", at, name))
			}
		}
		for name, v := range object {
			p, ok := properties[name].(map[string]any)
			if more, any := schema["additionalProperties"].(map[string]any); !ok && any { // of any name
				p, ok = more, true
			}
			if !ok {
				list = append(list, at+"."+name+" is not in the schema")
				continue
			}
			list = append(list, violations(p, v, at+"."+name)...)
		}
	case "array":
		items, ok := value.([]any)
		if !ok {
			return append(list, at+" is no array")
		}
		for _, v := range items {
			list = append(list, violations(schema["items"].(map[string]any), v, at+"[]")...)
		}
	case "string":
		if _, ok := value.(string); !ok {
			list = append(list, at+" is no string")
		}
	case "number":
		if _, ok := value.(float64); !ok {
			list = append(list, at+" is no number")
		}
	case "boolean":
		if _, ok := value.(bool); !ok {
			list = append(list, at+" is no boolean")
		}
	}
	return list
}

// One figure alone, on a table with NULLs and negative numbers, two attributes, which
// are used twice, and several chunks.
func TestFiguresOfATableOfTheUsers(t *testing.T) {
	b := table.NewBuilder("t", []table.Field{{Name: "a", Type: table.Type{Kind: table.Integer}}, {Name: "b", Type: table.Type{Kind: table.SmallInt}}}, 256)
	for i := range 700 {
		if i%7 == 3 {
			b.Column(0).Null()
		} else {
			b.Column(0).Int(int64(i*i%1009 - 500))
		}
		b.Column(1).Int(int64(i % 97))
		if err := b.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	r := tiny(t, suite(t, "paper"), Config{Source: source(t, b.Table()), Rows: []int{43, 700}, Backends: []string{"classic", "cpu"}})
	if got := len(render.Of(r).Figures()); got != 10 || r.Find("median_where", 700, report.Quickselect) == nil || r.Find("median", 43, report.Classic) == nil {
		t.Errorf("%d figures, want 10 with medians over 43 to 700 records", got)
	}
	for _, s := range r.Skipped {
		if (s.System != report.MipmapSum || !strings.Contains(s.Reason, "over one chunk")) && s.System != report.ClassicNoGuard {
			t.Errorf("skipped %+v", s)
		}
	}
	r = tiny(t, figure(t, "8"), Config{Source: source(t, b.Table()), Backends: []string{"cpu"}})
	if f := render.Of(r).Figures(); len(f) != 1 || f[0].Name != "8" || len(r.Floors) != 0 {
		t.Errorf("figures %v, want the 8th on the CPU", f)
	}
	if _, err := suite(t, "paper").OnlyFigures("3", "12"); err == nil || !strings.Contains(err.Error(), "no figure 12: there are 2, 3, 4, 5, 6, 7, 8, 9, 10, 11") {
		t.Errorf("%v, want the figures there are", err)
	}
}

// A backend on the device with a wrong answer fails the run before anything is timed.
func TestAWrongBackendFailsAFigure(t *testing.T) {
	right := runPlan
	defer func() { runPlan = right }()
	runs := 0
	runPlan = func(d *devicepool.GPU, backend string, run pass.Runner, q *physical.Query) ([]table.Value, error) {
		runs++
		values, err := right(d, backend, run, q)
		if len(values) == 1 {
			values[0].I++
		}
		return values, err
	}
	_, err := figure(t, "5").Run(t.Context(), Config{Rows: []int{300, 301}, Source: workload.Generated("tcpip", 1), Backends: []string{"compute", "cpu"}, Peers: []string{}, Rounds: 1})
	var differ *meter.DifferError
	if !errors.As(err, &differ) || differ.System != "compute" || differ.Trial.Operation != "and1" || runs != 1 {
		t.Errorf("%v after %d runs, want that compute differs in the first", err, runs)
	}
}

func TestAWrongSystemFailsAFigure(t *testing.T) {
	peer.Registry["wrong"] = peer.Peer{Open: constant("41")}
	defer delete(peer.Registry, "wrong")
	_, err := figure(t, "3").Run(t.Context(), Config{Rows: []int{100, 200}, Backends: []string{"cpu"}, Peers: []string{"wrong"}, Rounds: 1})
	var differ *meter.DifferError
	if !errors.As(err, &differ) || differ.System != "wrong" || differ.Other != "cpu" {
		t.Errorf("%v, want that wrong differs", err)
	}
	// Also where it is alone.
	_, _, err = (&meter.Meter{Rounds: 1}).Measure(t.Context(), []meter.Trial{{Case: report.Case{Operation: "op"}, Expected: answer.OfText("1"), Contenders: []meter.Contender{
		{System: "a", Run: func(context.Context) (meter.Outcome, error) { return meter.Outcome{Answer: answer.OfText("2")}, nil }}}}})
	if !errors.As(err, &differ) {
		t.Errorf("%v, want a DifferError", err)
	}
}

// What was measured before an interruption is complete.
func TestAnInterruptionLeavesResults(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r, err := figure(t, "5").Run(ctx, Config{Rows: []int{100, 200}, Backends: []string{"cpu"}, Peers: []string{}, Rounds: 2, Source: workload.Generated("tcpip", 1),
		Progress: func(p Progress) {
			if p.Doing == "and3" {
				cancel()
			}
		}})
	if !errors.Is(err, context.Canceled) || r == nil || !r.Interrupted || len(r.Results) != 4 {
		t.Fatalf("%v, %+v, want the results of two cases on two systems", err, r)
	}
	for _, x := range r.Results {
		if len(x.MS) != 2 {
			t.Errorf("%+v, want two runs", x)
		}
	}
	if err := render.Of(r).WriteFigures(t.TempDir()); err != nil {
		t.Error(err)
	}
}

func TestFiguresRefuseUnknownSystems(t *testing.T) {
	_, err := suite(t, "paper").Run(t.Context(), Config{Rows: []int{10}, Backends: []string{"auto"}, Peers: []string{}, Engine: engine.Options{}})
	if err == nil || !strings.Contains(err.Error(), "no system auto") {
		t.Errorf("%v, want that there is no auto", err)
	}
}

func TestQuickselectFindsEveryRank(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SliceOfN(rapid.Uint32Range(0, 50), 1, 200).Draw(t, "values")
		k := rapid.IntRange(0, len(v)-1).Draw(t, "k")
		sorted := slices.Sorted(slices.Values(v))
		if got := find(v, k, rapid.Uint64().Draw(t, "seed")); got != sorted[k] {
			t.Fatalf("rank %d is %d, want %d", k, got, sorted[k])
		}
	})
}
