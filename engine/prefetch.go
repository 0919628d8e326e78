package engine

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/stencildb/stencildb/engine/backends"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/parallel"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/sql"
	"github.com/stencildb/stencildb/table"
)

// prefetch makes the columns of a statement resident while its file is read. What the passes will read of a
// segment is uploaded as soon as it is there, while the next segment is read. What it leaves, the passes
// upload when they run, and what is wrong is said then.
type prefetch struct {
	s    *Statement
	ctx  context.Context
	name string        // of the backend that is asked for
	come chan arrival  // nil where nothing is told of; closed at the end of the reading
	done chan struct{} // closed after the last upload
	open time.Time     // when the device was; to be looked at when that is closed

	table *table.Table            // as it will be: its segments are replaced by those that are there
	ready map[*table.Segment]bool // those
	read  *table.Table            // at the end; nil where the reading failed
}

// arrival is a segment that has been read.
type arrival struct {
	chunk, col int
	*table.Segment
}

// prefetch begins to open the device that the statement needs, if it is known to need one before its table
// is; else it is nil. It is nil of a join, too, whose passes are known when its tables are.
func (s *Statement) prefetch(ctx context.Context) *prefetch {
	name, runs := s.db.Backend(), true
	plan.Walk(s.tree, func(n plan.Node, _ int) {
		if l, ok := n.(*plan.Limit); ok && l.Count == 0 { // nothing below it runs
			runs = false
		}
	})
	if !runs || name == "auto" && s.stopsEarly() || !s.db.needsDevice() {
		return nil
	}
	if s.db.backends.Start(); s.joins() {
		return nil
	}
	return &prefetch{s: s, ctx: ctx, name: name}
}

// needsDevice reports whether what reads a table needs the device: with auto that is where somebody asked for one, or it is open.
func (db *DB) needsDevice() bool {
	switch db.Backend() {
	case "cpu":
		return false
	case "auto":
		d, _, _ := db.backends.Now()
		return d != nil || db.backends.Wanted()
	}
	return true
}

// aboutToRun marks the context in which a statement is bound that runs then.
type aboutToRun struct{}

// running is the context in which a statement is bound that runs then. Binding may read all of a file, for the types of
// its columns; the device is opened meanwhile. That the statement does not need it after all is known later: where it is
// wrong, or reads nothing.
func running(ctx context.Context, st *sql.Statement) context.Context {
	if !st.IsSelect() || st.Limited() {
		return ctx
	}
	return context.WithValue(ctx, aboutToRun{}, true)
}

// readsWhole is told that all of a file is about to be read in such a context.
func (db *DB) readsWhole(ctx context.Context) {
	if ctx.Value(aboutToRun{}) != nil && db.needsDevice() {
		db.backends.Start()
	}
}

// begin is told of the table that is coming: see [ingest.Options].
func (a *prefetch) begin(t *table.Table) func(chunk, col int, s *table.Segment) {
	a.table, a.ready, a.done = t, map[*table.Segment]bool{}, make(chan struct{})
	a.come = make(chan arrival, 2*len(t.Chunks)*len(t.Fields)) // a column is read twice at most
	parallel.Go(a.run, func(*parallel.Panic) {})               // the statement meets it again when it runs, as an error
	return func(chunk, col int, s *table.Segment) {
		if a.name == "compute" {
			parallel.Go(func() { s.Varying() }, func(*parallel.Panic) {}) // which it asks for; perhaps the device is not open yet
		}
		a.come <- arrival{chunk, col, s}
	}
}

// end is told of the table that the reading gave.
func (a *prefetch) end(t *table.Table) {
	if a.come != nil {
		a.read = t
		close(a.come)
	}
}

// wait waits for the device and the last upload, and returns how long.
func (a *prefetch) wait() (l Loading) {
	if a.come == nil {
		return l
	}
	start := time.Now()
	select {
	case <-a.done:
		l.Opening = max(0, a.open.Sub(start))
	case <-a.ctx.Done():
	}
	l.Uploading = max(0, time.Since(start)-l.Opening)
	return l
}

func (a *prefetch) run() {
	defer close(a.done)
	d, up := a.device()
	var all []arrival
	for x := range a.come {
		all = append(all, x)
		of := a.table.Chunks[x.chunk].Segments
		if d == nil || len(up) == 0 || of[x.col].Codes.Width() != x.Codes.Width() { // the passes are for others
			continue
		}
		of[x.col], a.ready[x.Segment] = x.Segment, true
		if err := a.upload(up); err != nil {
			if up = nil; errors.Is(err, glctx.ErrFault) {
				a.s.db.backends.Lose(d)
			}
		}
	}
	dead := slices.DeleteFunc(all, func(x arrival) bool {
		return a.read != nil && a.read.Chunks[x.chunk].Segments[x.col] == x.Segment
	})
	if d != nil && len(dead) > 0 {
		var list []*table.Segment
		for _, x := range dead {
			list = append(list, x.Segment)
		}
		d.Drop(list)
	}
}

// upload makes resident what is ready, on all devices at a time.
func (a *prefetch) upload(up []backends.Recorded) error {
	var waits []func() error
	for _, r := range up {
		waits = append(waits, r.G.Query(a.ctx, func() error {
			defer r.G.Look(true)
			r.G.Store.Name(a.table)
			for _, p := range r.Passes {
				if err := r.G.GL.Prefetch(p, func(s *table.Segment) bool { return a.ready[s] }); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	var err error
	for _, wait := range waits {
		err = errors.Join(err, wait())
	}
	return err
}

// device finds the device that the statement will run on, and its passes there, as far as the announced table
// tells. There is none where it will run on cpu.
func (a *prefetch) device() (*backends.Devices, []backends.Recorded) {
	now := &planned{Statement: a.s}
	if err := now.lower(a.table); err != nil {
		return nil, nil
	}
	d, err := a.s.db.backends.Devices(a.ctx, new(time.Duration))
	a.open = time.Now()
	if err != nil {
		return nil, nil
	}
	name := a.name
	if name == "auto" {
		o, err := now.predict(d, false)
		if err != nil {
			return nil, nil
		}
		name = o.list[0].Backend
	}
	b, ok := d.ByName[name].(*backends.Passes)
	if !ok {
		return nil, nil
	}
	record := func(q *physical.Query) ([]backends.Recorded, error) {
		parts := b.FirstVisits(q)
		for i, p := range parts {
			if p.Spans != nil { // a sample of codes that are yet to come says nothing
				parts[i].Spans = func() map[int]predicate.Span { return backends.AssumedSpans(p.Query) }
			}
		}
		return b.RecordParts(q, parts)
	}
	var list []backends.Recorded
	err = d.GPUs[0].Context.Do(a.ctx, func() (err error) { // as when it runs: a panic there is an error
		if now.otherwise != now.plan {
			if list, err = record(now.plan); now.otherwise == nil || !plan.IsDeclined(err) {
				return err
			}
		}
		list, err = record(now.otherwise)
		return err
	})
	if err != nil { // the GL thread may be at it yet
		return nil, nil
	}
	return d, list
}
