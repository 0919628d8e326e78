package engine

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/table"
)

func TestCalibrationOfThisDevice(t *testing.T) {
	c, err := calibrate(context.Background(), Options{Backend: "cpu"}, 1000, 3000)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Err(); err != nil || c.Mismatches != 0 || len(c.Examples) != 0 {
		t.Errorf("%v: %+v", err, c)
	}
	// Seven statements a boundary, and two about NULL a column.
	want := len(costs)
	for _, bits := range layouts {
		want += 7*len(boundaries(bits)) + 2
	}
	if c.Comparisons != want || c.Rows != 3000 || c.Bits != 19 {
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

// Two tables that differ in one record stand for a device that counts wrongly.
func TestWrongCountsAreFound(t *testing.T) {
	p := &pair{classic: open(t, Options{Backend: "cpu"}), cpu: open(t, Options{Backend: "cpu"}), found: &Calibration{}}
	for i, db := range []*DB{p.classic, p.cpu} {
		b := table.NewBuilder("t", []table.Field{{Name: "x", Type: table.Type{Kind: table.BigInt}}}, 0)
		for _, v := range []int64{1, 2, int64(3 + i)} {
			b.Column(0).Int(v)
		}
		if err := errors.Join(b.EndRows(3), db.Add(b.Table())); err != nil {
			t.Fatal(err)
		}
	}
	for _, sql := range []string{
		"SELECT COUNT(*) FROM t WHERE x < 3", "SELECT COUNT(*) FROM t WHERE x = 3",
		"SELECT MAX(x) FROM t WHERE x > 5", "SELECT MAX(x) FROM t WHERE x > 3",
	} {
		if _, err := p.compare(context.Background(), sql); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"SELECT COUNT(*) FROM t WHERE x = 3 gives 1, not 0", "SELECT MAX(x) FROM t WHERE x > 3 gives NULL, not 4"}
	if p.found.Comparisons != 4 || p.found.Mismatches != 2 || !slices.Equal(p.found.Examples, want) {
		t.Errorf("%+v", p.found)
	}
	if err := p.found.Err(); err == nil || !strings.Contains(err.Error(), "2 of 4 answers") || !strings.Contains(err.Error(), want[0]) {
		t.Errorf("%v", err)
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
