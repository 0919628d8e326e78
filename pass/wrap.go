package pass

import (
	"fmt"
	"time"

	"github.com/stencildb/stencildb/textures"
)

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
	seen := false
	return Later(func() (uint64, error) {
		n, err := c.Wait()
		if err == nil && !seen {
			m.Samples, seen = m.Samples+n, true
		}
		return n, err
	}), nil
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
	Prepared func() time.Duration // see [GL.Prepared]: not the pass's own
	Profiles []Profile
}

// Run implements Runner.
func (r *Profiler) Run(p *Pass) (Count, error) {
	before := r.Prepared()
	r.Timer.Start()
	c, err := r.Runner.Run(p)
	r.Timer.Stop()
	if err != nil {
		return nil, err
	}
	f := Profile{Pass: p, Elapsed: max(0, r.Timer.Elapsed()-(r.Prepared()-before))}
	if c != nil {
		if f.Samples, err = c.Wait(); err != nil {
			return nil, err
		}
	}
	r.Profiles = append(r.Profiles, f)
	return c, nil
}

// Failer wraps a runner and fails with Err at the call number At (from 0) of any of its
// methods that can. Waiting for a count counts as a call.
type Failer struct {
	Runner
	At    int
	Err   error
	Calls int // so far
}

// fail counts a call, and fails from At on.
func (f *Failer) fail(what any) error {
	if f.Calls++; f.Calls > f.At {
		return fmt.Errorf("%v: %w", what, f.Err)
	}
	return nil
}

// Run implements Runner.
func (f *Failer) Run(p *Pass) (Count, error) {
	if err := f.fail("pass " + p.String()); err != nil {
		return nil, err
	}
	c, err := f.Runner.Run(p)
	if c == nil || err != nil {
		return nil, err
	}
	return Later(func() (uint64, error) {
		if err := f.fail("the count of pass " + p.String()); err != nil {
			return 0, err
		}
		return c.Wait()
	}), nil
}

// Read implements Runner.
func (f *Failer) Read(b textures.Block, words []uint32) error {
	if err := f.fail("reading a block back"); err != nil {
		return err
	}
	return f.Runner.Read(b, words)
}

// ReadParts implements Runner.
func (f *Failer) ReadParts(b textures.Block, n int, take func(at int, words []uint32)) error {
	if err := f.fail("reading a block back in parts"); err != nil {
		return err
	}
	return f.Runner.ReadParts(b, n, take)
}

// ReadTexels implements Runner.
func (f *Failer) ReadTexels(t *textures.Temp, words []uint32) error {
	if err := f.fail("reading texels back"); err != nil {
		return err
	}
	return f.Runner.ReadTexels(t, words)
}
