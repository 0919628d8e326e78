package catalog

import (
	"context"
	"errors"
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/ingest/source"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/partial"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/table"
)

// Pruned is what the statistics of a file save a statement, before the columns that it reads have been read.
// They save all reading, or that of row groups without a record that it selects.
type Pruned struct {
	Answer       []table.Value // of the aggregates; nil where some row groups have to be read
	Table        *table.Table  // of these; where there is an answer, zone maps alone
	Groups, Left int           // row groups of the file, and of the table
}

// AnswerFromStatistics is the answer of a fragment's aggregates from statistics alone; nil where they do not tell it. With e.Lock.
func (e *Entry) AnswerFromStatistics(f *plan.Fragment, conditions Conditions) (*Pruned, error) {
	t, ok := e.Source.ZoneMaps(f.Reads())
	if !ok || !conditions.all || len(f.Aggs) == 0 {
		return nil, nil
	}
	q, err := physical.NewQuery(t, f)
	if err != nil {
		return nil, err
	}
	answer, err := partial.Finish(&statistics{q: q}, q)
	if err != nil { // they do not tell
		return nil, nil
	}
	return &Pruned{Answer: answer, Table: t, Groups: len(t.Chunks)}, nil
}

// ReadPruned reads columns of the row groups that conditions do not rule out; nil where that does not pay. A row takes
// each bytes besides its columns. With e.Lock.
func (e *Entry) ReadPruned(ctx context.Context, conditions Conditions, columns []int, each int64, o ingest.Options) (*Pruned, error) {
	keep, t, err := KeptRowGroups(e.Source, conditions)
	if t == nil || err != nil {
		return nil, err
	}
	rows := 0
	for _, i := range keep {
		rows += t.Chunks[i].Rows
	}
	all := int64(t.Rows()) * each
	for i := range t.Chunks {
		all += e.Source.GroupBytes(i, columns)
	}
	// A file that may not fit is read in batches.
	if len(keep) == len(t.Chunks) || len(keep) > 0 && o.MemoryLimit > 0 && all > o.MemoryLimit {
		return nil, nil
	}
	// Statements read this way until they have together read as many rows as the table has. Then the columns are read as a whole, unless a
	// part of the table is known to be damaged. So an answer does not depend on earlier reads.
	if e.prunedRows += rows; e.prunedRows > t.Rows() && !e.Damaged.Load() {
		whole, err := e.Source.Read(ctx, columns, o)
		if err == nil {
			e.Table.Store(whole)
		}
		if !source.IsDamaged(err) { // another error is said when the table is read
			return nil, nil
		}
		e.Damaged.Store(true)
	}
	out := &Pruned{Groups: len(t.Chunks), Left: len(keep)}
	out.Table, err = e.Source.ReadGroups(ctx, keep, columns, o)
	if err == nil && slices.ContainsFunc(columns, func(col int) bool { return out.Table.Fields[col].Unsupported != "" }) {
		return nil, nil // reading the table says so
	}
	return out, err
}

// KeptRowGroups lists the row groups of a file which may have a record for which all conditions are TRUE. It also returns the zone maps that
// says so. It returns nil where the file has no statistics of them.
func KeptRowGroups(f Source, of Conditions) (keep []int, t *table.Table, err error) {
	told := func(e expr.Expr) bool {
		_, ok := f.ZoneMaps(expr.Columns(e))
		return ok
	}
	conditions := slices.DeleteFunc(slices.Clone(of.List), func(e expr.Expr) bool { return !told(e) })
	if len(conditions) == 0 {
		return nil, nil, nil
	}
	where := plan.Conjunction(conditions)
	t, _ = f.ZoneMaps(expr.Columns(where))
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

// Conditions are conditions that have to be TRUE for a record to be selected and that a range of values may decide.
type Conditions struct {
	List   []expr.Expr
	all    bool // there are no others
	raises bool // one behind them may be an error, which a record has to be seen for where these are NULL
}

// NeedsAllRows reports that a fragment's answer needs the number of all records.
func NeedsAllRows(f *plan.Fragment) bool {
	return f.NeedsRowCount || slices.ContainsFunc(f.Aggs, func(a expr.Aggregate) bool { return a.Kind == expr.Selectivity })
}

// ConditionsOf are the deciding conditions of a fragment; none where it needs all records.
func ConditionsOf(f *plan.Fragment) Conditions {
	if NeedsAllRows(f) {
		return Conditions{}
	}
	return ConditionsIn(f.Where)
}

// ConditionsIn are the conditions of a WHERE that decide, up to the first one that may be an error.
func ConditionsIn(where expr.Expr) (d Conditions) {
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
			d.List = append(d.List, e)
		} else if d.raises = plan.CanRaise(e); d.raises {
			break
		}
	}
	d.all = len(d.List) == len(conditions)
	return d
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
