package backends

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/stencildb/stencildb/engine/devicepool"
	"github.com/stencildb/stencildb/engine/querystats"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/partial"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/sqlstate"
)

// Finder asks a backend for what it finds of a query's groups; a [plan.Declined] leaves that to cpu.
type Finder func(ctx context.Context, b Backend, q *physical.Query, took *querystats.Collector) ([]physical.GroupStates, error)

// groups is how the backend finds groups; nil where it does not.
func (b *Passes) groups() func(run pass.Runner, g *devicepool.GPU, q *physical.Query) ([]physical.GroupStates, error) {
	if a := devicepool.Algorithms[b.name]; !b.many || a.Many == nil {
		return a.Groups
	}
	return devicepool.Algorithms[b.name].Many
}

// withManyGroups is the backend that also finds groups of many combinations of codes.
func (b *Passes) withManyGroups() *Passes {
	return &Passes{Devices: b.Devices, name: b.name, many: true}
}

// OfSlots is a backend that sorts no groups: rows of a join would be uploaded for that alone.
func OfSlots(b Backend) Backend {
	if p, ok := b.(*Passes); ok {
		return &Passes{Devices: p.Devices, name: p.name}
	}
	return b
}

// InGroups asks a backend for what it finds of a query's groups: each device for those of its chunks.
func InGroups(ctx context.Context, b Backend, q *physical.Query, took *querystats.Collector) ([]physical.GroupStates, error) {
	v, ok := b.(*Passes)
	if !ok || v.groups() == nil || q.Groups == nil {
		return nil, groupsOfCPU
	}
	return onAll(ctx, v, q, took, v.groups(), (*windows).states)
}

// WatchGroups is [passes.Watch] of what a device finds of a query's groups.
func (b *Passes) WatchGroups(ctx context.Context, q *physical.Query, took *querystats.Collector, wrap func(Stage) pass.Runner) ([]physical.GroupStates, error) {
	groups := b.groups()
	if groups == nil || q.Groups == nil {
		return nil, nothingToSee(b.name, groupsOfCPU)
	}
	return onFirst(ctx, b, q, took, wrap, groups)
}

// nothingToSee is the error of a statement under watch that cpu would do, with nothing to look at.
func nothingToSee(backend string, err error) error {
	if !plan.IsDeclined(err) {
		return err
	}
	return sqlstate.Also(fmt.Errorf("backend %s: %v; there are passes to look at where compute orders by columns or groups, and where classic orders a table of one chunk", backend, err), ErrUnsupported)
}

// onFirst has the first device find something of a query, which has the whole table for it.
func onFirst[T any](ctx context.Context, b *Passes, q *physical.Query, took *querystats.Collector, wrap func(Stage) pass.Runner, find func(pass.Runner, *devicepool.GPU, *physical.Query) ([]T, error)) (found []T, err error) {
	g := b.GPUs[0]
	err = g.Context.Do(context.WithoutCancel(ctx), func() error {
		return g.Start(ctx, q, wrap(Stage{Runner: g.GL, Context: g.Context, Plan: q}), took, func(run pass.Runner) (err error) {
			found, err = find(run, g.ByChunk(), q)
			return err
		})()
	})
	return found, nothingToSee(b.name, err)
}

// onAll has each device find something of its part of a query, all at the same time. in says of what was found in windows
// where it is in the table.
func onAll[T any](ctx context.Context, b *Passes, q *physical.Query, took *querystats.Collector, find func(pass.Runner, *devicepool.GPU, *physical.Query) ([]T, error), in func(*windows, []T)) (all []T, err error) {
	for {
		s := b.Stream(q)
		if s == nil {
			all, err = allOn(ctx, b, b.parts(q), took, find)
		} else if all, err = allOn(ctx, b, s.Parts, took, find); err == nil {
			in(s.windows, all)
		}
		if !Lacks(err) || !b.shrink(q) {
			return all, err
		}
	}
}

// allOn is onAll of these parts.
func allOn[T any](ctx context.Context, b *Passes, parts []Part, took *querystats.Collector, find func(pass.Runner, *devicepool.GPU, *physical.Query) ([]T, error)) (all []T, err error) {
	start := time.Now()
	defer func() { took.AddSide(querystats.OnDevices, time.Since(start)) }()
	found, waits := make([][]T, len(parts)), make([]func() error, len(parts))
	for i, p := range parts {
		waits[i] = p.GPU.Start(ctx, p.Query, p.GPU.GL, took, func(m pass.Runner) (err error) {
			found[i], err = visited(m, p, find)
			return err
		})
	}
	if err := partial.WaitAll(waits); err != nil {
		return nil, err
	}
	return slices.Concat(found...), nil
}

var groupsOfCPU = &plan.Declined{Why: "groups are cpu's"}

// FindGroups hands run the passes that find the groups of a query; done is false where they are cpu's.
func (b *Passes) FindGroups(run pass.Runner, g *devicepool.GPU, q *physical.Query) (done bool, err error) {
	groups := b.groups()
	if q.Groups == nil || groups == nil {
		return false, nil
	}
	_, err = groups(run, g, q)
	if plan.IsDeclined(err) {
		return false, nil
	}
	return err == nil, err
}
