package engine

import (
	"context"
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// pushing is what [plan.PushAggregate] makes of a statement whose tables are as they were.
type pushing struct {
	tables []*table.Table
	tree   plan.Node // nil where it stays as it is
}

// pushed is the tree of a statement that groups rows before it joins them; nil for another one. It is found anew where tables
// have changed.
func (s *Statement) pushed(ctx context.Context) (plan.Node, error) {
	f := s.fragment
	if f == nil || f.Join == nil || f.Groups == nil && len(f.Aggs) == 0 || s.outlined != nil {
		return nil, nil
	}
	var entries []*entry
	for _, r := range s.sources {
		if r.table.Load() == nil {
			return nil, nil
		}
		entries = append(entries, r.entry)
	}
	tables, unpin := s.db.pinAll(entries)
	defer unpin()
	if old := s.pushing.Load(); old != nil && slices.Equal(old.tables, tables) {
		return old.tree, nil
	}
	out := &pushing{tables: tables}
	whole := plan.Whole(s.tree)
	of, done := s.estimates()
	defer done()
	if tree := plan.PushAggregate(whole, s.off, s.pays(of)); tree != whole {
		star, err := (&planned{Statement: s, tables: tables}).isStar(ctx)
		if err != nil {
			return nil, err
		}
		if !star {
			out.tree = tree
		}
	}
	s.pushing.Store(out)
	return out.tree, nil
}

// pays decides whether rows are grouped before they are joined.
func (s *Statement) pays(of *plan.Estimates) func(plan.Node, []expr.Expr, plan.Node) bool {
	if s.db.pushes.Load() {
		return func(plan.Node, []expr.Expr, plan.Node) bool { return true }
	}
	return of.GroupingPays
}

// isStar reports a star of joins, which a device does in one sweep over its largest table. Where that is asked for by name, the arms are
// joined for it, which tells. On auto it is one where hardware is open: what opening that takes, the groups may be worth.
func (s *planned) isStar(ctx context.Context) (bool, error) {
	d, _, _ := s.db.opened()
	auto := s.db.Backend() == "auto"
	if auto && d == nil || !s.findStar() {
		return false, nil
	}
	if auto {
		return true, nil
	}
	err := s.star.Prepare(ctx)
	if !s.ofSubplans() {
		s.db.keep(s.starKey, s.star)
	}
	if declined(err) {
		return false, nil
	}
	return err == nil, err
}
