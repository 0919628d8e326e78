package engine

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stencildb/stencildb/cost"
)

// brief are the sizes of a calibration that takes no time.
var brief = sizes{exactness: 1000, every: 9, routines: 3000, suite: []int{512, 1024}, dear: time.Second, until: time.Minute}

func TestCalibrationOfThisDevice(t *testing.T) {
	c, err := calibrate(context.Background(), Options{Backend: "cpu"}, &brief)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Err(); err != nil || c.Mismatches != 0 || len(c.Examples) != 0 {
		t.Errorf("%v: %+v", err, c)
	}
	// Seven statements a boundary, and two about NULL a column; one in nine of them.
	want := len(routines)
	for _, bits := range layouts {
		want += (7*len(boundaries(bits)) + 2 + 8) / 9
	}
	if c.Comparisons < want || c.Rows != 3000 || c.Bits != 19 {
		t.Errorf("%d comparisons, want %d and more: %+v", c.Comparisons, want, c)
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
	for _, name := range Backends() {
		if name == "auto" {
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
		if uploads := b.Upload.Band > 0; uploads != (name != "cpu") {
			t.Errorf("%s: upload %+v", name, b.Upload)
		}
	}
	folder := t.TempDir()
	if _, err := cost.Save(folder, p); err != nil {
		t.Fatal(err)
	}
	if c, err := CostsOf(folder, p.Key); err != nil || !c.Measured || c.Warning != "" {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestBoundaries(t *testing.T) {
	for _, bits := range layouts {
		list := boundaries(bits)
		if !slices.IsSorted(list) || len(slices.Compact(slices.Clone(list))) != len(list) {
			t.Errorf("%d bits: not ascending: %v", bits, list)
		}
	}
	b := boundaries(24)
	for _, want := range []int64{0, 1, 2, 3, 1<<22 - 1, 1 << 22, 1<<22 + 1, 1<<23 + 1, 1<<24 - 2, 1<<24 - 1} {
		if !slices.Contains(b, want) {
			t.Errorf("no %d among %v", want, b)
		}
	}
	b = boundaries(64)
	for _, want := range []int64{math.MinInt64, math.MinInt64 + 1, -1, 0, 1, math.MaxInt64 - 1, math.MaxInt64} {
		if !slices.Contains(b, want) {
			t.Errorf("no %d among %v", want, b)
		}
	}
	built, err := boundaryTable(2000)
	if err != nil {
		t.Fatal(err)
	}
	for i, bits := range layouts {
		s := built.Chunks[0].Segments[i]
		if s.Bits != bits || s.Nulls == 0 {
			t.Errorf("column %s has %d bits and %d NULLs", built.Fields[i].Name, s.Bits, s.Nulls)
		}
	}
}

// A backend that counts wrongly is found, and auto gets no costs of it.
func TestWrongCountsAreFound(t *testing.T) {
	db := open(t, Options{})
	if err := db.Add(small(t)); err != nil {
		t.Fatal(err)
	}
	on(db, &fake{name: "classic"}) // whose answers are all 0
	c := &calibration{db: db, names: []string{"classic", "cpu"}, found: &Calibration{wrong: map[string]bool{}}}
	for _, sql := range []string{"SELECT COUNT(*) FROM small WHERE i > 9", "SELECT COUNT(*) FROM small WHERE i = 3", "SELECT MAX(i) FROM small WHERE i > 9"} {
		if err := c.compare(context.Background(), sql); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"classic: SELECT COUNT(*) FROM small WHERE i = 3 gives 0, not 1", "classic: SELECT MAX(i) FROM small WHERE i > 9 gives 0, not NULL"}
	if c.found.Comparisons != 3 || c.found.Mismatches != 2 || !slices.Equal(c.found.Examples, want) || !c.found.wrong["classic"] {
		t.Errorf("%+v", c.found)
	}
	if err := c.found.Err(); err == nil || !strings.Contains(err.Error(), "2 of 3 answers") || !strings.Contains(err.Error(), want[0]) {
		t.Errorf("%v", err)
	}
}

// A backend that fails is left out from then on, and said to have failed.
func TestABackendThatFailsIsLeftOut(t *testing.T) {
	db := open(t, Options{})
	if err := db.Add(small(t)); err != nil {
		t.Fatal(err)
	}
	f := &fake{name: "classic", err: errors.New("does not compile")}
	on(db, f)
	c := &calibration{db: db, names: []string{"classic", "cpu"}, found: &Calibration{wrong: map[string]bool{}}}
	for range 2 {
		if err := c.compare(context.Background(), "SELECT COUNT(*) FROM small WHERE i > 9"); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.found.Err(); len(f.plans) != 1 || !c.found.wrong["classic"] || err == nil || !strings.Contains(err.Error(), "classic: does not compile") {
		t.Errorf("%+v: %v", c.found, err)
	}
}

func TestCalibrationEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if c, err := Calibrate(ctx, Options{}); c != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestCalibrationNeedsADevice(t *testing.T) {
	if c, err := Calibrate(context.Background(), Options{Device: "99"}); c != nil || err == nil || !strings.Contains(err.Error(), "no device 99") {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestSyntheticTables(t *testing.T) {
	tab := synthetic("t", 1000, 2)
	if err := tab.Check(); err != nil {
		t.Error(err)
	}
	if len(tab.Chunks) != 2 || tab.Rows() != 2000 || len(tab.Fields) != 8+fresh {
		t.Errorf("%d rows in %d chunks, %d columns", tab.Rows(), len(tab.Chunks), len(tab.Fields))
	}
}
