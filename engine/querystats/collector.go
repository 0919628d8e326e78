package querystats

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"
)

// The sides of a query that devices and cpu do together.
const (
	OnDevices = iota // index of the devices' time in what [Collector.BySide] gives
	OnHost           // index of the CPU's time there
)

// Collector adds up what a statement takes, while it runs.
type Collector struct {
	mu    sync.Mutex
	stats Stats
	loads map[int]Loading  // by the devices' numbers: they load at the same time
	sides [2]time.Duration // of a query that devices and cpu did together
}

// NewCollector has what has been taken before.
func NewCollector(before Stats) *Collector { return &Collector{stats: before} }

// AddSide adds what a side took to do what was asked of it; of several devices it is that of all.
func (t *Collector) AddSide(which int, d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sides[which] += d
}

// Start notes the backend, and adds the time that opening it took.
func (t *Collector) Start(backend string, opening time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stats.Backend = backend
	t.stats.Loading.Opening += opening
}

// Add adds passes, samples, and the loading of a device, named by its number.
func (t *Collector) Add(passes int, samples uint64, load Loading, device int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stats.Passes += passes
	t.stats.Samples += samples
	if t.loads == nil {
		t.loads = map[int]Loading{}
	}
	t.loads[device] = t.loads[device].Plus(load)
}

// Include adds what another execution took: passes, samples and loading.
func (t *Collector) Include(s Stats) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stats.Passes += s.Passes
	t.stats.Samples += s.Samples
	t.stats.Loading = t.stats.Loading.Plus(s.Loading)
}

// BySide is the time that each side took, at [OnDevices] and [OnHost].
func (t *Collector) BySide() [2]time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.sides
}

// Snapshot is what has been taken so far; nothing of nil.
func (t *Collector) Snapshot() Stats {
	if t == nil {
		return Stats{}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.stats
	if len(t.loads) > 0 {
		s.Devices = slices.Sorted(maps.Keys(t.loads))
		s.Loading = s.Loading.Plus(slices.MaxFunc(slices.Collect(maps.Values(t.loads)), func(a, b Loading) int { return cmp.Compare(a.Total(), b.Total()) }))
	}
	s.Load = s.Loading.Total()
	return s
}
