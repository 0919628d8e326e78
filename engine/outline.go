package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/partial"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/table"
)

// outlined is what the statistics of a file spare a statement, while the columns that it
// reads have not been read: all reading, or that of row groups without a record that it
// selects.
type outlined struct {
	answer       []table.Value // of the aggregates; nil where some row groups have to be read
	table        *table.Table  // of these; where there is an answer an outline
	groups, left int           // of the file, and of the table
	batches      *batches      // how all of them are read; the table is an outline then; nil for those that are in the table
	// large are the tables of a join that come in batches, each read once, and table has the join's fields and no rows then; batches is
	// the largest of them. Nil for a statement over one table.
	large map[*entry]*batches
	way   *joinBeyond
}

// outline looks for what can be spared; nil where that is nothing.
func (db *DB) outline(ctx context.Context, e *entry, f *plan.Fragment) (*outlined, error) {
	if f.Fallback != nil { // statistics tell no sum
		f = f.FallbackFragment()
	}
	if t := e.table.Load(); !db.sparing(e) || t.Has(f.Reads()) || ofAll(f) {
		return nil, nil
	}
	conditions := decidingOf(f)
	return whatIsRead(ctx, db, e, func(o ingest.Options) (*outlined, error) {
		if e.file == nil || e.file.Changed() { // which is the error of reading it
			return nil, nil
		}
		if t, ok := e.file.Outline(f.Reads()); ok && conditions.all && len(f.Aggs) > 0 {
			q, err := physical.NewQuery(t, f)
			if err != nil {
				return nil, err
			}
			if answer, err := partial.Finish(&statistics{q: q}, q); err == nil {
				return &outlined{answer: answer, table: t, groups: len(t.Chunks)}, nil
			}
		}
		return e.without(ctx, conditions, f.Reads(), o)
	})
}

// outlineJoined looks for what conditions of tables alone spare a join of them; nil where that is nothing.
func (db *DB) outlineJoined(ctx context.Context, b *bound) (map[*entry]*outlined, error) {
	if db.now().hostMemory > 0 {
		return nil, nil
	}
	spares := map[*entry]*outlined{}
	var where expr.Expr
	at := 0
	conditions := map[*read]expr.Expr{}
	plan.Walk(b.fragment.Join, func(n plan.Node, _ int) {
		above := where
		where = nil
		switch n := n.(type) {
		case *plan.Filter:
			where = n.Where
		case *plan.Scan:
			if at++; n.Of == nil {
				conditions[b.scans[at-1]] = above
			}
		}
	})
	for r, where := range conditions {
		list := deciding(where)
		once := len(slices.DeleteFunc(slices.Clone(b.scans), func(o *read) bool { return o != r })) == 1
		if len(list.kids) == 0 || !once || !db.sparing(r.entry) || r.table.Load().Has(r.columns) {
			continue
		}
		o, err := whatIsRead(ctx, db, r.entry, func(o ingest.Options) (*outlined, error) {
			if r.file == nil || r.file.Changed() {
				return nil, nil
			}
			return r.without(ctx, list, r.columns, o)
		})
		if err != nil {
			return nil, err
		}
		if o != nil {
			spares[r.entry] = o
		}
	}
	return spares, nil
}

// inGroups reports that a file has row groups of which some may be read alone.
func (db *DB) inGroups(ctx context.Context, e *entry) bool {
	in, _ := whatIsRead(ctx, db, e, func(ingest.Options) (*bool, error) { // an error is that of reading it
		in := e.file != nil && e.file.Groups() > 1
		return &in, nil
	})
	return in != nil && *in
}

// without reads columns of the row groups that conditions do not rule out; nil where that does not pay. With e.mu.
func (e *entry) without(ctx context.Context, conditions decided, columns []int, o ingest.Options) (*outlined, error) {
	keep, t, err := groupsOf(e.file, conditions)
	if t == nil || err != nil {
		return nil, err
	}
	rows := 0
	for _, i := range keep {
		rows += t.Chunks[i].Rows
	}
	all := int64(t.Rows()) * rowBytes / 2
	for i := range t.Chunks {
		all += e.file.GroupBytes(i, columns)
	}
	// A file that may not fit is read in batches.
	if len(keep) == len(t.Chunks) || len(keep) > 0 && o.MemoryLimit > 0 && all > o.MemoryLimit {
		return nil, nil
	}
	// All statements together read as many rows as there are so; then the table's turn comes, unless what is damaged of it is elsewhere: an answer
	// does not depend on what was read before.
	if e.spare += rows; e.spare > t.Rows() && !e.damaged.Load() {
		whole, err := e.file.Read(ctx, columns, o)
		if err == nil {
			e.table.Store(whole)
		}
		if !ingest.IsDamaged(err) { // another error is said when the table is read
			return nil, nil
		}
		e.damaged.Store(true)
	}
	out := &outlined{groups: len(t.Chunks), left: len(keep)}
	out.table, err = e.file.ReadGroups(ctx, keep, columns, o)
	if err == nil && slices.ContainsFunc(columns, func(col int) bool { return out.table.Fields[col].Unsupported != "" }) {
		return nil, nil // reading the table says so
	}
	return out, err
}

// groupsOf lists the row groups of a file which may have a record for which all conditions are TRUE, with the outline that tells so; nil
// where the file tells nothing of them.
func groupsOf(f source, of decided) (keep []int, t *table.Table, err error) {
	told := func(e expr.Expr) bool {
		_, ok := f.Outline(expr.Columns(e))
		return ok
	}
	conditions := slices.DeleteFunc(slices.Clone(of.kids), func(e expr.Expr) bool { return !told(e) })
	if len(conditions) == 0 {
		return nil, nil, nil
	}
	where := plan.Conjunction(conditions)
	t, _ = f.Outline(expr.Columns(where))
	q, err := physical.NewQuery(t, &plan.Fragment{Table: t.Name, Where: where, Aggs: []expr.Aggregate{{Kind: expr.CountAll, Col: -1}}})
	if err != nil {
		return nil, nil, err
	}
	for i, c := range q.Chunks {
		null := slices.ContainsFunc(expr.Columns(where), func(col int) bool { return t.Chunks[i].Segments[col].Nulls > 0 })
		if c.Pred.Op != predicate.False || len(c.Checks) > 0 || of.raises && null {
			keep = append(keep, i)
		}
	}
	return keep, t, nil
}

// sparing reports whether statements read no more of a table than its file's statistics leave to them. The backends of devices read all of
// a column, so that it is resident, unless some of it is damaged: what a statement answers then is the same on all backends.
func (db *DB) sparing(e *entry) bool { return db.onCPU() || e.damaged.Load() }

// onCPU reports whether statements may run on cpu.
func (db *DB) onCPU() bool { return db.Backend() == "auto" || db.Backend() == "cpu" }

// decided are conditions that have to be TRUE for a record to be selected and that a range of values may decide.
type decided struct {
	kids   []expr.Expr
	all    bool // there are no others
	raises bool // one behind them may be an error, which a record has to be seen for where these are NULL
}

// ofAll reports that a fragment's answer needs the number of all records.
func ofAll(f *plan.Fragment) bool {
	return f.NeedsRowCount || slices.ContainsFunc(f.Aggs, func(a expr.Aggregate) bool { return a.Kind == expr.Selectivity })
}

// decidingOf are the deciding conditions of a fragment; none where it needs all records.
func decidingOf(f *plan.Fragment) decided {
	if ofAll(f) {
		return decided{}
	}
	return deciding(f.Where)
}

// deciding are the conditions of a WHERE that decide, up to the first one that may be an error.
func deciding(where expr.Expr) (d decided) {
	conditions := plan.Conjuncts(where)
	for _, e := range conditions {
		plain := true
		expr.Walk(e, func(e expr.Expr) {
			switch e.(type) {
			case *expr.Column, *expr.Const, *expr.Compare, *expr.And, *expr.Or, *expr.Not, *expr.Between, *expr.In, *expr.IsNull:
			default:
				plain = false
			}
		})
		if plain {
			d.kids = append(d.kids, e)
		} else if d.raises = plan.CanRaise(e); d.raises {
			break
		}
	}
	d.all = len(d.kids) == len(conditions)
	return d
}

// steps are those of the execution, after what is spared.
func (o *outlined) steps(list []Step) []Step {
	if o.way != nil {
		list = append([]Step{o.way.step()}, list...)
	}
	if o.batches != nil {
		return append([]Step{o.batches.step()}, list...)
	}
	if o.answer != nil {
		return []Step{{Pass: fmt.Sprintf("Statistics(%d row groups)", o.groups), Counts: "nothing: what the file says of its row groups is the answer"}}
	}
	return slices.Insert(list, 0, o.skip(""))
}

// skip is the step of what is spared, of the table of a name.
func (o *outlined) skip(of string) Step {
	return Step{Pass: fmt.Sprintf("Skip(%d of %d row groups%s)", o.groups-o.left, o.groups, of), Counts: "nothing: by what the file says of them they have no record that is selected"}
}

// skips are the steps of what is spared of tables that are joined.
func (s *planned) skips() (list []Step) {
	for i, r := range s.sources {
		if s.partly(r.entry) && i < len(s.tables) && s.tables[i] == s.spares[r.entry].table {
			list = append(list, s.spares[r.entry].skip(" of "+expr.Ident(r.name)))
		}
	}
	return list
}

// errUntold is what statistics do not tell.
var errUntold = errors.New("engine: statistics do not tell")

// statistics implements partial.Partial by the statistics of row groups: each is selected whole or
// not at all.
type statistics struct{ q *physical.Query }

// selected calls f for the row groups that are selected.
func (s *statistics) selected(f func(c *table.Chunk)) error {
	for i, c := range s.q.Chunks {
		switch {
		case len(c.Checks) > 0 || c.Pred.Op != predicate.True && c.Pred.Op != predicate.False:
			return errUntold
		case c.Pred.Op == predicate.True:
			f(s.q.Table.Chunks[i])
		}
	}
	return nil
}

// Check, Count, CountNotNull, Sum and Kth implement [partial.Partial].
func (s *statistics) Check() error { return s.selected(func(*table.Chunk) {}) }

func (s *statistics) Count() (n uint64, err error) {
	err = s.selected(func(c *table.Chunk) { n += uint64(c.Rows) })
	return n, err
}

func (s *statistics) CountNotNull(col int) (n uint64, err error) {
	exact := true
	err = s.selected(func(c *table.Chunk) {
		exact = exact && c.Segments[col].Inexact&table.InexactNulls == 0
		n += uint64(c.Rows - c.Segments[col].Nulls)
	})
	if err == nil && !exact {
		err = errUntold
	}
	return n, err
}

func (s *statistics) Sum(int) (partial.Sum, error) { return partial.Sum{}, errUntold }

func (s *statistics) Kth(col int, k uint64, largest bool) (v table.Value, err error) {
	if k != 1 {
		return v, errUntold
	}
	var least, most []table.Value
	exact := true
	err = s.selected(func(c *table.Chunk) {
		if seg := c.Segments[col]; seg.NonNull() > 0 {
			exact = exact && seg.Inexact&table.InexactRange == 0
			least, most = append(least, seg.Decode(0)), append(most, seg.Decode(seg.Max))
		}
	})
	if err == nil && !exact {
		err = errUntold
	}
	if err != nil {
		return v, err
	}
	if largest {
		return slices.MaxFunc(most, table.Compare), err
	}
	return slices.MinFunc(least, table.Compare), err
}
