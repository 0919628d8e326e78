package hsu

import (
	"fmt"
	"math"

	"github.com/stencildb/stencildb/papers/lab"
)

// crossing is the number of selected records from which on a system is faster than another one in figure 4-2. Between two places it is
// where lines cross. It is 0 where the system is faster at the first place, and N where it never is.
func crossing(of, over string) lab.Value {
	qs := queried(false)
	v := lab.Value{Some: true}
	for _, system := range []string{of, over} {
		for _, q := range qs {
			v.Terms = append(v.Terms, lab.Term{Operation: overPart(Select, 5, q), System: system})
		}
	}
	v.Of = func(v []float64) float64 {
		before := math.NaN() // how far it is behind at the place before
		last := 0
		for i, q := range qs {
			d := v[i] - v[len(qs)+i]
			switch {
			case math.IsNaN(d):
				continue
			case d <= 0 && math.IsNaN(before):
				return 0
			case d <= 0:
				return float64(last) + float64(q-last)*before/(before-d)
			}
			before, last = d, q
		}
		if math.IsNaN(before) {
			return before
		}
		return paperRows / fifths
	}
	return v
}

func claims() (list []lab.Claim) {
	say := func(figure lab.Name, what, says, where string, number float64, unit string, of, over string, verdict lab.Verdict, here lab.Value) {
		list = append(list, lab.Claim{Figure: figure, What: what, Says: says, Where: where, Number: number, Unit: unit, Of: of, Over: over, Here: here, Verdict: verdict})
	}
	ratio := func(a, b string) lab.Value {
		return lab.Ratio(lab.Term{Operation: a, System: gpu}, lab.Term{Operation: b, System: gpu})
	}
	first, last := inserted(insertions[0]), inserted(100)
	say("4-1", "500 insertions", "each 500 records more take 65.5 ms", "S4.2.2.1, F4-1", 65.512, "ms", gpu, "", lab.AtMost,
		lab.Value{Terms: []lab.Term{{Operation: last, System: gpu}, {Operation: first, System: gpu}}, Of: func(v []float64) float64 { return (v[0] - v[1]) / 99 }})
	say("4-1", "a doubling of the table", "a doubling takes another 10.45 ms", "S4.2.2.1", 10.453, "ms", gpu, "", lab.AtMost, lab.Value{Terms: []lab.Term{{Operation: last, System: gpu, Section: doubling}}})
	for _, bound := range []struct {
		what    string
		number  float64
		verdict lab.Verdict
	}{{"at least", 20, lab.AtLeast}, {"at most", 120, lab.AtMost}} {
		say("4-1", "50,000 insertions, the GPU behind SQLite, "+bound.what, "the GPU is behind SQLite by 20 to 120 ms", "S4.2.2.1, F4-1", bound.number, "ms", gpu, SQLiteIndex, bound.verdict,
			lab.Value{Terms: []lab.Term{{Operation: last, System: gpu}, {Operation: last, System: SQLiteIndex}}, Of: func(v []float64) float64 { return v[0] - v[1] }})
	}
	say("4-2", "selection, 1,700 records", "a selection takes 2.598 ms", "S4.2.2.2, F4-2", 2.598, "ms", gpu, "", lab.AtMost, lab.Median(overPart(Select, 5, 1700), gpu))
	say("4-2", "selection, 10,000 records beside 100", "it takes the same time whatever is selected", "S4.2.2.2, F4-2", 1, "times", gpu, "", lab.Alike, ratio(overPart(Select, 5, 10_000), overPart(Select, 5, 100)))
	say("4-2", "selection, the crossing with SQLite", "from about 1,700 records on the GPU is faster", "S4.2.2.2, F4-2", 1700, "records", gpu, SQLiteIndex, lab.Near, crossing(gpu, SQLiteIndex))
	for _, step := range []struct{ from, to, doublings int }{{1000, 1100, 1}, {2000, 2100, 2}} {
		say("4-4", fmt.Sprintf("insertion of a selection, %d records beside %d", step.to, step.from), fmt.Sprintf("the time jumps at %d records, where the table doubles", step.to), "S4.2.2.4, F4-4", 1, "times", gpu, "", lab.AtLeast,
			ratio(overPart(InsertSelect, 5, step.to), overPart(InsertSelect, 5, step.from)))
	}
	for _, step := range []struct{ from, to int }{{4000, 4500}, {8000, 8500}} {
		term := func(q int) lab.Term {
			return lab.Term{Operation: deviceOnly(q), System: sized(1), Section: grouping}
		}
		say("4-5", fmt.Sprintf("grouping on the device, %d records beside %d", step.to, step.from), fmt.Sprintf("the time jumps at %d records, behind a power of two", step.to), "S4.2.3, F4-5", 1, "times", sized(1), "", lab.AtLeast,
			lab.Ratio(term(step.to), term(step.from)))
	}
	term := func(q, k int) lab.Term {
		return lab.Term{Operation: deviceOnly(q), System: sized(k), Section: selecting}
	}
	say("4-6", "selection on the device, 10,000 records beside 2,500", "the selection is not sensitive to what is selected", "S4.2.3, S5.1, F4-6", 1, "times", sized(fifths), "", lab.Alike, lab.Ratio(term(10_000, fifths), term(2500, fifths)))
	say("4-6", "selection on the device, the largest table beside the smallest", "it is sensitive to the records of the table", "S4.2.3, S5.1, F4-6", 1, "times", sized(fifths), sized(1), lab.AtLeast, lab.Ratio(term(10_000, fifths), term(10_000, 1)))
	for _, f := range Turning {
		v := share(f.Function, gpu, SQLiteIndex)
		of := v.Of
		v.Of = func(v []float64) float64 { return max(0, min(100, of(v))) } // behind everywhere is 100 %
		say("table4-4", f.Name+", turning point", "the GPU is faster from so many records on", "S4.3, T4-4", f.Share, "% of N", gpu, SQLiteIndex, lab.Near, v)
	}
	for _, f := range Turning {
		at := func(rows int) lab.Term {
			return lab.Term{Operation: turned(f.Function), System: gpu, Counter: beside(turningShare, SQLiteIndex), Rows: rows}
		}
		say("4-8", f.Name+", the share of the largest table beside that of the smallest", "turning points are linear in the records of the table", "S4.3, S5.1, F4-8", 1, "times", gpu, SQLiteIndex, lab.Near, lab.Ratio(at(lab.Largest), at(lab.Smallest)))
	}
	return list
}
