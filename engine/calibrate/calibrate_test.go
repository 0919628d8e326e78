package calibrate

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stencildb/stencildb/cost"
	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/table"
)

// brief are the sizes of a calibration that takes no time.
var brief = sizes{routines: 1024, suite: []int{512, 1024}, dear: time.Second, until: time.Minute}

func TestCalibrationOfThisDevice(t *testing.T) {
	c, err := calibrate(context.Background(), engine.Options{Backend: "cpu"}, &brief)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Err(); err != nil || c.Mismatches != 0 || len(c.Examples) != 0 {
		t.Errorf("%v: %+v", err, c)
	}
	// Float sums are not for classic and fused, whose answers are not compared.
	if want := len(brief.suite) * (3*(1+len(suite)) - 6 + 1); c.Comparisons != want || c.Rows != 1024 || c.Bits != 19 {
		t.Errorf("%d comparisons, want %d: %+v", c.Comparisons, want, c)
	}
	var names []string
	passes := map[string]int{}
	for _, u := range c.Costs {
		names = append(names, u.Name)
		passes[u.Name] = u.Passes
		if u.MS <= 0 || u.RecordsPerSecond <= 0 || math.IsInf(u.RecordsPerSecond, 0) {
			t.Errorf("%+v", u)
		}
	}
	if got := strings.Join(names, " "); got != "upload CopyToDepth Compare Range EvalCNF Semilinear MEDIAN SUM" {
		t.Errorf("costs of %s", got)
	}
	for name, want := range map[string]int{"upload": 0, "CopyToDepth": 1, "Compare": 1, "Semilinear": 1, "MEDIAN": 20, "SUM": 19} {
		if passes[name] != want {
			t.Errorf("%s took %d passes, want %d", name, passes[name], want)
		}
	}
	checkProfile(t, c.Profile)
}

// checkProfile checks that every backend has a cost of what all of them can do, and
// that the profile can be kept.
func checkProfile(t *testing.T, p *cost.Profile) {
	t.Helper()
	for _, name := range engine.Backends() {
		if name == "auto" || name == "both" {
			continue
		}
		b, ok := p.Backends[name]
		if !ok || b.Overhead <= 0 {
			t.Errorf("%s: %+v", name, b)
		}
		for _, class := range []cost.Class{cost.Compare, cost.Range, cost.Conjunct, cost.Semilinear, cost.Sum, cost.SumOf, cost.Kth, cost.KthOf, cost.Extreme} {
			if len(b.Costs[class]) == 0 {
				t.Errorf("%s: no cost of %s", name, class)
			}
		}
		if joins := len(b.Costs[cost.Join]) > 0 && len(b.Costs[cost.Pairs]) > 0; joins != (name == "cpu" || name == "compute") {
			t.Errorf("%s: costs of joins: %v", name, joins)
		}
		if uploads := b.Upload.Band > 0; uploads != (name != "cpu") {
			t.Errorf("%s: upload %+v", name, b.Upload)
		}
	}
	folder := t.TempDir()
	if _, err := cost.Save(folder, p); err != nil {
		t.Fatal(err)
	}
	if c, err := cost.For(folder, p.Key); err != nil || !c.Measured || c.Warning != "" {
		t.Errorf("%+v, %v", c, err)
	}
}

// fake is a statement that cpu answers, and that a backend classic answers with 0 or an error.
type fake struct {
	*engine.Planned
	err  error
	runs *int // of classic
}

func (f fake) ExecuteOn(ctx context.Context, backend string) ([]table.Value, engine.Stats, error) {
	if backend != "classic" {
		return f.Planned.ExecuteOn(ctx, backend)
	}
	*f.runs++
	return []table.Value{table.Int(0)}, engine.Stats{}, f.err
}

// ableOf runs statements over a table of the integers from 1 to 9, on a fake classic and on cpu. It gives how often classic was asked.
func ableOf(t *testing.T, err error, texts ...string) (c *calibration, runs int) {
	t.Helper()
	db, failed := engine.Open(engine.Options{})
	if failed != nil {
		t.Fatal(failed)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	b := table.NewBuilder("small", []table.Field{{Name: "i", Type: table.Type{Kind: table.BigInt}}}, 0)
	b.Column(0).Ints([]int64{1, 2, 3, 4, 5, 6, 7, 8, 9})
	if err := b.EndRows(9); err != nil {
		t.Fatal(err)
	}
	if err := db.Add(b.Table()); err != nil {
		t.Fatal(err)
	}
	c = &calibration{db: db, names: []string{"cpu", "classic"}, found: &Calibration{}}
	for _, text := range texts {
		s, failed := engine.Inspect(db).Plan(context.Background(), text)
		if failed != nil {
			t.Fatal(failed)
		}
		if _, err := c.able(context.Background(), c.names, fake{s, err, &runs}); err != nil {
			t.Fatal(err)
		}
	}
	return c, runs
}

// A backend that counts wrongly is found, and auto gets no costs of it.
func TestWrongCountsAreFound(t *testing.T) {
	// The answers of the fake are all 0.
	for text, want := range map[string]string{
		"SELECT COUNT(*) FROM small WHERE i = 3": "classic: SELECT COUNT(*) FROM small WHERE i = 3 gives 0, not 1",
		"SELECT MAX(i) FROM small WHERE i > 9":   "classic: SELECT MAX(i) FROM small WHERE i > 9 gives 0, not NULL",
	} {
		c, _ := ableOf(t, nil, "SELECT COUNT(*) FROM small WHERE i > 9", text)
		if c.found.Comparisons != 2 || c.found.Mismatches != 1 || !slices.Equal(c.found.Examples, []string{want}) || !slices.Equal(c.names, []string{"cpu"}) {
			t.Errorf("%+v, left are %v", c.found, c.names)
		}
		if err := c.found.Err(); err == nil || !strings.Contains(err.Error(), "1 of 2 answers") || !strings.Contains(err.Error(), want) {
			t.Errorf("%v", err)
		}
	}
}

// A backend that fails is left out from then on, and said to have failed.
func TestABackendThatFailsIsLeftOut(t *testing.T) {
	const text = "SELECT COUNT(*) FROM small WHERE i > 9"
	c, runs := ableOf(t, errors.New("does not compile"), text, text)
	if err := c.found.Err(); runs != 1 || !slices.Equal(c.names, []string{"cpu"}) || err == nil || !strings.Contains(err.Error(), "classic: does not compile") {
		t.Errorf("%+v: %v", c.found, err)
	}
}

func TestCalibrationEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if c, err := Device(ctx, engine.Options{}); c != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestCalibrationNeedsADevice(t *testing.T) {
	if c, err := Device(context.Background(), engine.Options{Device: "99"}); c != nil || err == nil || !strings.Contains(err.Error(), "no device 99") {
		t.Errorf("%+v, %v", c, err)
	}
}
