package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/plan"
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
	if f.Otherwise != nil { // statistics tell no sum
		f = f.Selected()
	}
	if t := e.table.Load(); !db.onCPU() || t.Has(f.Reads()) || !spares(f) {
		return nil, nil
	}
	return whatIsRead(ctx, db, e, func(o ingest.Options) (*outlined, error) {
		if e.file == nil || e.file.Changed() { // which is the error of reading it
			return nil, nil
		}
		t, ok := e.file.Outline(f.Reads())
		if !ok {
			return nil, nil
		}
		q, err := plan.NewQuery(t, f)
		if err != nil {
			return nil, err
		}
		out := &outlined{table: t, groups: len(t.Chunks)}
		if len(f.Aggs) > 0 {
			if out.answer, err = plan.Finish(&statistics{q: q}, q); err == nil {
				return out, nil
			}
		}
		var keep []int
		rows := 0
		for i, c := range q.Chunks {
			if c.Pred.Op != plan.False || len(c.Checks) > 0 {
				keep, rows = append(keep, i), rows+t.Chunks[i].Rows
			}
		}
		// All statements together read half of the rows so; then the table's turn comes.
		if out.left = len(keep); e.spare+rows > t.Rows()/2 {
			return nil, nil
		}
		e.spare += rows
		out.table, err = e.file.ReadGroups(ctx, keep, f.Reads(), o)
		if err == nil && slices.ContainsFunc(f.Reads(), func(col int) bool { return out.table.Fields[col].Unsupported != "" }) {
			return nil, nil // reading the table says so
		}
		return out, err
	})
}

// onCPU reports whether statements may run on cpu.
func (db *DB) onCPU() bool { return db.Backend() == "auto" || db.Backend() == "cpu" }

// spares reports whether a fragment's answer is the same without rows that it does not select,
// and whether its condition is one that a range of values may decide.
func spares(f *plan.Fragment) bool {
	ok := !f.Total
	for _, a := range f.Aggs {
		ok = ok && a.Kind != expr.Selectivity
	}
	if f.Where != nil {
		expr.Walk(f.Where, func(e expr.Expr) {
			switch e.(type) {
			case *expr.Column, *expr.Const, *expr.Compare, *expr.And, *expr.Or, *expr.Not, *expr.Between, *expr.In, *expr.IsNull:
			default:
				ok = false
			}
		})
	}
	return ok
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
	skip := Step{Pass: fmt.Sprintf("Skip(%d of %d row groups)", o.groups-o.left, o.groups), Counts: "nothing: by what the file says of them they have no record that is selected"}
	return slices.Insert(list, 0, skip)
}

// errUntold is what statistics do not tell.
var errUntold = errors.New("engine: statistics do not tell")

// statistics implements plan.Partial by the statistics of row groups: each is selected whole or
// not at all.
type statistics struct{ q *plan.Query }

// selected calls f for the row groups that are selected.
func (s *statistics) selected(f func(c *table.Chunk)) error {
	for i, c := range s.q.Chunks {
		switch {
		case len(c.Checks) > 0 || c.Pred.Op != plan.True && c.Pred.Op != plan.False:
			return errUntold
		case c.Pred.Op == plan.True:
			f(s.q.Table.Chunks[i])
		}
	}
	return nil
}

// Check, Count, CountNotNull, Sum and Kth implement [plan.Partial].
func (s *statistics) Check() error { return s.selected(func(*table.Chunk) {}) }

func (s *statistics) Count() (n uint64, err error) {
	err = s.selected(func(c *table.Chunk) { n += uint64(c.Rows) })
	return n, err
}

func (s *statistics) CountNotNull(col int) (n uint64, err error) {
	err = s.selected(func(c *table.Chunk) { n += uint64(c.Rows - c.Segments[col].Nulls) })
	return n, err
}

func (s *statistics) Sum(int) (plan.Sum, error) { return plan.Sum{}, errUntold }

func (s *statistics) Kth(col int, k uint64, largest bool) (v table.Value, err error) {
	if k != 1 {
		return v, errUntold
	}
	var least, most []table.Value
	err = s.selected(func(c *table.Chunk) {
		if seg := c.Segments[col]; seg.Nulls < c.Rows {
			least, most = append(least, seg.Decode(0)), append(most, seg.Decode(seg.Max))
		}
	})
	if largest {
		return slices.MaxFunc(most, table.Compare), err
	}
	return slices.MinFunc(least, table.Compare), err
}
