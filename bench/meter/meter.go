package meter

import (
	"cmp"
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/stencildb/stencildb/bench/answer"
	"github.com/stencildb/stencildb/bench/report"
)

// Meter times contenders. The zero value does, with the number of rounds that suits
// the work.
type Meter struct {
	// Rounds is how many rounds to run of each case; 0 means Least to 320, more where
	// they are short.
	Rounds int
	// Fixed, when set, is the number of rounds; a contender whose run takes long takes part in every so many (see seldom).
	Fixed int
	// Least is the number of rounds that even slow cases run; 0 means 20.
	Least int
	// Share bounds the time of one contender in one case; it then still runs five times. Together bounds the
	// time of the rounds of a case beyond the fewest. 0 means 1 s for each.
	Share, Together time.Duration
	// Hardware says that the device is no software, so that its clocks go down while it is idle.
	Hardware bool
	// ColdRuns is how often a case runs with cold columns; 0: not at all.
	ColdRuns int
	// Apart leaves a contender with another answer out of its case, and goes on. The first such [DifferError] comes
	// at the end, with all results.
	Apart bool
	// Progress, when set, is told of each case before its rounds, by its number from 1.
	Progress func(t *Trial, number int)

	now       func() time.Time     // nil: time.Now
	Processor func() time.Duration // nil: ProcessorTime

	busy  time.Time // when the device was done last
	awake bool      // the device has been woken
	apart error     // the first DifferError that did not end the run
}

const (
	leastRounds = 4 * report.MinRounds // in strides of 1, 2 or 4
	MostRounds  = 64 * report.MinRounds
	touchBelow  = time.Millisecond // a contender as fast as this runs a few times untimed before each timed run
	touches     = 3
	idleAfter   = 5 * time.Millisecond // a device that others leave idle for longer is kept busy for as long, up to wakeFor; twice that at first
	wakeFor     = time.Second
	share       = time.Second
	// After so many rounds garbage is collected, outside the times. Then runs take memory that others had, as in a
	// process that has run for long. With large tables Go collects none for thousands of runs. Each new page costs
	// 1.5 to 2 us on a virtual machine: 0.3 of 1 ms for 800 groups.
	collects    = 16
	sectionRuns = 15 // at most

	comparedRows = 10_000 // of an answer that is compared again in every run
)

// seldom says how often a contender takes part that takes so long or longer, as one of every so many rounds. Of [report.PaperRuns] these
// are 15, 5 and 1.
var seldom = []struct {
	from   time.Duration
	stride int
}{{20 * time.Second, report.PaperRuns}, {2 * time.Second, 20}, {100 * time.Millisecond, 7}, {0, 1}}

// participant is a contender in a trial, with what it gave so far.
type participant struct {
	Contender
	trial    *Trial
	once     time.Duration // that Run takes
	estimate time.Duration // that its part of a round takes
	result   report.Result
	failed   error // in a draw: it takes part no longer
}

// Measure runs the trials one after the other, each in rounds. It returns a result for each contender of
// each, and the cases that contenders cannot run. Answers of one trial that differ are a [DifferError]. With
// any error come the results of the trials that were complete.
func (m *Meter) Measure(ctx context.Context, trials []Trial) (list []report.Result, skipped []report.Skip, err error) {
	for i := range trials {
		if m.Progress != nil {
			m.Progress(&trials[i], i+1)
		}
		results, skips, err := m.trial(ctx, &trials[i])
		if err != nil {
			return list, skipped, err
		}
		list, skipped = append(list, results...), append(skipped, skips...)
	}
	return list, skipped, m.apart
}

// trial measures one trial.
func (m *Meter) trial(ctx context.Context, t *Trial) (results []report.Result, skipped []report.Skip, err error) {
	var all []*participant
	var differs *DifferError
	for _, c := range t.Contenders {
		switch p, err := m.warm(ctx, t, c, all); {
		case ctx.Err() != nil:
			return nil, nil, ctx.Err()
		case errors.Is(err, ErrCannot):
			skipped = append(skipped, report.Skip{Case: t.Case, System: c.System, Reason: err.Error()})
		case m.Apart && errors.As(err, &differs):
			skipped = append(skipped, report.Skip{Case: t.Case, System: c.System, Reason: differs.reason()})
			m.apart = cmp.Or(m.apart, err)
		case err != nil:
			return nil, nil, err
		default:
			all = append(all, p)
		}
	}
	rounds := m.plan(all)
	if t.Draws != nil {
		rounds = min(rounds, len(t.Draws))
	}
	for round := range rounds {
		if round%collects == 0 {
			runtime.GC()
		}
		if err := m.round(ctx, t, all, round); err != nil {
			return nil, nil, err
		}
		all = slices.DeleteFunc(all, func(p *participant) bool {
			if p.failed == nil {
				return false
			}
			reason := p.failed.Error()
			if errors.As(p.failed, &differs) {
				reason, m.apart = differs.reason()+": "+differs.Trial.SQL, cmp.Or(m.apart, p.failed)
			}
			skipped = append(skipped, report.Skip{Case: t.Case, System: p.System, Reason: reason})
			return true
		})
	}
	for range m.ColdRuns {
		for _, p := range all {
			cold := p.Cold
			if t.Draws != nil {
				cold = nil
				if p.First != nil {
					cold = func(ctx context.Context) (Outcome, error) { return p.First(ctx, t.SQL) }
				}
			}
			if cold == nil {
				continue
			}
			s, err := m.time(ctx, p, cold)
			if err != nil {
				return nil, nil, err
			}
			p.result.Cold = append(p.result.Cold, Milliseconds(s.wall))
		}
	}
	for _, p := range all {
		if p.Profile != nil {
			if err := p.profile(ctx); err != nil {
				return nil, nil, t.Fail(p.System, err)
			}
		}
		if p.Counters != nil {
			if p.result.Counters, err = p.Counters(ctx); err != nil {
				return nil, nil, t.Fail(p.System, err)
			}
		}
		if p.Sections != nil {
			if err := p.sections(ctx); err != nil {
				return nil, nil, t.Fail(p.System, err)
			}
		}
		if p.Operators != nil {
			if p.result.OnCPU, err = p.Operators(ctx); err != nil {
				return nil, nil, t.Fail(p.System, err)
			}
		}
		if p.Wrong != nil {
			wrong, err := p.Wrong(ctx)
			if err != nil {
				return nil, nil, t.Fail(p.System, err)
			}
			p.result.Wrong = &wrong
		}
		p.result.Summarise()
		results = append(results, p.result)
	}
	return results, skipped, nil
}

// warm runs a contender twice and compares its answer with those before. Where the trial has draws, it runs once more as
// a text, which is the draw that is not counted.
func (m *Meter) warm(ctx context.Context, t *Trial, c Contender, before []*participant) (*participant, error) {
	if c.Check != nil {
		if err := c.Check(ctx); err != nil {
			return nil, t.Fail(c.System, err)
		}
	}
	run := c.Run
	ofPeer := t.Draws != nil && c.First == nil // whose first execution here is its cold one
	if ofPeer {
		run = func(ctx context.Context) (Outcome, error) { return c.Fresh(ctx, t.SQL) }
	}
	start := m.clock()
	out, err := run(ctx)
	first := m.clock().Sub(start)
	switch {
	case errors.Is(err, ErrCannot):
		return nil, err
	case err != nil:
		return nil, t.Fail(c.System, err)
	}
	p := &participant{Contender: c, trial: t}
	p.result = report.Result{Case: t.Case, SQL: t.SQL, Figure: t.Figure, System: c.System, Answer: out.Answer.FirstRow()}
	if n := len(out.Answer); n != 1 {
		p.result.AnswerRows = &n
	}
	if t.Figure != "" {
		p.result.X = t.X
	}
	p.result.Work, p.result.Unit = t.Work, t.Unit
	switch {
	case c.Apart:
	case c.Near:
		err = p.measureError(out.Answer)
	default:
		err = p.compare(out.Answer)
	}
	if err != nil {
		return nil, err
	}
	s, err := m.time(ctx, p, p.Run)
	if p.once, p.estimate = s.all, s.all; t.Draws == nil || err != nil {
		return p, err
	}
	if ofPeer && m.ColdRuns > 0 {
		p.result.Cold = append(p.result.Cold, Milliseconds(first))
	}
	s, err = m.time(ctx, p, func(ctx context.Context) (Outcome, error) { return p.Fresh(ctx, t.SQL) })
	p.estimate += s.all
	return p, err
}

// compare is an error where the answer is not the expected one.
func (p *participant) compare(a answer.Answer) error {
	t := p.trial
	if t.Expected == nil {
		t.Expected, t.expects = a, p.System
	}
	if d := t.Shape.Compare(t.Expected, a, !p.Loose); d != nil {
		return &DifferError{t, p.System, cmp.Or(t.expects, "cpu"), d.Got, d.Want, p.Peer}
	}
	return nil
}

// measureError notes the relative error of an approximate answer.
func (p *participant) measureError(a answer.Answer) error {
	if len(p.trial.Expected) == 0 || len(a) == 0 {
		return nil
	}
	exact := answer.FloatOf(p.trial.Expected[0][0])
	off := math.Abs(answer.FloatOf(a[0][0]) - exact)
	if exact != 0 {
		off /= math.Abs(exact)
	}
	p.result.Error = &off
	return nil
}

// sample is what one run took: by the wall, of the process's processor time, and by the device's timer. all
// is by the wall with what the system does not count.
type sample struct{ wall, cpu, gpu, all time.Duration }

// time runs p once and checks its answer.
func (m *Meter) time(ctx context.Context, p *participant, run func(context.Context) (Outcome, error)) (s sample, err error) {
	out, s, err := m.run(ctx, p, run)
	switch {
	case err != nil:
		return sample{}, err
	case p.Near || p.Apart:
	case len(out.Answer) > comparedRows && len(out.Answer) == len(p.trial.Expected): // all of them were compared before
	default:
		if err := p.compare(out.Answer); err != nil {
			return sample{}, err
		}
	}
	return s, nil
}

// run runs p once.
func (m *Meter) run(ctx context.Context, p *participant, run func(context.Context) (Outcome, error)) (out Outcome, s sample, err error) {
	processor := m.Processor
	if processor == nil {
		processor = report.ProcessorTime
	}
	began, start := processor(), m.clock()
	out, err = run(ctx)
	end := m.clock()
	if s.all = end.Sub(start); p.Device {
		m.busy = end
	}
	s.cpu = processor() - began
	switch {
	case ctx.Err() != nil:
		return out, sample{}, ctx.Err()
	case err != nil:
		return out, sample{}, p.trial.Fail(p.System, err)
	}
	s.wall, s.gpu = cmp.Or(out.Wall, s.all), out.GPU
	return out, s, nil
}

// plan decides on the number of rounds and in which of them each contender runs.
func (m *Meter) plan(all []*participant) int {
	rounds := cmp.Or(m.Rounds, m.Fixed)
	if rounds == 0 {
		sum := time.Duration(0)
		for _, p := range all {
			sum += p.estimate
		}
		rounds = cmp.Or(m.Least, leastRounds)
		for rounds < MostRounds && 2*time.Duration(rounds)*sum <= cmp.Or(m.Together, share) {
			rounds *= 2
		}
	}
	for _, p := range all {
		switch {
		case m.Rounds > 0 || m.Fixed == 0:
			p.result.Stride = m.stride(rounds, p.estimate)
		default:
			for _, s := range slices.Backward(seldom) {
				if p.estimate >= s.from {
					p.result.Stride = s.stride
				}
			}
		}
	}
	return rounds
}

// stride is the distance between the rounds in which a contender runs. It is a power of two, so that of two
// contenders one runs whenever the other does.
func (m *Meter) stride(rounds int, estimate time.Duration) int {
	s := 1
	for time.Duration(rounds/s)*estimate > cmp.Or(m.Share, share) && rounds/(2*s) >= report.MinRounds {
		s *= 2
	}
	return s
}

// round runs the contenders of a trial, starting with another one each round. In a trial with draws each contender
// runs the prepared statement again, and then the text of the round's draw. The answers to that are compared at the
// end.
func (m *Meter) round(ctx context.Context, t *Trial, all []*participant, round int) error {
	drawn := map[*participant]answer.Answer{}
	for i := range all {
		p := all[(i+round)%len(all)]
		if round%p.result.Stride != 0 {
			continue
		}
		if err := m.touch(ctx, p); err != nil {
			return err
		}
		s, err := m.time(ctx, p, p.Run)
		if err != nil {
			return err
		}
		x := &p.result
		if t.Draws != nil {
			x.Repeated = append(x.Repeated, Milliseconds(s.wall))
			programs := p.programs()
			var out Outcome
			out, s, err = m.run(ctx, p, func(ctx context.Context) (Outcome, error) { return p.Fresh(ctx, t.Draws[round]) })
			if errors.Is(err, ErrCannot) {
				p.failed = errors.Unwrap(err) // without the case, which the list of what is left out names
				continue
			}
			if err != nil {
				return err
			}
			drawn[p] = out.Answer
			x.Compiled = append(x.Compiled, p.programs()-programs)
		}
		x.MS, x.CPU = append(x.MS, Milliseconds(s.wall)), append(x.CPU, Milliseconds(s.cpu))
		if s.gpu > 0 {
			x.GPU = append(x.GPU, Milliseconds(s.gpu))
		}
	}
	return m.compareDrawn(t, all, drawn, round)
}

// compareDrawn compares the answers to a draw with the first exact one of them; of many rows their number.
func (m *Meter) compareDrawn(t *Trial, all []*participant, drawn map[*participant]answer.Answer, round int) error {
	if len(drawn) < 2 {
		return nil
	}
	asked := *t
	asked.SQL, asked.Shape = t.Draws[round], t.ShapeOf(t.Draws[round])
	var right *participant
	for _, p := range all {
		if _, ok := drawn[p]; ok && (right == nil || right.Loose && !p.Loose) {
			right = p
		}
	}
	want := drawn[right]
	for _, p := range all {
		got, ok := drawn[p]
		if !ok || p == right || p.Near || len(want) > comparedRows && len(got) == len(want) {
			continue
		}
		if d := asked.Shape.Compare(want, got, !p.Loose && !right.Loose); d != nil {
			if p.failed = (&DifferError{&asked, p.System, right.System, d.Got, d.Want, p.Peer}); !m.Apart {
				return p.failed
			}
		}
	}
	return nil
}

// programs is how many GL programs the system has made.
func (p *participant) programs() int {
	if p.Programs == nil {
		return 0
	}
	return p.Programs()
}

// touch runs a contender untimed before a timed run. A fast one runs a few times. One on a hardware device
// runs for as long as others have left the device idle.
func (m *Meter) touch(ctx context.Context, p *participant) error {
	start := m.clock()
	idle := time.Duration(0)
	if p.Device && m.Hardware {
		idle = min(start.Sub(m.busy), wakeFor)
		if !m.awake { // tables were loaded
			idle, m.awake = 2*wakeFor, true
		}
	}
	for n := 0; n < touches && p.once < touchBelow || idle > idleAfter && m.clock().Sub(start) < idle; n++ {
		if _, err := m.time(ctx, p, p.Run); err != nil {
			return err
		}
	}
	return nil
}

// clock is the time.
func (m *Meter) clock() time.Time {
	if m.now != nil {
		return m.now()
	}
	return time.Now()
}

func Milliseconds(d time.Duration) float64 { return report.Rounded(float64(d) / 1e6) }

// profile sets the times of the passes: the medians of a few runs.
func (p *participant) profile(ctx context.Context) error {
	var runs [][]report.PassTime
	for range report.ProfileRuns {
		passes, err := p.Profile(ctx)
		if err != nil {
			return err
		}
		runs = append(runs, passes)
	}
	p.result.Passes = runs[0]
	for i := range p.result.Passes {
		var times []float64
		for _, run := range runs {
			if i < len(run) {
				times = append(times, run[i].MS)
			}
		}
		p.result.Passes[i].MS = report.Median(times)
	}
	return nil
}

// sections sets the times of the sections: as many runs as there were, up to [sectionRuns].
func (p *participant) sections(ctx context.Context) error {
	runs := min(len(p.result.MS), sectionRuns)
	for run := range runs {
		parts, err := p.Sections(ctx)
		if err != nil {
			return err
		}
		for _, one := range parts {
			i := slices.IndexFunc(p.result.Sections, func(s report.SectionTime) bool { return s.Name == one.Name })
			if i < 0 {
				i = len(p.result.Sections)
				p.result.Sections = append(p.result.Sections, report.SectionTime{Name: one.Name, MS: make([]float64, runs)})
			}
			p.result.Sections[i].MS[run] += Milliseconds(one.Took)
		}
	}
	return nil
}
