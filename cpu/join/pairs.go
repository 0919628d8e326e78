package join

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
)

// FindPairs finds the pairs of a join on a device, and says how; a [plan.Declined] leaves them to cpu.
type FindPairs func(context.Context, *physical.JoinQuery) (found physical.JoinPairs, how string, err error)

// Holder keeps numbers of rows on a device, and says what there is of them, until the join is done. A [plan.Declined] leaves that to cpu.
type Holder interface {
	// Count is how many rows a query selects.
	Count(context.Context, *physical.Query) (int, error)
	// Read copies what is held to host memory, a list each; nil for nil. Where places is not nil it is what the lists have at these.
	Read(ctx context.Context, list []*physical.Held, places []uint32) ([][]uint32, error)
	// Columns gathers columns on the devices that have their rows: of each device it gives segments that are away, until the statement is over.
	Columns(context.Context, []HeldColumn) ([][]*table.Segment, error)
	// Where takes those rows of lists at whose places a query selects the rows, on each device of a table of one chunk with these columns, and
	// says how many there are. The lists are released.
	Where(ctx context.Context, columns []HeldColumn, query func([]*table.Segment) (*physical.Query, error), lists []physical.RowIDs) (held []*physical.Held, n int, err error)
}

// HeldColumn is a column of a table by a list of its rows, in a code space that its chunks have in common.
type HeldColumn struct {
	Table *table.Table
	Col   int
	Space *physical.CodeSpace
	Rows  physical.RowIDs
}

// Away is the rows of a join whose columns are on a device alone.
type Away struct {
	j   *joiner
	rel *relation
}

// Chunk gathers the columns of some rows, by their places, in host memory: in the same code spaces.
func (a *Away) Chunk(ctx context.Context, places []uint32) (*table.Chunk, error) {
	lists, err := a.j.Hold.Read(ctx, a.rel.held, places)
	if err != nil {
		return nil, err
	}
	c := &table.Chunk{Rows: len(places), Segments: make([]*table.Segment, len(a.j.result))}
	for _, col := range a.j.Columns {
		if of := a.j.column(a.j.places[col]); of != nil {
			scan := a.j.scanOf(a.j.places[col])
			c.Segments[col] = of.segment(ids{lists[slices.Index(a.rel.scans, scan)], 0}, len(places), a.rel.loose[scan])
		}
	}
	return c, nil
}

// Table is the rows with their columns in host memory.
func (a *Away) Table(ctx context.Context) (*table.Table, error) {
	j := *a.j
	j.ctx = ctx
	return j.gather(a.rel)
}

// stays gathers the columns of the result on the device; a [plan.Declined] where it does not.
func (j *joiner) stays(rel *relation) (*table.Table, error) {
	var at []int // of the columns that can be used
	places := make([]int, 0, len(j.Columns))
	for _, col := range j.Columns {
		if j.column(j.places[col]) != nil {
			at, places = append(at, col), append(places, j.places[col])
		}
	}
	t := j.made()
	have := func(segments [][]*table.Segment) {
		t.Chunks = nil
		for _, n := range rel.parts() {
			if n == 0 {
				continue
			}
			c := &table.Chunk{Rows: n, Segments: make([]*table.Segment, len(j.result))}
			for i, col := range at {
				c.Segments[col] = segments[len(t.Chunks)][i]
			}
			t.Chunks = append(t.Chunks, c)
		}
	}
	columns, like := j.heldColumns(rel, places)
	if have(like); !j.Stays(t) {
		return nil, declined("the rows are wanted in host memory")
	}
	if len(columns) > 0 {
		segments, err := j.Hold.Columns(j.ctx, columns)
		if err != nil {
			return nil, err
		}
		have(segments)
	}
	return t, nil
}

// parts are how many rows of a relation each device has, where they are on devices.
func (r *relation) parts() []int {
	for _, h := range r.held {
		if h != nil && h.Parts != nil {
			return h.Parts
		}
	}
	return []int{r.rows}
}

// heldColumns are columns of a relation whose rows are on devices, and what their segments will be like on each device that has some.
func (j *joiner) heldColumns(rel *relation, columns []int) (list []HeldColumn, like [][]*table.Segment) {
	for _, col := range columns {
		scan := j.scanOf(col)
		s := j.scans[scan]
		list = append(list, HeldColumn{s.Table, col - s.first, j.column(col).space, physical.RowIDs{Held: rel.held[slices.Index(rel.scans, scan)], MayBeNull: rel.loose[scan]}})
	}
	for device, n := range rel.parts() {
		if n == 0 {
			continue
		}
		var segments []*table.Segment
		for i, col := range columns {
			of, nulls := j.column(col), 0
			if of.nulls || list[i].Rows.MayBeNull { // as many are not known yet
				nulls = 1
			}
			segments = append(segments, table.NewAway(of.Segment, n, nulls, device))
		}
		like = append(like, segments)
	}
	return list, like
}

// filtered is the rows of a relation that satisfy conditions: those that are on a device stay there, where it decides the conditions.
func (j *joiner) filtered(rel *relation, conditions []expr.Expr) (*relation, error) {
	if rel.held == nil || rel.rows == 0 {
		return j.pipeline(rel, nil, conditions)
	}
	start, where := time.Now(), plan.Conjunction(conditions)
	columns := expr.Columns(where)
	if len(columns) == 0 || slices.ContainsFunc(columns, func(c int) bool { return j.column(c) == nil }) {
		return j.pipeline(rel, nil, conditions)
	}
	var lists []physical.RowIDs
	stays := func(scan int) bool { return j.needed[scan] || j.depth > 0 }
	for i, scan := range rel.scans {
		if rel.held[i] != nil && stays(scan) {
			lists = append(lists, physical.RowIDs{Held: rel.held[i]})
		}
	}
	of, _ := j.heldColumns(rel, columns)
	held, n, err := j.Hold.Where(j.ctx, of, func(segments []*table.Segment) (*physical.Query, error) {
		c := &table.Chunk{Rows: segments[0].Rows(), Segments: make([]*table.Segment, len(j.fields))}
		for i, col := range columns {
			c.Segments[col] = segments[i]
		}
		t := &table.Table{Name: rel.name, Fields: j.fields, Chunks: []*table.Chunk{c}}
		return physical.NewQuery(t, &plan.Fragment{Table: t.Name, Where: where})
	}, lists)
	if errors.As(err, new(*plan.Declined)) {
		return j.pipeline(rel, nil, conditions)
	} else if err != nil {
		return nil, err
	}
	out := *rel
	out.rows, out.held = n, make([]*physical.Held, len(rel.scans))
	for i, scan := range rel.scans {
		if rel.held[i] != nil && stays(scan) {
			out.held[i], held = held[0], held[1:]
		}
	}
	j.steps = append(j.steps, Step{Table: "Filter", On: conjunction(conditions), Way: "compute", In: rel.rows, Out: n, Elapsed: time.Since(start)})
	return &out, nil
}

// fetch has the rows of relations in host memory.
func (j *joiner) fetch(relations ...*relation) error {
	for _, r := range relations {
		switch {
		case r.where != nil:
			rows, err := j.selected(r.scans[0], r.where)
			if err != nil {
				return err
			}
			r.rows, r.ids, r.where = rows.rows, rows.ids, nil
		case r.held != nil:
			bytes := 0
			for _, h := range r.held {
				if h != nil {
					bytes += 4
				}
			}
			if float64(r.rows)*float64(bytes) > float64(j.Memory) {
				return j.tooLarge(float64(r.rows), bytes, true)
			}
			lists, err := j.Hold.Read(j.ctx, r.held, nil)
			if err != nil {
				return err
			}
			r.ids, r.held = lists, nil
		}
	}
	return nil
}

// counted is the rows of a filtered table, as many as a device counts; nil where it does not.
func (j *joiner) counted(n plan.Node, where expr.Expr) (*relation, error) {
	s := j.scans[j.next]
	q, err := physical.NewQuery(s.Table, &plan.Fragment{Table: s.Name, Where: where, Aggs: []expr.Aggregate{{Kind: expr.CountAll, Col: -1}}})
	if err != nil || s.rows() >= noRow {
		return nil, err
	}
	rows, err := j.Hold.Count(j.ctx, q)
	if errors.As(err, new(*plan.Declined)) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	j.next++
	if j.Gave != nil {
		j.Gave(slices.Index(j.nodes, n), rows)
	}
	return &relation{rows: rows, scans: []int{j.next - 1}, name: selectedName(s.name, where), where: where}, nil
}

// pairJoin is a join of two tables whose pairs a device finds: those of which keys compare. Other conditions
// of an inner join are looked at afterwards.
type pairJoin struct {
	physical.JoinQuery
	scans   [2]int
	filters [2]expr.Expr // nil for all rows
	on      []expr.Expr  // a key each
	rest    []expr.Expr
}

// pairJoin is a join as one; a [plan.Declined] where it is none.
func (j *joiner) pairJoin(n *plan.Join) (*pairJoin, error) {
	left, where, _ := selectedScan(n.Left)
	right, of, _ := selectedScan(n.Right)
	switch {
	case j.AtMost > 0 && j.depth == 0 && j.Way == "loops":
		return nil, declined("nested loops of all rows, of which LIMIT wants few")
	case n.Kind.LeftOnly() && j.Way == "loops":
		return nil, declined("nested loops find all pairs, a %v join asks for one of a row: SET join = auto", n.Kind)
	}
	p := &pairJoin{scans: [2]int{j.next, j.next + 1}, filters: [2]expr.Expr{where, of}}
	conditions := plan.Conjuncts(n.On)
	why := declined("it has no condition")
	for _, e := range conditions {
		key, not := j.pairKey(e, p.scans)
		if not != nil && j.above[e] {
			why = not
		} else if not != nil {
			p.rest, why = append(p.rest, e), not
		} else {
			p.on, p.Keys = append(p.on, e), append(p.Keys, key)
		}
	}
	p.Cmp, p.Algorithm, p.Exists, p.Scans = expr.EQ, j.Way, n.Kind.LeftOnly(), p.scans[:]
	for op := expr.LT; len(p.on) == 0 && op <= expr.GT && j.Way == "loops"; op++ {
		if at := slices.IndexFunc(p.rest, func(e expr.Expr) bool { return j.compares(e, p.scans, op) }); at >= 0 {
			c := p.rest[at].(*expr.Compare)
			key := physical.JoinKey{c.L, c.R}
			if p.Cmp = op; j.scanOf(c.L.(*expr.Column).Index) == p.scans[1] {
				key, p.Cmp = physical.JoinKey{c.R, c.L}, op.Swap()
			}
			p.on, p.Keys = append(p.on, c), append(p.Keys, physical.JoinKey{j.within(key[0], p.scans[0]), j.within(key[1], p.scans[1])})
			p.rest = slices.Delete(p.rest, at, at+1)
		}
	}
	if len(p.on) == 0 {
		return nil, why
	}
	if p.Algorithm == "auto" {
		p.Algorithm = "perfect" // or hash, by what the keys are like
	}
	for i, n := range [2]*plan.Scan{left, right} {
		s := j.scans[p.scans[i]]
		if s.rows() >= noRow {
			return nil, declined("%s has %d rows, numbers of rows have 32 bits", s.name, s.rows())
		}
		var kids []expr.Expr
		if p.filters[i] != nil {
			kids = append(kids, p.filters[i])
		}
		for _, key := range p.Keys {
			if c, column := key[i].(*expr.Column); column && p.Algorithm == "index" && j.hasIndex(s, c.Index) { // which needs no other
				return nil, declined("%s has an index on %s", s.name, n.Columns[c.Index].Name)
			}
			kids = append(kids, &expr.IsNull{X: key[i], Not: true, P: -1})
		}
		selects := kids[0]
		if len(kids) > 1 {
			selects = &expr.And{Kids: kids, P: -1}
		}
		var err error
		if p.Sides[i], err = physical.NewQuery(s.Table, &plan.Fragment{Table: s.Name, Where: selects}); err != nil {
			return nil, err
		}
	}
	for n, at := range p.DropWideKeys() { // the keys are too wide together: these are looked at afterwards
		p.rest = append(p.rest, p.on[at-n])
		p.on = slices.Delete(p.on, at-n, at-n+1)
	}
	if n.Kind != plan.Inner && len(p.rest) > 0 {
		return nil, declined("%s has to hold besides: compute takes that of inner joins alone", p.rest[0])
	}
	return p, nil
}

func declined(format string, args ...any) error {
	return &plan.Declined{Why: fmt.Sprintf(format, args...)}
}

// pairs is a join by the pairs that a device finds; nil where that is left to cpu.
func (j *joiner) pairs(n *plan.Join) (rel *relation, err error) {
	_, _, left := selectedScan(n.Left)
	_, _, right := selectedScan(n.Right)
	if j.Pairs == nil || !left || !right { // of the rows of joins: see pairsOf
		return nil, nil
	}
	if rel, err = j.paired(n); errors.As(err, new(*plan.Declined)) {
		if j.Declined != nil {
			j.Declined(n, err.Error())
		}
		return nil, nil
	}
	return rel, err
}

// paired is pairs; a [plan.Declined] where it is left to cpu.
func (j *joiner) paired(n *plan.Join) (*relation, error) {
	p, err := j.pairJoin(n)
	if err != nil {
		return nil, err
	}
	left, right := j.scans[p.scans[0]], j.scans[p.scans[1]]
	rel := &relation{scans: p.scans[:], name: left.name + ", " + right.name}
	if p.Exists {
		rel.scans, rel.name = p.scans[:1], left.name
	}
	rowBytes, most := j.rowBytes(rel.scans), uint64(noRow-1)
	if len(p.rest) > 0 {
		rowBytes = max(rowBytes, 8) // the pairs themselves, of which few may be left
	}
	if rowBytes > 0 {
		most = min(most, uint64(j.Memory)/uint64(rowBytes))
	}
	wanted := len(j.Columns) > 0 || len(p.rest) > 0 || n != j.root || n.Kind != plan.Inner && n.Kind != plan.Semi
	if wanted {
		p.Limit = most
	}
	needs := func(scan int) bool { return j.needed[scan] || len(p.rest) > 0 }
	if wanted && n.Kind == plan.Inner && n == j.root && j.Hold != nil && j.Stays != nil {
		p.KeepOnDevice, p.Limit, most = &[2][]physical.RowIDs{}, noRow-1, noRow-1
		for i, scan := range p.scans {
			if needs(scan) {
				p.KeepOnDevice[i] = []physical.RowIDs{{}}
			}
		}
	}
	start := time.Now()
	found, how, err := j.Pairs(j.ctx, &p.JoinQuery)
	if p.KeepOnDevice != nil && (errors.As(err, new(*plan.Declined)) || err == nil && found.N > 0 && found.Held[0] == nil && found.Held[1] == nil) {
		if p.KeepOnDevice, most = nil, uint64(j.Memory)/uint64(max(1, rowBytes)); most >= noRow { // by way of host memory
			most = noRow - 1
		}
		p.Limit = most
		found, how, err = j.Pairs(j.ctx, &p.JoinQuery)
	}
	switch {
	case err != nil:
		return nil, err
	case p.KeepOnDevice != nil:
	case found.N > most && j.AtMost > 0 && j.depth == 0:
		return nil, declined("it has %d rows, of which LIMIT wants few", found.N)
	case found.N > most && len(p.rest) == 0 && n.Kind != plan.Anti:
		return nil, j.tooLarge(float64(found.N), rowBytes, true)
	case wanted && found.N > 0 && found.Rows[0] == nil:
		return nil, declined("the device has no room for %d pairs", found.N)
	}
	rel.rows, rel.ids = int(found.N), found.Rows[:len(rel.scans)]
	if p.KeepOnDevice != nil {
		rel.ids = nil
		for i, scan := range rel.scans {
			rel.held = append(rel.held, nil)
			if needs(scan) {
				rel.held[i] = found.Held[i][0]
			}
		}
	} else if found.N == 0 {
		rel.ids = [][]uint32{{}, {}}[:len(rel.scans)]
	}
	if n.Kind != plan.Inner {
		how = n.Kind.String() + " join " + how
	}
	switch {
	case n.Kind == plan.Inner || !wanted:
	case p.Exists:
		if err := j.among(rel, p.filters[0], n.Kind == plan.Semi); err != nil {
			return nil, err
		}
	default:
		if err := j.alone(rel, p.filters, [2]bool{n.Kind.KeepsLeft(), n.Kind.KeepsRight()}); err != nil {
			return nil, err
		}
	}
	if uint64(rel.rows) > most && len(p.rest) == 0 {
		return nil, j.tooLarge(float64(rel.rows), rowBytes, true)
	}
	j.next += 2
	j.steps = append(j.steps, Step{Table: selectedName(left.name, p.filters[0]), Out: found.Selected[0]},
		Step{Table: selectedName(right.name, p.filters[1]), On: conjunction(p.on), Way: how, In: found.Selected[1], Out: rel.rows, Elapsed: time.Since(start)})
	if len(p.rest) > 0 {
		return j.filtered(rel, p.rest)
	}
	return rel, nil
}

// conjunction is conditions, such as those of keys, in words.
func conjunction(list []expr.Expr) string {
	var parts []string
	for _, e := range list {
		parts = append(parts, e.String())
	}
	return strings.Join(parts, " AND ")
}

// among puts the rows of the left side that have partners in their order, or those in their place that have none.
func (j *joiner) among(rel *relation, filter expr.Expr, partnered bool) error {
	in := table.NewBitmap(j.scans[rel.scans[0]].rows())
	for _, row := range rel.ids[0] {
		in.Set(int(row))
	}
	all := &relation{rows: j.scans[rel.scans[0]].rows(), ids: [][]uint32{nil}}
	if !partnered {
		var err error
		if all, err = j.selected(rel.scans[0], filter); err != nil {
			return err
		}
	}
	list := make([]uint32, 0, rel.rows)
	for k := range all.rows {
		if row := all.row(k); in.Get(int(row)) == partnered {
			list = append(list, row)
		}
	}
	rel.rows, rel.ids[0] = len(list), list
	return nil
}

// row is the number of a row of a relation of one scan.
func (r *relation) row(i int) uint32 {
	if r.ids[0] == nil {
		return uint32(i)
	}
	return r.ids[0][i]
}

// alone adds the selected rows of a side that is kept which are in no pair.
func (j *joiner) alone(rel *relation, filters [2]expr.Expr, kept [2]bool) error {
	rel.loose = map[int]bool{}
	pairs := rel.rows
	for i, scan := range rel.scans {
		if !kept[i] {
			continue
		}
		in := table.NewBitmap(j.scans[scan].rows())
		for _, row := range rel.ids[i][:pairs] {
			in.Set(int(row))
		}
		selected, err := j.selected(scan, filters[i])
		if err != nil {
			return err
		}
		for k := range selected.rows {
			row := selected.row(k)
			if !in.Get(int(row)) {
				rel.ids[i], rel.ids[1-i] = append(rel.ids[i], row), append(rel.ids[1-i], noRow)
			}
		}
		rel.loose[rel.scans[1-i]] = true
	}
	rel.rows = len(rel.ids[0])
	return nil
}

// pairKey is a condition as a key of two scans; a [plan.Declined] where it is none.
func (j *joiner) pairKey(e expr.Expr, scans [2]int) (k physical.JoinKey, err error) {
	c, ok := e.(*expr.Compare)
	if !ok || c.Op != expr.EQ {
		return k, declined("%s is no =", e)
	}
	l, r, ok := j.sides(c.L, c.R, scans[:1], scans[1:])
	if !ok {
		return k, declined("%s does not compare a value of one side with one of the other", e)
	}
	key := newJoinKey(l, r, e)
	if key.how == byWord {
		return k, declined("compute makes no texts of rows, as %s compares", e)
	}
	k = physical.JoinKey{j.within(key.probe, scans[0]), j.within(key.build, scans[1])}
	if _, columns := k.Columns(); columns && key.how == byValue {
		return k, declined("%s compares columns of two types", e)
	}
	return k, k.Comparable([2]*table.Table{j.scans[scans[0]].Table, j.scans[scans[1]].Table})
}

// within is an expression of the columns of a scan alone, as the columns of its table.
func (j *joiner) within(e expr.Expr, scan int) expr.Expr {
	return expr.Moved(e, func(col int) int { return col - j.scans[scan].first })
}

// compares reports whether a condition compares two columns by an operator, one of each scan, whose codes
// compare as they do.
func (j *joiner) compares(e expr.Expr, scans [2]int, op expr.CmpOp) bool {
	c, ok := e.(*expr.Compare)
	if !ok || c.Op != op {
		return false
	}
	l, ok := c.L.(*expr.Column)
	r, too := c.R.(*expr.Column)
	if !ok || !too {
		return false
	}
	if how := newJoinKey(l, r, e).how; how != byOrdinal && how != byRank {
		return false
	}
	of := [2]int{j.scanOf(l.Index), j.scanOf(r.Index)}
	return of == scans || of == [2]int{scans[1], scans[0]}
}

// selectedScan is a node as a scan and what selects of its rows.
func selectedScan(n plan.Node) (s *plan.Scan, where expr.Expr, ok bool) {
	if f, is := n.(*plan.Filter); is {
		n, where = f.Input, f.Where
	}
	s, ok = n.(*plan.Scan)
	return s, where, ok
}
