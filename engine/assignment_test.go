package engine

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/cost"
)

// The answers are those of cpu, whoever runs which operator.
func TestAnswersWhateverIsAssigned(t *testing.T) {
	cpu, both := openStar(t, Options{Backend: "cpu"}), openStar(t, Options{Backend: "both"})
	if err := Inspect(both).Ready(); err != nil {
		t.Fatal(err)
	}
	texts := []string{
		"SELECT COUNT(*), SUM(x.n), MIN(y.m), MAX(z.size) FROM fact x JOIN fact y ON x.b = y.b AND x.n = y.n JOIN dim z ON y.a = z.key WHERE x.m < 5 AND x.m + z.size < 7",
		"SELECT y.m, z.name, COUNT(*), SUM(x.n) FROM fact x JOIN twice y ON x.b = y.key JOIN dim z ON x.a = z.key GROUP BY 1, 2 ORDER BY 1, 2",
		"SELECT x.n, dim.name, far.name FROM fact x LEFT JOIN dim ON a = dim.key JOIN far ON b = far.key WHERE x.m > 3 ORDER BY 1, 2, 3",
		"SELECT COUNT(*), MEDIAN(n) FROM fact WHERE EXISTS (SELECT * FROM twice WHERE b = key) AND m IN (SELECT size FROM dim)",
		"SELECT SUM(100 / (x.n - y.size)) FROM fact x JOIN dim y ON a = key",
		"SELECT m, COUNT(*), SUM(n) FROM fact GROUP BY m ORDER BY m",
		"SELECT n, m FROM fact WHERE b > 20 ORDER BY n DESC, m, a NULLS FIRST LIMIT 700",
	}
	texts[1] = strings.Replace(texts[1], "y.m", "x.m", 1)
	want := map[string]string{}
	for _, text := range texts {
		if want[text] = answerText(cpu, text); strings.HasPrefix(want[text], "error") != strings.Contains(text, "100 /") {
			t.Fatal(text, want[text])
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		var words []string
		for range rapid.IntRange(1, 4).Draw(t, "operators") {
			words = append(words, rapid.SampledFrom([]string{"cpu", "device", "both"}).Draw(t, "mode"))
		}
		text := rapid.SampledFrom(texts).Draw(t, "text")
		devicesOf(both).Window, devicesOf(both).Share = rapid.SampledFrom([]int{0, 320}).Draw(t, "window"), rapid.SampledFrom([]float64{0.2, 0.7}).Draw(t, "share")
		if got := answerText(both, "SET assignment = '"+strings.Join(words, ", ")+"'"); strings.HasPrefix(got, "error") {
			t.Fatal(got)
		}
		if got := answerText(both, text); got != want[text] {
			t.Fatalf("%v: %s:\n got %.300s\nwant %.300s", words, text, got, want[text])
		}
	})
	noColumnsLeft(t, both)
}

// Each join of a chain is run by the one that it is assigned to, whoever has run the one before.
func TestJoinsOfAChainAreRunAsAssigned(t *testing.T) {
	cpu, both := openStar(t, Options{Backend: "cpu"}), openStar(t, Options{Backend: "both"})
	if err := Inspect(both).Ready(); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"SELECT COUNT(*), SUM(x.n), MIN(y.m), MAX(z.size) FROM fact x JOIN fact y ON x.b = y.b AND x.n = y.n JOIN dim z ON y.a = z.key JOIN twice ON x.b = twice.key WHERE x.m < 5 AND x.m + z.size < 7",
		"SELECT COUNT(*), COUNT(z.size) FROM fact x JOIN fact y ON x.b = y.b AND x.n = y.n JOIN twice ON x.b = twice.key LEFT JOIN dim z ON y.a = z.key AND z.size < 3",
	} {
		want := answerText(cpu, text)
		for modes := range 8 {
			var words []string
			for join := range 3 {
				words = append(words, []string{"cpu", "device"}[modes>>join&1])
			}
			if got := answerText(both, "SET assignment = '"+strings.Join(words, ", ")+", cpu'"); strings.HasPrefix(got, "error") {
				t.Fatal(got)
			}
			if got := answerText(both, text); got != want {
				t.Errorf("%v: %s:\n got %s\nwant %s", words, text, got, want)
			}
			x, err := both.Explain(context.Background(), text, ExplainOptions{Analyze: true})
			if err != nil {
				t.Fatal(err)
			}
			var on []string
			for _, s := range x.Steps {
				if strings.HasPrefix(s.Pass, "Join(") {
					on = append(on, map[bool]string{true: "device", false: "cpu"}[strings.HasSuffix(s.Pass, " on compute")])
				}
			}
			if !slices.Equal(on, words) {
				t.Errorf("%s was joined by %v, want %v", text, on, words)
			}
		}
	}
	noColumnsLeft(t, both)
}

// Each operator is run by who is predicted to be the fastest with the transfers, and EXPLAIN says who that is before it runs.
func TestAssignmentsByCosts(t *testing.T) {
	db := openStar(t, Options{Backend: "both", Calibrations: t.TempDir()})
	if err := Inspect(db).Ready(); err != nil {
		t.Fatal(err)
	}
	d := devicesOf(db)
	d.GPUs[0].Context.Caps().Software, d.Key.Software = false, false // it passes for hardware
	curve := func(row float64) cost.Curves {
		return cost.Curves{cost.NewCurve(64, []cost.Point{{Rows: 0}, {Rows: 1_000_000, Seconds: row * 1_000_000}})}
	}
	const text = "SELECT dim.name, COUNT(*), SUM(x.n) FROM fact x JOIN fact y ON x.b = y.b JOIN dim ON x.a = dim.key GROUP BY 1 ORDER BY 1"
	want := answerText(db, "SET assignment = auto") + answerText(db, text)
	for _, c := range []struct {
		name         string
		join, groups [2]float64 // what a row takes on cpu, and on compute
		band         float64    // bytes a second
		want         string     // who runs the two joins, then the groups
	}{
		{"cpu is the faster one", [2]float64{1e-9, 1e-6}, [2]float64{1e-9, 1e-6}, 1e12, "cpu cpu cpu"},
		{"the device is the faster one", [2]float64{1e-6, 1e-9}, [2]float64{1e-6, 1e-9}, 1e12, "device device device"},
		{"each has what it is faster at", [2]float64{1e-9, 1e-6}, [2]float64{1e-6, 1e-9}, 1e12, "cpu cpu device"},
		{"rows are dear to move", [2]float64{1e-9, 1e-6}, [2]float64{1e-6, 1e-9}, 1e4, "cpu cpu cpu"},
		{"both take about as long", [2]float64{1e-6, 1e-6}, [2]float64{1e-6, 1e-6}, 1e12, "both both both"},
	} {
		p, err := cost.Default(true, 2)
		if err != nil {
			t.Fatal(err)
		}
		for i, name := range []string{"cpu", "compute"} {
			b := p.Backends[name]
			b.Costs[cost.Join], b.Costs[cost.Pairs], b.Costs[cost.Groups], b.Overhead = curve(c.join[i]), curve(c.join[i]/100), curve(c.groups[i]), 0
			if name == "compute" {
				b.Upload = cost.Transfer{Band: c.band}
			}
			p.Backends[name] = b
		}
		db.backends.Costs.Now = cost.Costs{Profile: p}
		assigned := func(steps []Step) (modes []string) {
			for _, s := range steps {
				if m := regexp.MustCompile(`^Assign\(.* to (\w+)\)$`).FindStringSubmatch(s.Pass); m != nil {
					modes = append(modes, m[1])
				}
			}
			return modes
		}
		x, err := db.Explain(context.Background(), text, ExplainOptions{})
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Join(x.Lines(), "\n")
		if got := strings.Join(assigned(x.Assignment), " "); got != c.want {
			t.Errorf("%s: %s, want %s:\n%s", c.name, got, c.want, lines)
		}
		if !strings.Contains(lines, "\nAssignment, ") || !strings.Contains(lines, " expected: cpu ") || strings.Contains(lines, "its rows come in") != strings.HasSuffix(c.want, " device") {
			t.Errorf("%s:\n%s", c.name, lines)
		}
		if got := answerText(db, text); got != want {
			t.Errorf("%s: %s, want %s", c.name, got, want)
		}
		if x, err = db.Explain(context.Background(), text, ExplainOptions{Analyze: true}); err != nil {
			t.Fatal(err)
		}
		lines = strings.Join(x.Lines(), "\n")
		modes := strings.Fields(c.want)
		if got := assigned(x.Steps); len(got) != 4 || !slices.Equal(got[:3], modes) || got[3] != modes[2] {
			t.Errorf("%s: %v were assigned, want %v and once more who groups:\n%s", c.name, got, modes, lines)
		}
		if on := len(regexp.MustCompile(`Choice\(join on compute\) +both predicted compute `).FindAllString(lines, -1)); on != map[string]int{"device": 2}[modes[0]] {
			t.Errorf("%s: %d joins were compute's:\n%s", c.name, on, lines)
		}
		if divided := strings.Count(lines, "Divide("); divided != map[string]int{"both": 3}[modes[0]] {
			t.Errorf("%s: %d operators were divided:\n%s", c.name, divided, lines)
		}
	}
}
