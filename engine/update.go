package engine

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"time"

	"github.com/stencildb/stencildb/cpu"
	"github.com/stencildb/stencildb/engine/backends"
	"github.com/stencildb/stencildb/engine/catalog"
	"github.com/stencildb/stencildb/engine/devicepool"
	"github.com/stencildb/stencildb/engine/querystats"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/lower"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/plan/rules"
	"github.com/stencildb/stencildb/relational"
	"github.com/stencildb/stencildb/sql"
	"github.com/stencildb/stencildb/storage"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// An UPDATE of a table in memory that `compute` can do runs there. The device computes the new columns from what is resident, and the
// statement ends. The host's codes follow in the background; who reads them waits for that ([table.Segment.AwaitCodes]), and aggregates of
// one table on `compute` do not.

// mostFollowing is how many UPDATEs the host's codes may be behind.
const mostFollowing = 4

// settle waits until the codes of tables are written, or ctx ends.
func settle(ctx context.Context, tables []*table.Table) error {
	for _, t := range tables {
		if t == nil {
			continue
		}
		if err := t.AwaitCodes(ctx, t.All()); err != nil {
			return err
		}
	}
	return nil
}

// settled is the table of an entry once its codes are written; nil where it has not been read.
func settled(e *catalog.Entry) *table.Table {
	t := e.Table.Load()
	_ = settle(context.Background(), []*table.Table{t})
	return t
}

// onDevice reports a statement that reads the codes of its table on a device, if it runs there, and nowhere else: aggregates.
func (s *Statement) onDevice() bool {
	if b := s.db.Backend(); b != "compute" && b != "auto" || s.watch != nil || s.fragment == nil {
		return false
	}
	f, reads := s.fragment, true
	plan.Walk(s.tree, func(n plan.Node, _ int) {
		switch n := n.(type) {
		case *plan.CountDistinct:
			reads = false
		case *plan.Scan:
			reads = reads && n.Of == nil
		}
	})
	return reads && len(f.Aggs) > 0 && f.Join == nil && f.Groups == nil && f.Fallback == nil
}

// settle waits until the codes of the tables that the statement reads are written, unless a device alone reads them.
func (s *Statement) settle(ctx context.Context) error {
	if s.bound == nil || s.onDevice() {
		return nil
	}
	for _, r := range s.sources {
		if err := settle(ctx, []*table.Table{r.Table.Load()}); err != nil {
			return err
		}
	}
	return nil
}

// update is an UPDATE that a device does.
type update struct {
	*mutation
	before, next *table.Table
	q            *physical.Query // of before: the rows that change
	columns      []relational.Assignment
	changed      []int // rows of each chunk
}

// update is the statement as one for a device; nil where the host does it.
func (m *mutation) update(c sql.Catalog) *update {
	db := m.db
	if m.Verb != "UPDATE" || m.Returning != nil || m.files != nil || db.tx != nil || db.store != nil && !m.def.Temp ||
		len(m.Set) != m.Assigned || len(m.Sequences) > 0 || plan.HasSubplans(m.Rows) {
		return nil
	}
	p, ok := rules.CutFragments(c.Off.Rewrite(m.Rows)).(*plan.Project)
	if !ok || len(p.Items) != 1+len(m.Set) {
		return nil
	}
	f, ok := p.Input.(*plan.Fragment)
	if !ok || f.Join != nil || plan.Scans(f.Tree)[0].Of != nil {
		return nil
	}
	u := &update{mutation: m, before: db.entry(m.Table).Table.Load()}
	if !db.keepsResident(u.before, m.Set) {
		return nil
	}
	var err error
	if u.q, err = db.lowered.Query(u.before, &plan.Fragment{Table: f.Table, Where: f.Where}); err != nil || u.q.RequireNoScalar() != nil {
		return nil
	}
	chunks := slices.Clone(u.before.Chunks)
	for i, col := range m.Set {
		of := relational.Assignment{Col: col, E: p.Items[1+i].E, To: make([]*table.Segment, len(chunks)), Made: make([]*lower.ComputedCodes, len(chunks))}
		if m.ruled(col) || of.E.Type() != m.def.Fields[col].Type {
			return nil
		}
		for k, chunk := range chunks {
			if len(u.q.Chunks[k].Checks) > 0 { // WHERE may raise an error
				return nil
			}
			if chunk.Rows == 0 || u.q.Chunks[k].Pred.Op == predicate.False {
				continue
			}
			of.To[k], of.Made[k] = madeFor(of.E, u.before, u.before.Chunks[k], col)
			if of.To[k] == nil || inRange(m.def.Fields[col], of.To[k]) != nil {
				return nil
			}
			next := &table.Chunk{Rows: chunk.Rows, Deleted: chunk.Deleted, Segments: slices.Clone(chunk.Segments)}
			next.Segments[col] = of.To[k]
			chunks[k] = next
		}
		u.columns = append(u.columns, of)
	}
	u.next = u.before.With(chunks...)
	return u
}

// ruled reports that a rule of the table is of a column: a key, an index of a key, or a check.
func (m *mutation) ruled(col int) bool {
	return len(m.def.Checks) > 0 || m.def.Columns[col].Sequence != nil ||
		slices.ContainsFunc(m.def.Keys, func(k storage.Key) bool { return slices.Contains(k.Columns, col) }) ||
		m.db.indexes.HasOn(m.Table, m.def.Fields[col].Name)
}

// keepsResident reports that a device has columns of a table, or will have them. On auto, with no backend asked for, it reports that it has
// one of them.
func (db *DB) keepsResident(t *table.Table, columns []int) bool {
	if t == nil || !t.Has(t.All()) {
		return false
	}
	switch name := db.Backend(); {
	case !db.backends.MayHaveHardware() && !db.updates.Load():
	case name == "compute":
		return true
	case name == "auto":
		d, _, err := db.backends.Now()
		if d == nil || err != nil {
			return false
		}
		on := map[*table.Segment]bool{}
		for _, c := range t.Chunks {
			for _, col := range columns {
				on[c.Segments[col]] = true
			}
		}
		for _, of := range d.Contents() {
			for h := range of.Columns {
				if on[h.Segment] && (h.Kind == textures.Kind(textures.Planes.String()) || h.Kind == textures.Kind(textures.Codes.String())) {
					return true
				}
			}
		}
	}
	return false
}

// madeFor is the segment that a column becomes when it gets the values of an expression, and how their codes are made. It is nil where that
// may need many more bits than the column has, or something may be NULL.
func madeFor(e expr.Expr, t *table.Table, c *table.Chunk, col int) (*table.Segment, *lower.ComputedCodes) {
	seg := c.Segments[col]
	made, err := lower.ComputeCodes(e, t, c)
	if err != nil || made.Val == nil || made.Val.Float || made.Nulls || made.Ranked || seg.NonNull() == 0 || seg.Nulls > 0 || seg.Dict != nil || seg.Spans != nil ||
		seg.Type.Kind == table.Decimal && made.Scale != seg.Type.Scale ||
		slices.ContainsFunc(made.Cols, func(col int) bool { return c.Segments[col].Nulls > 0 }) {
		return nil, nil
	}
	const many = 8 // bits that no value may need
	least, most := made.Base, made.Base+made.Max
	if bits.Len64(max(seg.Base+seg.Max, most)-min(seg.Base, least)) > seg.Bits+many {
		return nil, nil
	}
	to, out := seg.Deferred(least, most), *made
	out.Base, out.Max = to.Base, most-to.Base
	return to, &out
}

// errHost says that the host does an UPDATE: the rows are on several devices, or the device is software, whose cores are the host's.
var errHost = errors.New("the host does it")

// ahead has a device do the statement, and adds to took what it takes there; done is false where the host is to do it.
func (m *mutation) ahead(ctx context.Context, c sql.Catalog, took *querystats.Collector) (done bool, err error) {
	u := m.update(c)
	if u == nil {
		return false, nil
	}
	ok := false
	defer func() {
		if !ok {
			u.drop()
		}
	}()
	var spent time.Duration
	err = m.db.view().On(ctx, "compute", &spent, func(b backends.Backend) error {
		list := b.(*backends.Passes).GPUs
		if len(list) > 1 || list[0].Context.Caps().Software && !m.db.updates.Load() {
			return errHost
		}
		took.Start(b.Name(), spent)
		return u.on(ctx, list[0], took)
	})
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	if err != nil { // the host does what no device can, and says what is wrong with u row
		return false, nil
	}
	ok, err = u.install(ctx)
	return ok, err
}

// on makes the columns on a device.
func (u *update) on(ctx context.Context, g *devicepool.GPU, took *querystats.Collector) error {
	return g.Start(ctx, u.q, g.GL, took, func(run pass.Runner) error {
		return run.Apart(u.before, func() (err error) {
			u.changed, err = relational.Assign(run, g.Computes, u.q, u.columns, func(chunk, i int, codes textures.Source) error {
				col := u.columns[i].Col
				return g.Store.Remake(u.before.Chunks[chunk].Segments[col], u.next.Chunks[chunk], col, codes)
			})
			return err
		})
	})()
}

// eachMade calls do for each segment that the device has made, and the one that it was made of.
func (u *update) eachMade(do func(chunk int, next, before *table.Segment)) {
	for k, c := range u.next.Chunks {
		for _, of := range u.columns {
			if next, before := c.Segments[of.Col], u.before.Chunks[k].Segments[of.Col]; next != before {
				do(k, next, before)
			}
		}
	}
}

// drop releases what the device has made.
func (u *update) drop() {
	var made []*table.Segment
	u.eachMade(func(_ int, next, _ *table.Segment) { made = append(made, next) })
	if d, _, err := u.db.backends.Now(); d != nil && err == nil {
		u.db.backends.Background(func() { d.Drop(made) })
	}
}

// install makes the table what statements read from now on, and makes the host follow. ok is false where a transaction is open, which has
// to know the rows that changed. With tables.one.
func (u *update) install(ctx context.Context) (ok bool, err error) {
	db := u.db
	for k, n := range u.changed { // chunks without such rows stay as they are
		u.mutation.changed += n
		if n == 0 {
			u.next.Chunks[k] = u.before.Chunks[k]
		}
	}
	if u.mutation.changed == 0 {
		return true, nil
	}
	select {
	case db.following <- struct{}{}:
	case <-ctx.Done():
		return false, ctx.Err()
	}
	u.unpin()
	db.snapshots.Lock()
	defer db.snapshots.Unlock()
	if e := db.tables.Entry(u.Table); len(db.commits.open) == 0 && e != nil && e.Table.Load() == u.before {
		db.commits.note([]storage.Change{{Table: u.Table}}, db.tables)
		var copies []func()
		free := db.snapshots.Free(u.before, db.inMemory())
		u.eachMade(func(_ int, next, before *table.Segment) { copies = append(copies, next.Over(before, free)) })
		db.forget(e.Table.Swap(u.next))
		db.backends.Background(func() {
			u.follow(copies)
			<-db.following
		})
		return true, nil
	}
	<-db.following
	u.mutation.changed = 0
	return false, nil
}

// follow writes the codes that the device has made in host memory.
func (u *update) follow(copies []func()) {
	_ = settle(context.Background(), []*table.Table{u.before})
	for _, make := range copies {
		make()
	}
	var of []expr.Expr
	for _, c := range u.columns {
		of = append(of, c.E)
	}
	for k, chunk := range u.before.Chunks {
		if u.next.Chunks[k] == chunk {
			continue
		}
		var to []*table.Segment
		for _, c := range u.columns {
			to = append(to, u.next.Chunks[k].Segments[c.Col])
		}
		if err := cpu.Assign(u.q.Chunks[k].Pred, chunk, of, to); err != nil {
			panic(fmt.Errorf("engine: an UPDATE that a device has done fails in host memory: %w", err)) // which the device has ruled out
		}
		for _, s := range to {
			s.CodesWritten()
		}
	}
}
