package engine

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stencildb/stencildb/cost"
	"github.com/stencildb/stencildb/glctx"
)

// trialAfter is how many executions of a statement make it worth while to try a
// backend on which it has not run, and which may be faster than predicted; after
// settledAfter the choice stays, while nothing changes on the device. What a backend took
// counts in full after sureAfter executions.
const (
	trialAfter   = 4
	sureAfter    = 5
	settledAfter = 16
)

// choice chooses the backend of a statement: by the costs that are calibrated, and by
// what its executions took.
type choice struct {
	settled atomic.Pointer[settled]

	mu    sync.Mutex
	costs Costs
	work  *cost.Work
	each  map[string]*candidate // by backend
	runs  int
}

// candidate is a backend that may run a statement.
type candidate struct {
	run      float64 // predicted, in seconds, with every column resident
	times    int     // that it ran with every column resident
	best     float64 // of these the shortest, in seconds, after the first, which may compile programs
	declined error   // why it cannot
	faults   int     // of the device under it

	at       *content // of the device, that the following are of
	upload   float64  // seconds
	bytes    int64
	missing  []int                // columns of the table, each once
	unneeded map[cost.Column]bool // it ran without them
}

// settled is a choice that stays while the device is the one that it was made for: open
// or not, with its profile; and for a backend on it, with what was resident.
type settled struct {
	name   string // of the backend
	epoch  uint64
	device device // nil for cpu
	at     *content
}

// valid reports whether the choice stays.
func (c *settled) valid(db *DB) bool {
	return c != nil && c.epoch == db.epoch.Load() && (c.device == nil || c.device.content() == c.at)
}

// settle makes the choice stay, where nothing more is to be found out: the first of
// the list is also the one that would be the fastest with every column resident.
func (s *Statement) settle(list []cost.Prediction, epoch uint64) {
	c := &s.choice
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.runs < settledAfter || list[0].Share > 0 || list[0].Measured == 0 || list[0].Unsure || fastest(list) != 0 {
		return
	}
	now := &settled{name: list[0].Backend, epoch: epoch}
	if list[0].Backend != "cpu" {
		now.device, _, _ = s.db.opened()
		now.at = c.each[list[0].Backend].at
	}
	c.settled.Store(now)
}

// fastest is the place of the backend that would be the fastest with every column
// resident.
func fastest(list []cost.Prediction) int {
	best := 0
	for i, p := range list {
		if p.Expected() < list[best].Expected() {
			best = i
		}
	}
	return best
}

// try calls do with the backend that is asked for. With auto that is one after the
// other, the one first that is expected to be done first: the next one where a backend
// cannot do the query or lacks the device memory, and cpu where the device failed.
// What opening the device took is added to spent.
func (s *Statement) try(ctx context.Context, spent *time.Duration, do func(backend) error) error {
	db := s.db
	if name := db.opts.Backend; name != "auto" {
		return db.on(ctx, name, spent, do)
	}
	if s.stopsEarly() {
		return db.on(ctx, "cpu", spent, do)
	}
	epoch := db.epoch.Load()
	var order []cost.Prediction
	if c := s.choice.settled.Load(); c.valid(db) {
		order = []cost.Prediction{{Backend: c.name}, {Backend: "cpu"}}
	} else {
		var err error
		if order, err = s.order(ctx, spent, true); err != nil {
			return err
		}
		s.settle(order, epoch)
	}
	var err error
	failed := false
	for _, p := range order {
		if failed && p.Backend != "cpu" {
			continue
		}
		err = db.on(ctx, p.Backend, spent, do)
		failed = errors.Is(err, glctx.ErrFault)
		if !failed && !errors.Is(err, ErrUnsupported) && !errors.Is(err, ErrDeviceMemory) {
			return err
		}
		s.choice.decline(p.Backend, err)
	}
	return err
}

// order lists the backends that may do the statement, the cheapest first, and opens
// the device when the cheapest needs it. count says that the statement is about to
// run.
func (s *Statement) order(ctx context.Context, spent *time.Duration, count bool) ([]cost.Prediction, error) {
	d, tried, err := s.db.opened()
	if err == nil && !tried && s.db.deviceWanted() {
		d, err = s.db.openDevice(ctx, spent)
		tried = true
	}
	if s.db.fatal(err) || ctx.Err() != nil {
		return nil, cmp.Or(ctx.Err(), err)
	}
	list, err := s.choice.predict(s, d, !tried)
	if err != nil {
		return nil, err
	}
	if count {
		s.countUses(list, d == nil)
	}
	if tried || list[0].Backend == "cpu" {
		return list, nil
	}
	if d, err = s.db.openDevice(ctx, spent); s.db.fatal(err) || ctx.Err() != nil {
		return nil, cmp.Or(ctx.Err(), err)
	}
	return s.choice.predict(s, d, false)
}

// fatal reports whether an error of opening the device fails auto: not where nobody
// asked for one.
func (db *DB) fatal(err error) bool {
	return err != nil && (errors.Is(err, errClosed) || db.deviceWanted() && !errors.Is(err, ErrUnsupported))
}

// countUses notes what the statement would have gained from, had it been there: that
// of the backend that would be the fastest.
func (s *Statement) countUses(list []cost.Prediction, closed bool) {
	if i := fastest(list); i > 0 && list[i].Share > 0 {
		s.db.uses.add(s.plan.Table, s.choice.missing(list[i].Backend), closed)
	}
}

// predict predicts what the statement takes on each backend that may do it, the
// cheapest first; cpu is always there. d is the device, if it is open; closed says
// that it may yet be.
func (c *choice) predict(s *Statement, d device, closed bool) ([]cost.Prediction, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.fresh(s, d); err != nil {
		return nil, err
	}
	list := make([]cost.Prediction, 0, len(c.each))
	for _, name := range Backends() {
		k := c.each[name]
		switch {
		case k == nil || k.declined != nil:
		case name == "cpu":
			list = append(list, c.prediction(name, k))
		case d != nil || closed:
			at, opening := nothing, c.costs.Profile.Opening
			if d != nil {
				at, opening = d.content(), 0
			}
			c.look(name, k, at)
			p := c.prediction(name, k)
			columns, device := s.db.uses.spread(s.plan.Table, k.missing)
			p.Transfer, p.Bytes, p.Opening = k.upload, k.bytes, opening
			p.Share = k.upload/columns + opening/device
			list = append(list, p)
		}
	}
	cost.Cheapest(list)
	return list, nil
}

func (c *choice) prediction(name string, k *candidate) cost.Prediction {
	return cost.Prediction{Backend: name, Run: k.run, Measured: k.best, Unsure: k.times < sureAfter,
		Trial: c.runs >= trialAfter && k.times < 2}
}

// fresh brings the predictions up to the costs that are known now.
func (c *choice) fresh(s *Statement, d device) error {
	now, err := s.db.costs.get()
	if err != nil || now.Profile == c.costs.Profile {
		return err
	}
	if c.work == nil {
		c.work = cost.Of(s.plan)
		c.each = map[string]*candidate{}
	}
	c.costs = now
	for name, b := range now.Profile.Backends {
		if c.each[name] == nil {
			c.each[name] = &candidate{unneeded: map[cost.Column]bool{}}
		}
		c.each[name].run = b.Run(c.work)
		if several, ok := d.(*gpus); ok && name != "cpu" {
			c.each[name].run = several.run(b, c.work, s.plan.Table)
		}
		c.each[name].at = nil
	}
	return nil
}

// look finds what a backend lacks on a device.
func (c *choice) look(name string, k *candidate, at *content) {
	if k.at == at {
		return
	}
	b := c.costs.Profile.Backends[name]
	seconds, missing := b.Missing(c.work, func(col cost.Column) bool { return k.unneeded[col] || at.has(name, col) })
	k.at, k.upload, k.bytes, k.missing = at, seconds, 0, nil
	for _, m := range missing {
		k.bytes += m.Bytes
		if !slices.Contains(k.missing, m.Col) {
			k.missing = append(k.missing, m.Col)
		}
	}
}

func (c *choice) missing(name string) []int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.each[name].missing
}

// decline notes that a backend cannot do the statement. After a fault it may do so on
// the next device; after two it is left alone.
func (c *choice) decline(name string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.each[name]
	if errors.Is(err, glctx.ErrFault) {
		if k.faults++; k.faults < 2 {
			return
		}
	}
	k.declined = err
	c.settled.Store(nil)
}

// ran notes what an execution took, and what of that was the upload of columns, while
// that may change the choice.
func (s *Statement) ran(name string, took, load time.Duration) {
	c := &s.choice
	if c.settled.Load().valid(s.db) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.each[name]
	if k == nil { // auto did not choose
		return
	}
	c.runs++
	if load > 0 {
		return
	}
	if k.times++; k.times > 1 && (k.best == 0 || took.Seconds() < k.best) {
		k.best = took.Seconds()
	}
	if d, _, err := s.db.opened(); name != "cpu" && err == nil && d != nil && k.at != d.content() {
		c.lived(name, k, d.content())
	}
}

// lived notes the columns that a backend answered without.
func (c *choice) lived(name string, k *candidate, at *content) {
	for _, col := range c.work.Columns {
		if !at.has(name, col) {
			k.unneeded[col] = true
		}
	}
}
