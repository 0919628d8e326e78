package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/stencildb/stencildb/engine/backends"
	"github.com/stencildb/stencildb/engine/devicepool"
	"github.com/stencildb/stencildb/engine/querystats"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// Inside is a DB for those who look into it.
//
// For bench, trace and tests.
type Inside struct{ db *DB }

// Inspect returns the inside of a DB.
//
// For bench, trace and tests.
func Inspect(db *DB) Inside { return Inside{db} }

// RunOn makes an open context, such as a window's, the one to run on, instead of one that
// [Options.Device] picks. [DB.Close] leaves it open. It has to come before the first
// statement.
func (in Inside) RunOn(c *glctx.Context) {
	in.db.backends.Opener = func(glctx.Options) (*backends.Devices, error) {
		g, err := devicepool.Lent(c)
		if err != nil {
			return nil, err
		}
		return backends.New(devicepool.New(g)), nil
	}
}

// Ready opens what queries may use, now instead of when one needs it, and returns the
// error that this query would have met. With auto that is the device, if there is one.
func (in Inside) Ready() error {
	db, ctx, spent := in.db, context.Background(), new(time.Duration)
	if db.Backend() != "auto" {
		_, _, err := db.view().Open(ctx, db.Backend(), spent)
		return err
	}
	if _, err := db.backends.Devices(ctx, spent); db.view().Fatal(err) {
		return err
	}
	return nil
}

// Programs is how many GL programs the devices that are open have made so far: compiled, or read where an earlier process
// kept them.
func (in Inside) Programs() (n int) {
	if d, _, err := in.db.backends.Now(); err == nil && d != nil {
		for _, g := range d.GPUs {
			n += g.GL.Programs().Made()
		}
	}
	return n
}

// Renew has what is resident of a table, which has been read, dropped from the device: the next
// statement that needs it there uploads it.
func (in Inside) Renew(name string) error {
	e := in.db.entry(name)
	if e == nil || e.Table.Load() == nil {
		return fmt.Errorf("engine: there is no table %s to renew", name)
	}
	err := in.db.replace(e.Table.Load().Renewed())
	in.db.backends.Release()
	return err
}

// Stream makes the devices, which must be open, read tables in windows of so many rows, a multiple of 64. They do the same
// where they have no room for all; 0 ends that.
func (in Inside) Stream(rows int) {
	if d, _, err := in.db.backends.Now(); err == nil && d != nil {
		d.Streamed = rows
		d.InWindows.Purge()
	}
}

// PushAggregates has statements that are prepared from now on group rows before they are joined wherever that can be, not only where it pays.
func (in Inside) PushAggregates(always bool) { in.db.pushes.Store(always) }

// UpdateThere has a device in software do UPDATEs, too.
func (in Inside) UpdateThere(always bool) { in.db.updates.Store(always) }

// GPU returns the device, the first of several, and opens it where that has not been
// done. It stays the DB's.
func (in Inside) GPU(ctx context.Context) (*devicepool.GPU, error) {
	d, err := in.db.backends.Devices(ctx, new(time.Duration))
	if err != nil {
		return nil, err
	}
	return d.GPUs[0], nil
}

// Watched is a statement that was executed under watch.
//
// For bench, trace and tests.
type Watched struct {
	*Result
	Plan *physical.Query
	// Values are the plan's aggregates, from which the result is computed.
	Values []table.Value
}

// Watch executes one SELECT, whose passes go to the runner that wrap makes: how a
// statement is traced or stepped through. Where compute finds the pairs of joins, wrap is called
// for each of them, then for what is done with the rows. A backend without passes is an error, or
// passed over by auto.
func (in Inside) Watch(ctx context.Context, text string, wrap func(Stage) pass.Runner) (*Watched, error) {
	w := &Watched{}
	var err error
	w.Result, err = Collect(in.db.limited(ctx, func(ctx context.Context) (*Rows, error) {
		s, err := in.db.Prepare(ctx, text)
		if err != nil {
			return nil, err
		}
		if s.bound == nil || s.fragment == nil || len(s.fragment.Aggs) == 0 && s.fragment.Order == nil && s.fragment.Groups == nil {
			return nil, sqlstate.Errorf(sqlstate.FeatureNotSupported, "this takes one SELECT of aggregates of columns, on backend compute of groups, or on classic or compute of rows with ORDER BY, without EXPLAIN and parameters")
		}
		s.watch = wrap
		return s.run(ctx, func(x *execution) {
			w.Plan = x.plan
			x.execute = func(b backends.Backend, took *querystats.Collector) (values []table.Value, err error) {
				now, done, err := x.adapt(ctx, b, took)
				if err != nil {
					return nil, err
				}
				defer done()
				if now.star != nil {
					return inOneRow(now.groupsOf(ctx, b, now.grouped(), took, x.states))
				}
				if now.plan == now.otherwise {
					return nil, sqlstate.Errorf(sqlstate.FeatureNotSupported, "this takes aggregates that a backend computes: sums of products of two columns that fit 64 bits in every record")
				}
				v, err := backends.PassesOf(b)
				if err == nil {
					w.Plan = now.plan
					w.Values, err = v.Watch(ctx, now.plan, took, wrap)
				}
				return w.Values, err
			}
			x.states = func(ctx context.Context, b backends.Backend, q *physical.Query, took *querystats.Collector) ([]physical.GroupStates, error) {
				v, err := backends.PassesOf(b)
				if err != nil {
					return nil, err
				}
				return v.WatchGroups(ctx, q, took, wrap)
			}
			x.order = func(b backends.Backend, took *querystats.Collector) (batch, error) {
				v, err := backends.PassesOf(b)
				if err != nil {
					return nil, err
				}
				runs, err := v.WatchOrder(ctx, x.plan, took, wrap)
				if err != nil {
					return nil, err
				}
				return inRuns(x.plan, x.plan, runs)
			}
		})
	}))
	if err != nil {
		return nil, err
	}
	return w, nil
}
