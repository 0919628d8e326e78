package joinorder

import (
	"errors"
	"slices"
	"time"

	"github.com/stencildb/stencildb/cpu/join"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
)

// declined reports that an error leaves a join to cpu, and tells who asks why.
func (j *joiner) declined(n *plan.Join, err error) bool {
	if !plan.IsDeclined(err) {
		return false
	}
	if j.of.Declined != nil {
		j.of.Declined(n, err.Error())
	}
	return true
}

// innerPairs joins inputs whose pairs a device finds, two at a time. It begins with the two inputs after which the fewest rows are
// expected. Then it takes each time the input after which the fewest are. The pairs of one join are the rows of the next. What the device
// declines is cpu's, from there on, unless the device is to go on with the rows.
func (j *joiner) innerPairs(n *plan.Join, inputs []*join.Relation, conditions []expr.Expr) (*join.Relation, error) {
	all, wanted, steps := inputs, conditions, len(j.Steps)
	again := !slices.ContainsFunc(inputs, func(r *join.Relation) bool { return r.Held != nil })
	j.joinNext(inputs...)
	first, second, least, keyed := 0, 0, 0., false
	for i, r := range inputs {
		others := slices.Clone(inputs)
		others[i] = nil
		if at, rows, has := j.nextOf(r.Scans, float64(r.Rows), others, conditions); i == 0 || has && !keyed || has == keyed && rows < least {
			first, second, least, keyed = i, at, rows, has
		}
	}
	have, next := inputs[first], inputs[second]
	inputs = slices.DeleteFunc(slices.Clone(inputs), func(r *join.Relation) bool { return r == have || r == next })
	for {
		j.Depth += min(1, len(inputs)) // what is joined later reads more than the result does
		rel, rest, err := j.pairsOf(n, [2]*join.Relation{have, next}, conditions, least)
		if declines := j.declined(n, err); declines && len(inputs) > 0 && j.resumes(have, next) {
			var both []expr.Expr
			both, rest = j.conditionsOf(conditions, slices.Concat(have.Scans, next.Scans))
			rel, err = j.inner([]*join.Relation{have, next}, both)
		} else if declines {
			j.Depth -= min(1, len(inputs))
			rel, err = j.inner(append([]*join.Relation{have, next}, inputs...), conditions)
			inputs = nil
		}
		j.Depth -= min(1, len(inputs))
		if again && errors.As(err, new(*join.TooLarge)) { // host memory has no room for what is between the joins: cpu needs none
			j.Steps = j.Steps[:steps]
			return j.inner(all, wanted)
		}
		if err != nil || len(inputs) == 0 {
			return rel, err
		}
		have, conditions = rel, rest
		j.joinNext(have)
		at, rows, _ := j.nextOf(have.Scans, float64(have.Rows), inputs, conditions)
		next, least = inputs[at], rows
		inputs = slices.Delete(inputs, at, at+1)
	}
}

// resumes reports that the device goes on with the rows of a join of two relations that is cpu's.
func (j *joiner) resumes(left, right *join.Relation) bool {
	return j.of.Resumes != nil && j.of.Resumes(slices.Sorted(slices.Values(slices.Concat(left.Scans, right.Scans))))
}

// conditionsOf are the conditions that read some scans alone, and the others.
func (j *joiner) conditionsOf(list []expr.Expr, scans []int) (within, others []expr.Expr) {
	for _, e := range list {
		if join.AllIn(j.ScansOf(e), scans) {
			within = append(within, e)
		} else {
			others = append(others, e)
		}
	}
	return within, others
}

// pairSide is a side of a join of relations: the rows of one of its tables have the keys.
type pairSide struct {
	*join.Relation
	scan int // that its keys read, -1 as long as there is none
}

// takes reports that a key may be one of a side, whose keys are of one table.
func (s *pairSide) takes(scans []int) bool {
	return len(scans) == 1 && (s.scan < 0 || s.scan == scans[0])
}

// list is the rows that the relation has of one of its scans; none where a query selects them.
func (s *pairSide) list(j *joiner, scan int) physical.RowIDs {
	at, out := slices.Index(s.Scans, scan), physical.RowIDs{MayBeNull: s.Nullable[scan]}
	switch {
	case s.Where != nil:
	case s.Held != nil:
		out.Held = s.Held[at]
	case s.IDs[at] == nil && s.Rows < j.Scans[scan].AllRows(): // the first rows, or none
		out.Rows = make([]uint32, s.Rows)
		for i := range out.Rows {
			out.Rows[i] = uint32(i)
		}
	default:
		out.Rows = s.IDs[at]
	}
	return out
}

// taken are the rows of a scan of the side at places that the device found, NoRow for NoRow.
func (s *pairSide) taken(i int, places []uint32) []uint32 {
	if s.Where != nil { // they are of the table
		return places
	}
	of, out := join.Listed(s.IDs[i]), make([]uint32, len(places))
	table.InParts(len(places), func(lo, hi int) {
		copy(out[lo:hi], of.At(places[lo:hi]).List)
	})
	return out
}

// relationPairs is a join of two relations by the pairs that a device finds of them.
type relationPairs struct {
	*physical.JoinQuery
	sides          [2]*pairSide
	on, also, rest []expr.Expr // keys, what has to hold besides, and what reads more than both sides
}

// pairQuery is a join of two relations by the pairs that a device finds of them, a [plan.Declined] where it does not.
func (j *joiner) pairQuery(n *plan.Join, of [2]*join.Relation, conditions []expr.Expr) (p *relationPairs, err error) {
	sides := [2]*pairSide{{Relation: of[0], scan: -1}, {Relation: of[1], scan: -1}}
	p = &relationPairs{JoinQuery: &physical.JoinQuery{Cmp: expr.EQ, Algorithm: j.Way}, sides: sides}
	if n.Kind.LeftOnly() && j.Way == "loops" {
		return nil, declined("nested loops find all pairs, a %v join asks for one of a row: SET join = auto", n.Kind)
	}
	if p.Algorithm == "auto" {
		p.Algorithm = "perfect" // or hash, by what the keys are like
	}
	why, both := declined("%s has no key", of[1].Name), slices.Concat(of[0].Scans, of[1].Scans)
	for _, e := range conditions {
		key, scans, not := j.keyOf(e, sides)
		switch {
		case not == nil:
			sides[0].scan, sides[1].scan = scans[0], scans[1]
			p.on, p.Keys = append(p.on, e), append(p.Keys, key)
		case !join.AllIn(j.ScansOf(e), both):
			p.rest = append(p.rest, e)
		default:
			p.also, why = append(p.also, e), not
		}
	}
	if len(p.on) == 0 {
		return nil, why
	}
	for i, s := range sides {
		var kids []expr.Expr
		if s.Where != nil {
			kids = append(kids, s.Where)
		}
		for _, key := range p.Keys {
			c, column := key[i].(*expr.Column)
			if !column && s.Nullable[s.scan] {
				return nil, declined("%s may be a value where %s has no row", key[i], j.Scans[s.scan].As)
			}
			if column && p.Algorithm == "index" && j.HasIndex(j.Scans[s.scan], c.Index) {
				return nil, declined("%s has an index on %s", j.Scans[s.scan].As, c.Name)
			}
			kids = append(kids, &expr.IsNull{X: key[i], Not: true, P: -1})
		}
		t := j.Scans[s.scan].Table
		if p.Sides[i], err = physical.NewQuery(t, &plan.Fragment{Table: t.Name, Where: plan.Conjunction(kids)}); err != nil {
			return nil, err
		}
	}
	for n, at := range p.DropWideKeys() {
		p.also = append(p.also, p.on[at-n])
		p.on = slices.Delete(p.on, at-n, at-n+1)
	}
	p.also = j.spare(p.also)
	p.Scans = slices.Sorted(slices.Values(both))
	return p, nil
}

// pairsOf joins two relations by the pairs that a device finds of them, a [plan.Declined] where it does not. Of an inner join it takes the
// conditions that these two suffice for, and gives the rest.
func (j *joiner) pairsOf(n *plan.Join, of [2]*join.Relation, conditions []expr.Expr, expected float64) (rel *join.Relation, rest []expr.Expr, err error) {
	q, err := j.pairQuery(n, of, conditions)
	if err != nil {
		return nil, nil, err
	}
	if q.Exists = n.Kind.LeftOnly(); n.Kind != plan.Inner && len(q.also) > 0 {
		return nil, nil, declined("%s has to hold besides: compute takes that of rows that stay on one device", q.also[0])
	}
	if j.of.Hold != nil && n.Kind == plan.Inner {
		q.KeepOnDevice = &[2][]physical.RowIDs{}
	}
	rel, err = j.foundPairs(n, q, expected)
	if q.KeepOnDevice != nil && plan.IsDeclined(err) { // there may be room by way of host memory
		if err := j.fetch(of[:]...); err != nil {
			return nil, nil, err
		}
		q.KeepOnDevice = nil
		rel, err = j.foundPairs(n, q, expected)
	}
	return rel, q.rest, err
}

// keyOf is a condition as a key of two sides, and the tables that it reads; a [plan.Declined] where it is none.
func (j *joiner) keyOf(e expr.Expr, sides [2]*pairSide) (k physical.JoinKey, scans [2]int, err error) {
	if c, ok := e.(*expr.Compare); ok && c.Op == expr.EQ {
		if l, r, ok := j.sides(c.L, c.R, sides[0].Scans, sides[1].Scans); ok {
			if a, b := j.ScansOf(l), j.ScansOf(r); sides[0].takes(a) && sides[1].takes(b) {
				scans = [2]int{a[0], b[0]}
				k, err = j.pairKey(e, scans)
				return k, scans, err
			}
		}
	}
	return k, scans, declined("%s is no = of a table of one side and a table of the other whose columns other keys read", e)
}

// foundPairs makes the device find the pairs of two sides, and makes the joined rows of them. Rows of inner joins stay on the device if
// something keeps them there.
func (j *joiner) foundPairs(n *plan.Join, q *relationPairs, expected float64) (*join.Relation, error) {
	sides := q.sides
	rel := &join.Relation{Scans: slices.Concat(sides[0].Scans, sides[1].Scans), Name: sides[0].Name + ", " + sides[1].Name, Nullable: map[int]bool{}}
	if q.Exists {
		rel.Scans, rel.Name = sides[0].Scans, sides[0].Name
	}
	kept := [2]bool{n.Kind.KeepsLeft(), n.Kind.KeepsRight()}
	for i, s := range sides {
		q.RowIDs[i] = s.list(j, s.scan)
		for _, scan := range s.Scans {
			rel.Nullable[scan] = s.Nullable[scan] || kept[1-i]
		}
	}
	final := j.Depth == 0 && len(q.also) == 0
	rowBytes := max(j.RowBytes(rel.Scans), 4*len(rel.Scans)) // of an intermediate result the numbers of rows are there
	most := min(uint64(join.NoRow-1), uint64(j.Room())/uint64(rowBytes))
	wanted := !final || len(j.Columns) > 0 || n.Kind != plan.Inner && n.Kind != plan.Semi
	reads := func(scan int) bool {
		switch {
		case j.Needed[scan] || final:
			return j.Needed[scan]
		case n != j.root: // what stands above may read it
			return j.Read[scan]
		}
		return slices.ContainsFunc(slices.Concat(q.also, q.rest), func(e expr.Expr) bool { return slices.Contains(j.ScansOf(e), scan) })
	}
	if q.Limit = most; q.KeepOnDevice != nil && (!final || j.of.Stays != nil) {
		q.Limit = join.NoRow - 1
	}
	if !wanted {
		q.Limit, q.KeepOnDevice = 0, nil
	}
	if q.KeepOnDevice != nil {
		*q.KeepOnDevice = [2][]physical.RowIDs{}
		for i, s := range sides {
			for _, scan := range s.Scans {
				if reads(scan) {
					q.KeepOnDevice[i] = append(q.KeepOnDevice[i], s.list(j, scan))
				}
			}
		}
		if len(q.KeepOnDevice[0])+len(q.KeepOnDevice[1]) == 0 { // how many there are is all that is asked
			q.Limit, q.KeepOnDevice, wanted = 0, nil, false
		}
	}
	start := time.Now()
	found, how, err := j.of.Pairs(j.Ctx, q.JoinQuery)
	switch {
	case err != nil:
		return nil, err
	case wanted && found.N > q.Limit:
		q.KeepOnDevice = nil
		return nil, declined("it has %d rows, of which fewer may be wanted", found.N)
	case wanted && found.N > 0 && found.Rows[0] == nil && found.Held[0] == nil && found.Held[1] == nil:
		return nil, declined("the device has no room for %d pairs", found.N)
	}
	if rel.Rows = int(found.N); n.Kind != plan.Inner {
		how = n.Kind.String() + " join " + how
	}
	switch {
	case q.KeepOnDevice != nil:
		for i, s := range sides {
			for _, scan := range s.Scans {
				if reads(scan) {
					rel.Held, found.Held[i] = append(rel.Held, found.Held[i][0]), found.Held[i][1:]
				} else {
					rel.Held = append(rel.Held, nil)
				}
			}
		}
	case wanted:
		rel.IDs = make([][]uint32, len(rel.Scans))
		if err := j.Ctx.Err(); err != nil {
			return nil, err
		}
		places := j.placesOf(n.Kind, sides, found.Rows)
		rel.Rows = len(places[0])
		if uint64(rel.Rows) > most {
			return nil, declined("it has %d rows", rel.Rows)
		}
		at := 0
		for i, s := range sides {
			for k, scan := range s.Scans {
				if at < len(rel.Scans) && reads(scan) {
					rel.IDs[at] = s.taken(k, places[i])
				}
				at++
			}
		}
	default:
		rel.IDs = make([][]uint32, len(rel.Scans))
	}
	if s := sides[0]; len(s.Scans) == 1 {
		j.Steps = append(j.Steps, join.Step{Table: s.Name, Out: s.Rows})
	}
	j.Steps = append(j.Steps, join.Step{Table: sides[1].Name, On: conjunction(q.on), Way: how, In: sides[1].Rows, Out: rel.Rows,
		Expected: int(min(expected+0.5, 1<<62)), Elapsed: time.Since(start)})
	if len(q.also) > 0 {
		return j.filtered(rel, q.also)
	}
	return rel, nil
}

// placesOf are the places in both relations of the rows of a join, NoRow for none, of the pairs that a device found.
func (j *joiner) placesOf(kind plan.JoinKind, sides [2]*pairSide, found [2][]uint32) (places [2][]uint32) {
	places = found
	alone := func(i int) (list []uint32) { // the places of a side that are in no pair
		in := table.NewBitmap(sides[i].Rows)
		for _, p := range places[i] {
			in.Set(int(p))
		}
		for p := range sides[i].Rows {
			if in.Get(p) == (kind == plan.Semi) {
				list = append(list, uint32(p))
			}
		}
		return list
	}
	if kind.LeftOnly() {
		return [2][]uint32{alone(0), nil}
	}
	left, right := []uint32(nil), []uint32(nil)
	if kind.KeepsLeft() {
		left = alone(0)
	}
	if kind.KeepsRight() {
		right = alone(1)
	}
	nobody := slices.Repeat([]uint32{join.NoRow}, max(len(left), len(right)))
	return [2][]uint32{slices.Concat(places[0], left, nobody[:len(right)]), slices.Concat(places[1], nobody[:len(left)], right)}
}
