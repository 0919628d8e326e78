package engine

import (
	"context"
	"slices"

	"github.com/stencildb/stencildb/engine/catalog"
	"github.com/stencildb/stencildb/engine/joinorder"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/rules"
	"github.com/stencildb/stencildb/plan/stats"
	"github.com/stencildb/stencildb/table"
)

// pushing is what [rules.PushAggregate] makes of a statement whose tables are as they were.
type pushing struct {
	tables []*table.Table
	tree   plan.Node       // nil where it stays as it is, or has failed
	star   *joinorder.Star // of the statement, where it is one; else nil
}

// pushed is the tree of a statement that groups rows before it joins them, without one for another statement. It is found anew where tables
// have changed.
func (s *Statement) pushed(ctx context.Context) (pushing, error) {
	f := s.fragment
	if f == nil || f.Join == nil || f.Groups == nil && len(f.Aggs) == 0 || s.scanPruning != nil {
		return pushing{}, nil
	}
	var entries []*catalog.Entry
	for _, r := range s.sources {
		if r.Table.Load() == nil {
			return pushing{}, nil
		}
		entries = append(entries, r.Entry)
	}
	tables, unpin := s.db.pinAll(entries)
	defer unpin()
	if old := s.pushing.Load(); old != nil && slices.Equal(old.tables, tables) {
		return *old, nil
	}
	out := &pushing{tables: tables}
	of := &planned{Statement: s, tables: tables}
	star, err := of.isStar(ctx)
	if err != nil {
		return pushing{}, err
	}
	if star {
		out.star = of.star
	} else {
		whole := rules.Uncut(s.tree)
		estimates, done := s.estimates()
		defer done()
		if tree := rules.PushAggregate(whole, s.off, s.pays(estimates)); tree != whole {
			out.tree = tree
		}
	}
	s.pushing.Store(out)
	return *out, nil
}

// pays decides whether rows are grouped before they are joined.
func (s *Statement) pays(of *stats.Estimates) func(plan.Node, []expr.Expr, *plan.Aggregate) bool {
	if s.db.pushes.Load() {
		return func(plan.Node, []expr.Expr, *plan.Aggregate) bool { return true }
	}
	return of.GroupingPays
}

// doesStars reports that a device does stars of joins: on auto hardware that is open. Until then groups do without it.
func (db *DB) doesStars() bool {
	d, _, _ := db.backends.Now()
	name := db.Backend()
	return name == "compute" || name == "auto" && d != nil && db.backends.MayHaveHardware()
}

// isStar reports a star of joins, which a device does in one sweep over its largest table. Where that is asked for by name, the arms are
// joined for it, which tells.
func (s *planned) isStar(ctx context.Context) (bool, error) {
	if !s.db.doesStars() || !s.findStar() {
		return false, nil
	}
	if s.db.Backend() == "auto" {
		return true, nil
	}
	err := s.star.Prepare(ctx)
	s.keepStar()
	if plan.IsDeclined(err) {
		return false, nil
	}
	return err == nil, err
}
