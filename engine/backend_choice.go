package engine

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stencildb/stencildb/cost"
	"github.com/stencildb/stencildb/engine/backends"
	"github.com/stencildb/stencildb/engine/devicepool"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/plan/physical"
)

// choice chooses the backend of a statement by the costs that are calibrated.
type choice struct {
	kept atomic.Pointer[order]

	mu    sync.Mutex
	work  *cost.Work
	tried map[string]attempt // by backend
	gains int                // executions that would have gained from compiled programs
}

// attempt is what came of running a statement on a backend.
type attempt struct {
	failures int  // after two it is not tried again
	compiled bool // it has done it, so its programs are there
}

// order is the backends that may do a statement, the cheapest first. It is valid while the device is the one
// that it was found for, open or not. If the first backend runs on the device, the same columns must be
// resident.
type order struct {
	list   []cost.Prediction
	source string // of the costs, in words
	epoch  uint64
	device *backends.Devices // nil where cpu is the first
	at     devicepool.Contents
}

func (o *order) valid(db *DB) bool {
	return o != nil && o.epoch == db.backends.Epoch() && (o.device == nil || slices.Equal(o.device.Contents(), o.at))
}

// try calls do with the backend that the statement asks for. With auto it tries one after the other,
// beginning with the one that is expected to be the fastest. It tries the next one where a backend cannot do
// the query or lacks the device memory, and cpu where the device failed. What opening the device took is
// added to spent.
func (s *planned) try(ctx context.Context, spent *time.Duration, do func(backends.Backend) error) error {
	db := s.db
	if name := db.Backend(); name != "auto" {
		return db.view().On(ctx, name, spent, do)
	}
	if s.pruning != nil || s.stopsEarly() {
		return db.view().On(ctx, "cpu", spent, do)
	}
	if s.away != nil {
		err := db.view().On(ctx, "compute", spent, do)
		if errors.Is(err, glctx.ErrFault) {
			err = db.view().On(ctx, "cpu", spent, do)
		}
		return err
	}
	o := s.choice.kept.Load()
	if !o.valid(db) {
		var err error
		if o, err = s.order(ctx, spent, true); err != nil {
			return err
		}
	}
	var err error
	failed := false
	for _, p := range o.list {
		if failed && p.Backend != "cpu" {
			continue
		}
		err = db.view().On(ctx, p.Backend, spent, do)
		failed = errors.Is(err, glctx.ErrFault)
		s.choice.note(p.Backend, err)
		if !failed && !errors.Is(err, ErrUnsupported) && !errors.Is(err, ErrDeviceMemory) {
			return err
		}
	}
	return err
}

// order lists the backends that may do the statement, and opens the device when the
// cheapest needs it. runs says that the statement is about to run.
func (s *planned) order(ctx context.Context, spent *time.Duration, runs bool) (*order, error) {
	epoch := s.db.backends.Epoch()
	d, tried, err := s.db.backends.Now()
	if err == nil && !tried && s.db.backends.Wanted() {
		d, err = s.db.backends.Devices(ctx, spent)
		tried = true
	}
	if s.db.view().Fatal(err) || ctx.Err() != nil {
		return nil, cmp.Or(ctx.Err(), err)
	}
	o, err := s.predict(d, !tried)
	if err != nil {
		return nil, err
	}
	alone := slices.DeleteFunc(slices.Clone(o.list), func(p cost.Prediction) bool { return p.Backend == "both" }) // which keeps nothing for others
	best := slices.MinFunc(alone, func(a, b cost.Prediction) int { return cmp.Compare(a.Run, b.Run) })
	if runs && best.Share > 0 && best.Backend != o.list[0].Backend { // it would have gained from these
		s.db.backends.Uploads.Add(backends.Missing(s.plan.Table, best)...)
		if best.Opening > 0 {
			s.db.backends.Uploads.Add(backends.Device)
		}
		s.choice.mu.Lock()
		s.choice.gains++
		s.choice.mu.Unlock()
	}
	if tried || o.list[0].Backend == "cpu" {
		if runs && best.Backend == o.list[0].Backend { // nothing will change it but the device
			o.epoch = epoch
			s.choice.kept.Store(o)
		}
		return o, nil
	}
	if d, err = s.db.backends.Devices(ctx, spent); s.db.view().Fatal(err) || ctx.Err() != nil {
		return nil, cmp.Or(ctx.Err(), err)
	}
	return s.predict(d, false)
}

// predict predicts what the statement takes on each backend that may do it; cpu is
// always there. d is the device, if it is open; closed says that it may yet be.
func (s *planned) predict(d *backends.Devices, closed bool) (*order, error) {
	c := &s.choice
	c.mu.Lock()
	defer c.mu.Unlock()
	costs, err := s.db.backends.Costs.Get()
	if err != nil {
		return nil, err
	}
	if c.work == nil {
		c.work, c.tried = cost.Of(s.plan), map[string]attempt{}
	}
	o := &order{source: costs.Source}
	for _, name := range Backends() {
		b, known := costs.Profile.Backends[name]
		k := c.tried[name]
		p := cost.Prediction{Backend: name}
		switch {
		case !known || k.failures > 1 || name != "cpu" && d == nil && !closed:
			continue
		case name == "cpu":
			p.Run = b.Run(c.work)
			if by, ok := s.db.byIndex(s.plan); ok && s.plan.Star == nil { // else it joins, too
				p.Run = min(p.Run, by)
			}
			o.list = append(o.list, p)
			continue
		}
		var at devicepool.Contents
		if d != nil {
			at, p.Run = d.Contents(), d.Predict(b, c.work, s.plan.Table)
		} else {
			p.Run, p.Opening = b.Run(c.work), costs.Profile.Opening
		}
		b.Lack(&p, c.work, func(col cost.Column) bool { return at.Has(name, col) || col.Sole && name != "compute" })
		if !k.compiled {
			p.Compiling = b.Compiling(c.work)
		}
		p.Share = s.db.backends.Uploads.Share(p.Transfer, backends.Missing(s.plan.Table, p)...) + s.db.backends.Uploads.Share(p.Opening, backends.Device) + p.Compiling/float64(1+c.gains)
		if d != nil && d.Streams(name, s.plan) { // nothing stays for later queries
			p.Share = p.Transfer
		}
		o.list = append(o.list, p)
	}
	if p, ok := s.predictBoth(d, o.list, c.tried["both"]); ok {
		o.list = append(o.list, p)
	}
	cost.Cheapest(o.list)
	if d != nil && o.list[0].Backend != "cpu" {
		o.device, o.at = d, d.Contents()
	}
	return o, nil
}

// predictBoth predicts what compute and cpu take together, where they have one kind of work to divide. That is groups,
// or aggregates other than order statistics, whose digits both would find step by step. Where what either takes alone
// says that they gain nothing, it is the least that they would take.
func (s *planned) predictBoth(d *backends.Devices, list []cost.Prediction, k attempt) (p cost.Prediction, ok bool) {
	b := s.db.view().Both(d)
	if b == nil || k.failures > 1 || s.star != nil || s.away != nil || !s.divides() {
		return p, false
	}
	p.Backend, p.AtLeast = "both", true
	speed, best := 0.0, math.Inf(1)
	for _, of := range list {
		switch alone := of.Run + of.Transfer; {
		case of.Backend != "cpu" && of.Backend != "compute":
		case b.Key.Software: // its cores are cpu's
			speed = max(speed, 1/alone)
		default:
			speed += 1 / alone
		}
		best = min(best, of.Total())
	}
	p.Run, p.Share = 1/speed, math.Inf(1) // it is not taken
	if b.Key.Software || (1+backends.InTurn)*p.Run >= best {
		return p, !math.IsInf(p.Run, 1)
	}
	of := b.Divide(s.plan)
	if of.Why != "" || s.plan.Groups != nil && !of.Grouped {
		return p, false
	}
	p.Run, p.AtLeast = max(of.Takes[0], of.Takes[1]), false
	p.Share = backends.InTurn * p.Run
	return p, true
}

// divides reports whether auto may have compute and cpu do the statement together.
func (s *planned) divides() bool {
	q := s.plan
	if q.Groups != nil {
		return true
	}
	return len(q.Aggs) > 0 && s.otherwise != s.plan && !slices.ContainsFunc(q.Aggs, func(a expr.Aggregate) bool {
		return physical.IsOrderStatistic(a) && a.Kind != expr.Min && a.Kind != expr.Max
	})
}

// note keeps what came of running the statement on a backend. After a fault it may do it
// on the next device; after two it is left alone.
func (c *choice) note(name string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.tried[name]
	switch {
	case err == nil:
		k.compiled = true
	case errors.Is(err, ErrUnsupported) || errors.Is(err, ErrDeviceMemory):
		k.failures = 2
	case errors.Is(err, glctx.ErrFault):
		k.failures++
	}
	c.tried[name] = k
	if k.failures > 1 {
		c.kept.Store(nil)
	}
}
