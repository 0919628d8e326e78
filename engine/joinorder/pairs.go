package joinorder

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stencildb/stencildb/cpu/join"
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
	// Where selects from lists of rows, on each device. query selects the places of the rows, over a table of one chunk with these columns.
	// n is how many rows are left. The lists are released.
	Where(ctx context.Context, columns []HeldColumn, query func([]*table.Segment) (*physical.Query, error), lists []physical.RowIDs) (held []*physical.Held, n int, err error)
	// OnOneDevice reports that there are not several devices, as far as is known.
	OnOneDevice() bool
	// Select lists the rows that a query selects, where one device has the table whole.
	Select(context.Context, *physical.Query) (*physical.Held, error)
	// Partnered makes the n rows of a semi, an anti or a left join of its pairs. The left side has so many rows. places are those of the pairs in
	// it. The result is rows of left, lists of the left side, and of right, lists of the pairs. Places and right are released. It
	// is a [plan.Declined] where several devices have the pairs.
	Partnered(ctx context.Context, kind plan.JoinKind, rows int, places *physical.Held, left []physical.RowIDs, right []*physical.Held) (held [2][]*physical.Held, n int, err error)
	// Release releases lists.
	Release(...*physical.Held)
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
	rel *join.Relation
}

// Chunk gathers the columns of some rows, by their places, in host memory: in the same code spaces.
func (a *Away) Chunk(ctx context.Context, places []uint32) (*table.Chunk, error) {
	lists, err := a.j.of.Hold.Read(ctx, a.rel.Held, places)
	if err != nil {
		return nil, err
	}
	c := &table.Chunk{Rows: len(places), Segments: make([]*table.Segment, len(a.j.Result))}
	for _, col := range a.j.Columns {
		if of := a.j.Column(a.j.Places[col]); of != nil {
			scan := a.j.ScanOf(a.j.Places[col])
			c.Segments[col] = of.SegmentOf(join.Listed(lists[slices.Index(a.rel.Scans, scan)]), len(places), a.rel.Nullable[scan])
		}
	}
	return c, nil
}

// Table is the rows with their columns in host memory.
func (a *Away) Table(ctx context.Context) (*table.Table, error) {
	j := *a.j
	j.Ctx = ctx
	return j.gather(a.rel)
}

// stays gathers the columns of the result on the device; a [plan.Declined] where it does not.
func (j *joiner) stays(rel *join.Relation) (*table.Table, error) {
	var at []int // of the columns that can be used
	places := make([]int, 0, len(j.Columns))
	for _, col := range j.Columns {
		if j.Column(j.Places[col]) != nil {
			at, places = append(at, col), append(places, j.Places[col])
		}
	}
	if slices.ContainsFunc(places, func(c int) bool { return j.Column(c).HasNegativeZeros }) {
		return nil, declined("-0 and 0 of a column have one code, which is what a device has")
	}
	t := j.EmptyResult()
	have := func(segments [][]*table.Segment) {
		t.Chunks = nil
		for _, n := range rel.Parts() {
			if n == 0 {
				continue
			}
			c := &table.Chunk{Rows: n, Segments: make([]*table.Segment, len(j.Result))}
			for i, col := range at {
				c.Segments[col] = segments[len(t.Chunks)][i]
			}
			t.Chunks = append(t.Chunks, c)
		}
	}
	columns, like := j.heldColumns(rel, places)
	if have(like); !j.of.Stays(t) {
		return nil, declined("the rows are wanted in host memory")
	}
	if len(columns) > 0 {
		segments, err := j.of.Hold.Columns(j.Ctx, columns)
		if err != nil {
			return nil, err
		}
		have(segments)
	}
	return t, nil
}

// heldColumns are columns of a relation whose rows are on devices, and what their segments will be like on each device that has some.
func (j *joiner) heldColumns(rel *join.Relation, columns []int) (list []HeldColumn, like [][]*table.Segment) {
	for _, col := range columns {
		scan := j.ScanOf(col)
		s := j.Scans[scan]
		list = append(list, HeldColumn{s.Table, col - s.First, j.Column(col).Space, physical.RowIDs{Held: rel.Held[slices.Index(rel.Scans, scan)], MayBeNull: rel.Nullable[scan]}})
	}
	for device, n := range rel.Parts() {
		if n == 0 {
			continue
		}
		var segments []*table.Segment
		for i, col := range columns {
			of, nulls := j.Column(col), 0
			if of.HasNulls || list[i].Rows.MayBeNull { // as many are not known yet
				nulls = 1
			}
			segments = append(segments, table.NewAway(of.Segment, n, nulls, device))
		}
		like = append(like, segments)
	}
	return list, like
}

// filtered is the rows of a relation that satisfy conditions: those that are on a device stay there, where it decides the conditions.
func (j *joiner) filtered(rel *join.Relation, conditions []expr.Expr) (*join.Relation, error) {
	if rel.Held == nil || rel.Rows == 0 {
		return j.pipeline(rel, nil, conditions)
	}
	start := time.Now()
	var lists []physical.RowIDs
	stays := func(scan int) bool { return j.Needed[scan] || j.Depth > 0 }
	for i, scan := range rel.Scans {
		if rel.Held[i] != nil && stays(scan) {
			lists = append(lists, physical.RowIDs{Held: rel.Held[i]})
		}
	}
	held, n, err := j.where(rel, conditions, lists)
	if plan.IsDeclined(err) {
		return j.pipeline(rel, nil, conditions)
	} else if err != nil {
		return nil, err
	}
	out := *rel
	out.Rows, out.Held = n, make([]*physical.Held, len(rel.Scans))
	for i, scan := range rel.Scans {
		if rel.Held[i] != nil && stays(scan) {
			out.Held[i], held = held[0], held[1:]
		}
	}
	j.Steps = append(j.Steps, join.Step{Table: "Filter", On: conjunction(conditions), Way: "compute", In: rel.Rows, Out: n, Elapsed: time.Since(start)})
	return &out, nil
}

// where selects from lists of the rows of a relation that is on a device by conditions. It is a [plan.Declined] where the device does not decide
// them. The lists are released.
func (j *joiner) where(rel *join.Relation, conditions []expr.Expr, lists []physical.RowIDs) (held []*physical.Held, n int, err error) {
	where := plan.Conjunction(conditions)
	columns := expr.Columns(where)
	if len(columns) == 0 || slices.ContainsFunc(columns, func(c int) bool { return j.Column(c) == nil || j.Column(c).HasNegativeZeros }) {
		return nil, 0, declined("%s reads no codes", where)
	}
	of, _ := j.heldColumns(rel, columns)
	return j.of.Hold.Where(j.Ctx, of, func(segments []*table.Segment) (*physical.Query, error) {
		c := &table.Chunk{Rows: segments[0].Rows(), Segments: make([]*table.Segment, len(j.Fields))}
		for i, col := range columns {
			c.Segments[col] = segments[i]
		}
		t := &table.Table{Name: rel.Name, Fields: j.Fields, Chunks: []*table.Chunk{c}}
		return physical.NewQuery(t, &plan.Fragment{Table: t.Name, Where: where})
	}, lists)
}

// fetch has the rows of relations in host memory.
func (j *joiner) fetch(relations ...*join.Relation) error {
	for _, r := range relations {
		switch {
		case r.Where != nil:
			rows, err := j.Selected(r.Scans[0], r.Where)
			if err != nil {
				return err
			}
			r.Rows, r.IDs, r.Where = rows.Rows, rows.IDs, nil
		case r.Held != nil:
			bytes := 0
			for _, h := range r.Held {
				if h != nil {
					bytes += 4
				}
			}
			if float64(r.Rows)*float64(bytes) > float64(j.Room()) {
				return j.TooLarge(float64(r.Rows), bytes, true)
			}
			lists, err := j.of.Hold.Read(j.Ctx, r.Held, nil)
			if err != nil {
				return err
			}
			r.IDs, r.Held = lists, nil
		}
	}
	return nil
}

// counted is the rows of a filtered table, as many as a device counts; nil where it does not.
func (j *joiner) counted(n plan.Node, where expr.Expr) (*join.Relation, error) {
	s := j.Scans[j.next]
	q, err := physical.NewQuery(s.Table, &plan.Fragment{Table: s.Name, Where: where, Aggs: []expr.Aggregate{{Kind: expr.CountAll, Col: -1}}})
	if err != nil || s.AllRows() >= join.NoRow {
		return nil, err
	}
	rows, err := j.of.Hold.Count(j.Ctx, q)
	if plan.IsDeclined(err) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	j.next++
	if j.of.RowCounts != nil {
		j.of.RowCounts(slices.Index(j.nodes, n), rows)
	}
	return &join.Relation{Rows: rows, Scans: []int{j.next - 1}, Name: join.SelectedName(s.As, where), Where: where}, nil
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
	case j.AtMost > 0 && j.Depth == 0 && j.Way == "loops":
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
			if p.Cmp = op; j.ScanOf(c.L.(*expr.Column).Index) == p.scans[1] {
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
		s := j.Scans[p.scans[i]]
		if s.AllRows() >= join.NoRow {
			return nil, declined("%s has %d rows, numbers of rows have 32 bits", s.As, s.AllRows())
		}
		var kids []expr.Expr
		if p.filters[i] != nil {
			kids = append(kids, p.filters[i])
		}
		for _, key := range p.Keys {
			if c, column := key[i].(*expr.Column); column && p.Algorithm == "index" && j.HasIndex(s, c.Index) { // which needs no other
				return nil, declined("%s has an index on %s", s.As, n.Columns[c.Index].Name)
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
		return nil, declined("%s has to hold besides: compute takes that of rows that stay on one device", p.rest[0])
	}
	return p, nil
}

func declined(format string, args ...any) error {
	return &plan.Declined{Why: fmt.Sprintf(format, args...)}
}

// pairs is a join by the pairs that a device finds; nil where that is left to cpu.
func (j *joiner) pairs(n *plan.Join) (rel *join.Relation, err error) {
	_, _, left := selectedScan(n.Left)
	_, _, right := selectedScan(n.Right)
	if j.of.Pairs == nil || !left || !right { // of the rows of joins: see pairsOf
		return nil, nil
	}
	if rel, err = j.paired(n); plan.IsDeclined(err) {
		if j.of.Declined != nil {
			j.of.Declined(n, err.Error())
		}
		return nil, nil
	}
	return rel, err
}

// paired is pairs; a [plan.Declined] where it is left to cpu.
func (j *joiner) paired(n *plan.Join) (*join.Relation, error) {
	p, err := j.pairJoin(n)
	if err != nil {
		return nil, err
	}
	left, right := j.Scans[p.scans[0]], j.Scans[p.scans[1]]
	rel := &join.Relation{Scans: p.scans[:], Name: left.As + ", " + right.As}
	if p.Exists {
		rel.Scans, rel.Name = p.scans[:1], left.As
	}
	rowBytes, most := j.RowBytes(rel.Scans), uint64(join.NoRow-1)
	if len(p.rest) > 0 {
		rowBytes = max(rowBytes, 8) // the pairs themselves, of which few may be left
	}
	if rowBytes > 0 {
		most = min(most, uint64(j.Room())/uint64(rowBytes))
	}
	wanted := len(j.Columns) > 0 || len(p.rest) > 0 || n != j.root || n.Kind != plan.Inner && n.Kind != plan.Semi
	if wanted {
		p.Limit = most
	}
	needs := func(scan int) bool { return j.Needed[scan] || len(p.rest) > 0 }
	if wanted && n.Kind == plan.Inner && n == j.root && j.of.Hold != nil && j.of.Stays != nil {
		p.KeepOnDevice, p.Limit, most = &[2][]physical.RowIDs{}, join.NoRow-1, join.NoRow-1
		for i, scan := range p.scans {
			if needs(scan) {
				p.KeepOnDevice[i] = []physical.RowIDs{{}}
			}
		}
	}
	start := time.Now()
	found, how, err := j.of.Pairs(j.Ctx, &p.JoinQuery)
	if p.KeepOnDevice != nil && (plan.IsDeclined(err) || err == nil && found.N > 0 && found.Held[0] == nil && found.Held[1] == nil) {
		if p.KeepOnDevice, most = nil, uint64(j.Room())/uint64(max(1, rowBytes)); most >= join.NoRow { // by way of host memory
			most = join.NoRow - 1
		}
		p.Limit = most
		found, how, err = j.of.Pairs(j.Ctx, &p.JoinQuery)
	}
	switch {
	case err != nil:
		return nil, err
	case p.KeepOnDevice != nil:
	case found.N > most && j.AtMost > 0 && j.Depth == 0:
		return nil, declined("it has %d rows, of which LIMIT wants few", found.N)
	case found.N > most && len(p.rest) == 0 && n.Kind != plan.Anti:
		return nil, j.TooLarge(float64(found.N), rowBytes, true)
	case wanted && found.N > 0 && found.Rows[0] == nil:
		return nil, declined("the device has no room for %d pairs", found.N)
	}
	rel.Rows, rel.IDs = int(found.N), found.Rows[:len(rel.Scans)]
	if p.KeepOnDevice != nil {
		rel.IDs = nil
		for i, scan := range rel.Scans {
			rel.Held = append(rel.Held, nil)
			if needs(scan) {
				rel.Held[i] = found.Held[i][0]
			}
		}
	} else if found.N == 0 {
		rel.IDs = [][]uint32{{}, {}}[:len(rel.Scans)]
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
	if uint64(rel.Rows) > most && len(p.rest) == 0 {
		return nil, j.TooLarge(float64(rel.Rows), rowBytes, true)
	}
	j.next += 2
	j.Steps = append(j.Steps, join.Step{Table: join.SelectedName(left.As, p.filters[0]), Out: found.Selected[0]},
		join.Step{Table: join.SelectedName(right.As, p.filters[1]), On: conjunction(p.on), Way: how, In: found.Selected[1], Out: rel.Rows, Elapsed: time.Since(start)})
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
func (j *joiner) among(rel *join.Relation, filter expr.Expr, partnered bool) error {
	in := table.NewBitmap(j.Scans[rel.Scans[0]].AllRows())
	for _, row := range rel.IDs[0] {
		in.Set(int(row))
	}
	all := &join.Relation{Rows: j.Scans[rel.Scans[0]].AllRows(), IDs: [][]uint32{nil}}
	if !partnered {
		var err error
		if all, err = j.Selected(rel.Scans[0], filter); err != nil {
			return err
		}
	}
	list := make([]uint32, 0, rel.Rows)
	for k := range all.Rows {
		if row := all.Row(k); in.Get(int(row)) == partnered {
			list = append(list, row)
		}
	}
	rel.Rows, rel.IDs[0] = len(list), list
	return nil
}

// alone adds the selected rows of a side that is kept which are in no pair.
func (j *joiner) alone(rel *join.Relation, filters [2]expr.Expr, kept [2]bool) error {
	rel.Nullable = map[int]bool{}
	pairs := rel.Rows
	for i, scan := range rel.Scans {
		if !kept[i] {
			continue
		}
		in := table.NewBitmap(j.Scans[scan].AllRows())
		for _, row := range rel.IDs[i][:pairs] {
			in.Set(int(row))
		}
		selected, err := j.Selected(scan, filters[i])
		if err != nil {
			return err
		}
		for k := range selected.Rows {
			row := selected.Row(k)
			if !in.Get(int(row)) {
				rel.IDs[i], rel.IDs[1-i] = append(rel.IDs[i], row), append(rel.IDs[1-i], join.NoRow)
			}
		}
		rel.Nullable[rel.Scans[1-i]] = true
	}
	rel.Rows = len(rel.IDs[0])
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
	key := join.NewKey(l, r, e)
	if key.How == join.ByWord {
		return k, declined("compute makes no texts of rows, as %s compares", e)
	}
	k = physical.JoinKey{j.within(key.Probe, scans[0]), j.within(key.Build, scans[1])}
	if _, columns := k.Columns(); columns && key.How == join.ByValue {
		return k, declined("%s compares columns of two types", e)
	}
	return k, k.Comparable([2]*table.Table{j.Scans[scans[0]].Table, j.Scans[scans[1]].Table})
}

// within is an expression of the columns of a scan alone, as the columns of its table.
func (j *joiner) within(e expr.Expr, scan int) expr.Expr {
	return expr.Moved(e, func(col int) int { return col - j.Scans[scan].First })
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
	if how := join.NewKey(l, r, e).How; how != join.ByOrdinal && how != join.ByRank {
		return false
	}
	of := [2]int{j.ScanOf(l.Index), j.ScanOf(r.Index)}
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
