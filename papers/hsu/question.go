package hsu

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/stencildb/stencildb/papers/lab"
)

// Function is one of the text's functions (table 3-1), as it is measured.
type Function string

// The functions. But for the first they select records by c1 <= q.
const (
	Insert         Function = "insert"
	Select         Function = "select"
	SelectSort     Function = "select_sort"
	SelectGroup    Function = "select_group"
	InsertSelect   Function = "insert_select"
	UpdateSelected Function = "update"
	DeleteSelected Function = "delete"
)

// SQL is what the function does, of q records.
func (f Function) SQL() string {
	return map[Function]string{
		Insert: "INSERT INTO i VALUES (...), a record a statement", Select: "SELECT c1, c2, c3 FROM t WHERE c1 <= q", SelectSort: "SELECT c1, c2, c3 FROM t WHERE c1 <= q ORDER BY c3",
		SelectGroup: "SELECT c2, SUM(c3) FROM t WHERE c1 <= q GROUP BY c2", InsertSelect: "INSERT INTO d SELECT c1, c2, c3 FROM t WHERE c1 <= q",
		UpdateSelected: "UPDATE t SET c3 = v WHERE c1 <= q", DeleteSelected: "DELETE FROM t WHERE c1 <= q",
	}[f]
}

// Changes reports whether the function changes a table.
func (f Function) Changes() bool {
	return !slices.Contains([]Function{Select, SelectSort, SelectGroup}, f)
}

// Question is what a case asks, for the ways of package bench: a function over a table.
type Question struct {
	Function Function
	// Data are the records of the table, and More those that are inserted. Q is how many the case's runs select or insert.
	Data, More Records
	Q          int

	sorted  Records // Data by c1
	turning bool    // its ways are compared over q, too
	ways    map[string]Do
	found   map[string]map[string]float64
	bed     *bed
}

// Do runs a question's function for q records, and gives its output ([Question.Output]). Of a function that changes a table that is the
// table's contents afterwards, or their summary where they are not asked for whole.
type Do func(ctx context.Context, q int, whole bool) (out Records, took lab.Took, err error)

// Value is what the update of run number i sets: none that the data have.
func Value(i int) int32 { return largest + 1 + int32(i) }

// Summary is a record of a table's contents: their number, and the sums of c1, c2 and c3. Where v is one of [Value], the number of
// records whose c3 is v stands in the place of the last. Sums wrap at 2^32.
func Summary(r Records, v int32) Records {
	s := Records{{int32(r.N())}, {0}, {0}, {0}}
	for i := range r.N() {
		s[1][0], s[2][0] = s[1][0]+r[C1][i], s[2][0]+r[C2][i]
		switch {
		case v == 0:
			s[3][0] += r[C3][i]
		case r[C3][i] == v:
			s[3][0]++
		}
	}
	return s
}

// first are the first q records by c1.
func (x *Question) first(q int) Records {
	return Records{x.sorted[C1][:q], x.sorted[C2][:q], x.sorted[C3][:q]}
}

// Output is the right one for q records.
func (x *Question) Output(q int, whole bool) (out Records) {
	v := int32(0)
	switch x.Function {
	case Select:
		return x.first(q)
	case SelectSort:
		return x.first(q).Sort(C3)
	case SelectGroup:
		return x.first(q).Group(C2, C3, Sum)
	case InsertSelect:
		out = x.first(q)
	case Insert:
		out = make(Records, len(Columns))
		for c := range out {
			out[c] = slices.Concat(x.Data[c], x.More[c][:q])
		}
	case DeleteSelected:
		out = Records{x.sorted[C1][q:], x.sorted[C2][q:], x.sorted[C3][q:]}
	case UpdateSelected:
		v = Value(0)
		out = slices.Clone(x.sorted)
		out[C3] = slices.Clone(out[C3])
		for i := range q {
			out[C3][i] = v
		}
	}
	if whole {
		return out
	}
	return Summary(out, v)
}

// orderedBy is the column whose order the function gives; -1 for none.
func (x *Question) orderedBy() int {
	if x.Function == SelectSort {
		return C3
	}
	return -1
}

// compare is an error where a whole output is not the right one. The order of records counts where the function gives one; what an update has
// set are values of any run.
func (x *Question) compare(q int, got Records) error {
	want := x.Output(q, true)
	if by := x.orderedBy(); by >= 0 && (len(got) != len(want) || !slices.Equal(got[by], want[by])) {
		return fmt.Errorf("%s of %d records: they are not in the order of %s", x.Function, q, Columns[by])
	}
	got = slices.Clone(got)
	if x.Function == UpdateSelected && len(got) > C3 {
		got[C3] = slices.Clone(got[C3])
		for i, v := range got[C3] {
			if v > largest {
				got[C3][i] = Value(0)
			}
		}
	}
	if len(got) != len(want) || got.N() != want.N() {
		return fmt.Errorf("%s of %d records: the output has %d records of %d columns, and is %d of %d", x.Function, q, got.N(), len(got), want.N(), len(want))
	}
	a, b := got.Sort(0), want.Sort(0)
	for c := range a {
		for i := range a[c] {
			if a[c][i] != b[c][i] {
				return fmt.Errorf("%s of %d records: the output has %v in the place of %v", x.Function, q, a.record(i), b.record(i))
			}
		}
	}
	return nil
}

// Way is a way to run the case's question.
func (x *Question) Way(system string, device bool, do Do) lab.Way {
	x.ways[system] = do
	w := lab.Way{System: system, Device: device, Check: func(ctx context.Context) error {
		out, _, err := do(ctx, x.Q, true)
		if err == nil {
			err = x.compare(x.Q, out)
		}
		return err
	}, Run: func(ctx context.Context) (out lab.Outcome, err error) {
		got, took, err := do(ctx, x.Q, !x.Function.Changes())
		if err != nil {
			return out, err
		}
		return lab.Outcome{Took: took, Digest: got.Digest(x.orderedBy())}, nil
	}}
	if x.turning && slices.Contains(ours, system) {
		w.Counters = func(ctx context.Context) (map[string]float64, error) {
			if err := x.turn(ctx); err != nil {
				return nil, err
			}
			return x.found[system], nil
		}
	}
	return w
}

// mostProbed is the largest number of selected records at which two sides are compared.
const mostProbed = 1 << 20

// turn finds the turning points of all pairs of ours and theirs that the case has, and keeps them.
func (x *Question) turn(ctx context.Context) error {
	if x.found != nil {
		return nil
	}
	n := x.Data.N()
	at, all := places(min(n, mostProbed)), slices.Concat(ours, theirs)
	all = slices.DeleteFunc(all, func(s string) bool { return x.ways[s] == nil })
	found := map[string]map[string]float64{}
	if !slices.ContainsFunc(all, func(s string) bool { return slices.Contains(theirs, s) }) {
		x.found = found
		return nil
	}
	medians := make([]map[string]float64, len(at))
	for i, q := range at {
		var err error
		if medians[i], err = x.inTurns(ctx, q, all); err != nil {
			return err
		}
	}
	for _, of := range ours {
		for _, over := range theirs {
			if x.ways[of] == nil || x.ways[over] == nil {
				continue
			}
			var known []float64
			for _, m := range medians {
				known = append(known, m[of]-m[over])
			}
			t, err := Bisect(ctx, at, known, func(ctx context.Context, q int) (float64, error) {
				m, err := x.inTurns(ctx, q, []string{of, over})
				return m[of] - m[over], err
			})
			if err != nil {
				return err
			}
			if found[of] == nil {
				found[of] = map[string]float64{}
			}
			x.bed.note(found[of], x.Function, n, of, over, t)
		}
	}
	x.found = found
	return nil
}

// How often a way runs at a place: its median of so many.
const probes = 5

// inTurns are the medians of ways for q records, in ms. They take turns, slow ones fewer.
func (x *Question) inTurns(ctx context.Context, q int, systems []string) (medians map[string]float64, err error) {
	want, times := x.Output(q, !x.Function.Changes()).Digest(x.orderedBy()), map[string][]time.Duration{}
	for round := range probes {
		for _, s := range systems {
			if took := times[s]; round > 0 && took[0] > 100*time.Millisecond || round > 2 && took[0] > 20*time.Millisecond {
				continue
			}
			out, took, err := x.ways[s](ctx, q, !x.Function.Changes())
			if err != nil {
				return nil, fmt.Errorf("%s: %w", s, err)
			}
			if got := out.Digest(x.orderedBy()); got != want {
				return nil, fmt.Errorf("%s: %s of %d records: the output is another one", s, x.Function, q)
			}
			times[s] = append(times[s], took.Wall)
		}
	}
	medians = map[string]float64{}
	for s, list := range times {
		slices.Sort(list)
		medians[s] = float64(list[len(list)/2]) / 1e6
	}
	return medians, nil
}
