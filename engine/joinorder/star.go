package joinorder

import (
	"context"
	"slices"
	"sync"

	"github.com/stencildb/stencildb/cpu"
	"github.com/stencildb/stencildb/cpu/join"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
)

// Star is an aggregation over a star of joins, such that a device does it in one sweep over the largest table, the
// fact table. The other tables form arms. The tables of an arm are joined to one another, and one of them to a
// column of the fact table. A value of that column is in one row of the arm at most. The arm of a semi or an anti
// join is a set of keys.
//
// The columns of an arm that keys, conditions and CASE read tell its rows apart. Their combinations are numbered, and a group of the device
// has one number of each arm. Conditions that read several arms, or an arm and the fact table, are tested for a group.
type Star struct {
	*joiner
	Fact       *table.Table
	Where      expr.Expr // over its columns
	Aggregate  *plan.Aggregate
	Dimensions []*physical.Dimension // one an arm

	fact    int         // the scan
	keys    []expr.Expr // of the statement
	columns []int
	arms    []*starArm
	cross   []expr.Expr // conditions on a group
	sums    []*starSum  // by aggregate of the statement, what it is made of
	// distinct says that no two groups of the device are of the same group of the statement.
	distinct bool

	mu       sync.Mutex
	ready    bool
	declined error
}

// starArm is the tables that are joined to a column of the fact table.
type starArm struct {
	kind         plan.JoinKind // Inner, Semi or Anti
	scans        []int         // of inner joins, that with the key first
	parents      map[int]int   // of each of the others, the scan that it is joined to
	probe, build *expr.Column  // the fact table's, and its own
	filters      map[int]expr.Expr
	conditions   []expr.Expr
	attached     []attached  // to its scans
	of           attached    // Semi, Anti: in the place of scans
	built        *armBuild   // by the device; nil where the host makes the arrays
	reads        []int       // that its rows are told apart by
	needs        []expr.Expr // what is computed of these

	*join.Relation
	rows   []uint32               // by number a row that has it; nil where numbers are rows
	values map[int]*table.Segment // what is read, by number; nil where numbers are rows
}

// attached is a semi or an anti join.
type attached struct {
	kind  plan.JoinKind
	right plan.Node
	scan  int // the first one of it
	on    []expr.Expr
}

// maxPlaces is how many values a column may range over by which a table is joined.
const maxPlaces = 1 << 27

// NewStar looks for a star in the input of an aggregation over a join of tables. It is nil where there is
// none. That is so with an outer join, a join by an expression or by several keys, or an aggregate over
// columns of several tables. It looks at no row: see [Star.Prepare].
func NewStar(b *cpu.Backend, n *plan.Join, a *plan.Aggregate, of Spec) *Star {
	j := newJoiner(context.Background(), b, n, of) // the context is Prepare's
	parts := &starParts{joiner: j, filters: map[int]expr.Expr{}}
	if !parts.collect(j.root) || len(j.Scans) < 2 || len(parts.scans) == 0 {
		return nil
	}
	s := &Star{joiner: j, fact: parts.scans[0], Aggregate: &plan.Aggregate{}}
	for _, i := range parts.scans {
		if j.Scans[i].Rows() > j.Scans[s.fact].Rows() {
			s.fact = i
		}
	}
	for i := range j.Scans {
		j.Needed[i] = true
	}
	j.reads(j.root)
	s.Fact, s.Where = j.Scans[s.fact].Table, parts.filters[s.fact]
	if !s.findArms(parts) {
		return nil
	}
	a = a.Moved(func(c int) int { return j.Places[c] })
	s.keys = a.Keys
	for _, k := range a.Keys {
		s.tellApart(k)
	}
	for _, e := range s.cross {
		s.tellApart(e)
	}
	for _, g := range a.Aggs {
		sum := s.sumOf(g, g.Argument())
		if sum == nil {
			return nil
		}
		s.sums = append(s.sums, sum)
	}
	for _, t := range s.arms {
		s.Dimensions = append(s.Dimensions, &physical.Dimension{Name: s.nameOf(t), On: s.onOf(t), Col: s.local(t.probe.Index), Size: 1})
	}
	s.findBuilds()
	return s
}

// starParts is what a tree of inner, semi and anti joins is made of.
type starParts struct {
	*joiner
	scans      []int // of the inner joins
	filters    map[int]expr.Expr
	conditions []expr.Expr
	attached   []attached
}

// collect reports whether a tree has such joins alone.
func (p *starParts) collect(n plan.Node) bool {
	switch n := n.(type) {
	case *plan.Scan:
		p.scans = append(p.scans, p.next)
		p.next++
		return true
	case *plan.Filter:
		if _, ok := n.Input.(*plan.Scan); ok {
			p.filters[p.next] = n.Where
			return p.collect(n.Input)
		}
		if !p.collect(n.Input) {
			return false
		}
		p.conditions = append(p.conditions, plan.Conjuncts(n.Where)...)
		return true
	case *plan.Join:
		if !p.collect(n.Left) {
			return false
		}
		switch n.Kind {
		case plan.Inner:
			if !p.collect(n.Right) {
				return false
			}
			p.conditions = append(p.conditions, plan.Conjuncts(n.On)...)
			return true
		case plan.Semi, plan.Anti:
			p.attached = append(p.attached, attached{n.Kind, n.Right, p.next, plan.Conjuncts(n.On)})
			p.next += len(plan.Scans(n.Right))
			return true
		}
	}
	return false
}

// findArms puts the tables into arms, and the conditions to where they are tested. It reports whether each has its place.
func (s *Star) findArms(p *starParts) bool {
	place, used := map[int]*starArm{}, map[expr.Expr]bool{}
	// Columns that may be keys first: those of others, as the nation of a customer, say nothing of where a table belongs.
	for _, sure := range []bool{true, false} {
		for more := true; more; {
			more = false
			for _, e := range p.conditions {
				if scan, probe, build := s.columnsOf(e); scan >= 0 && place[scan] == nil && (!sure || s.mayBeKey(build)) {
					place[scan] = &starArm{scans: []int{scan}, parents: map[int]int{}, probe: probe, build: build, filters: p.filters}
					s.arms, used[e], more = append(s.arms, place[scan]), true, true
				}
			}
			for _, e := range p.conditions {
				l, r, ok := plan.EquiJoinKey(e)
				if !ok {
					continue
				}
				for _, to := range [][2]expr.Expr{{l, r}, {r, l}} {
					of, scans := s.ScansOf(to[0]), s.ScansOf(to[1])
					if len(of) != 1 || len(scans) != 1 || place[of[0]] == nil || place[scans[0]] != nil || scans[0] == s.fact || sure && !s.mayBeKey(to[1]) {
						continue
					}
					t := place[of[0]]
					place[scans[0]], t.parents[scans[0]] = t, of[0]
					t.scans, more = append(t.scans, scans[0]), true
				}
			}
		}
	}
	if len(place) != len(p.scans)-1 {
		return false
	}
	for _, e := range p.conditions {
		if used[e] {
			continue
		}
		if t, own := s.armOf(e, place); t != nil {
			t.conditions = append(t.conditions, e)
		} else if own {
			s.Where = plan.Conjunction(append(plan.Conjuncts(s.Where), expr.Moved(e, s.local)))
		} else {
			s.cross = append(s.cross, e)
		}
	}
	for _, a := range p.attached {
		if !s.attach(a, place) {
			return false
		}
	}
	return true
}

// armOf is the arm whose tables alone an expression reads, beside those that have no place; nil where there is none. own says
// that it reads the fact table alone.
func (s *Star) armOf(e expr.Expr, place map[int]*starArm) (t *starArm, own bool) {
	var list []*starArm
	for _, scan := range s.ScansOf(e) {
		if at := place[scan]; (at != nil || scan == s.fact) && !slices.Contains(list, at) {
			list = append(list, at)
		}
	}
	if len(list) != 1 {
		return nil, false
	}
	return list[0], list[0] == nil
}

// attach gives a semi or an anti join to the arm whose rows it takes, or makes an arm of it.
func (s *Star) attach(a attached, place map[int]*starArm) bool {
	t, own := s.armOf(plan.Conjunction(a.on), place)
	switch {
	case t != nil:
		t.attached = append(t.attached, a)
		return true
	case !own || len(a.on) != 1:
		return false
	}
	scan, probe, build := s.columnsOf(a.on[0])
	if scan < 0 {
		return false
	}
	s.arms = append(s.arms, &starArm{kind: a.kind, probe: probe, build: build, of: a})
	return true
}

// mayBeKey reports that a column has as many codes as its table has rows, or more.
func (s *Star) mayBeKey(e expr.Expr) bool {
	c, ok := e.(*expr.Column)
	if !ok || c.T.Kind == table.Varchar {
		return false
	}
	of := s.Column(c.Index)
	return of != nil && of.Max+1 >= uint64(s.Scans[s.ScanOf(c.Index)].Rows())
}

// columnsOf is the table that a condition joins to the fact table, and the columns of both; negative where it
// does not.
func (s *Star) columnsOf(e expr.Expr) (scan int, probe, build *expr.Column) {
	l, r, ok := plan.EquiJoinKey(e)
	if !ok {
		return -1, nil, nil
	}
	probe, _ = l.(*expr.Column)
	build, _ = r.(*expr.Column)
	if probe == nil || build == nil || join.NewKey(probe, build, e).How != join.ByOrdinal {
		return -1, nil, nil
	}
	if s.ScanOf(probe.Index) != s.fact {
		probe, build = build, probe
	}
	if scan = s.ScanOf(build.Index); s.ScanOf(probe.Index) != s.fact || scan == s.fact {
		return -1, nil, nil
	}
	return scan, probe, build
}

// local is the place of a column in the fact table.
func (s *Star) local(c int) int { return c - s.Scans[s.fact].First }

// inFact reports a column of the fact table.
func (s *Star) inFact(c int) bool { return s.ScanOf(c) == s.fact }

// armWith is the arm that has a column.
func (s *Star) armWith(c int) *starArm {
	scan := s.ScanOf(c)
	return s.arms[slices.IndexFunc(s.arms, func(t *starArm) bool { return slices.Contains(t.scans, scan) })]
}

// tellApart has the groups tell apart what an expression reads. What it computes of one arm alone tells its rows apart.
func (s *Star) tellApart(e expr.Expr) {
	columns := expr.Columns(e)
	for _, c := range columns {
		if !slices.Contains(s.columns, c) {
			s.columns = append(s.columns, c)
		}
	}
	if len(columns) > 0 && !s.inFact(columns[0]) {
		t := s.armWith(columns[0])
		if !slices.ContainsFunc(columns, func(c int) bool { return s.inFact(c) || s.armWith(c) != t }) {
			t.needs = append(t.needs, e)
			for _, c := range columns {
				if !slices.Contains(t.reads, c) {
					t.reads = append(t.reads, c)
				}
			}
			return
		}
	}
	c, ok := e.(*expr.Column)
	if !ok {
		for _, k := range expr.Kids(e) {
			s.tellApart(k)
		}
		return
	}
	for _, t := range s.arms { // the key of an arm is told apart by its rows
		if t.kind == plan.Inner && t.probe.Index == c.Index {
			if !slices.Contains(t.reads, t.build.Index) {
				t.reads, t.needs = append(t.reads, t.build.Index), append(t.needs, t.build)
			}
			return
		}
	}
	key := &expr.Column{Index: s.local(c.Index), Name: s.Fields[c.Index].Name, T: s.Fields[c.Index].Type, P: c.P}
	if !slices.ContainsFunc(s.Aggregate.Keys, func(k expr.Expr) bool { return k.(*expr.Column).Index == key.Index }) {
		s.Aggregate.Keys = append(s.Aggregate.Keys, key)
	}
}

// Prepare makes the arrays of the arms that no device builds, once. It is a [plan.Declined] where two rows of one have the
// same key.
func (s *Star) Prepare(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ready || s.declined != nil {
		return s.declined
	}
	s.Ctx = ctx
	for i, t := range s.arms {
		if t.built != nil {
			continue
		}
		if err := s.join(t, s.Dimensions[i]); err != nil {
			if plan.IsDeclined(err) { // which is all that is to be known of it
				s.declined = err
				for k, t := range s.arms {
					t.Relation, s.Dimensions[k].Bits, s.Dimensions[k].Digits = nil, nil, nil
				}
			}
			return err
		}
	}
	s.ready, s.distinct = true, s.tellsGroups()
	return nil
}

// Decline notes why a device that built the arms found that these joins are no star.
func (s *Star) Decline(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.declined = err
}

// Kept reports that there is something of the star to keep for later statements. That is arrays that the host has made, or that it is
// no star.
func (s *Star) Kept() bool {
	return s.Declined() || slices.ContainsFunc(s.arms, func(t *starArm) bool { return t.built == nil })
}

// Declined reports that [Star.Prepare] or a device has found out that these joins are no star.
func (s *Star) Declined() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.declined != nil
}

// Arrays are what [Star.Prepare] has made for devices.
func (s *Star) Arrays() (list []*table.Segment) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.Dimensions {
		for _, c := range []*table.Chunk{d.Bits, d.Digits} {
			if c != nil {
				list = append(list, c.Segments...)
			}
		}
	}
	return list
}
