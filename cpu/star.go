package cpu

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// Star is an aggregation over a star of joins, such that a device does it in one sweep over the
// largest table: each of the others is joined to it by a column of its own, whose values stand in
// one of its rows at most.
type Star struct {
	*joiner
	Fact       *table.Table
	Where      expr.Expr // over its columns
	Aggregate  *plan.Aggregate
	Dimensions []*plan.Dimension

	fact    int // the scan
	columns []int
	tables  []starTable

	mu       sync.Mutex
	ready    bool
	declined error
}

// starTable is a joined table.
type starTable struct {
	scan         int
	probe, build *expr.Column // the fact table's, and its own
	where        expr.Expr
	base         uint64   // the ordinal of the first place
	rows         []uint32 // by place the row, noRow for none
}

// maxPlaces is how many values a column may range over by which a table is joined.
const maxPlaces = 1 << 27

// NewStar looks for a star in the input of an aggregation over a join of tables. It is nil where there is
// none: where a join is an outer one, by an expression or by several keys, or where an aggregate reads
// another table than the largest. It looks at no row: see [Star.Prepare].
func (b *Backend) NewStar(n *plan.Join, a *plan.Aggregate, tables []*table.Table) *Star {
	j := &joiner{Backend: b, Joining: Joining{Tables: tables}, fields: n.Fields(), needed: map[int]bool{}, read: map[int]bool{}}
	first := 0
	for i, s := range plan.Scans(n) {
		j.scans = append(j.scans, newScanned(tables[i], s, first))
		first += len(s.Columns)
	}
	filters := make([]expr.Expr, len(j.scans))
	conditions, ok := j.flat(n, 0, filters)
	if !ok || len(j.scans) < 2 {
		return nil
	}
	s := &Star{joiner: j}
	for i, x := range j.scans {
		if x.Rows() > j.scans[s.fact].Rows() {
			s.fact = i
		}
	}
	f := j.scans[s.fact]
	s.Fact, s.Where = f.Table, filters[s.fact]
	inFact := func(c int) bool { return c >= f.first && c < f.first+f.n }
	local := func(c int) int { return c - f.first }
	out := &plan.Aggregate{}
	for _, g := range a.Aggs {
		if slices.ContainsFunc(g.Reads(), func(c int) bool { return !inFact(c) }) {
			return nil
		}
		out.Aggs = append(out.Aggs, g.Moved(local))
	}
	for _, k := range a.Keys {
		for _, c := range expr.Columns(k) {
			if !slices.Contains(s.columns, c) {
				s.columns = append(s.columns, c)
				if inFact(c) {
					field := j.fields[c]
					out.Keys = append(out.Keys, &expr.Column{Index: local(c), Name: field.Name, T: field.Type, P: k.Pos()})
				}
			}
		}
	}
	for _, g := range a.Aggs { // of the smallest and largest values the kinds are taken from a row
		for _, c := range g.Reads() {
			if !slices.Contains(s.columns, c) {
				s.columns = append(s.columns, c)
			}
		}
	}
	s.Aggregate = out
	joined := map[int]bool{s.fact: true}
	for _, e := range conditions {
		scan, probe, build := s.columnsOf(e)
		if scan < 0 || joined[scan] {
			return nil
		}
		joined[scan] = true
		s.tables = append(s.tables, starTable{scan: scan, probe: probe, build: build, where: filters[scan]})
		on := e.String()
		if w := filters[scan]; w != nil {
			on += " AND " + w.String()
		}
		s.Dimensions = append(s.Dimensions, &plan.Dimension{Name: s.scans[scan].name, On: on, Col: local(probe.Index), Size: 1})
	}
	if len(joined) != len(j.scans) {
		return nil
	}
	return s
}

// Prepare makes the arrays of the joined tables, once. It is a [plan.Declined] where two rows of one have the
// same key.
func (s *Star) Prepare(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ready || s.declined != nil {
		return s.declined
	}
	s.ctx = ctx
	for i := range s.tables {
		if err := s.join(&s.tables[i], s.Dimensions[i]); err != nil {
			if errors.As(err, new(*plan.Declined)) {
				s.declined = err
			}
			return err
		}
	}
	s.ready = true
	return nil
}

// flat collects the conditions of inner joins of tables, and the filters of these.
func (j *joiner) flat(n plan.Node, first int, filters []expr.Expr) (conditions []expr.Expr, ok bool) {
	switch n := n.(type) {
	case *plan.Scan:
		j.next++
		return nil, true
	case *plan.Filter:
		if _, ok := n.Input.(*plan.Scan); !ok {
			return nil, false
		}
		filters[j.next] = n.Where
		j.next++
		return nil, true
	case *plan.Join:
		l, ok := j.flat(n.Left, first, filters)
		if !ok || n.Kind != plan.Inner {
			return nil, false
		}
		r, ok := j.flat(n.Right, first+len(n.Left.Fields()), filters)
		conditions = append(l, r...)
		for _, e := range plan.Conjuncts(n.On) {
			conditions = append(conditions, moved(e, first))
		}
		return conditions, ok
	}
	return nil, false
}

// columnsOf is the table that a condition joins to the fact table, and the columns of both; negative where it
// does not.
func (s *Star) columnsOf(e expr.Expr) (scan int, probe, build *expr.Column) {
	l, r, ok := plan.Keys(e)
	if !ok {
		return -1, nil, nil
	}
	probe, _ = l.(*expr.Column)
	build, _ = r.(*expr.Column)
	if probe == nil || build == nil || newJoinKey(probe, build, e).how != byOrdinal {
		return -1, nil, nil
	}
	if s.scanOf(probe.Index) != s.fact {
		probe, build = build, probe
	}
	if scan = s.scanOf(build.Index); s.scanOf(probe.Index) != s.fact || scan == s.fact {
		return -1, nil, nil
	}
	return scan, probe, build
}

// join makes the arrays of a joined table.
func (s *Star) join(t *starTable, d *plan.Dimension) error {
	of := s.column(t.probe.Index)
	if of == nil || of.Max >= maxPlaces {
		return &plan.Declined{Why: fmt.Sprintf("%s ranges over too many values", t.probe)}
	}
	rel, err := s.selected(t.scan, t.where)
	if err != nil {
		return err
	}
	keys, err := s.numbersOf(&joinKey{probe: t.probe, build: t.build}, rel)
	if err != nil {
		return err
	}
	places := int(of.Max) + 1
	t.base, t.rows = of.Base, slices.Repeat([]uint32{noRow}, places)
	d.Base, d.Bits = of.Base, make([]uint32, (places+31)/32)
	found := 0
	for i, k := range keys.of {
		at := k - of.Base
		if at >= uint64(places) || keys.null != nil && keys.null.Get(i) {
			continue
		}
		if t.rows[at] != noRow {
			return &plan.Declined{Why: fmt.Sprintf("%s has several rows of the same %s", s.scans[t.scan].name, t.build)}
		}
		row := uint32(i)
		if rel.ids[0] != nil {
			row = rel.ids[0][i]
		}
		t.rows[at] = row
		d.Bits[at/32] |= 1 << (at % 32)
		found++
	}
	d.Share = float64(found) / float64(max(1, min(places, s.scans[t.scan].Rows())))
	return s.digits(t, d)
}

// digits numbers the combinations of what the keys read of a joined table's rows.
func (s *Star) digits(t *starTable, d *plan.Dimension) error {
	of := s.scans[t.scan]
	var columns []int
	for _, c := range s.columns {
		if c >= of.first && c < of.first+of.n {
			columns = append(columns, c)
		}
	}
	if columns == nil {
		return nil
	}
	d.Digits = make([]uint32, len(t.rows))
	var rows, places []uint32
	for at, row := range t.rows {
		if row != noRow {
			rows, places = append(rows, row), append(places, uint32(at))
		}
	}
	numbers := make([]uint32, len(rows))
	d.Size = 1
	for _, c := range columns {
		seg := s.column(c).segment(ids{rows, 0}, len(rows), false)
		known := map[uint64]uint32{}
		for i := range rows {
			code := uint64(numbers[i]) << 32
			if !seg.IsNull(i) {
				if seg.Bits > 31 {
					return &plan.Declined{Why: fmt.Sprintf("%s has codes of %d bits", s.fields[c].Name, seg.Bits)}
				}
				code |= seg.Codes.At(i) + 1
			}
			n, ok := known[code]
			if !ok {
				n = uint32(len(known))
				known[code] = n
			}
			numbers[i] = n
		}
		d.Size = max(1, len(known))
	}
	for i, at := range places {
		d.Digits[at] = numbers[i] + 1
	}
	return nil
}

// First is the joined rows of the first rows of groups that a device found in the fact table: a chunk for
// each of the chunks' groups, in which these have the numbers from 0 on.
func (s *Star) First(list []plan.GroupStates) (*table.Table, []plan.GroupStates) {
	t := &table.Table{Name: s.Fact.Name, Fields: s.fields}
	out := slices.Clone(list)
	f := s.scans[s.fact]
	for i := range out {
		g := &out[i]
		chunk := s.Fact.Chunks[g.Chunk]
		c := &table.Chunk{Rows: len(g.Rows), Segments: make([]*table.Segment, len(s.fields))}
		for _, col := range s.columns {
			if scan := s.scanOf(col); scan == s.fact {
				own := &joinColumn{Segment: chunk.Segments[col-f.first], starts: []int{0, chunk.Rows}, nulls: chunk.Segments[col-f.first].Nulls > 0}
				own.chunks = []translated{{Segment: own.Segment}}
				c.Segments[col] = own.segment(ids{g.Rows, 0}, len(g.Rows), false)
			} else {
				c.Segments[col] = s.column(col).segment(ids{s.partners(scan, chunk, g.Rows), 0}, len(g.Rows), false)
			}
		}
		g.Chunk, g.Rows = i, make([]uint32, len(g.Rows))
		for k := range g.Rows {
			g.Rows[k] = uint32(k)
		}
		t.Chunks = append(t.Chunks, c)
	}
	return t, out
}

// partners are the rows of a joined table that rows of a chunk of the fact table have.
func (s *Star) partners(scan int, chunk *table.Chunk, rows []uint32) []uint32 {
	t := s.tables[slices.IndexFunc(s.tables, func(t starTable) bool { return t.scan == scan })]
	key := chunk.Segments[t.probe.Index-s.scans[s.fact].first]
	out := make([]uint32, len(rows))
	for i, row := range rows {
		out[i] = t.rows[key.Base+key.Codes.At(int(row))-t.base]
	}
	return out
}
