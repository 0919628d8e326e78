package compute

import (
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/primitives"
)

// ManyGroups is [Groups] where keys with more combinations of codes than [plan.MostSlots] are sorted.
func ManyGroups(run pass.Runner, d Device, q *plan.Query) ([]plan.GroupStates, error) {
	d.SortGroups = plan.MostSlots + 1
	return Groups(run, d, q)
}

// sortsGroups reports whether the keys of a chunk have so many combinations of codes that a sort finds the groups.
func (d Device) sortsGroups(q *plan.Query) bool {
	if d.SortGroups == 0 || len(q.Star) > 0 { // the keys of joined tables are in no planes
		return false
	}
	for i := range q.Table.Chunks {
		keys, err := q.GroupKeys(i)
		slots := 1
		for _, k := range keys {
			slots *= k.Size
		}
		if err != nil || slots >= d.SortGroups {
			return true
		}
	}
	return false
}

// sortedGroups is Groups by a sort: the keys of each window's selected records are sorted, a record whose key
// differs from the one before it begins a group, and a prefix sum of these numbers the groups. Each record gets
// the number of its group, which is its slot.
func sortedGroups(run pass.Runner, d Device, q *plan.Query) ([]plan.GroupStates, error) {
	for i := range q.Table.Chunks {
		if _, err := q.GroupParts(i); err != nil {
			return nil, err
		}
	}
	if err := checks(run, d, q); err != nil {
		return nil, err
	}
	c, trees, err := selections(run, d, q, q.Chunks)
	if err != nil {
		return nil, err
	}
	for i, x := range c.chunks {
		if trees[i] == nil {
			continue
		}
		x.tree = trees[i]
		g := &grouping{cols: q.GroupColumns(), found: &marks{}}
		for j, w := range x.pieces {
			s := &sorting{chunk: x, run: run, Window: w.Window, bitmap: x.tree.leaf.marks.blocks[j]}
			numbers, n, err := s.groups(g.cols, q.Chunks[i].Pred.Op == plan.True)
			if err != nil {
				return nil, err
			}
			g.found.blocks = append(g.found.blocks, numbers.Block)
			g.size = max(g.size, n)
		}
		if err := x.aggregate(g); err != nil {
			return nil, err
		}
	}
	c.passes, c.waits, c.first = nil, nil, nil // those of the selections have run
	c.flush()
	x, err := c.execute(run)
	if err != nil {
		return nil, err
	}
	return x.groups(), nil
}

// checks runs the checks of a query alone.
func checks(run pass.Runner, d Device, q *plan.Query) error {
	for _, c := range q.Chunks {
		if len(c.Checks) == 0 {
			continue
		}
		alone := *q
		alone.Groups = nil
		c, err := compile(d, &alone)
		if err != nil {
			return err
		}
		return (&execution{compiled: c, run: run, histograms: map[int]*histogram{}}).Check()
	}
	return nil
}

// groups numbers the groups of the marked records by the codes of columns, from 1 on. numbers has that of each
// marked record, by its row in the window; n is how many groups there are.
func (s *sorting) groups(cols []int, all bool) (numbers primitives.Vector, n int, err error) {
	d := s.device.Primitives
	numbers = primitives.New((s.Window.Rows + 3) / 4 * 4)
	if err := s.count(all); err != nil {
		return numbers, 0, err
	}
	s.n = max(1, s.n) // EXPLAIN reads zeros; where nothing is marked, nobody asks for the number of what is sorted
	for _, col := range cols {
		if err := s.key(col, false, false); err != nil {
			return numbers, 0, err
		}
	}
	order, ids, err := s.sorted(all, s.n)
	if err != nil {
		return numbers, 0, err
	}
	at := primitives.New(s.n)
	if err := s.heads(order, at); err != nil {
		return numbers, 0, err
	}
	if err := primitives.Scan(s.run, d, primitives.Add, primitives.ScanShape{Inclusive: true}, at, at); err != nil {
		return numbers, 0, err
	}
	if err := primitives.Scatter(s.run, d, at, ids, numbers); err != nil {
		return numbers, 0, err
	}
	last := primitives.New(1)
	if err := primitives.Gather(s.run, d, at, primitives.FromSlice([]uint32{uint32(s.n - 1)}), last); err != nil {
		return numbers, 0, err
	}
	found, err := last.Read(s.run)
	return numbers, max(1, int(found[0])), err
}

// heads sets to 1 those of the sorted records that begin a group, the others to 0.
func (s *sorting) heads(order, heads primitives.Vector) error {
	d := s.device.Primitives
	if err := primitives.Map(s.run, d, primitives.Expr("uint(i == 0u)"), heads); err != nil {
		return err
	}
	for _, w := range s.words {
		sorted := primitives.New(s.n)
		if err := primitives.Gather(s.run, d, w.Words, order, sorted); err != nil {
			return err
		}
		differs := primitives.Expr("y | uint(x != " + primitives.Previous + ")")
		if err := primitives.Map(s.run, d, differs, heads, sorted, heads); err != nil {
			return err
		}
	}
	return nil
}
