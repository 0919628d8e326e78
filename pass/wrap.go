package pass

import (
	"time"

	"github.com/stencildb/stencildb/textures"
)

// Recorder is a runner that runs nothing and keeps what it is given: EXPLAIN.
type Recorder struct{ Passes []*Pass }

// Run implements Runner; the count of a recorded pass is 0.
func (r *Recorder) Run(p *Pass) (Count, error) {
	r.Passes = append(r.Passes, p)
	return Known(0), nil
}

// Executes implements Runner.
func (r *Recorder) Executes() bool { return false }

// Read implements Runner.
func (r *Recorder) Read(_ textures.Block, words []uint32) error {
	clear(words)
	return nil
}

// ReadTexels implements Runner.
func (r *Recorder) ReadTexels(_ *textures.Temp, words []uint32) error {
	clear(words)
	return nil
}

// Slots implements Runner.
func (r *Recorder) Slots(_ textures.TargetRef, n int) int { return max(1, n) }

// Meter wraps a runner and counts passes, and the samples of the counts waited
// for.
type Meter struct {
	Runner
	Passes  int
	Samples uint64
}

// Run implements Runner.
func (m *Meter) Run(p *Pass) (Count, error) {
	c, err := m.Runner.Run(p)
	if err != nil {
		return nil, err
	}
	m.Passes++
	if c == nil {
		return nil, nil
	}
	return &metered{c, m, false}, nil
}

type metered struct {
	Count
	m    *Meter
	seen bool
}

func (c *metered) Wait() (uint64, error) {
	n, err := c.Count.Wait()
	if err == nil && !c.seen {
		c.m.Samples += n
		c.seen = true
	}
	return n, err
}

// Profile is what one pass took.
type Profile struct {
	Pass    *Pass
	Elapsed time.Duration
	Samples uint64 // when Pass.Count
}

// Timer measures what the device takes between Start and Stop (glctx.Timer).
type Timer interface {
	Start()
	Stop()
	Elapsed() time.Duration
}

// Profiler wraps a runner and waits for each pass to end, to time it: the sum is
// more than the query takes, since nothing overlaps. Uploads are taken off; the
// first pass that needs a program includes its compilation where the timer is the
// wall clock.
type Profiler struct {
	Runner
	Timer    Timer
	Uploaded func() time.Duration // the time spent in uploads so far: not the pass's own
	Profiles []Profile
}

// Run implements Runner.
func (r *Profiler) Run(p *Pass) (Count, error) {
	before := r.Uploaded()
	r.Timer.Start()
	c, err := r.Runner.Run(p)
	r.Timer.Stop()
	if err != nil {
		return nil, err
	}
	f := Profile{Pass: p, Elapsed: max(0, r.Timer.Elapsed()-(r.Uploaded()-before))}
	if c != nil {
		if f.Samples, err = c.Wait(); err != nil {
			return nil, err
		}
	}
	r.Profiles = append(r.Profiles, f)
	return c, nil
}

// Failer wraps a runner and fails with Err at the pass number At (from 0).
type Failer struct {
	Runner
	At  int
	Err error
	n   int
}

// Run implements Runner.
func (f *Failer) Run(p *Pass) (Count, error) {
	if f.n++; f.n > f.At {
		return nil, f.Err
	}
	return f.Runner.Run(p)
}
