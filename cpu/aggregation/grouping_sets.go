package aggregation

import (
	"context"
	"iter"
	"slices"

	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
)

// GroupSets is [Group] by each of several sets of keys. It reads the rows once for each set whose keys are not all in another
// set. The groups by fewer keys are made of the states of the groups by more. Where states is not nil it has what devices found of the
// groups of the [plan.GroupingSets.Finest] set, in the order of their chunks.
func GroupSets(ctx context.Context, t *table.Table, n *plan.GroupingSets, in func() iter.Seq2[table.Block, error], states []physical.GroupStates) ([]iter.Seq2[GroupRows, error], error) {
	found, err := groupSets(ctx, t, n, in, states)
	return xslices.Map(found, func(f groupsFound) iter.Seq2[GroupRows, error] { return f.rows(ctx, nil) }), err
}

// groupSets finds the groups of each set, those with the most keys first.
func groupSets(ctx context.Context, t *table.Table, n *plan.GroupingSets, in func() iter.Seq2[table.Block, error], states []physical.GroupStates) ([]groupsFound, error) {
	found := make([]groupsFound, len(n.Sets))
	order := make([]int, len(n.Sets))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return len(n.Sets[b]) - len(n.Sets[a]) })
	for k, i := range order {
		g, from := newGrouping(t, n.Set(i)), -1
		for _, j := range order[:k] {
			if plan.Contains(n.Sets[j], n.Sets[i]) && (from < 0 || found[j].groups() < found[from].groups()) {
				from = j
			}
		}
		var err error
		switch {
		case from >= 0:
			found[i], err = g.rolledUp(found[from])
		case states != nil:
			w := g.worker()
			found[i], err = groupsFound{w}, w.takeAllStates(states)
		default:
			found[i], err = g.find(ctx, in())
		}
		if err != nil {
			return nil, err
		}
	}
	for _, f := range found {
		if err := f.arrange(); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// groups is how many there are.
func (f groupsFound) groups() int { return xslices.Sum(f, func(w *worker) int { return len(w.first) }) }

// rolledUp is the groups by keys that are some of those of others: what is found of these is merged.
func (g *grouping) rolledUp(of groupsFound) (groupsFound, error) {
	w := g.worker()
	for _, o := range of {
		to, err := w.groupsAt(o.first)
		if err != nil {
			return nil, err
		}
		w.takeAll(o, to)
	}
	return groupsFound{w}, nil
}

// groupsAt are the groups of the rows at some places.
func (w *worker) groupsAt(places []uint64) ([]uint32, error) {
	to := make([]uint32, len(places))
	if len(w.keys.list) == 0 {
		return to, nil
	}
	rows := make([][]uint32, len(w.table.Chunks)) // by chunk
	for _, at := range places {
		rows[at>>32] = append(rows[at>>32], uint32(at))
	}
	words := make([][]uint64, len(rows))
	for chunk, list := range rows {
		if len(list) == 0 {
			continue
		}
		found, err := w.words(w.table.Chunks[chunk], table.Block{Chunk: chunk, Rows: list})
		if err != nil {
			return nil, err
		}
		words[chunk] = slices.Clone(found) // the worker has room for those of one chunk
	}
	for i, at := range places {
		chunk := at >> 32
		to[i] = w.same(words[chunk][0], at)
		words[chunk] = words[chunk][1:]
	}
	return to, nil
}
