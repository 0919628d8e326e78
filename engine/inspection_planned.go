package engine

import (
	"context"
	"time"

	"github.com/stencildb/stencildb/cpu/join"
	"github.com/stencildb/stencildb/engine/backends"
	"github.com/stencildb/stencildb/engine/gpujoin"
	"github.com/stencildb/stencildb/engine/joinorder"
	"github.com/stencildb/stencildb/engine/querystats"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// Planned is a statement that is executed on one backend after another, for those who measure these: see package calibrate.
//
// For bench, trace and tests.
type Planned struct{ planned *planned }

// Plan prepares and plans a statement, over tables that stay as they are.
//
// For bench, trace and tests.
func (in Inside) Plan(ctx context.Context, text string) (*Planned, error) {
	now, err := in.db.plan(ctx, text)
	if err != nil {
		return nil, err
	}
	return &Planned{now}, nil
}

// plan prepares and plans a statement, for a table that stays as it is.
func (db *DB) plan(ctx context.Context, text string) (*planned, error) {
	s, err := db.Prepare(ctx, text)
	if err != nil {
		return nil, err
	}
	now, unpin, err := s.pinned(ctx)
	if err == nil {
		unpin()
	}
	return now, err
}

// Text is the statement's text.
//
// For bench, trace and tests.
func (p *Planned) Text() string { return p.planned.parsed.Text }

// ExecuteOn executes the statement's aggregates on a backend, whatever the DB's is. Of one with ORDER BY these are the place of
// the last row, which all others were sorted for.
//
// For bench, trace and tests.
func (p *Planned) ExecuteOn(ctx context.Context, backend string) ([]table.Value, Stats, error) {
	s := p.planned
	b, _, err := s.db.view().Open(ctx, backend, new(time.Duration))
	if err != nil {
		return nil, Stats{}, err
	}
	if s.plan.Order != nil {
		return s.places(ctx, backend)
	}
	start, took := time.Now(), &querystats.Collector{}
	values, err := s.answer(ctx, b, took)
	stats := took.Snapshot()
	stats.Elapsed = time.Since(start)
	return values, stats, err
}

// places executes a statement with ORDER BY on a backend up to the places of its rows, of which the first is
// returned.
func (s *planned) places(ctx context.Context, on string) ([]table.Value, Stats, error) {
	r := &Rows{of: s.Statement, ctx: ctx}
	x := &execution{planned: s, ctx: ctx, rows: r, atMost: -1, on: on}
	pairs := *backends.FromFirst(s.plan)
	pairs.KeyOnly = false
	x.order = func(b backends.Backend, took *querystats.Collector) (batch, error) {
		return inOrder(ctx, s.db, b, &pairs, took)
	}
	var sort plan.Node
	plan.Walk(s.tree, func(n plan.Node, _ int) {
		if o, ok := n.(*plan.Sort); ok {
			sort = o
		}
	})
	start, first := time.Now(), table.Value{}
	for b, err := range x.stream(sort) {
		if err != nil {
			return nil, Stats{}, err
		}
		starts, _ := chunkStarts(s.plan.Table)
		if m, ok := b.(intermediate); ok {
			rows := m.batch.(blockRows)
			first = table.Int(int64(starts[rows.Chunk]) + int64(rows.Row(0)))
		} else {
			first = table.Int(int64(b.(rowIDs).ids[0]))
		}
	}
	stats := r.collector.Snapshot()
	stats.Elapsed = time.Since(start)
	return []table.Value{first}, stats, nil
}

// PassesOn executes the statement on a backend, and gives its passes with what each took.
//
// For bench, trace and tests.
func (p *Planned) PassesOn(ctx context.Context, backend string) ([]Step, error) {
	b, _, err := p.planned.db.view().Open(ctx, backend, new(time.Duration))
	if err != nil {
		return nil, err
	}
	return b.Explain(ctx, p.planned.plan, true)
}

// PlanJoin plans a statement's join. run joins the rows on a backend, cpu or compute, and returns how many rows there are. It gathers some
// of the columns that the statement reads, by their places in that list.
//
// For bench, trace and tests.
func (in Inside) PlanJoin(ctx context.Context, text, backend string, columns []int) (run func(context.Context) (rows int, err error), err error) {
	db := in.db
	s, err := db.Prepare(ctx, text)
	if err != nil {
		return nil, err
	}
	now := &planned{Statement: s}
	for _, r := range s.sources {
		now.tables = append(now.tables, settled(r.Entry))
	}
	of := joinorder.Spec{Spec: join.Spec{Tables: now.scanned(), Way: "auto", Memory: func() int64 { return 1 << 40 }}}
	for _, i := range columns {
		of.Columns = append(of.Columns, s.fragment.Columns[i])
	}
	p := &gpujoin.Pairing{View: db.view(), Took: &querystats.Collector{}}
	if backend == "compute" {
		of.Pairs = p.Find
	}
	return func(ctx context.Context) (int, error) {
		t, _, _, err := joinorder.Join(ctx, db.backends.CPU.(backends.CPU).Backend, s.fragment.Join, of)
		if err != nil {
			return 0, err
		}
		return t.Rows(), nil
	}, nil
}
