package backends

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/parallel"
	"github.com/stencildb/stencildb/sqlstate"
)

// ErrClosed is the error of whoever asks a [Set] that is closed.
var ErrClosed = sqlstate.Errorf(sqlstate.AdminShutdown, "engine: the DB is closed")

// Set is the backends of a DB: cpu, and those on devices, which are opened when somebody first needs them. Several goroutines may use it.
type Set struct {
	// To be set before its first use:

	CPU     Backend
	Options glctx.Options                         // of the devices
	Opener  func(glctx.Options) (*Devices, error) // [Open], but in tests
	Wanted  func() bool                           // reports whether somebody asked for a device
	Opened  func(*Devices)                        // is told of devices that were opened; nil for nobody
	Note    func(text string)                     // is told what goes wrong in the background; nil for nobody
	Costs   Costs
	Uploads UploadAmortisation

	epoch atomic.Uint64

	mu       sync.Mutex
	closed   bool
	opening  *opening        // of the devices; nil until somebody needs them
	closing  <-chan struct{} // of devices that failed before; nil where none have
	releases parallel.Group  // what runs in the background
}

// opening is the opening of devices, under way or over.
type opening struct {
	done    chan struct{}
	devices *Devices
	err     error
}

func (o *opening) over() bool {
	select {
	case <-o.done:
		return true
	default:
		return false
	}
}

// close closes the devices once their opening has ended.
func (o *opening) close() error {
	if <-o.done; o.devices == nil {
		return nil
	}
	return o.devices.Close()
}

// Epoch counts the openings of devices, [Set.Close] and calls of [Set.Renew]: what was decided in an earlier one is decided anew.
func (s *Set) Epoch() uint64 { return s.epoch.Load() }

// Renew begins another epoch.
func (s *Set) Renew() { s.epoch.Add(1) }

// Start begins to open the devices, unless that was done, and says whether it is open at all. An error is kept, too.
func (s *Set) Start() bool { return s.start() != nil }

// start is Start; it returns nil once the set is closed.
func (s *Set) start() *opening {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil
	case s.opening == nil:
		s.opening = &opening{done: make(chan struct{})}
		o, closing := s.opening, s.closing
		parallel.Go(func() { s.finish(o, closing) }, func(*parallel.Panic) {})
	}
	return s.opening
}

// Devices opens the devices, unless that was done. It returns when ctx ends, while the opening goes on. What it took is added to spent.
func (s *Set) Devices(ctx context.Context, spent *time.Duration) (*Devices, error) {
	o := s.start()
	if o == nil {
		return nil, ErrClosed
	}
	if !o.over() {
		start := time.Now()
		defer func() { *spent += time.Since(start) }()
	}
	select {
	case <-o.done:
		return o.devices, o.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// finish opens the devices, once those before are closed.
func (s *Set) finish(o *opening, before <-chan struct{}) {
	defer close(o.done)
	if before != nil {
		<-before
	}
	o.err = parallel.Call(func() (err error) {
		o.devices, err = s.Opener(s.Options)
		return err
	})
	if o.err == nil {
		s.Costs.opened(o.devices.Key)
		if s.Opened != nil {
			s.Opened(o.devices)
		}
	}
	s.Renew()
}

// Now returns the devices where they are open, or failed to be; tried is false where nobody has needed them yet.
func (s *Set) Now() (d *Devices, tried bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, false, ErrClosed
	}
	if s.opening == nil || !s.opening.over() {
		return nil, false, nil
	}
	return s.opening.devices, true, s.opening.err
}

// Starting reports that the devices are open, or somebody has begun to open them.
func (s *Set) Starting() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.opening != nil
}

// MayHaveHardware reports that a device is open which is no software, or that one may yet be opened.
func (s *Set) MayHaveHardware() bool {
	d, tried, _ := s.Now()
	return d == nil && !tried || d != nil && !d.GPUs[0].Context.Caps().Software
}

// Lose closes devices that failed. What was resident on them is forgotten, and whoever needs a device next opens them anew.
func (s *Set) Lose(d *Devices) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || !s.holds(d) {
		return
	}
	o, closing := s.opening, make(chan struct{})
	s.opening, s.closing = nil, closing
	s.Renew()
	parallel.Go(func() {
		defer close(closing)
		_ = o.close() // that it failed is known
	}, func(*parallel.Panic) {})
}

// AwaitLost waits until the devices that failed last are closed.
func (s *Set) AwaitLost() {
	s.mu.Lock()
	closing := s.closing
	s.mu.Unlock()
	if closing != nil {
		<-closing
	}
}

// holds reports whether d is the devices that statements take; with s.mu.
func (s *Set) holds(d *Devices) bool {
	return s.opening != nil && s.opening.over() && s.opening.devices == d
}

// Background runs do beside statements: what is released on a device, or follows it. [Set.Release] waits for what began before it.
func (s *Set) Background(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	told := func() {
		if err := parallel.Call(func() error { do(); return nil }); err != nil && s.Note != nil {
			s.Note("what is no longer used could not be released: " + err.Error())
		}
	}
	if s.closed {
		parallel.Go(told, func(*parallel.Panic) {})
		return
	}
	s.releases.Go(told)
}

// Release waits for what runs in the background.
func (s *Set) Release() { s.releases.Wait() }

// IsClosed reports that [Set.End] was called.
func (s *Set) IsClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// End has whoever asks from now on get [ErrClosed]; before reports that it was called before. [Set.Close] comes after it.
func (s *Set) End() (before bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, s.closed = s.closed, true
	s.Renew()
	return before
}

// Close closes the devices. An opening under way is not waited for.
func (s *Set) Close() error {
	s.AwaitLost()
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.opening == nil:
	case s.opening.over():
		return s.opening.close()
	default:
		opening := s.opening
		parallel.Go(func() { _ = opening.close() }, func(*parallel.Panic) {})
	}
	return nil
}
