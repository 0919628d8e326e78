package joinorder

import (
	"slices"

	"github.com/stencildb/stencildb/cpu/join"
	"github.com/stencildb/stencildb/cpu/radixsort"
	"github.com/stencildb/stencildb/cpu/vector"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
)

// starSum is an aggregate of the statement. It is one of the star's device, or a value that all rows of a group have.
// CASE may choose one of these for the group.
type starSum struct {
	agg    int         // of the device; negative for none
	value  expr.Expr   // that all rows of a group have
	when   []expr.Expr // conditions of CASE
	then   []*starSum  // for these, and where none is TRUE
	counts bool        // it is how many values there are that matters
}

// sumOf makes an aggregate of what x, its argument, computes of the fact table; nil where that cannot be done.
func (s *Star) sumOf(g expr.Aggregate, x expr.Expr) *starSum {
	if !slices.ContainsFunc(g.Reads(), func(c int) bool { return !s.inFact(c) }) {
		for _, c := range g.Reads() { // of the smallest and largest values the kinds are taken from a row
			if !slices.Contains(s.columns, c) {
				s.columns = append(s.columns, c)
			}
		}
		return s.ofFact(g)
	}
	if g.Kind != expr.Sum && g.Kind != expr.Avg && g.Kind != expr.Count || g.Distinct || g.Filter != nil || g.Kind != expr.Count && !g.Arg.IsExact() {
		return nil
	}
	return s.branch(g, x)
}

// ofFact is an aggregate of the fact table.
func (s *Star) ofFact(g expr.Aggregate) *starSum {
	g = g.Moved(s.local)
	s.Aggregate.Aggs = append(s.Aggregate.Aggs, g)
	return &starSum{agg: len(s.Aggregate.Aggs) - 1}
}

// branch is the sum of x as an aggregate's, or how many values it has.
func (s *Star) branch(g expr.Aggregate, x expr.Expr) *starSum {
	columns, counts := expr.Columns(x), g.Kind == expr.Count
	if !counts && (!x.Type().IsExact() || x.Type().Scale != g.Arg.Scale) {
		return nil
	}
	call, ok := x.(*expr.Call)
	switch {
	case !slices.ContainsFunc(columns, s.inFact):
		s.tellApart(x)
		return &starSum{agg: -1, value: x, counts: counts}
	case !slices.ContainsFunc(columns, func(c int) bool { return !s.inFact(c) }):
		g = g.Map(func(expr.Expr) expr.Expr { return x })
		g.Arg = x.Type()
		return s.ofFact(g)
	case !ok || call.Fn != expr.Case:
		return nil
	}
	out := &starSum{agg: -1}
	for i := 0; i < len(call.Args); i += 2 {
		if i+1 < len(call.Args) {
			s.tellApart(call.Args[i])
			out.when = append(out.when, call.Args[i])
		}
		then := s.branch(g, call.Args[min(i+1, len(call.Args)-1)])
		if then == nil {
			return nil
		}
		out.then = append(out.then, then)
	}
	return out
}

// Groups makes the statement's groups of those that a device found in the fact table. The table has the joined first
// rows of these groups, a chunk for the groups of each chunk. They are numbered from 0 on.
func (s *Star) Groups(list []physical.GroupStates) (*table.Table, []physical.GroupStates, error) {
	t := &table.Table{Name: s.Fact.Name, Fields: s.Result}
	out := make([]physical.GroupStates, 0, len(list))
	for i := range list {
		c, err := s.firstRows(&list[i])
		if err != nil {
			return nil, nil, err
		}
		g, err := s.statesOf(c, &list[i])
		if err != nil {
			return nil, nil, err
		}
		g.Chunk = len(out)
		result := &table.Chunk{Rows: c.Rows}
		for _, col := range s.Places {
			result.Segments = append(result.Segments, c.Segments[col])
		}
		out, t.Chunks = append(out, g), append(t.Chunks, result)
	}
	return t, out, nil
}

// firstRows is the joined rows of the first rows of groups.
func (s *Star) firstRows(g *physical.GroupStates) (c *table.Chunk, err error) {
	c = &table.Chunk{Rows: len(g.Rows), Segments: make([]*table.Segment, len(s.Fields))}
	for _, col := range s.columns {
		if s.inFact(col) {
			c.Segments[col] = join.Picked(s.Fact.Chunks[g.Chunk].Segments[s.local(col)], g.Rows)
			continue
		}
		t := s.armWith(col)
		numbers := g.Numbers[slices.Index(s.arms, t)]
		if t.built != nil {
			if numbers == nil { // all rows have the one slot that there is
				numbers = make([]uint32, len(g.Rows))
			}
			if c.Segments[col], err = s.columnOfSlots(t, col, numbers); err != nil {
				return nil, err
			}
			continue
		}
		if values := t.values[col]; values != nil {
			c.Segments[col] = join.Picked(values, numbers)
		} else {
			c.Segments[col] = s.segmentOf(t, col, numbers)
		}
	}
	return c, nil
}

// statesOf is the states of the statement's aggregates, of the groups for which all conditions are TRUE.
func (s *Star) statesOf(c *table.Chunk, from *physical.GroupStates) (out physical.GroupStates, err error) {
	out.Rows, out.Omitted, out.Distinct = radixsort.UpTo[uint32](len(from.Rows)), from.Omitted, from.Distinct && s.distinct
	for _, e := range s.cross {
		x, err := s.vector(e, c, out.Rows)
		if err != nil {
			return out, err
		}
		var left []uint32
		for i, row := range out.Rows {
			if !x.IsNull(i) && x.Ints[i] != 0 {
				left = append(left, row)
			}
		}
		out.Rows = left
	}
	if out.N = from.N; len(s.cross) > 0 {
		out.N = make([]uint64, len(out.Rows))
		for i, row := range out.Rows {
			out.N[i] = from.N[row]
		}
	}
	out.Aggs = make([]physical.GroupState, len(s.sums))
	for k, sum := range s.sums {
		to := &out.Aggs[k]
		n := len(out.Rows)
		to.N, to.High, to.Low = make([]uint64, n), make([]int64, n), make([]int64, n)
		if err := s.fill(to, sum, c, out.Rows, radixsort.UpTo[uint32](n), from); err != nil {
			return out, err
		}
	}
	return out, nil
}

// vector is an expression's values in rows of a chunk; a [plan.Declined] where one has an error.
func (s *Star) vector(e expr.Expr, c *table.Chunk, rows []uint32) (expr.Vector, error) {
	x, err := new(vector.Evaluator).Vector(e, c, table.Block{Rows: rows})
	if err != nil {
		return x, &plan.Declined{Why: err.Error()}
	}
	return x, nil
}

// fill writes the states of an aggregate: of row rows[i] to place at[i].
func (s *Star) fill(to *physical.GroupState, sum *starSum, c *table.Chunk, rows, at []uint32, from *physical.GroupStates) error {
	switch {
	case sum.agg >= 0:
		of := &from.Aggs[sum.agg]
		if of.Extremes != nil && to.Extremes == nil {
			to.Extremes = make([]uint32, len(to.N))
		}
		for i, row := range rows {
			to.N[at[i]], to.High[at[i]], to.Low[at[i]] = of.N[row], of.High[row], of.Low[row]
			if of.Extremes != nil {
				to.Extremes[at[i]] = of.Extremes[row]
			}
		}
		return nil
	case sum.value != nil:
		x, err := s.vector(sum.value, c, rows)
		if err != nil {
			return err
		}
		if x.Highs != nil {
			return &plan.Declined{Why: "sums of values of joined tables take 64 bits"}
		}
		for i, row := range rows {
			if x.IsNull(i) {
				continue
			}
			if to.N[at[i]] = from.N[row]; !sum.counts {
				to.Add(int(at[i]), from.N[row], x.Ints[i])
			}
		}
		return nil
	}
	for k, then := range sum.then {
		these, places := rows, at
		if k < len(sum.when) {
			x, err := s.vector(sum.when[k], c, rows)
			if err != nil {
				return err
			}
			these, places = nil, nil
			var others, otherPlaces []uint32
			for i, row := range rows {
				if !x.IsNull(i) && x.Ints[i] != 0 {
					these, places = append(these, row), append(places, at[i])
				} else {
					others, otherPlaces = append(others, row), append(otherPlaces, at[i])
				}
			}
			rows, at = others, otherPlaces
		}
		if err := s.fill(to, then, c, these, places, from); err != nil {
			return err
		}
	}
	return nil
}

// tellsGroups reports that groups of the device always differ in a key of the statement. The keys are fact columns, and columns of
// arms in which each number has different values.
func (s *Star) tellsGroups() bool {
	plain := map[int]bool{}
	for _, k := range s.keys {
		if c, ok := k.(*expr.Column); ok {
			plain[c.Index] = true
		}
	}
	if len(s.cross) > 0 || slices.ContainsFunc(s.Aggregate.Keys, func(k expr.Expr) bool { return !plain[k.(*expr.Column).Index+s.Scans[s.fact].First] }) {
		return false
	}
	return !slices.ContainsFunc(s.arms, func(t *starArm) bool {
		var keys []int
		for _, c := range t.reads {
			if plain[c] || c == t.build.Index && plain[t.probe.Index] {
				keys = append(keys, c)
			}
		}
		return len(t.reads) > 0 && !s.differ(t, keys)
	})
}

// differ reports that each number of an arm has another combination of values of some columns.
func (s *Star) differ(t *starArm, columns []int) bool {
	switch {
	case t.built == nil:
	case t.built.byRow < 0:
		return len(columns) == len(t.reads)
	case t.built.byRow == t.scans[0]:
		return slices.Contains(columns, t.build.Index) // no two rows have the same key
	default:
		return slices.Contains(columns, t.built.links[t.built.byRow].build.Index)
	}
	n := t.Relation.Rows
	if t.rows != nil {
		n = len(t.rows)
	}
	size, numbers := 1, make([]uint32, n)
	for _, c := range columns {
		seg := t.values[c]
		if seg == nil {
			seg = s.segmentOf(t, c, nil)
		}
		if size < n && seg.Max < maxPlaces {
			size, _ = renumber(numbers, size, seg)
		}
	}
	return size >= n
}

// Bound is the bound of the device's groups that one of the statement's is; nil where there is none.
func (s *Star) Bound(b *plan.GroupBound) *plan.GroupBound {
	if b == nil || b.Key != nil || !s.distinct || s.sums[b.Agg].agg < 0 {
		return nil
	}
	own := *b
	own.Agg = s.sums[b.Agg].agg
	return &own
}
