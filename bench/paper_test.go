package bench

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

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
func tiny(t *testing.T, s Suite, c Config) *Report {
	t.Helper()
	machine, err := ReadMachine(glctx.Options{}, "test")
	if err != nil {
		t.Fatal(err)
	}
	c.Machine, c.Rounds, c.Peers, c.Command = machine, 2, []string{}, "stencildb bench"
	if c.Source.Table == nil {
		c.Source, c.Rows = Generated("tcpip", 1), []int{300, 1100}
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
		"2": {[]string{"classic"}, 2}, "3": {append(common, copyExcluded, classicCounts), 2}, "4": {append(common, copyExcluded, classicCounts), 2},
		"5": {append(common, copyExcluded, classicCounts), 2}, "6": {append(common, classicFloat), 6}, "7": {append(common, copyExcluded, quickSelect), 6},
		"8": {append(common, copyExcluded, quickSelect), 2}, "9": {append(common, copyExcluded, quickSelect), 2},
		"10": {append(common, mipmapSum), 2}, "11": {[]string{"classic", classicAlone}, 7},
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
		if s.System != classicBare || !r.Machine.Software {
			t.Errorf("skipped %+v", s)
		}
	}
	if len(r.Floors) != 2 || len(r.Headlines) != 20 || r.Interrupted {
		t.Errorf("floors %v, %d headlines", r.Floors, len(r.Headlines))
	}
	checkResults(t, r)
	checkFiles(t, r)
	checkSchema(t, r)
	text, err := render(r.WriteText)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"The paper's headlines", "The mipmap sum", "Classes of gain", "The floor of the device", "over floor", "The passes of classic",
		"KthSmallest", "seed 1: data_count"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the text lacks %q:\n%s", want, text)
		}
	}
	lines, err := render(r.WriteGo)
	runs := 0
	for _, x := range r.Results {
		runs += len(x.MS)
	}
	if got := strings.Count(string(lines), "\nBenchmarkPaper/op="); err != nil || got != runs {
		t.Errorf("%d lines of benchmarks for %d runs: %v", got, runs, err)
	}
}

func checkResults(t *testing.T, r *Report) {
	for _, x := range r.Results {
		onDevice := slices.Contains([]string{"classic", "fused", "compute"}, x.System) && x.Figure != "2" && x.Figure != "11"
		approximate := x.System == mipmapSum || x.System == classicFloat
		switch {
		case x.MinMS <= 0 || len(x.MS) >= fewest && (x.P5MS > x.MedianMS || x.P95MS < x.MedianMS):
			t.Errorf("%s on %s: %v, %v, %v", x.Operation, x.System, x.P5MS, x.MedianMS, x.P95MS)
		case onDevice != (len(x.Cold) == 3):
			t.Errorf("%s on %s: %d cold runs", x.Operation, x.System, len(x.Cold))
		case onDevice && x.OfFloor <= 0:
			t.Errorf("%s on %s has no floor", x.Operation, x.System)
		case (x.System == "classic" && x.Figure != "2" && x.Figure != "11") != (len(x.Passes) > 0):
			t.Errorf("%s on %s has %d passes", x.Operation, x.System, len(x.Passes))
		case approximate != (x.Error != nil) || (x.System == classicFloat) != (x.Wrong != nil):
			t.Errorf("%s on %s: error %v, wrong %v", x.Operation, x.System, x.Error, x.Wrong)
		case x.Error != nil && *x.Error > 1e-2:
			t.Errorf("%s is off by %v", x.System, *x.Error)
		}
	}
}

// checkFiles writes all files of a report and looks into them.
func checkFiles(t *testing.T, r *Report) {
	dir := t.TempDir()
	if err := r.WriteFigures(dir); err != nil {
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
	if _, err := ReadJSON(strings.NewReader(text)); err != nil {
		t.Errorf("the report in report.html: %v", err)
	}
}

// checkSchema checks the report's JSON, and that wrong JSON would be found.
func checkSchema(t *testing.T, r *Report) {
	text, err := os.ReadFile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema map[string]any
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	b, err := render(r.WriteJSON)
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
	if got := len(r.figures()); got != 10 || r.Find("median_where", 700, quickSelect) == nil || r.Find("median", 43, classic) == nil {
		t.Errorf("%d figures, want 10 with medians over 43 to 700 records", got)
	}
	for _, s := range r.Skipped {
		if (s.System != mipmapSum || !strings.Contains(s.Reason, "over one chunk")) && s.System != classicBare {
			t.Errorf("skipped %+v", s)
		}
	}
	r = tiny(t, figure(t, "8"), Config{Source: source(t, b.Table()), Backends: []string{"cpu"}})
	if f := r.figures(); len(f) != 1 || f[0].Name != "8" || len(r.Floors) != 0 {
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
	_, err := figure(t, "5").Run(t.Context(), Config{Rows: []int{300, 301}, Source: Generated("tcpip", 1), Backends: []string{"compute", "cpu"}, Peers: []string{}, Rounds: 1})
	var differ *DifferError
	if !errors.As(err, &differ) || differ.System != "compute" || differ.Trial.Operation != "and1" || runs != 1 {
		t.Errorf("%v after %d runs, want that compute differs in the first", err, runs)
	}
}

func TestAWrongSystemFailsAFigure(t *testing.T) {
	peers["wrong"] = peer{open: constant("41")}
	defer delete(peers, "wrong")
	_, err := figure(t, "3").Run(t.Context(), Config{Rows: []int{100, 200}, Backends: []string{"cpu"}, Peers: []string{"wrong"}, Rounds: 1})
	var differ *DifferError
	if !errors.As(err, &differ) || differ.System != "wrong" || differ.Other != "cpu" {
		t.Errorf("%v, want that wrong differs", err)
	}
	// Also where it is alone.
	_, _, err = (&Meter{Rounds: 1}).Measure(t.Context(), []Trial{{Case: Case{Operation: "op"}, Expected: oneText("1"), Contenders: []Contender{
		{System: "a", Run: func(context.Context) (Outcome, error) { return Outcome{Answer: oneText("2")}, nil }}}}})
	if !errors.As(err, &differ) {
		t.Errorf("%v, want a DifferError", err)
	}
}

// What was measured before an interruption is complete.
func TestAnInterruptionLeavesResults(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r, err := figure(t, "5").Run(ctx, Config{Rows: []int{100, 200}, Backends: []string{"cpu"}, Peers: []string{}, Rounds: 2, Source: Generated("tcpip", 1),
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
	if err := r.WriteFigures(t.TempDir()); err != nil {
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

func TestLadders(t *testing.T) {
	for rows, want := range map[int][]int{
		1: {1}, 20: {1, 2, 5, 10, 20}, 1_000_000: {62_500, 125_000, 250_000, 500_000, 1_000_000},
		1_200_000: {75_000, 150_000, 300_000, 600_000, 1_200_000}, 16_000_000: {1_000_000, 2_000_000, 4_000_000, 8_000_000, 16_000_000},
		1 << 28: {1_000_000, 1 << 22, 1 << 24, 1 << 26, 1 << 28},
	} {
		if got := ladder(rows); !slices.Equal(got, want) {
			t.Errorf("up to %d: %v, want %v", rows, got, want)
		}
	}
}

// The first rows of a table are the same rows.
func TestFirstRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := table.NewBuilder("t", []table.Field{{Name: "a", Type: table.Type{Kind: table.BigInt}}}, rapid.IntRange(10, 200).Draw(t, "rows of a chunk"))
		rows := rapid.IntRange(1, 150).Draw(t, "rows")
		bits := rapid.IntRange(1, 40).Draw(t, "bits")
		for range rows {
			if rapid.IntRange(0, 9).Draw(t, "null") == 0 {
				b.Column(0).Null()
			} else {
				b.Column(0).Int(rapid.Int64Range(0, 1<<bits).Draw(t, "value"))
			}
			if err := b.EndRow(); err != nil {
				t.Fatal(err)
			}
		}
		n := rapid.IntRange(1, rows).Draw(t, "n")
		whole := b.Table()
		part, err := first(whole, n)
		if err != nil {
			t.Fatal(err)
		}
		if err := part.Check(); err != nil || part.Rows() != n {
			t.Fatalf("%d rows, want %d: %v", part.Rows(), n, err)
		}
		values := func(t *table.Table) (list []table.Value) {
			for _, c := range t.Chunks {
				for i := range c.Rows {
					list = append(list, c.Segments[0].Value(i))
				}
			}
			return list
		}
		if want := values(whole)[:n]; !slices.Equal(values(part), want) {
			t.Fatalf("%v, want %v", values(part), want)
		}
	})
}

// A run too noisy to rank two systems says so, and one that is not does not.
func TestTies(t *testing.T) {
	r := report("paper", "median", 1000, map[string][]float64{
		"classic": {10, 10.1, 9.9, 10, 10.2, 9.8}, "fused": {4, 14, 9, 11, 6, 9.5}, "cpu": {1, 1.1, 0.9, 1, 1, 1},
	})
	r.finishFigures()
	if r.Machine.Cores, r.Machine.LoadAverage = 2, 4; !strings.Contains(r.noise(), "Others used this machine (load average 4.0 on 2 cores") {
		t.Errorf("%s", r.noise())
	}
	if len(r.Ties) != 1 || r.Ties[0].A != "fused" || r.Ties[0].B != "classic" || r.Ties[0].Lo > 1 || r.Ties[0].Hi < 1 {
		t.Errorf("%+v, want fused and classic", r.Ties)
	}
	var b bytes.Buffer
	if err := writeSections(&b, r.evaluation()...); err != nil || !strings.Contains(b.String(), "1 of 2 pairs") || !strings.Contains(b.String(), "median, 1,000 rows: fused and classic\n") {
		t.Errorf("%v: %s", err, &b)
	}
}

// five is a time of five rounds.
func five(ms float64) []float64 { return slices.Repeat([]float64{ms}, fewest) }

// Known times give known ratios and words.
func TestHeadlinesOfKnownTimes(t *testing.T) {
	r := report("paper", "predicate", 1000, map[string][]float64{
		"classic": five(2), copyExcluded: five(0.1), "cpu": five(6), "fused": five(1), "compute": five(12)})
	r.Results = append(r.Results, report("paper", "sum", 1000, map[string][]float64{"classic": five(20), "cpu": five(40)}).Results...)
	r.Results = append(r.Results, report("paper", "median", 1000, map[string][]float64{"classic": five(5)}).Results...)
	r.Results = append(r.Results, report("paper", "median_where", 1000, map[string][]float64{"classic": five(10)}).Results...)
	r.finishFigures()
	for what, want := range map[string]struct {
		here    float64
		verdict string
	}{
		"predicate": {3, "held"}, "predicate, copy excluded": {60, "held, and more so"}, "sum": {2, "did not hold"},
		"median of 80 % beside that of all": {2, "did not hold"},
	} {
		i := slices.IndexFunc(r.Headlines, func(h Headline) bool { return h.What == what })
		if i < 0 || math.Abs(r.Headlines[i].Here-want.here) > 1e-9 || r.Headlines[i].Verdict != want.verdict {
			t.Errorf("%s: %+v, want %v, %s", what, r.Headlines, want.here, want.verdict)
		}
	}
	want := "Predicate: the paper's GPU is 3 times as fast as its CPU; here classic is 3 times as fast as cpu (fused 6 times as fast, compute 2 times slower) over 1,000 records: held."
	if r.Headlines[0].Sentence != want {
		t.Errorf("%q, want %q", r.Headlines[0].Sentence, want)
	}
	if g := r.gainTable().Rows; len(g) != 3 || !slices.Equal(g[1], []string{"predicate", "1,000", "5", "high", "3", "medium", "fused", "6", "high"}) {
		t.Errorf("gains %q", g)
	}
	for x, want := range map[float64]string{3: "3", 5.5: "5.5", 0.05: "0.05", 0.0021: "0.0021", 12.34: "12.3", 470.2: "470", 0.8: "0.8"} {
		if got := number(x); got != want {
			t.Errorf("%v is written %s, want %s", x, got, want)
		}
	}
	for x, want := range map[[2]float64]string{{0.998, 1.003}: "0.998 – 1.003", {1.02, 1.3}: "1.02 – 1.3", {1, 1}: "1 – 1", {12.31, 12.33}: "12.31 – 12.33"} {
		if got := span(x[0], x[1]); got != want {
			t.Errorf("%v is written %s, want %s", x, got, want)
		}
	}
}

// No two systems look the same without colours.
func TestFiguresCanBeReadInGrey(t *testing.T) {
	seen := map[string]string{}
	for _, l := range looks {
		key := fmt.Sprintf("%T %v", l.glyph, l.dashes)
		if other, ok := seen[key]; ok {
			t.Errorf("%s looks like %s", l.system, other)
		}
		seen[key] = l.system
	}
}

// Writers that fail are errors.
func TestFiguresThatCannotBeWritten(t *testing.T) {
	r := report("paper", "median", 1000, map[string][]float64{"classic": {1}})
	r.Results[0].Figure, r.Results[0].X = "8", 1000
	if err := r.WriteFigures(filepath.Join(t.TempDir(), "gone")); err == nil {
		t.Error("no error for a folder that is not there")
	}
	if err := r.WriteHTML(io.Discard); err != nil {
		t.Error(err)
	}
}
