package engine

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

// finder asks a backend for what it finds of a query's groups; a [plan.Declined] leaves that to cpu.
type finder func(ctx context.Context, b backend, q *physical.Query, took *querystats.Collector) ([]physical.GroupStates, error)

// groups is how the backend finds groups; nil where it does not.
func (b *passes) groups() func(run pass.Runner, g *devicepool.GPU, q *physical.Query) ([]physical.GroupStates, error) {
	if a := devicepool.Algorithms[b.name]; !b.many || a.Many == nil {
		return a.Groups
	}
	return devicepool.Algorithms[b.name].Many
}

// withManyGroups is the backend that also finds groups of many combinations of codes.
func (b *passes) withManyGroups() *passes { return &passes{gpus: b.gpus, name: b.name, many: true} }

// ofSlots is a backend that sorts no groups: rows of a join would be uploaded for that alone.
func ofSlots(b backend) backend {
	if p, ok := b.(*passes); ok {
		return &passes{gpus: p.gpus, name: p.name}
	}
	return b
}

// inGroups asks a backend for what it finds of a query's groups: each device for those of its chunks.
func inGroups(ctx context.Context, b backend, q *physical.Query, took *querystats.Collector) ([]physical.GroupStates, error) {
	v, ok := b.(*passes)
	if !ok || v.groups() == nil || q.Groups == nil {
		return nil, groupsOfCPU
	}
	return onAll(ctx, v, q, took, v.groups(), (*windows).states)
}

// WatchGroups is [passes.Watch] of what a device finds of a query's groups.
func (b *passes) WatchGroups(ctx context.Context, q *physical.Query, took *querystats.Collector, wrap func(Stage) pass.Runner) ([]physical.GroupStates, error) {
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
func onFirst[T any](ctx context.Context, b *passes, q *physical.Query, took *querystats.Collector, wrap func(Stage) pass.Runner, find func(pass.Runner, *devicepool.GPU, *physical.Query) ([]T, error)) (found []T, err error) {
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
func onAll[T any](ctx context.Context, b *passes, q *physical.Query, took *querystats.Collector, find func(pass.Runner, *devicepool.GPU, *physical.Query) ([]T, error), in func(*windows, []T)) (all []T, err error) {
	for {
		s := b.stream(q)
		if s == nil {
			all, err = allOn(ctx, b, b.parts(q), took, find)
		} else if all, err = allOn(ctx, b, s.parts, took, find); err == nil {
			in(s.windows, all)
		}
		if !lacks(err) || !b.shrink(q) {
			return all, err
		}
	}
}

// allOn is onAll of these parts.
func allOn[T any](ctx context.Context, b *passes, parts []part, took *querystats.Collector, find func(pass.Runner, *devicepool.GPU, *physical.Query) ([]T, error)) (all []T, err error) {
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

// findGroups hands run the passes that find the groups of a query; done is false where they are cpu's.
func (b *passes) findGroups(run pass.Runner, g *devicepool.GPU, q *physical.Query) (done bool, err error) {
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
