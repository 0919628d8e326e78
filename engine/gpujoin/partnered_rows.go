package gpujoin

import (
	"context"
	"slices"

	"github.com/stencildb/stencildb/engine/devicepool"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/primitives"
	"github.com/stencildb/stencildb/relational"
	"github.com/stencildb/stencildb/table"
)

// OnOneDevice implements [joinorder.Holder].
func (p *Pairing) OnOneDevice() bool {
	d, _, _ := p.View.Now()
	return d == nil || len(d.GPUs) == 1
}

// Select implements [joinorder.Holder].
func (p *Pairing) Select(ctx context.Context, q *physical.Query) (list *physical.Held, err error) {
	var found []*physical.Held // which the GL thread may still write when ctx has ended
	err = p.oneDevice(ctx, nil, func(g *devicepool.GPU, run pass.Runner, passes *Noting) error {
		passes.Of = func(*pass.Pass) *table.Table { return q.Table }
		return run.Apart(q.Table, func() error {
			rows, err := relational.Selected(run, g.Computes, q)
			if err != nil {
				return err
			}
			found = []*physical.Held{{N: rows.N, On: rows}}
			return p.keep(g, found)
		})
	})
	if err != nil {
		return nil, err
	}
	return keptLists(p.Holds, [][]*physical.Held{found})[0], nil
}

// Partnered implements [joinorder.Holder].
func (p *Pairing) Partnered(ctx context.Context, kind plan.JoinKind, rows int, places *physical.Held, left []physical.RowIDs, right []*physical.Held) (held [2][]*physical.Held, n int, err error) {
	var found [2][]*physical.Held
	lists := append([]*physical.Held{places}, right...)
	defer func() { over(lists...) }()
	err = p.oneDevice(ctx, lists, func(g *devicepool.GPU, run pass.Runner, passes *Noting) (err error) {
		passes.Of = func(*pass.Pass) *table.Table { return nil }
		on := func(h *physical.Held) primitives.Vector {
			return onOne(physical.RowIDs{Held: h}, 0).Held.On.(primitives.Vector)
		}
		var mine []physical.RowIDs
		for _, l := range left {
			mine = append(mine, onOne(l, 0))
		}
		var partners []primitives.Vector
		for _, h := range right {
			partners = append(partners, on(h))
		}
		if found, n, err = relational.Partnered(run, g.Computes, kind, rows, on(places), mine, partners); err != nil {
			return err
		}
		return p.keep(g, slices.Concat(found[0], found[1]))
	})
	if err != nil {
		return held, 0, err
	}
	for i, of := range found {
		held[i] = keptLists(p.Holds, [][]*physical.Held{of})
	}
	return held, n, nil
}

// Release implements [joinorder.Holder].
func (p *Pairing) Release(lists ...*physical.Held) { over(lists...) }

// oneDevice has do run on the device; a [plan.Declined] where there are several, or it cannot do it.
func (p *Pairing) oneDevice(ctx context.Context, held []*physical.Held, do func(g *devicepool.GPU, run pass.Runner, passes *Noting) error) error {
	one := false
	err := p.there(ctx, held, func(_ int, g *devicepool.GPU, run pass.Runner, passes *Noting) error {
		if one = len(p.Holds.GPUs) == 1; !one {
			return nil
		}
		return do(g, run, passes)
	}, func(int, *devicepool.GPU) {})
	if err == nil && !one {
		err = &plan.Declined{Why: "several devices have the rows"}
	}
	return err
}
