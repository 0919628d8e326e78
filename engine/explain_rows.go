package engine

import (
	"context"
	"math"

	"github.com/stencildb/stencildb/engine/backends"
	"github.com/stencildb/stencildb/engine/catalog"
	"github.com/stencildb/stencildb/engine/querystats"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/stats"
	"github.com/stencildb/stencildb/table"
)

// estimates are for the tables of the statement as they are when they are asked for; these are kept until done is called. A
// subplan that has run is a table, too.
func (s *Statement) estimates() (of *stats.Estimates, done func()) {
	var unpins []func()
	tables := map[*catalog.Entry]*table.Table{}
	now := func(e *catalog.Entry) *table.Table {
		if e == nil || e.Table.Load() == nil {
			return nil
		}
		if tables[e] == nil {
			t, unpin := s.db.pin(e)
			tables[e], unpins = t, append(unpins, unpin)
		}
		return tables[e]
	}
	known := map[*plan.Scan]*catalog.Entry{}
	if s.fragment != nil {
		for i, scan := range plan.Scans(s.fragment.Tree) {
			known[scan] = s.scans[i].Entry
		}
	}
	return &stats.Estimates{Table: func(scan *plan.Scan) *table.Table {
			if e := known[scan]; e != nil || scan.Of != nil {
				return now(e)
			}
			return now(s.db.entry(scan.Table))
		}}, func() {
			for _, f := range unpins {
				f()
			}
		}
}

// estimated reports a node of which EXPLAIN says how many rows are expected: one that leaves some out, joins or groups.
func estimated(n plan.Node) bool {
	switch n := n.(type) {
	case *plan.Filter, *plan.Join, *plan.GroupingSets, *plan.Distinct:
		return true
	case *plan.Aggregate:
		return len(n.Keys) > 0
	}
	return false
}

// through notes how many rows a stream gives, if it ends by itself.
func through(r *querystats.RowCounts, n plan.Node, in stream) stream {
	if r == nil {
		return in
	}
	return func(yield func(batch, error) bool) {
		rows := 0
		for b, err := range in {
			if b != nil {
				rows += b.Len()
			}
			if !yield(b, err) || err != nil {
				return
			}
		}
		r.Set(n, rows)
	}
}

// withSeen tells the nodes of an explained tree how many rows those of one of the same shape gave that was executed.
func (x *Explanation) withSeen(explained, executed plan.Node, seen *querystats.RowCounts) {
	var nodes []*PlanNode
	plan.Walk(explained, func(n plan.Node, _ int) { nodes = append(nodes, x.nodes[n]) })
	i := 0
	plan.Walk(executed, func(n plan.Node, _ int) {
		if g, ok := seen.Measurement(n); ok && i < len(nodes) && nodes[i] != nil && nodes[i].MS == nil {
			nodes[i].Gave, nodes[i].Bytes, nodes[i].MS = &g.Rows, &g.Bytes, new(1e3*g.Elapsed.Seconds())
		}
		if rows, ok := seen.Of(n); ok && i < len(nodes) && nodes[i] != nil && nodes[i].Rows == nil {
			nodes[i].Rows = &rows
		}
		i++
	})
}

// countSelected counts the rows that the fragment's condition leaves of its table, for ANALYZE.
func (s *planned) countSelected(ctx context.Context, b backends.Backend, seen *querystats.RowCounts) error {
	f := s.fragment
	if f.Where == nil || s.pruning != nil || s.star != nil {
		return nil
	}
	q, err := physical.NewQuery(s.plan.Table, &plan.Fragment{Table: s.plan.Table.Name, Where: f.Where, Aggs: []expr.Aggregate{{Kind: expr.CountAll, Col: -1}}})
	if err != nil {
		return err
	}
	if s.away == nil {
		b = s.db.backends.CPU
	}
	values, err := b.Execute(ctx, q, &querystats.Collector{})
	if err == nil {
		n := f.Tree
		if a, ok := n.(*plan.Aggregate); ok {
			n = a.Input
		}
		seen.Set(n, int(values[0].I))
	}
	return err
}

// rowsText says how many rows a node gave and how many were expected; "" for neither.
func (n *PlanNode) rowsText() string {
	switch {
	case n.Expected == nil:
		return ""
	case n.Rows == nil:
		return " (" + numbers.Count(int64(*n.Expected), "row", "rows") + " expected)"
	}
	return " (" + numbers.Count(int64(*n.Rows), "row", "rows") + ", " + numbers.Grouped(int64(*n.Expected)) + " expected)"
}

// QError is by what factor an estimate missed the rows that came.
//
// For bench, trace and tests.
type QError struct {
	Of             string // the node, or the join in the order in which it ran
	Rows, Expected int
}

// Factor is at least 1: how many times too many or too few rows were expected, 0 rows being as good as 1.
func (q QError) Factor() float64 {
	e, r := math.Max(1, float64(q.Expected)), math.Max(1, float64(q.Rows))
	return math.Max(e/r, r/e)
}

// QErrors are those of all nodes whose rows were estimated and counted, in an explanation of [ExplainOptions.Analyze]. These are
// filters, joins, groups and HAVING, in subqueries, too. A group of inner joins is a node; the joins in it count as they ran.
func (x *Explanation) QErrors() (list []QError) {
	seen := map[*PlanNode]bool{}
	var add func(n *PlanNode)
	add = func(n *PlanNode) {
		if seen[n] {
			return
		}
		seen[n] = true
		if n.Rows != nil && n.Expected != nil {
			list = append(list, QError{n.Node, *n.Rows, *n.Expected})
		}
		if n.Executor != nil {
			for _, s := range n.Steps {
				if s.Expected > 0 {
					list = append(list, QError{s.Pass, s.Rows, s.Expected})
				}
			}
		}
		for _, in := range n.Inputs {
			add(in)
		}
	}
	for _, n := range append([]*PlanNode{x.Plan}, x.Subqueries...) {
		add(n)
	}
	return list
}
