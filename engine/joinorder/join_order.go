package joinorder

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/stencildb/stencildb/cpu"
	"github.com/stencildb/stencildb/cpu/join"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/lower"
	"github.com/stencildb/stencildb/plan/stats"
	"github.com/stencildb/stencildb/table"
)

// Spec says what is joined, and how.
type Spec struct {
	join.Spec
	Above     []expr.Expr        // conditions over the join's fields that are looked at above it: rows for which one is not TRUE may be left out
	RowCounts func(at, rows int) // told how many rows nodes gave, by their places as [plan.Walk] comes by; nil for nobody
	Pairs     FindPairs          // of joins of two tables; nil: all is cpu's
	Hold      Holder             // of what Pairs leaves on the device; nil: its pairs come to host memory
	// Stays says whether the result is to be a table like this one, whose columns are on devices, too: see [Away]. It has one chunk for
	// each device that has rows. Nil: never.
	Stays func(*table.Table) bool

	// Resumes says of a join that Pairs has left to cpu, by its scans in ascending order, whether a device joins its rows with others.
	// Nil: never.
	Resumes func(scans []int) bool

	Declined func(n *plan.Join, why string) // told which of the joins that Pairs is asked for are left to cpu; nil for nobody
}

// Join joins tables. The result is a table of one chunk or more, with segments for the columns that are
// wanted: their codes were gathered from the tables. Its rows come in the order of the rows of the
// largest input. Where AtMost are wanted, the search ends when it has found these: the result has them, and perhaps some more.
//
// Of a group of inner joins the largest input is read in blocks, on all cores. Each block finds its partners in
// one input after the other, beginning where the fewest rows are expected to be left. Counting gives the
// selectivities ("Fast Computation of Database Operations using Graphics Processors", section 5.11). Of the
// other inputs an index is made first.
//
// Where the columns of the result are on a device alone, away has its rows; else it is nil.
func Join(ctx context.Context, b *cpu.Backend, n *plan.Join, of Spec) (t *table.Table, steps []join.Step, away *Away, err error) {
	j := newJoiner(ctx, b, n, of)
	for _, c := range of.Columns {
		j.Needed[j.ScanOf(j.Places[c])] = true
		j.Column(j.Places[c])
	}
	for _, e := range of.Above {
		j.keyBelow(j.root, expr.Moved(e, func(c int) int { return j.Places[c] }))
	}
	for _, n := range j.nodes {
		if f, ok := n.(*plan.Filter); ok {
			if below, ok := f.Input.(*plan.Join); ok {
				for _, e := range plan.Conjuncts(f.Where) {
					j.keyBelow(below, e)
				}
			}
		}
	}
	j.reads(j.root)
	rel, err := j.relation(j.root)
	if err != nil {
		return nil, nil, nil, err
	}
	start, where := time.Now(), ""
	if of.Stays != nil && rel.Held != nil && rel.Rows > 0 {
		if t, err = j.stays(rel); err == nil {
			away, where = &Away{j, rel}, " on compute"
		} else if !plan.IsDeclined(err) {
			return nil, nil, nil, err
		}
	}
	if away == nil {
		t, err = j.gather(rel)
	}
	if err == nil {
		j.Steps = append(j.Steps, join.Step{Table: fmt.Sprintf("Gather(%d columns)%s", len(of.Columns), where), Out: rel.Rows, Elapsed: time.Since(start)})
	}
	return t, j.Steps, away, err
}

func newJoiner(ctx context.Context, b *cpu.Backend, n *plan.Join, of Spec) *joiner {
	j := &joiner{of: of, raising: map[expr.Expr]bool{}, inputs: map[int]*join.Relation{}, above: map[expr.Expr]bool{}}
	j.Host, j.root = join.NewHost(ctx, b, n, of.Spec)
	plan.Walk(j.root, func(n plan.Node, _ int) { j.nodes = append(j.nodes, n) })
	return j
}

// keyBelow adds a condition above an inner join to the conditions of the join, if it may be a key. Rules did not move it there,
// because a row of some table might have raised an error. If it is no key it is left out: see spare.
func (j *joiner) keyBelow(n *plan.Join, e expr.Expr) {
	if _, _, raises, ok := plan.Equality(e); ok && raises && n.Kind == plan.Inner && len(j.ScansOf(e)) > 1 {
		n.On, j.above[e] = plan.Conjunction(append(plan.Conjuncts(n.On), e)), true
	}
}

// spare is a list of conditions without those that are looked at above their join.
func (j *joiner) spare(list []expr.Expr) []expr.Expr {
	return slices.DeleteFunc(list, func(e expr.Expr) bool { return j.above[e] })
}

// joiner is a join that runs: it chooses the order of inner joins, and who joins.
type joiner struct {
	join.Host
	of    Spec
	root  *plan.Join
	next  int         // scan, from left to right
	nodes []plan.Node // of the root, as they are walked

	raising map[expr.Expr]bool     // whether a row raises an error in an equality
	inputs  map[int]*join.Relation // by scan, those that are joined next
	above   map[expr.Expr]bool     // conditions that are looked at above the join, too
}

// relation computes a node.
func (j *joiner) relation(n plan.Node) (*join.Relation, error) {
	rel, err := j.relationOf(n)
	if err == nil && j.of.RowCounts != nil && !j.Enough {
		j.of.RowCounts(slices.Index(j.nodes, n), rel.Rows)
	}
	return rel, err
}

func (j *joiner) relationOf(n plan.Node) (*join.Relation, error) {
	var where expr.Expr
	if f, ok := n.(*plan.Filter); ok {
		n, where = f.Input, f.Where
	}
	switch n := n.(type) {
	case *plan.Scan:
		j.next++
		return j.Selected(j.next-1, where)
	case *plan.Join:
		rel, err := j.joined(n)
		if err == nil && where != nil {
			rel, err = j.filtered(rel, plan.Conjuncts(where))
		}
		return rel, err
	}
	return nil, fmt.Errorf("cpu: there is no join of %s", n)
}

// reads notes what the conditions of the joins below a node read, and makes these columns ready.
func (j *joiner) reads(n plan.Node) {
	var e expr.Expr
	switch n := n.(type) {
	case *plan.Join:
		e = n.On
		j.reads(n.Left)
		j.reads(n.Right)
	case *plan.Filter:
		if _, alone := n.Input.(*plan.Scan); alone {
			return
		}
		e = n.Where
		j.reads(n.Input)
	}
	for _, c := range expr.Columns(e) {
		j.Read[j.ScanOf(c)] = true
		j.Column(c)
	}
}

// joinNext notes that relations are joined now.
func (j *joiner) joinNext(inputs ...*join.Relation) {
	for _, r := range inputs {
		for _, s := range r.Scans {
			j.inputs[s] = r
		}
	}
}

// raises reports that a row that is joined may raise an error in a side of an equality. Partners are then looked for pair by pair,
// so that the error is raised only where a pair is undecided without it.
func (j *joiner) raises(e expr.Expr, sides ...expr.Expr) bool {
	raises, known := j.raising[e]
	if !known {
		raises = slices.ContainsFunc(sides, func(x expr.Expr) bool { return j.mayRaise(x) && j.raised(x) })
		j.raising[e] = raises
	}
	return raises
}

// mayRaise reports that a row may raise an error in an expression, by the values that its columns have in their tables.
func (j *joiner) mayRaise(e expr.Expr) bool {
	c := &table.Chunk{Rows: 1, Segments: make([]*table.Segment, len(j.Fields))}
	for _, col := range expr.Columns(e) {
		of := j.Column(col)
		if of == nil {
			return true
		}
		c.Segments[col] = &table.Segment{Type: of.Type, Base: of.Base, Max: of.Max, Bits: of.Bits, Dict: of.Dict, Codes: table.Codes{U8: make([]uint8, 1)}} // one that is not NULL
	}
	return lower.MayRaise(e, &table.Table{Name: "join", Fields: j.Fields}, c)
}

// raised reports that one of the rows that are joined raises an error in an expression, or that several relations have what it reads.
func (j *joiner) raised(e expr.Expr) bool {
	var of *join.Relation
	for _, s := range j.ScansOf(e) {
		if of != nil && j.inputs[s] != of {
			return true
		}
		of = j.inputs[s]
	}
	if of == nil || j.fetch(of) != nil {
		return true
	}
	return j.InBlocks(of, e, func(int, *expr.Vector) {}) != nil
}

// joined computes a join: a group of inner joins together.
func (j *joiner) joined(n *plan.Join) (*join.Relation, error) {
	held := j.of.Pairs != nil && j.of.Hold != nil && (n.Kind.LeftOnly() || n.Kind == plan.LeftOuter)
	if !held {
		if rel, err := j.pairs(n); rel != nil || err != nil {
			return rel, err
		}
	}
	j.Depth++
	if n.Kind == plan.Inner {
		var inputs []*join.Relation
		var conditions []expr.Expr
		later := j.of.Hold != nil && j.inputsOf(n) > 2
		if err := j.group(n, later, &inputs, &conditions); err != nil {
			return nil, err
		}
		j.Depth--
		if j.of.Pairs != nil && (len(inputs) > 2 || len(inputs[0].Scans) > 1 || len(inputs[1].Scans) > 1) { // else pairs has looked at it
			return j.innerPairs(n, inputs, conditions)
		}
		return j.inner(inputs, conditions)
	}
	first := j.next
	probe, err := j.heldInput(n.Left, held)
	if err != nil {
		return nil, err
	}
	build, err := j.heldInput(n.Right, held)
	if err != nil {
		return nil, err
	}
	j.Depth--
	if held {
		if rel, err := j.heldJoin(n, probe, build); !plan.IsDeclined(err) {
			return rel, err
		}
		if len(probe.Scans)+len(build.Scans) == 2 {
			next := j.next
			j.next = first
			if rel, err := j.pairs(n); rel != nil || err != nil {
				return rel, err
			}
			j.next = next
		}
	}
	if err := j.fetch(probe, build); err != nil {
		return nil, err
	}
	if j.of.Pairs != nil && len(probe.Scans)+len(build.Scans) > 2 {
		if rel, _, err := j.pairsOf(n, [2]*join.Relation{probe, build}, plan.Conjuncts(n.On), 0); !j.declined(n, err) {
			return rel, err
		}
	}
	keepProbe, keepBuild := n.Kind.KeepsLeft(), n.Kind.KeepsRight()
	if !n.Kind.LeftOnly() && (!keepProbe || keepBuild && build.Rows > probe.Rows) { // the smaller one has the index, unless one side stands alone
		probe, build, keepProbe, keepBuild = build, probe, keepBuild, keepProbe
	}
	j.joinNext(probe, build)
	s, _ := j.step(probe.Scans, build, plan.Conjuncts(n.On))
	s.Kind, s.KeepProbe, s.KeepBuild = n.Kind, keepProbe, keepBuild
	return j.pipeline(probe, []*join.Stage{s}, nil)
}

// inputsOf is how many inputs the inner joins have that stand above one another.
func (j *joiner) inputsOf(n plan.Node) int {
	if inner, ok := n.(*plan.Join); ok && inner.Kind == plan.Inner {
		return j.inputsOf(inner.Left) + j.inputsOf(inner.Right)
	}
	return 1
}

// group collects the inputs of inner joins that stand above one another, and their conditions. Where later is set, the selected rows of
// tables are only counted, by the device, if it can do that.
func (j *joiner) group(n plan.Node, later bool, inputs *[]*join.Relation, conditions *[]expr.Expr) error {
	if inner, ok := n.(*plan.Join); ok && inner.Kind == plan.Inner {
		if err := j.group(inner.Left, later, inputs, conditions); err != nil {
			return err
		}
		if err := j.group(inner.Right, later, inputs, conditions); err != nil {
			return err
		}
		*conditions = append(*conditions, plan.Conjuncts(inner.On)...)
		return nil
	}
	rel, err := j.input(n, later)
	*inputs = append(*inputs, rel)
	return err
}

// input is an input of a join. Where later is set, the selected rows of a table are only counted, by the device, if it can do that.
func (j *joiner) input(n plan.Node, later bool) (*join.Relation, error) {
	if _, where, ok := selectedScan(n); ok && where != nil && later {
		if rel, err := j.counted(n, where); rel != nil || err != nil {
			return rel, err
		}
	}
	return j.relation(n)
}

// inner joins inputs: the largest is read, and each time that input is next after which the
// fewest rows are expected.
func (j *joiner) inner(inputs []*join.Relation, conditions []expr.Expr) (*join.Relation, error) {
	if err := j.fetch(inputs...); err != nil {
		return nil, err
	}
	at := 0
	for i, r := range inputs {
		if r.Rows > inputs[at].Rows {
			at = i
		}
	}
	j.joinNext(inputs...)
	at = j.leads(inputs, at, conditions)
	probe := inputs[at]
	inputs = slices.Delete(slices.Clone(inputs), at, at+1)
	have, rows := slices.Clone(probe.Scans), float64(probe.Rows)
	var steps []*join.Stage
	for len(inputs) > 0 {
		best, least, _ := j.nextOf(have, rows, inputs, conditions)
		s, rest := j.step(have, inputs[best], conditions)
		conditions, rows, s.Expected = rest, least, max(1, least)
		have = append(have, inputs[best].Scans...)
		steps, inputs = append(steps, s), slices.Delete(inputs, best, best+1)
	}
	return j.pipeline(probe, steps, j.spare(conditions))
}

// nextOf is the place of the input after which the fewest rows are expected, and how many these are. An input with a key comes
// first, and keyed says so. Inputs that are nil are skipped.
func (j *joiner) nextOf(have []int, rows float64, inputs []*join.Relation, conditions []expr.Expr) (best int, least float64, keyed bool) {
	least = math.Inf(1)
	for i, r := range inputs {
		if r == nil {
			continue
		}
		var left, right []stats.KeySide
		for _, e := range conditions {
			if probe, build, ok := j.key(e, have, r.Scans); ok {
				left, right = append(left, j.keySide(probe)), append(right, j.keySide(build))
			}
		}
		has, expected := len(left) > 0, rows*float64(r.Rows)
		if has {
			expected /= max(1, stats.DistinctKeys(left, right))
		}
		if has && !keyed || has == keyed && expected < least {
			best, least, keyed = i, expected, has
		}
	}
	return best, least, keyed
}

// keySide is what an expression that is a key of a join may be, by the tables that it reads.
func (j *joiner) keySide(e expr.Expr) stats.KeySide {
	scans, out := j.ScansOf(e), stats.KeySide{Values: 1, Rows: 1}
	for _, s := range scans {
		out.Rows *= float64(j.Scans[s].Rows())
	}
	for _, c := range expr.Columns(e) {
		s := j.Scans[j.ScanOf(c)]
		out.Values *= stats.DistinctValues(s.Table, c-s.First)
	}
	out.Values = min(out.Values, out.Rows)
	if len(scans) == 1 {
		out.Table = scans[0]
	}
	return out
}

// key is the two sides of a condition that is the key of a join. probe reads the rows of have, and build
// those of the other relation.
func (j *joiner) key(e expr.Expr, have, other []int) (probe, build expr.Expr, ok bool) {
	l, r, raises, ok := plan.Equality(e)
	if !ok {
		return nil, nil, false
	}
	if probe, build, ok = j.sides(l, r, have, other); !ok || raises && j.raises(e, l, r) {
		return nil, nil, false
	}
	return probe, build, true
}

// sides are two expressions as what they read: the rows that there are, and those of another relation.
func (j *joiner) sides(l, r expr.Expr, have, other []int) (probe, build expr.Expr, ok bool) {
	of, to := j.ScansOf(l), j.ScansOf(r)
	switch {
	case len(of) == 0 || len(to) == 0:
	case join.AllIn(of, have) && join.AllIn(to, other):
		return l, r, true
	case join.AllIn(to, have) && join.AllIn(of, other):
		return r, l, true
	}
	return nil, nil, false
}

// step is the join with a relation of rows that have some scans, and the conditions that it leaves.
func (j *joiner) step(have []int, build *join.Relation, conditions []expr.Expr) (s *join.Stage, rest []expr.Expr) {
	s = &join.Stage{Build: build}
	all := slices.Concat(have, build.Scans)
	for _, e := range conditions {
		switch probe, of, ok := j.key(e, have, build.Scans); {
		case ok && j.Way != "loops":
			s.Keys = append(s.Keys, join.NewKey(probe, of, e))
		case join.AllIn(j.ScansOf(e), all):
			s.Also = append(s.Also, e)
		default:
			rest = append(rest, e)
		}
	}
	s.Also = j.spare(s.Also)
	return s, rest
}

// leads is the place of the input to begin with. It is the largest other input, if the input at the given
// place has an index that finds its partners, and this pays. Otherwise it is the given place.
func (j *joiner) leads(inputs []*join.Relation, at int, conditions []expr.Expr) int {
	other := -1
	for i, r := range inputs {
		if i != at && (other < 0 || r.Rows > inputs[other].Rows) {
			other = i
		}
	}
	if other < 0 {
		return at
	}
	var have []int
	for i, r := range inputs {
		if i != at {
			have = append(have, r.Scans...)
		}
	}
	s, _ := j.step(have, inputs[at], conditions)
	if j.ByIndex(s, inputs[other].Rows) {
		return other
	}
	return at
}

// gather gathers the columns of the result in host memory.
func (j *joiner) gather(rel *join.Relation) (*table.Table, error) {
	if bytes := j.RowBytes(rel.Scans); rel.Held != nil && float64(rel.Rows)*float64(bytes) > float64(j.Room()) {
		return nil, j.TooLarge(float64(rel.Rows), bytes, true)
	}
	if err := j.fetch(rel); err != nil {
		return nil, err
	}
	return j.Gather(rel)
}

// pipeline is the rows of a relation that go through steps and then satisfy conditions, on the host.
func (j *joiner) pipeline(probe *join.Relation, steps []*join.Stage, conditions []expr.Expr) (*join.Relation, error) {
	if err := j.fetch(probe); err != nil {
		return nil, err
	}
	return j.Pipeline(probe, steps, conditions)
}
