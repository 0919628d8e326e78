package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Answer is the values that a statement gave, as text.
type Answer []string

// ErrCannot marks the error of a contender that is not able to run a case: it is
// then left out of it.
var ErrCannot = errors.New("cannot run this")

// Outcome is what one run of a statement gave.
type Outcome struct {
	Answer Answer
	// Wall is what the run took where the system has its own clock, which leaves out
	// what does not count; 0: the meter's clock goes.
	Wall time.Duration
	// GPU is the device's own time for it; 0 where its timer means nothing.
	GPU time.Duration
}

// Contender is one system's way to run a case.
type Contender struct {
	System string
	Run    func(context.Context) (Outcome, error)
	// Cold, when set, is Run with the columns not yet on the device; its Wall holds
	// their upload.
	Cold func(context.Context) (Outcome, error)
	// Profile, when set, says what each pass of one run takes.
	Profile func(context.Context) ([]PassTime, error)
	// Near marks answers that are approximate: they are kept, and not compared.
	Near bool
}

// PassTime is what one pass of a query took by itself, the device idle before and
// after; together they take longer than the query.
type PassTime struct {
	Pass    string  `json:"pass"`
	Routine string  `json:"routine"` // what passes are grouped by
	MS      float64 `json:"ms"`
}

// Trial is one case with all that contend in it.
type Trial struct {
	Operation  string
	SQL        string
	Rows       int
	Figure     int     // of the paper; 0 for none
	X          float64 // where the case stands on the axis of its figure
	Contenders []Contender
	// Expected, when set, is the answer; else the first contender's is.
	Expected Answer
}

// DifferError is the error of contenders that give different answers.
type DifferError struct {
	Trial                   *Trial
	System, Other           string
	SystemAnswer, OthersOne Answer
}

func (e *DifferError) Error() string {
	return fmt.Sprintf("%s over %d rows: %s gives %s, %s gives %s: %s", e.Trial.Operation, e.Trial.Rows,
		e.System, strings.Join(e.SystemAnswer, ", "), e.Other, strings.Join(e.OthersOne, ", "), e.Trial.SQL)
}

// Meter times contenders. The zero value does, with the number of rounds that suits
// the work.
type Meter struct {
	// Rounds is how many rounds to run of each case; 0 means Least to 320, more where
	// they are short.
	Rounds int
	// Least is the number of rounds that even slow cases run; 0 means 20.
	Least int
	// Share bounds the time of one contender in one case, where it then still runs
	// five times, and Together that of the rounds of a case beyond the least; 0 means
	// 1 s for each.
	Share, Together time.Duration
	// ColdRuns is how often a case runs with cold columns; 0: not at all.
	ColdRuns int
	// Progress, when set, is told of each case before its rounds, by its number from 1.
	Progress func(t *Trial, number int)

	now func() time.Time     // nil: time.Now
	cpu func() time.Duration // nil: processorTime
}

const (
	leastRounds = 4 * fewest // in strides of 1, 2 or 4
	mostRounds  = 64 * fewest
	touchBelow  = time.Millisecond // a contender as fast as this runs a few times untimed before each timed run
	touches     = 3
	idleAfter   = 100 * time.Millisecond // a device that another contender leaves idle for so long lowers its clocks
	share       = time.Second
	profileRuns = 3
)

// participant is a contender in a trial, with its times.
type participant struct {
	Contender
	answer   Answer
	estimate time.Duration
	stride   int
	ms, cpu  []float64
	gpu      []float64 // empty where the device's timer means nothing
	cold     []float64
	passes   []PassTime
	off      float64 // relative, of an approximate answer
}

// prepared is a trial with those that can run it.
type prepared struct {
	*Trial
	participants []*participant
}

// Measure runs the trials one after the other, each in rounds, and returns a result
// for each contender of each, and the cases that contenders cannot run. Answers of
// one trial that differ are a [DifferError]. With any error come the results of the
// trials that were complete.
func (m *Meter) Measure(ctx context.Context, trials []Trial) (list []Result, skipped []Skip, err error) {
	for i := range trials {
		if m.Progress != nil {
			m.Progress(&trials[i], i+1)
		}
		h, skips, err := m.trial(ctx, &trials[i])
		if err != nil {
			return list, skipped, err
		}
		list, skipped = append(list, h.results()...), append(skipped, skips...)
	}
	return list, skipped, nil
}

// trial measures one trial.
func (m *Meter) trial(ctx context.Context, t *Trial) (prepared, []Skip, error) {
	h, skipped, err := m.warm(ctx, t)
	if err != nil {
		return h, nil, err
	}
	rounds := m.plan(h)
	runtime.GC()
	for round := range rounds {
		if err := m.round(ctx, h, round); err != nil {
			return h, nil, err
		}
	}
	for range m.ColdRuns {
		if err := m.cold(ctx, h); err != nil {
			return h, nil, err
		}
	}
	for _, r := range h.participants {
		if r.Profile != nil {
			if err := r.profile(ctx); err != nil {
				return h, nil, fmt.Errorf("%s over %d rows: %s: %w", t.Operation, t.Rows, r.System, err)
			}
		}
	}
	return h, skipped, nil
}

// warm runs every contender of a trial twice and compares the answers.
func (m *Meter) warm(ctx context.Context, t *Trial) (prepared, []Skip, error) {
	h := prepared{Trial: t}
	var skipped []Skip
	for _, c := range t.Contenders {
		out, err := c.Run(ctx)
		if ctx.Err() != nil {
			return h, nil, ctx.Err()
		}
		if errors.Is(err, ErrCannot) {
			skipped = append(skipped, Skip{t.Operation, t.Rows, c.System, err.Error()})
			continue
		}
		if err != nil {
			return h, nil, fmt.Errorf("%s over %d rows: %s: %w", t.Operation, t.Rows, c.System, err)
		}
		r := &participant{Contender: c, answer: out.Answer}
		if err := h.compare(r); err != nil {
			return h, nil, err
		}
		sample, err := m.time(ctx, h, r, r.Run)
		if err != nil {
			return h, nil, err
		}
		r.estimate = sample.all
		h.participants = append(h.participants, r)
	}
	return h, skipped, nil
}

// compare is an error where the answer of r is not the expected one; of an
// approximate one it notes how far it is off.
func (h prepared) compare(r *participant) error {
	other, expected := "cpu", h.Expected
	if expected == nil {
		if len(h.participants) == 0 {
			return nil
		}
		other, expected = h.participants[0].System, h.participants[0].answer
	}
	if r.Near {
		return r.compareNear(expected)
	}
	if !slices.Equal(r.answer, expected) {
		return &DifferError{h.Trial, r.System, other, r.answer, expected}
	}
	return nil
}

// compareNear sets the relative error of r's answer.
func (r *participant) compareNear(expected Answer) error {
	exact, err := strconv.ParseFloat(expected[0], 64)
	if err != nil {
		return err
	}
	near, err := strconv.ParseFloat(r.answer[0], 64)
	if err != nil {
		return err
	}
	if r.off = math.Abs(near - exact); exact != 0 {
		r.off /= math.Abs(exact)
	}
	return nil
}

// sample is what one run took: by the wall, of the process's processor time, by the
// device's timer, and by the wall with all that the system does not count.
type sample struct{ wall, cpu, gpu, all time.Duration }

// time runs r once and checks its answer.
func (m *Meter) time(ctx context.Context, h prepared, r *participant, run func(context.Context) (Outcome, error)) (l sample, err error) {
	now, processor := m.now, m.cpu
	if now == nil {
		now = time.Now
	}
	if processor == nil {
		processor = processorTime
	}
	began, start := processor(), now()
	out, err := run(ctx)
	l.all = now().Sub(start)
	l.cpu = processor() - began
	switch {
	case ctx.Err() != nil:
		return sample{}, ctx.Err()
	case err != nil:
		return sample{}, fmt.Errorf("%s over %d rows: %s: %w", h.Operation, h.Rows, r.System, err)
	case !slices.Equal(out.Answer, r.answer):
		return sample{}, &DifferError{h.Trial, r.System, "the same before", out.Answer, r.answer}
	}
	if l.wall, l.gpu = l.all, out.GPU; out.Wall > 0 {
		l.wall = out.Wall
	}
	return l, nil
}

// plan decides on the number of rounds and in which of them each contender runs.
func (m *Meter) plan(h prepared) int {
	rounds := m.Rounds
	if rounds == 0 {
		all := time.Duration(0)
		for _, r := range h.participants {
			all += r.estimate
		}
		rounds = cmp.Or(m.Least, leastRounds)
		for rounds < mostRounds && 2*time.Duration(rounds)*all <= cmp.Or(m.Together, share) {
			rounds *= 2
		}
	}
	for _, r := range h.participants {
		r.stride = m.stride(rounds, r.estimate)
	}
	return rounds
}

// stride is the distance between the rounds in which a contender runs: a power of
// two, so that of two contenders one runs whenever the other does.
func (m *Meter) stride(rounds int, estimate time.Duration) int {
	s := 1
	for time.Duration(rounds/s)*estimate > cmp.Or(m.Share, share) && rounds/(2*s) >= fewest {
		s *= 2
	}
	return s
}

// round runs the contenders of a trial, starting with another one each round.
func (m *Meter) round(ctx context.Context, h prepared, round int) error {
	var before time.Duration // that the contender before took
	for i := range h.participants {
		r := h.participants[(i+round)%len(h.participants)]
		if round%r.stride != 0 {
			continue
		}
		for range r.untimed(before) {
			if _, err := m.time(ctx, h, r, r.Run); err != nil {
				return err
			}
		}
		l, err := m.time(ctx, h, r, r.Run)
		if err != nil {
			return err
		}
		before = l.all
		r.ms, r.cpu = append(r.ms, inMS(l.wall)), append(r.cpu, inMS(l.cpu))
		if l.gpu > 0 {
			r.gpu = append(r.gpu, inMS(l.gpu))
		}
	}
	return nil
}

// untimed is how often a contender runs before it is timed, after one that took so
// long.
func (r *participant) untimed(before time.Duration) int {
	switch {
	case r.estimate < touchBelow:
		return touches
	case before > idleAfter && before > r.estimate:
		return 1
	}
	return 0
}

func inMS(d time.Duration) float64 { return rounded(float64(d) / 1e6) }

// cold runs each contender that has columns to upload once, with cold columns.
func (m *Meter) cold(ctx context.Context, h prepared) error {
	for _, r := range h.participants {
		if r.Cold == nil {
			continue
		}
		l, err := m.time(ctx, h, r, r.Cold)
		if err != nil {
			return err
		}
		r.cold = append(r.cold, inMS(l.wall))
	}
	return nil
}

// profile sets the times of r's passes: the medians of a few runs.
func (r *participant) profile(ctx context.Context) error {
	var runs [][]PassTime
	for range profileRuns {
		passes, err := r.Profile(ctx)
		if err != nil {
			return err
		}
		runs = append(runs, passes)
	}
	r.passes = runs[0]
	for i := range r.passes {
		var times []float64
		for _, run := range runs {
			if i < len(run) {
				times = append(times, run[i].MS)
			}
		}
		r.passes[i].MS = median(times)
	}
	return nil
}

func (h prepared) results() []Result {
	var list []Result
	for _, r := range h.participants {
		x := Result{
			Operation: h.Operation, SQL: h.SQL, Rows: h.Rows, Figure: h.Figure, System: r.System,
			Answer: r.answer, Stride: r.stride, MS: r.ms, CPU: r.cpu, GPU: r.gpu, Cold: r.cold, Passes: r.passes,
		}
		if h.Figure > 0 {
			x.X = h.X
		}
		if r.Near {
			x.Error = &r.off
		}
		x.summarise()
		list = append(list, x)
	}
	return list
}
