package join

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sync/atomic"
	"time"

	"github.com/stencildb/stencildb/cpu"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/lower"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/stats"
	"github.com/stencildb/stencildb/table"
)

// Algorithms are the algorithms of a join. Auto takes index where that pays, else perfect where the keys are dense, else hash.
var Algorithms = []string{"auto", "perfect", "hash", "merge", "loops", "index"}

// Spec says what is joined, and how.
type Spec struct {
	Tables    []*table.Table     // of the scans, from left to right
	Columns   []int              // of the join's fields, wanted of the result
	Way       string             // of [Algorithms]; perfect is hash where the keys are not dense, index on cpu is auto where there is none
	ChunkRows int                // of the result
	Memory    int64              // bytes that the result may take
	AtMost    int                // rows that are wanted of the result, any of them; 0 for all
	Above     []expr.Expr        // conditions over the join's fields that are looked at above it: rows for which one is not TRUE may be left out
	Gave      func(at, rows int) // told how many rows nodes gave, by their places as [plan.Walk] comes by; nil for nobody
	Pairs     FindPairs          // of joins of two tables; nil: all is cpu's
	Hold      Holder             // of what Pairs leaves on the device; nil: its pairs come to host memory
	// Stays says whether the result is to be a table like this one, of one chunk a device that has rows, whose columns are there, too: see
	// [Away]. Nil: never.
	Stays func(*table.Table) bool

	Declined func(n *plan.Join, why string) // told which of the joins that Pairs is asked for are left to cpu; nil for nobody
}

// Step is what one join did.
type Step struct {
	Table   string // what was joined, with its filter
	On      string // the keys, and what else has to hold
	Way     string // how the partners were found; "" for the first table, which the others are joined to
	In, Out int    // the rows of the table after its filter, and those of the result so far
	// Expected is the estimate of Out by which the order of inner joins was chosen; 0 where there was none.
	Expected int
	Elapsed  time.Duration
}

// Join joins tables. The result is a table of one chunk or more, with segments for the columns that are
// wanted: their codes were gathered from the tables. Its rows come in the order of the rows of the
// largest input. Where AtMost are wanted, the search ends when it has found these: the result has them, and perhaps some more.
//
// Of a group of inner joins the largest input is read in blocks, on all cores. Each block finds its
// partners in one input after the other, first where the fewest rows are expected to be left (the selectivities
// are known by counting: "Fast Computation of Database Operations using Graphics Processors", section
// 5.11). Of the other inputs an index is made first.
//
// Where the columns of the result are on a device alone, away has its rows; else it is nil.
func Join(ctx context.Context, b *cpu.Backend, n *plan.Join, of Spec) (t *table.Table, steps []Step, away *Away, err error) {
	j := newJoiner(ctx, b, n, of)
	for _, c := range of.Columns {
		j.needed[j.scanOf(j.places[c])] = true
		j.column(j.places[c])
	}
	for _, e := range of.Above {
		j.keyBelow(j.root, expr.Moved(e, func(c int) int { return j.places[c] }))
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
	if of.Stays != nil && rel.held != nil && rel.rows > 0 {
		if t, err = j.stays(rel); err == nil {
			away, where = &Away{j, rel}, " on compute"
		} else if !errors.As(err, new(*plan.Declined)) {
			return nil, nil, nil, err
		}
	}
	if away == nil {
		t, err = j.gather(rel)
	}
	if err == nil {
		j.steps = append(j.steps, Step{Table: fmt.Sprintf("Gather(%d columns)%s", len(of.Columns), where), Out: rel.rows, Elapsed: time.Since(start)})
	}
	return t, j.steps, away, err
}

func newJoiner(ctx context.Context, b *cpu.Backend, n *plan.Join, of Spec) *joiner {
	j := &joiner{Backend: b, ctx: ctx, Spec: of, result: n.Fields(), needed: map[int]bool{}, read: map[int]bool{}}
	j.root, j.places = n.OverScans()
	plan.Walk(j.root, func(n plan.Node, _ int) { j.nodes = append(j.nodes, n) })
	j.raising, j.inputs, j.above = map[expr.Expr]bool{}, map[int]*relation{}, map[expr.Expr]bool{}
	for i, s := range plan.Scans(n) {
		j.scans = append(j.scans, newScanned(of.Tables[i], s, len(j.fields)))
		j.fields = append(j.fields, s.Columns...)
	}
	return j
}

// keyBelow adds a condition that is looked at above an inner join to those of the join, where it may be a key of it that rules did not
// move there, as a row of some table might have raised an error in it. Where it is none it is left out: see spare.
func (j *joiner) keyBelow(n *plan.Join, e expr.Expr) {
	if _, _, raises, ok := plan.Equality(e); ok && raises && n.Kind == plan.Inner && len(j.scansOf(e)) > 1 {
		n.On, j.above[e] = plan.Conjunction(append(plan.Conjuncts(n.On), e)), true
	}
}

// spare is a list of conditions without those that are looked at above their join.
func (j *joiner) spare(list []expr.Expr) []expr.Expr {
	return slices.DeleteFunc(list, func(e expr.Expr) bool { return j.above[e] })
}

// joiner is a join that runs. Columns have the numbers that they have among those of all scans, side by side: see
// [plan.Join.OverScans].
type joiner struct {
	*cpu.Backend
	Spec
	ctx    context.Context
	root   *plan.Join
	fields []table.Field // of all scans
	result []table.Field
	places []int // of the result's fields
	scans  []*scanned
	needed map[int]bool // the scans of which the result has columns
	read   map[int]bool // those that the joins' conditions read
	next   int          // scan, from left to right
	depth  int          // of the joins above the one that runs
	steps  []Step
	nodes  []plan.Node // of the root, as they are walked
	enough bool        // the root has ended where there were as many rows as are wanted

	raising map[expr.Expr]bool // whether a row raises an error in an equality
	inputs  map[int]*relation  // by scan, those that are joined next
	above   map[expr.Expr]bool // conditions that are looked at above the join, too
}

// scanned is a table in a join.
type scanned struct {
	*table.Table
	name     string
	first, n int
	starts   []int // of the chunks, and the end
	columns  map[int]*joinColumn
}

func newScanned(t *table.Table, s *plan.Scan, first int) *scanned {
	out := &scanned{Table: t, name: cmp.Or(s.As, s.Table), first: first, n: len(s.Columns), starts: []int{0}, columns: map[int]*joinColumn{}}
	for _, c := range t.Chunks {
		out.starts = append(out.starts, out.starts[len(out.starts)-1]+c.Rows)
	}
	return out
}

// rows is how many the table has, deleted ones included.
func (s *scanned) rows() int { return s.starts[len(s.starts)-1] }

// scanOf is the scan that has a column.
func (j *joiner) scanOf(column int) int {
	return slices.IndexFunc(j.scans, func(s *scanned) bool { return column < s.first+s.n })
}

// noRow is in the place of a row's number where the row stands alone in an outer join.
const noRow = math.MaxUint32

// relation is rows of some of the scans side by side. Of a scan that it has, rows are the numbers of
// its rows; nil for all of them in their order.
type relation struct {
	rows  int
	scans []int
	ids   [][]uint32
	loose map[int]bool // the scans of which a row may be missing
	name  string

	// Where what the rows are is not in host memory yet, ids is empty: see fetch.
	where expr.Expr        // those of the one scan for which it is TRUE; else nil
	held  []*physical.Held // on a device, a scan each, nil for one that nobody needs; else nil
}

func (r *relation) has(scan int) bool { return slices.Contains(r.scans, scan) }

// relation computes a node.
func (j *joiner) relation(n plan.Node) (*relation, error) {
	rel, err := j.relationOf(n)
	if err == nil && j.Gave != nil && !j.enough {
		j.Gave(slices.Index(j.nodes, n), rel.rows)
	}
	return rel, err
}

func (j *joiner) relationOf(n plan.Node) (*relation, error) {
	var where expr.Expr
	if f, ok := n.(*plan.Filter); ok {
		n, where = f.Input, f.Where
	}
	switch n := n.(type) {
	case *plan.Scan:
		j.next++
		return j.selected(j.next-1, where)
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
		j.read[j.scanOf(c)] = true
		j.column(c)
	}
}

// joinNext notes that relations are joined now.
func (j *joiner) joinNext(inputs ...*relation) {
	for _, r := range inputs {
		for _, s := range r.scans {
			j.inputs[s] = r
		}
	}
}

// raises reports that some row that is joined raises an error in a side of an equality, or may: partners are then looked for pair by
// pair, so that it is raised where a pair is undecided without it.
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
	c := &table.Chunk{Rows: 1, Segments: make([]*table.Segment, len(j.fields))}
	for _, col := range expr.Columns(e) {
		of := j.column(col)
		if of == nil {
			return true
		}
		c.Segments[col] = &table.Segment{Type: of.Type, Base: of.Base, Max: of.Max, Bits: of.Bits, Dict: of.Dict, Codes: table.Codes{U8: make([]uint8, 1)}} // one that is not NULL
	}
	return lower.MayRaise(e, &table.Table{Name: "join", Fields: j.fields}, c)
}

// raised reports that one of the rows that are joined raises an error in an expression, or that several relations have what it reads.
func (j *joiner) raised(e expr.Expr) bool {
	var of *relation
	for _, s := range j.scansOf(e) {
		if of != nil && j.inputs[s] != of {
			return true
		}
		of = j.inputs[s]
	}
	if of == nil || j.fetch(of) != nil {
		return true
	}
	return j.inBlocks(of, e, func(int, *expr.Vector) {}) != nil
}

// selected is the rows of a scan for which a condition is TRUE.
func (j *joiner) selected(scan int, where expr.Expr) (*relation, error) {
	s := j.scans[scan]
	rel := &relation{rows: s.rows(), scans: []int{scan}, ids: [][]uint32{nil}, name: s.name}
	if rel.rows >= noRow {
		return nil, fmt.Errorf("%s has %d rows: a joined table has less than %d", s.name, rel.rows, noRow)
	}
	if where == nil && s.Rows() == rel.rows {
		return rel, nil
	}
	rel.name = selectedName(s.name, where)
	q, err := physical.NewQuery(s.Table, &plan.Fragment{Table: s.Name, Where: where})
	if err != nil {
		return nil, err
	}
	rel.rows = 0
	var parts [][]uint32
	for b, err := range j.Rows(j.ctx, q) {
		if err != nil {
			return nil, err
		}
		start, part := uint32(s.starts[b.Chunk]), make([]uint32, b.Len())
		for i := range part {
			part[i] = start + uint32(b.Row(i))
		}
		parts, rel.rows = append(parts, part), rel.rows+len(part)
	}
	rel.ids[0] = make([]uint32, 0, rel.rows) // not nil, which is all rows
	for _, part := range parts {
		rel.ids[0] = append(rel.ids[0], part...)
	}
	return rel, nil
}

func selectedName(table string, where expr.Expr) string {
	if where == nil {
		return table
	}
	return "Filter(" + where.String() + ") of " + table
}

// joined computes a join: a group of inner joins together.
func (j *joiner) joined(n *plan.Join) (*relation, error) {
	if rel, err := j.pairs(n); rel != nil || err != nil {
		return rel, err
	}
	j.depth++
	if n.Kind == plan.Inner {
		var inputs []*relation
		var conditions []expr.Expr
		later := j.Hold != nil && j.inputsOf(n) > 2
		if err := j.group(n, later, &inputs, &conditions); err != nil {
			return nil, err
		}
		j.depth--
		if j.Pairs != nil && (len(inputs) > 2 || len(inputs[0].scans) > 1 || len(inputs[1].scans) > 1) { // else pairs has looked at it
			return j.innerPairs(n, inputs, conditions)
		}
		return j.inner(inputs, conditions)
	}
	probe, err := j.relation(n.Left)
	if err != nil {
		return nil, err
	}
	build, err := j.relation(n.Right)
	if err == nil {
		err = j.fetch(probe, build)
	}
	if err != nil {
		return nil, err
	}
	j.depth--
	if j.Pairs != nil && len(probe.scans)+len(build.scans) > 2 {
		if rel, _, err := j.pairsOf(n, [2]*relation{probe, build}, plan.Conjuncts(n.On), 0); !j.declined(n, err) {
			return rel, err
		}
	}
	keepProbe, keepBuild := n.Kind.KeepsLeft(), n.Kind.KeepsRight()
	if !n.Kind.LeftOnly() && (!keepProbe || keepBuild && build.rows > probe.rows) { // the smaller one has the index, unless one side stands alone
		probe, build, keepProbe, keepBuild = build, probe, keepBuild, keepProbe
	}
	j.joinNext(probe, build)
	s, _ := j.step(probe.scans, build, plan.Conjuncts(n.On))
	s.kind, s.keepProbe, s.keepBuild = n.Kind, keepProbe, keepBuild
	return j.pipeline(probe, []*joinStep{s}, nil)
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
func (j *joiner) group(n plan.Node, later bool, inputs *[]*relation, conditions *[]expr.Expr) error {
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
	if _, where, ok := selectedScan(n); ok && where != nil && later {
		if rel, err := j.counted(n, where); rel != nil || err != nil {
			*inputs = append(*inputs, rel)
			return err
		}
	}
	rel, err := j.relation(n)
	*inputs = append(*inputs, rel)
	return err
}

// inner joins inputs: the largest is read, and each time that input is next after which the
// fewest rows are expected.
func (j *joiner) inner(inputs []*relation, conditions []expr.Expr) (*relation, error) {
	if err := j.fetch(inputs...); err != nil {
		return nil, err
	}
	at := 0
	for i, r := range inputs {
		if r.rows > inputs[at].rows {
			at = i
		}
	}
	j.joinNext(inputs...)
	at = j.leads(inputs, at, conditions)
	probe := inputs[at]
	inputs = slices.Delete(slices.Clone(inputs), at, at+1)
	have, rows := slices.Clone(probe.scans), float64(probe.rows)
	var steps []*joinStep
	for len(inputs) > 0 {
		best, least, _ := j.nextOf(have, rows, inputs, conditions)
		s, rest := j.step(have, inputs[best], conditions)
		conditions, rows, s.expected = rest, least, max(1, least)
		have = append(have, inputs[best].scans...)
		steps, inputs = append(steps, s), slices.Delete(inputs, best, best+1)
	}
	return j.pipeline(probe, steps, j.spare(conditions))
}

// nextOf is the place of the input after which the fewest rows are expected, one with a key if there is one, how many these are, and
// whether it has a key; inputs that are nil are passed over.
func (j *joiner) nextOf(have []int, rows float64, inputs []*relation, conditions []expr.Expr) (best int, least float64, keyed bool) {
	least = math.Inf(1)
	for i, r := range inputs {
		if r == nil {
			continue
		}
		var left, right []stats.KeySide
		for _, e := range conditions {
			if probe, build, ok := j.key(e, have, r.scans); ok {
				left, right = append(left, j.keySide(probe)), append(right, j.keySide(build))
			}
		}
		has, expected := len(left) > 0, rows*float64(r.rows)
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
	scans, out := j.scansOf(e), stats.KeySide{Values: 1, Rows: 1}
	for _, s := range scans {
		out.Rows *= float64(j.scans[s].Rows())
	}
	for _, c := range expr.Columns(e) {
		s := j.scans[j.scanOf(c)]
		out.Values *= stats.DistinctValues(s.Table, c-s.first)
	}
	out.Values = min(out.Values, out.Rows)
	if len(scans) == 1 {
		out.Table = scans[0]
	}
	return out
}

// scansOf lists the scans that an expression reads.
func (j *joiner) scansOf(e expr.Expr) (list []int) {
	for _, c := range expr.Columns(e) {
		if s := j.scanOf(c); !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}

func allIn[T comparable](list, of []T) bool {
	return !slices.ContainsFunc(list, func(x T) bool { return !slices.Contains(of, x) })
}

// key is the two sides of a condition that is the key of a join: what it reads of the rows
// that there are, and of those of another relation.
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
	of, to := j.scansOf(l), j.scansOf(r)
	switch {
	case len(of) == 0 || len(to) == 0:
	case allIn(of, have) && allIn(to, other):
		return l, r, true
	case allIn(to, have) && allIn(of, other):
		return r, l, true
	}
	return nil, nil, false
}

// step is the join with a relation of rows that have some scans, and the conditions that it leaves.
func (j *joiner) step(have []int, build *relation, conditions []expr.Expr) (s *joinStep, rest []expr.Expr) {
	s = &joinStep{build: build}
	all := slices.Concat(have, build.scans)
	for _, e := range conditions {
		switch probe, of, ok := j.key(e, have, build.scans); {
		case ok && j.Way != "loops":
			s.keys = append(s.keys, newJoinKey(probe, of, e))
		case allIn(j.scansOf(e), all):
			s.also = append(s.also, e)
		default:
			rest = append(rest, e)
		}
	}
	s.also = j.spare(s.also)
	return s, rest
}

// made is the result, as yet without rows.
func (j *joiner) made() *table.Table {
	t := &table.Table{Fields: j.result}
	for i, s := range j.scans {
		if i > 0 {
			t.Name += ", "
		}
		t.Name += s.name
	}
	return t
}

// gather gathers the columns of the result.
func (j *joiner) gather(rel *relation) (*table.Table, error) {
	if bytes := j.rowBytes(rel.scans); rel.held != nil && float64(rel.rows)*float64(bytes) > float64(j.Memory) {
		return nil, j.tooLarge(float64(rel.rows), bytes, true)
	}
	if err := j.fetch(rel); err != nil {
		return nil, err
	}
	t := j.made()
	size := j.ChunkRows
	if size <= 0 {
		size = table.MaxChunkRows
	}
	for at := 0; at < rel.rows; at += size {
		n := min(size, rel.rows-at)
		c := &table.Chunk{Rows: n, Segments: make([]*table.Segment, len(j.result))}
		for _, col := range j.Columns {
			if j.result[col].Unsupported != "" {
				continue
			}
			if err := j.ctx.Err(); err != nil {
				return nil, err
			}
			c.Segments[col] = j.gathered(rel, j.places[col], at, n)
		}
		t.Chunks = append(t.Chunks, c)
	}
	return t, nil
}

// rowBytes is what a row takes in the result, and in the relation before it.
func (j *joiner) rowBytes(scans []int) (n int) {
	for _, s := range scans {
		if j.needed[s] {
			n += 4
		}
	}
	for _, c := range j.Columns {
		if col := j.column(j.places[c]); col != nil {
			n += max(1, (bits.Len64(col.Max)+7)/8)
		}
	}
	return n
}

// TooLarge is the error of a join whose result has too many rows, or does not fit into memory.
type TooLarge struct{ text string }

func (e *TooLarge) Error() string { return e.text }

// tooLarge is the error of a result that does not fit into memory.
func (j *joiner) tooLarge(rows float64, rowBytes int, exact bool) error {
	about := "more than "
	if exact {
		about = ""
	}
	if rows*float64(rowBytes) <= float64(j.Memory) {
		return &TooLarge{fmt.Sprintf("the join has %s%.4g rows: at most %d are supported; join on a key, or select fewer rows", about, rows, uint32(noRow-1))}
	}
	return &TooLarge{fmt.Sprintf("the join has %s%.4g rows of %d bytes each, %.3g GB: more than the %.3g GB of host memory that are left; join on a key, select fewer rows or columns, or raise the budget (--host-memory)",
		about, rows, rowBytes, rows*float64(rowBytes)/1e9, float64(j.Memory)/1e9)}
}

// joinStep is the join with one relation.
type joinStep struct {
	build  *relation
	kind   plan.JoinKind
	keys   []*joinKey   // by which partners are found; none: each row is a candidate
	also   []expr.Expr  // what has to hold besides
	rest   []restKey    // keys that are compared with those of the one partner
	index  joinIndex    // nil without keys
	unique bool         // of each number the index has one row
	plain  bool         // the one key's probe side is a column of one chunk without NULLs, by its ordinals
	likely table.Bitmap // of the codes of the one key's column those that have a partner; nil for all
	way    string

	keepProbe, keepBuild bool     // rows without a partner stand alone, in an outer join
	matched              []uint64 // of the build side, those that had a partner; where these are kept

	there   int // rows of the build side
	out     atomic.Int64
	elapsed time.Duration // to make the index
	// expected is how many rows the order of inner joins counts on; 0 for other joins.
	expected float64
}

func (s *joinStep) on() string {
	var parts []string
	for _, k := range s.keys {
		parts = append(parts, k.e.String())
	}
	for _, r := range s.rest {
		parts = append(parts, r.e.String())
	}
	for _, e := range s.also {
		parts = append(parts, e.String())
	}
	if len(parts) == 0 {
		return "every pair"
	}
	out := parts[0]
	for _, p := range parts[1:] {
		out += " AND " + p
	}
	return out
}

// kindOf is the kind of a join that is not an inner one, in words.
func (s *joinStep) kindOf() string {
	if s.kind == plan.Inner {
		return ""
	}
	return s.kind.String() + " join "
}

// exists reports that all that matters is whether the index has a number.
func (s *joinStep) exists() bool { return s.kind.LeftOnly() && len(s.also) == 0 }
