package meter

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/bench/answer"
	"github.com/stencildb/stencildb/bench/report"
)

// fakeClock is a clock that contenders move.
type fakeClock struct{ t time.Time }

func (c *fakeClock) now() time.Time { return c.t }

// cpu is a processor that is busy all the time, on three cores.
func (c *fakeClock) cpu() time.Duration { return 3 * c.t.Sub(time.Time{}) }

// contender takes the times in turn, the last for ever, and notes its runs in order.
func (c *fakeClock) contender(name string, order *[]string, times ...time.Duration) Contender {
	run := 0
	return Contender{System: name, Run: func(context.Context) (Outcome, error) {
		*order = append(*order, name)
		c.t = c.t.Add(times[min(run, len(times)-1)])
		run++
		return Outcome{Answer: answer.OfText("7")}, nil
	}}
}

func measure(t *testing.T, m *Meter, trials ...Trial) ([]report.Result, []report.Skip) {
	t.Helper()
	results, skipped, err := m.Measure(t.Context(), trials)
	if err != nil {
		t.Fatal(err)
	}
	return results, skipped
}

func TestRoundsRotate(t *testing.T) {
	c := &fakeClock{}
	var order []string
	const ms = time.Millisecond
	trial := Trial{Case: report.Case{Operation: "op", Rows: 1}, Contenders: []Contender{
		c.contender("a", &order, 2*ms), c.contender("b", &order, 4*ms), c.contender("c", &order, 6*ms),
	}}
	results, _ := measure(t, &Meter{Rounds: 4, now: c.now, Processor: c.cpu}, trial)
	if got, want := strings.Join(order, ""), "aabbcc"+"abc"+"bca"+"cab"+"abc"; got != want {
		t.Errorf("runs in the order %s, want %s", got, want)
	}
	for i, want := range []float64{2, 4, 6} {
		r := results[i]
		if r.MedianMS != want || r.MinMS != want || r.P95MS != 0 || len(r.MS) != 4 || r.MedianCPU != 3*want || len(r.CPU) != 4 {
			t.Errorf("%+v, want four times of %v ms and thrice that of the processors", r, want)
		}
	}
	if ratio := results[2].PairedRatio(&results[0]); ratio.Median != 3 || ratio.Rounds != 4 || ratio.To != "a" {
		t.Errorf("ratio %+v, want 3 of 4 rounds", ratio)
	}
}

// A fast contender runs untimed before each timed run; its first run, which loads and
// compiles, is not timed either.
func TestFastContendersAreTouched(t *testing.T) {
	c := &fakeClock{}
	var order []string
	slow, fast := 500*time.Microsecond, 100*time.Microsecond
	times := []time.Duration{time.Second, fast}
	for range 2 { // rounds
		times = append(append(times, slices.Repeat([]time.Duration{slow}, touches)...), fast)
	}
	trial := Trial{Contenders: []Contender{c.contender("a", &order, times...)}}
	results, _ := measure(t, &Meter{Rounds: 2, now: c.now, Processor: c.cpu}, trial)
	if len(order) != len(times) || !slices.Equal(results[0].MS, []float64{0.1, 0.1}) {
		t.Errorf("%d runs, times %v, want %d runs and 0.1 ms twice", len(order), results[0].MS, len(times))
	}
}

// A contender on a hardware device that was idle runs untimed for as long, up to a second, and at
// first for two. A software device does not tire.
func TestIdleDevicesAreTouched(t *testing.T) {
	for _, c := range []struct {
		long     time.Duration
		hardware bool
		device   bool
		awake    bool
		order    string
	}{
		{100 * time.Millisecond, true, true, true, "llss" + "lsss" + "sl"}, // 100 ms idle, then none
		{100 * time.Millisecond, false, true, true, "llss" + "ls" + "sl"},
		{100 * time.Millisecond, true, false, true, "llss" + "ls" + "sl"},
		{4 * time.Millisecond, true, true, true, "llss" + "ls" + "sl"},
		{10 * time.Second, true, true, true, "llss" + "l" + strings.Repeat("s", 20) + "s" + "sl"},
		{4 * time.Millisecond, true, true, false, "llss" + "l" + strings.Repeat("s", 40) + "s" + "sl"},
	} {
		clock := &fakeClock{}
		var order []string
		short := clock.contender("s", &order, slices.Repeat([]time.Duration{50 * time.Millisecond}, 50)...)
		short.Device = c.device
		trial := Trial{Contenders: []Contender{clock.contender("l", &order, slices.Repeat([]time.Duration{c.long}, 4)...), short}}
		results, _ := measure(t, &Meter{Rounds: 2, Hardware: c.hardware, awake: c.awake, now: clock.now, Processor: clock.cpu}, trial)
		if got := strings.Join(order, ""); got != c.order {
			t.Errorf("%+v: runs in the order %s", c, got)
		}
		if !slices.Equal(results[1].MS, []float64{50, 50}) {
			t.Errorf("%+v: times %v, want 50 ms twice", c, results[1].MS)
		}
	}
}

// Ratios are of the rounds in which both ran, whatever their strides.
func TestRatiosArePaired(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const rounds = 64
		noise := rapid.SliceOfN(rapid.Float64Range(1, 100), rounds, rounds).Draw(t, "noise of each round")
		result := func(name string, factor float64) *report.Result {
			r := &report.Result{System: name, Stride: 1 << rapid.IntRange(0, 4).Draw(t, name)}
			for i := 0; i < rounds; i += r.Stride {
				r.MS = append(r.MS, factor*noise[i])
			}
			return r
		}
		a, b := result("a", 1), result("b", 4)
		if ratio := b.PairedRatio(a); ratio.Median != 4 || ratio.Rounds >= report.MinRounds && ratio.P5 != 4 || ratio.Rounds != rounds/max(a.Stride, b.Stride) {
			t.Fatalf("ratio %+v with strides %d and %d", ratio, a.Stride, b.Stride)
		}
	})
}

// The figures run as often as the paper's, and the slower a run is the seldomer.
func TestFixedRounds(t *testing.T) {
	m := Meter{Fixed: report.PaperRuns}
	for estimate, want := range map[time.Duration]int{50 * time.Millisecond: 100, 100 * time.Millisecond: 15, 1900 * time.Millisecond: 15, 2 * time.Second: 5,
		19 * time.Second: 5, 20 * time.Second: 1, time.Hour: 1} {
		p := &participant{estimate: estimate}
		rounds := m.plan([]*participant{p})
		if runs := (rounds + p.result.Stride - 1) / p.result.Stride; runs != want {
			t.Errorf("%v: %d runs, want %d", estimate, runs, want)
		}
	}
}

func TestStrideBoundsTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rounds := rapid.IntRange(1, 300).Draw(t, "rounds")
		estimate := time.Duration(rapid.Int64Range(0, int64(10*time.Second)).Draw(t, "estimate"))
		s := (&Meter{}).stride(rounds, estimate)
		runs := rounds / s
		if s&(s-1) != 0 || runs < min(rounds, report.MinRounds) {
			t.Fatalf("stride %d of %d rounds", s, rounds)
		}
		if time.Duration(runs)*estimate > share && rounds/(2*s) >= report.MinRounds {
			t.Fatalf("stride %d of %d rounds of %v: fewer would do", s, rounds, estimate)
		}
	})
}

func TestShortTrialsGetMoreRounds(t *testing.T) {
	for _, c := range []struct {
		estimate time.Duration
		want     int
	}{{0, MostRounds}, {time.Millisecond, MostRounds}, {20 * time.Millisecond, 40}, {time.Second, leastRounds}} {
		m := &Meter{}
		if got := m.plan([]*participant{{estimate: c.estimate}}); got != c.want {
			t.Errorf("%d rounds of %v, want %d", got, c.estimate, c.want)
		}
	}
}

func TestDifferentAnswersAreAnError(t *testing.T) {
	answers := func(name string, list ...string) Contender {
		run := -1
		return Contender{System: name, Run: func(context.Context) (Outcome, error) {
			run++
			return Outcome{Answer: answer.OfText(list[min(run, len(list)-1)])}, nil
		}}
	}
	for name, contenders := range map[string][]Contender{
		"of two systems":    {answers("a", "1"), answers("b", "2")},
		"in the second run": {answers("a", "1", "2")},
		"in a later round":  {answers("a", "1", "1", "1", "1", "1", "1", "2")},
	} {
		_, _, err := (&Meter{Rounds: 8}).Measure(t.Context(), []Trial{{Case: report.Case{Operation: "op", Rows: 3}, Contenders: contenders}})
		var differ *DifferError
		if !errors.As(err, &differ) || !strings.Contains(err.Error(), "op over 3 rows") || !strings.Contains(err.Error(), "2") {
			t.Errorf("%s: %v, want a DifferError with the answers", name, err)
		}
	}
}

func TestContendersThatCannotAreLeftOut(t *testing.T) {
	c := &fakeClock{}
	var order []string
	cannot := Contender{System: "b", Run: func(context.Context) (Outcome, error) { return Outcome{}, fmt.Errorf("%w: too wide", ErrCannot) }}
	results, skipped := measure(t, &Meter{Rounds: 1, now: c.now, Processor: c.cpu},
		Trial{Case: report.Case{Operation: "op", Rows: 5}, Contenders: []Contender{cannot, c.contender("a", &order, time.Second)}})
	if len(results) != 1 || results[0].System != "a" {
		t.Errorf("results %+v, want one of a", results)
	}
	if want := (report.Skip{Case: report.Case{Operation: "op", Rows: 5}, System: "b", Reason: "cannot run this: too wide"}); len(skipped) != 1 || skipped[0] != want {
		t.Errorf("skipped %+v, want %+v", skipped, want)
	}
}

func TestErrorsAndCancellationEndTheRun(t *testing.T) {
	broken := errors.New("broken")
	fails := Contender{System: "b", Run: func(context.Context) (Outcome, error) { return Outcome{}, broken }}
	if _, _, err := (&Meter{}).Measure(t.Context(), []Trial{{Case: report.Case{Operation: "op"}, Contenders: []Contender{fails}}}); !errors.Is(err, broken) || !strings.Contains(err.Error(), "op") {
		t.Errorf("%v, want the error with the case", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	stops := Contender{System: "a", Run: func(context.Context) (Outcome, error) { cancel(); return Outcome{Answer: answer.OfText("1")}, nil }}
	if _, _, err := (&Meter{}).Measure(ctx, []Trial{{Contenders: []Contender{stops}}}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want the context's error", err)
	}
}
