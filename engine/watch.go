package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// Stage is where the passes of a watched statement run. All of it is for the GL
// thread, on which the runner that was made for it is called.
type Stage struct {
	Runner  *pass.GL
	Context *glctx.Context
	Plan    *plan.Query
}

// Watched is a statement that was executed under watch.
type Watched struct {
	*Result
	Plan *plan.Query
	// Values are the plan's aggregates, from which the result is computed.
	Values []table.Value
}

// Watcher is a [Backend] whose passes can be watched.
type Watcher interface {
	// Watch is Execute that hands its passes to the runner that wrap makes, which
	// hands them on to the stage's.
	Watch(ctx context.Context, q *plan.Query, wrap func(Stage) pass.Runner) (*plan.Answer, error)
}

// Watch executes one SELECT, whose passes go to the runner that wrap makes: how a
// statement is traced or stepped through. A backend without passes is an error, or
// passed over by auto.
func (db *DB) Watch(ctx context.Context, text string, wrap func(Stage) pass.Runner) (*Watched, error) {
	ctx, cancel := db.limit(ctx)
	defer cancel()
	s, err := db.Prepare(ctx, text)
	if err != nil {
		return nil, ended(ctx, err)
	}
	if s.bound == nil || s.fragment == nil || len(s.fragment.Aggs) == 0 {
		return nil, errors.New("this takes one SELECT of aggregates, without EXPLAIN and without parameters")
	}
	w := &Watched{}
	w.Result, err = Collect(s.run(ctx, func(x *execution) {
		w.Plan = x.plan
		x.execute = func(b Backend) (*plan.Answer, error) {
			v, ok := b.(Watcher)
			if !ok {
				return nil, &marked{fmt.Errorf("backend %s runs no passes to look at: take --backend classic, fused or compute", b.Name()), ErrUnsupported}
			}
			a, err := v.Watch(ctx, x.plan, wrap)
			if err == nil {
				w.Values = a.Values
			}
			return a, err
		}
	}))
	if err != nil {
		return nil, ended(ctx, err)
	}
	return w, nil
}

// Watch implements Watcher. It returns after the pass that runs when ctx ends: the
// runner is the caller's.
func (b *passes) Watch(ctx context.Context, q *plan.Query, wrap func(Stage) pass.Runner) (a *plan.Answer, err error) {
	err = b.Context.Do(context.WithoutCancel(ctx), func() error {
		a, err = b.execute(ctx, q, wrap(Stage{b.GL, b.Context, q}))
		return err
	})
	return a, err
}
