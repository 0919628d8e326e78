package hsu

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stencildb/stencildb/papers/lab"
	"github.com/stencildb/stencildb/papers/lab/labtest"
)

// setting is one over 2,000 records.
func setting(t *testing.T, figures ...lab.Name) *lab.Setting {
	t.Helper()
	s := &lab.Setting{Rows: 2000, Seed: 1, Devices: []*lab.Device{labtest.Device(t)}, Local: lab.LocalMemory, Asked: func(n lab.Name) bool { return slices.Contains(figures, n) }}
	t.Cleanup(func() {
		if err := s.End(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// each opens the cases of figures, and gives their ways to f.
func each(t *testing.T, s *lab.Setting, f func(c lab.Case, w lab.Way)) {
	t.Helper()
	list, err := cases(s)
	if err != nil || len(list) == 0 {
		t.Fatal(len(list), err)
	}
	for _, c := range list {
		ways, err := c.Open(t.Context())
		if err != nil {
			t.Fatal(c.Name, err)
		}
		for _, w := range ways {
			f(c, w)
		}
		if c.Close != nil {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// A published form that is wrong is caught by the check of each way that uses it, before anything is timed.
func TestAWrongFormIsCaught(t *testing.T) {
	for _, c := range []struct {
		text       *string
		from, to   string
		figure     lab.Name
		operations []string // whose ways are wrong
	}{
		{&moveText, "places[i] - 1u", "places[i]", "4-8", []string{"turn_select", "turn_select_sort", "turn_select_group", "turn_insert_select", "turn_delete"}},
		{&moveText, "source[c * capacity + places[i]]", "target[c * target_capacity + places[i]]", "4-8", []string{"turn_select_sort"}},
		{&selectText, "1u - stack[i]", "stack[i]", "4-8", []string{"turn_delete"}},
		{&selectText, "int(data[column * capacity + i]) COMPARE value", "value COMPARE int(data[column * capacity + i])", "4-8", []string{"turn_select", "turn_update"}},
		{&groupText, "sorted[i] != sorted[i - 1u]", "false", "4-5", []string{"device_group_q2500"}},
		{&groupText, "places[i - 1u] - 1u", "n - 2u", "4-8", []string{"turn_select_group"}},
		{&moveText, "target[column * target_capacity + i] = source[column * capacity + i];", "target[column * capacity + i] = source[column * capacity + i];", "4-1", []string{"insert_32", "insert_100"}},
	} {
		right := *c.text
		if *c.text = strings.Replace(right, c.from, c.to, 1); *c.text == right {
			t.Fatalf("there is no %s", c.from)
		}
		caught := map[string]bool{}
		s := setting(t, c.figure)
		each(t, s, func(x lab.Case, w lab.Way) {
			if slices.Contains(c.operations, x.Name) && w.Check(t.Context()) != nil {
				caught[x.Name] = true
			}
		})
		*c.text = right
		for _, name := range c.operations {
			if !caught[name] {
				t.Errorf("%s in the place of %s is not caught by %s", c.to, c.from, name)
			}
		}
	}
}

// What figures say of a run: doublings are a section of insertions that have one, selection and grouping those of the device.
func TestSections(t *testing.T) {
	s := setting(t, "4-1", "4-5")
	each(t, s, func(c lab.Case, w lab.Way) {
		if w.Sections == nil {
			return
		}
		list, err := w.Sections(t.Context())
		var names []string
		for _, x := range list {
			names = append(names, x.Name)
		}
		want := []string{selecting, grouping}
		if c.Figure == "4-1" {
			if want = []string{singly}; c.X > 56 { // a table of 200 has room for 256
				want = []string{doubling, singly}
			}
		}
		if err != nil || !slices.Equal(names, want) || slices.ContainsFunc(list, func(x lab.Section) bool { return x.Took <= 0 }) {
			t.Errorf("%s: %+v, %v, want %v", c.Name, list, err, want)
		}
	})
}

// Outputs that differ from the right one are told from it, in a value, a record, or the order where there is one.
func TestWrongOutputs(t *testing.T) {
	data := Data(300, 3)
	for _, f := range []Function{Insert, Select, SelectSort, SelectGroup, InsertSelect, UpdateSelected, DeleteSelected} {
		x := &Question{Function: f, Data: data, More: Data(300, 4), sorted: data.Sort(C1)}
		right := x.Output(200, true)
		if err := x.compare(200, right); err != nil {
			t.Errorf("%s: %v", f, err)
		}
		changed := right.rows([]int{})
		for c := range changed {
			changed[c] = slices.Clone(right[c])
		}
		changed[1][7]++
		backwards := right.rows([]int{1, 0})
		for c := range backwards {
			backwards[c] = append(backwards[c], right[c][2:]...)
		}
		for name, wrong := range map[string]Records{"a value": changed, "a record less": right.rows([]int{0, 1}), "a column less": right[:1], "none": {}} {
			if x.compare(200, wrong) == nil {
				t.Errorf("%s with %s is right", f, name)
			}
		}
		if err := x.compare(200, backwards); (err == nil) != (f != SelectSort) {
			t.Errorf("%s backwards: %v", f, err)
		}
		if f.Changes() && x.Output(200, false).Digest(-1) == x.Output(199, false).Digest(-1) {
			t.Errorf("the summary of %s of 200 and of 199 records", f)
		}
	}
}

// ofTime is a way that takes so many ms for q records, and gives the right output, or from some q on another one.
func ofTime(x *Question, ms func(q int) float64, wrongFrom int) Do {
	return func(_ context.Context, q int, whole bool) (Records, lab.Took, error) {
		out := x.Output(q, whole)
		if q >= wrongFrom {
			out = x.Output(q-1, whole)
		}
		return out, lab.Took{Wall: time.Duration(ms(q) * 1e6)}, nil
	}
}

// Turning points are counters of the ways that are ours, beside each SQLite, with a slope over the largest table. Outputs at every place are
// compared.
func TestTurningPoints(t *testing.T) {
	b := &bed{Setting: &lab.Setting{Rows: 2000}, turns: map[string][]point{}}
	ask := func(n int) (*Question, map[string]lab.Way) {
		data := Data(n, 1)
		x := &Question{Function: DeleteSelected, Data: data, sorted: data.Sort(C1), turning: true, ways: map[string]Do{}, bed: b}
		list := map[string]lab.Way{}
		for system, ms := range map[string]func(q int) float64{
			gpu: func(int) float64 { return float64(n) / 1000 }, SQLCPU: func(int) float64 { return 1e-3 }, SQLCompute: func(int) float64 { return 1e3 },
			SQLAuto: func(q int) float64 { return float64(q) / 50 }, SQLiteIndex: func(q int) float64 { return float64(q) / 100 }, SQLiteScan: func(q int) float64 { return 2 + float64(q)/100 },
		} {
			list[system] = x.Way(system, false, ofTime(x, ms, n+1))
		}
		return x, list
	}
	for _, n := range []int{1000, 2000} {
		_, ways := ask(n)
		for system, want := range map[string]map[string]float64{
			gpu:     {beside(turningShare, SQLiteIndex): 10, beside(turningPoint, SQLiteIndex): float64(n) / 10, beside(aheadEverywhere, SQLiteScan): 1},
			SQLCPU:  {beside(aheadEverywhere, SQLiteIndex): 1, beside(aheadEverywhere, SQLiteScan): 1},
			SQLAuto: {beside(behindEverywhere, SQLiteIndex): 1, beside(aheadUpTo, SQLiteScan): 100 * 200 / float64(n)},
			// It is slow, and runs once at a place.
			SQLCompute: {beside(behindEverywhere, SQLiteIndex): 1, beside(behindEverywhere, SQLiteScan): 1},
		} {
			got, err := ways[system].Counters(t.Context())
			if n == 2000 && system == gpu {
				want[beside(turningSlope, SQLiteIndex)] = 10
			}
			if err != nil || len(got) != len(want) {
				t.Errorf("%d records, %s: %v, %v, want %v", n, system, got, err, want)
			}
			for name, v := range want {
				if got[name] < 0.95*v || got[name] > 1.05*v {
					t.Errorf("%d records, %s, %s: %v, want %v", n, system, name, got[name], v)
				}
			}
		}
		if ways[SQLiteIndex].Counters != nil {
			t.Error("SQLite has turning points")
		}
	}
	x, ways := ask(500)
	x.ways[SQLiteScan] = ofTime(x, func(int) float64 { return 1 }, 16)
	if _, err := ways[gpu].Counters(t.Context()); err == nil || !strings.Contains(err.Error(), "sqlite-scan: delete of 16 records: the output is another one") {
		t.Error(err)
	}
	// Without SQLite there are none.
	x, ways = ask(500)
	delete(x.ways, SQLiteIndex)
	delete(x.ways, SQLiteScan)
	if got, err := ways[gpu].Counters(t.Context()); err != nil || len(got) != 0 {
		t.Error(got, err)
	}
	failing := errors.New("failing")
	x, ways = ask(500)
	x.ways[gpu] = func(context.Context, int, bool) (Records, lab.Took, error) { return nil, lab.Took{}, failing }
	if _, err := ways[SQLCPU].Counters(t.Context()); !errors.Is(err, failing) {
		t.Error(err)
	}
}
