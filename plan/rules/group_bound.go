package rules

import (
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
)

// maxTopGroups is up to how many first groups a device leaves the others out.
const maxTopGroups = 1 << 10

// havingBound is the bound that a condition on the groups of an aggregation gives; nil for none.
func havingBound(a *plan.Aggregate, where expr.Expr) *plan.GroupBound {
	for _, e := range plan.Conjuncts(where) {
		if i, lo, hi, ok := plan.HavingRange(e, len(a.Keys)); ok && cannotRaise(a) && boundable(a, i) {
			return &plan.GroupBound{Agg: i, Lo: lo, Hi: hi}
		}
	}
	return nil
}

// firstBound is the bound that an order gives of which some first groups are wanted; nil for none.
func firstBound(a *plan.Aggregate, s *plan.Sort) *plan.GroupBound {
	if s.Limit <= 0 || s.Limit > maxTopGroups || s.Unique > 0 || !cannotRaise(a) {
		return nil
	}
	key := s.Keys[0]
	ref, ok := key.E.(*expr.AggRef)
	if !ok {
		return nil
	}
	b := &plan.GroupBound{First: int(s.Limit), Desc: key.Desc}
	if ref.Key == nil {
		if b.Agg = ref.Index - len(a.Keys); !boundable(a, b.Agg) {
			return nil
		}
		return b
	}
	if b.Key, ok = ref.Key.(*expr.Column); !ok || key.NullsFirst != key.Desc { // the code of NULL is behind the others
		return nil
	}
	return b
}

// cannotRaise reports that the aggregates of a group that is left out raise no error.
func cannotRaise(a *plan.Aggregate) bool {
	return !slices.ContainsFunc(a.Aggs, func(g expr.Aggregate) bool {
		switch g.Kind {
		case expr.CountAll, expr.Count, expr.Min, expr.Max:
			return false
		case expr.Sum, expr.Avg:
			return !g.Arg.IsExact()
		}
		return true
	})
}

// boundable reports that an aggregate may tell which groups are wanted: it is a count or an exact sum.
func boundable(a *plan.Aggregate, i int) bool {
	g := a.Aggs[i]
	return !g.Distinct && (g.Kind == expr.CountAll || g.Kind == expr.Count || g.Kind == expr.Sum)
}
