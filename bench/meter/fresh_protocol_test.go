package meter

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stencildb/stencildb/bench/answer"
	"github.com/stencildb/stencildb/bench/report"
)

// fresh is a contender of the fresh protocol. Its prepared statement takes repeated, and a text of which nothing was
// asked before takes new. It notes what it runs.
func (c *fakeClock) fresh(name string, order *[]string, repeated, new time.Duration, answer func(text string) (answer.Answer, error)) Contender {
	ask := func(text string, took time.Duration) (Outcome, error) {
		*order = append(*order, name+":"+text)
		c.t = c.t.Add(took)
		a, err := answer(text)
		return Outcome{Answer: a}, err
	}
	return Contender{System: name,
		Run:   func(context.Context) (Outcome, error) { return ask("=", repeated) },
		Fresh: func(_ context.Context, text string) (Outcome, error) { return ask(text, new) },
	}
}

// Each round has the next draw, on all systems, after the statement that is repeated; the first text is not counted.
func TestFreshRounds(t *testing.T) {
	const ms = time.Millisecond
	c, order := &fakeClock{}, []string(nil)
	seven := func(string) (answer.Answer, error) { return answer.OfText("7"), nil }
	a, b := c.fresh("a", &order, 2*ms, 10*ms, seven), c.fresh("b", &order, 4*ms, 5*ms, seven)
	made := 0
	a.Programs = func() int { made++; return made / 4 * 3 } // asked before and after each draw
	a.First = func(context.Context, string) (Outcome, error) {
		order = append(order, "a:first")
		return Outcome{Answer: answer.OfText("7"), Wall: 90 * ms}, nil
	}
	trial := Trial{Case: report.Case{Operation: "op", Rows: 1}, SQL: "x0", Draws: []string{"x1", "x2"}, ShapeOf: func(string) answer.Shape { return answer.Shape{} }, Contenders: []Contender{a, b}}
	results, skipped := measure(t, &Meter{Rounds: 9, ColdRuns: 1, now: c.now, Processor: c.cpu}, trial)
	if got, want := strings.Join(order, " "), "a:= a:= a:x0 b:x0 b:= b:x0 a:= a:x1 b:= b:x1 b:= b:x2 a:= a:x2 a:first"; got != want {
		t.Errorf("ran\n%s, want\n%s", got, want)
	}
	if len(skipped) > 0 || len(results) != 2 {
		t.Fatalf("%v, %v", results, skipped)
	}
	for i, want := range []struct {
		new, repeated, cold float64
		compiled            []int
	}{{10, 2, 90, []int{0, 3}}, {5, 4, 5, nil}} {
		x := results[i]
		if len(x.MS) != 2 || x.MedianMS != want.new || x.RepeatedMS != want.repeated || x.ColdMS != want.cold || !slices.Equal(x.Compiled, want.compiled) {
			t.Errorf("%+v, want %+v", x, want)
		}
	}
	r := &report.Report{Reference: "b", Results: results}
	r.SetRatios()
	if x := r.Results[0]; x.Ratio.Median != 2 || x.RepeatedRatio.Median != 0.5 {
		t.Errorf("ratios %+v and %+v, want 2 and 0.5", x.Ratio, x.RepeatedRatio)
	}
}

// A system that gives another answer to a draw, or cannot answer it, is left out of the case, with the draw.
func TestFreshAnswersAreCompared(t *testing.T) {
	for _, c := range []struct {
		apart  bool
		answer func(text string) (answer.Answer, error)
		reason string
		differ bool
	}{
		{true, func(text string) (answer.Answer, error) { return answer.OfText(text), nil }, "", false},
		{true, func(text string) (answer.Answer, error) {
			return answer.OfText(strings.ReplaceAll(text, "x2", "8")), nil
		}, "another answer: it gives 8, right gives x2: x2", true},
		{false, func(text string) (answer.Answer, error) {
			return answer.OfText(strings.ReplaceAll(text, "x1", "8")), nil
		}, "", true},
		{true, func(text string) (answer.Answer, error) {
			if text == "x2" {
				return nil, fmt.Errorf("%w: too large", ErrCannot)
			}
			return answer.OfText(text), nil
		}, "cannot run this: too large", false},
	} {
		clock, order := &fakeClock{}, []string(nil)
		right := clock.fresh("right", &order, 1e6, 1e6, func(text string) (answer.Answer, error) { return answer.OfText(text), nil })
		other := clock.fresh("other", &order, 1e6, 1e6, c.answer)
		other.Loose = true // so that it is not the one that is right
		for _, x := range []*Contender{&right, &other} {
			x.Run = func(context.Context) (Outcome, error) { return Outcome{Answer: answer.OfText("x0"), Wall: 1e6}, nil }
		}
		trial := Trial{Case: report.Case{Operation: "op", Rows: 1}, SQL: "x0", Draws: []string{"x1", "x2", "x3"}, ShapeOf: func(string) answer.Shape { return answer.Shape{} }, Contenders: []Contender{other, right}}
		results, skipped, err := (&Meter{Rounds: 3, Apart: c.apart, now: clock.now, Processor: clock.cpu}).Measure(t.Context(), []Trial{trial})
		var differ *DifferError
		if errors.As(err, &differ) != c.differ || c.differ && differ.System != "other" {
			t.Errorf("%v, want a difference %v", err, c.differ)
		}
		if !c.apart {
			continue
		}
		left := []report.Skip(nil)
		if c.reason != "" {
			left = []report.Skip{{Case: report.Case{Operation: "op", Rows: 1}, System: "other", Reason: c.reason}}
		}
		if d := cmp.Diff(left, skipped); d != "" || len(results) != 2-len(left) {
			t.Errorf("%d results, %s", len(results), d)
		}
		if x := results[len(results)-1]; x.System != "right" || len(x.MS) != 3 || len(x.Repeated) != 3 {
			t.Errorf("%+v, want right in all rounds", x)
		}
	}
}
