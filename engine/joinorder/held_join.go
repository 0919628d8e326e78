package joinorder

import (
	"cmp"
	"slices"
	"time"

	"github.com/stencildb/stencildb/cpu/join"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
)

// mostPairs is how many pairs a device finds for each row of both sides of a join with a residual condition. With more, cpu joins: it looks for the first
// partner of a row alone.
const mostPairs = 16

// heldInput is an input of a [joiner.heldJoin], where held is set. The selected rows of a table are those of the query for pairs. They are counted before where
// somebody wants to know how many they are.
func (j *joiner) heldInput(n plan.Node, held bool) (*join.Relation, error) {
	s, where, ok := selectedScan(n)
	if !held || !ok || where == nil || j.of.RowCounts != nil || j.Scans[j.next].AllRows() >= join.NoRow {
		return j.input(n, held)
	}
	j.next++
	return &join.Relation{Rows: j.Scans[j.next-1].AllRows(), Scans: []int{j.next - 1}, Name: join.SelectedName(cmp.Or(s.As, s.Table), where), Where: where}, nil
}

// heldJoin is a semi, an anti or a left join whose rows stay on the device. It is a [plan.Declined] where they do not. The device finds pairs by
// the keys, keeps those for which the other conditions hold, and makes the rows of them.
func (j *joiner) heldJoin(n *plan.Join, probe, build *join.Relation) (rel *join.Relation, err error) {
	start := time.Now()
	if !j.of.Hold.OnOneDevice() {
		return nil, declined("several devices have the rows")
	}
	q, err := j.pairQuery(n, [2]*join.Relation{probe, build}, plan.Conjuncts(n.On))
	if err != nil {
		return nil, err
	}
	reads := func(scan int) bool { return j.Needed[scan] || n != j.root && j.Read[scan] }
	rel = &join.Relation{Scans: probe.Scans, Name: probe.Name, Nullable: map[int]bool{}}
	if n.Kind == plan.LeftOuter {
		rel.Scans, rel.Name = slices.Concat(probe.Scans, build.Scans), probe.Name+", "+build.Name
	}
	for _, scan := range rel.Scans {
		rel.Nullable[scan] = probe.Nullable[scan] || build.Nullable[scan] || slices.Contains(build.Scans, scan)
	}
	rows := probe.Rows      // of the left side, by their places
	var list *physical.Held // of those that its condition selects
	if probe.Where != nil {
		if rows = j.Scans[probe.Scans[0]].AllRows(); n.Kind != plan.Semi { // rows that are not selected have no pair, either
			selected, err := physical.NewQuery(j.Scans[probe.Scans[0]].Table, &plan.Fragment{Table: probe.Name, Where: probe.Where})
			if err != nil {
				return nil, err
			}
			if list, err = j.of.Hold.Select(j.Ctx, selected); err != nil {
				return nil, err
			}
			probe = &join.Relation{Rows: list.N, Scans: probe.Scans, Name: probe.Name, Held: []*physical.Held{list}}
			q.sides[0].Relation, rows = probe, list.N
		}
	}
	p := &heldPairs{joiner: j, q: q, kind: n.Kind, rel: rel}
	for _, scan := range probe.Scans {
		if reads(scan) {
			p.left = append(p.left, q.sides[0].list(j, scan))
		}
	}
	held, found, err := p.rows(rows, reads)
	if err != nil {
		j.of.Hold.Release(list)
		return nil, err
	}
	for _, of := range []*join.Relation{probe, build} {
		j.of.Hold.Release(of.Held...)
	}
	if len(held) == 0 {
		rel.IDs = make([][]uint32, len(rel.Scans))
	}
	for _, scan := range rel.Scans {
		var list *physical.Held
		if reads(scan) {
			list, held = held[0], held[1:]
		}
		if rel.IDs == nil {
			rel.Held = append(rel.Held, list)
		}
	}
	if len(probe.Scans) == 1 {
		j.Steps = append(j.Steps, join.Step{Table: probe.Name, Out: found.Selected[0]})
	}
	j.Steps = append(j.Steps, join.Step{Table: build.Name, On: conjunction(slices.Concat(q.on, q.also)), Way: n.Kind.String() + " join " + p.how, In: found.Selected[1],
		Out: rel.Rows, Elapsed: time.Since(start)})
	return rel, nil
}

// heldPairs is the pairs of a [joiner.heldJoin].
type heldPairs struct {
	*joiner
	q    *relationPairs
	kind plan.JoinKind
	rel  *join.Relation    // that is made
	left []physical.RowIDs // lists of the left side that are wanted of it
	how  string
}

// rows are the lists of the rows of the join. The left side has n rows.
func (p *heldPairs) rows(n int, reads func(scan int) bool) (held []*physical.Held, found physical.JoinPairs, err error) {
	p.q.Exists, p.q.Borrows = p.kind.LeftOnly() && len(p.q.also) == 0, true
	for i, s := range p.q.sides {
		p.q.RowIDs[i] = s.list(p.joiner, s.scan)
	}
	of := func(e []expr.Expr, scan int) bool {
		return slices.ContainsFunc(e, func(e expr.Expr) bool { return slices.Contains(p.ScansOf(e), scan) })
	}
	lists := [2][]physical.RowIDs{{{}}} // the places of the left side first
	pairs := &join.Relation{Name: p.rel.Name, Nullable: map[int]bool{}}
	var placed []bool // by scan of pairs, whether the places are its rows
	var wanted []int  // places among these of the right side's lists that the join has
	for i, s := range p.q.sides {
		for _, scan := range s.Scans {
			keeps := i == 1 && p.kind == plan.LeftOuter && reads(scan)
			if !keeps && !of(p.q.also, scan) {
				continue
			}
			pairs.Scans, pairs.Nullable[scan] = append(pairs.Scans, scan), s.Nullable[scan]
			if keeps {
				wanted = append(wanted, len(lists[1]))
			}
			list := s.list(p.joiner, scan)
			if placed = append(placed, i == 0 && list.IsNone()); !placed[len(placed)-1] {
				lists[i] = append(lists[i], list)
			}
		}
	}
	p.q.KeepOnDevice, p.q.Limit = &lists, join.NoRow-1
	if len(p.q.also) > 0 {
		p.q.Limit = min(p.q.Limit, mostPairs*uint64(p.q.Rows(0)+p.q.Rows(1)))
	}
	if found, p.how, err = p.of.Pairs(p.Ctx, p.q.JoinQuery); err != nil {
		return nil, found, err
	}
	if found.N > p.q.Limit || found.Held[0] == nil {
		return nil, found, declined("it has %d pairs", found.N)
	}
	places, left, right := found.Held[0][0], found.Held[0][1:], found.Held[1]
	pairs.Rows = int(found.N)
	if len(p.q.also) > 0 && found.N > 0 {
		for k, scan := range pairs.Scans {
			switch {
			case placed[k]:
				pairs.Held = append(pairs.Held, places)
			case slices.Contains(p.q.sides[1].Scans, scan):
				pairs.Held, right = append(pairs.Held, right[0]), right[1:]
			default:
				pairs.Held, left = append(pairs.Held, left[0]), left[1:]
			}
		}
		keep := []physical.RowIDs{{Held: places}}
		for _, at := range wanted {
			keep = append(keep, physical.RowIDs{Held: found.Held[1][at], MayBeNull: lists[1][at].MayBeNull})
		}
		some, n, err := p.where(pairs, p.q.also, keep)
		if err != nil {
			p.of.Hold.Release(slices.Concat(found.Held[0], found.Held[1])...)
			return nil, found, err
		}
		places, right, found.N = some[0], some[1:], uint64(n)
	} else {
		var some []*physical.Held
		for _, at := range wanted {
			some = append(some, found.Held[1][at])
		}
		right = some
	}
	both, all, err := p.of.Hold.Partnered(p.Ctx, p.kind, n, places, p.left, right)
	p.rel.Rows = all
	return slices.Concat(both[0], both[1]), found, err
}
