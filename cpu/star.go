package cpu

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"

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
	rows         []uint32 // by number of what the keys read of it, one that has that
}

// maxPlaces is how many values a column may range over by which a table is joined.
const maxPlaces = 1 << 27

// NewStar looks for a star in the input of an aggregation over a join of tables. It is nil where there is
// none: where a join is an outer one, by an expression or by several keys, or where an aggregate reads
// another table than the largest. It looks at no row: see [Star.Prepare].
func (b *Backend) NewStar(n *plan.Join, a *plan.Aggregate, tables []*table.Table) *Star {
	j := b.joiner(context.Background(), n, Joining{Tables: tables}) // the context is Prepare's
	filters := make([]expr.Expr, len(j.scans))
	conditions, ok := j.flat(j.root, filters)
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

// flat collects the conditions of inner joins of tables, and the filters of these.
func (j *joiner) flat(n plan.Node, filters []expr.Expr) (conditions []expr.Expr, ok bool) {
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
		l, ok := j.flat(n.Left, filters)
		if !ok || n.Kind != plan.Inner {
			return nil, false
		}
		r, ok := j.flat(n.Right, filters)
		return slices.Concat(l, r, plan.Conjuncts(n.On)), ok
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
	numbers, err := s.numbered(t, rel, d)
	if err != nil {
		return err
	}
	places := int(of.Max) + 1
	words := make([]uint32, (places+31)/32)
	var digits table.Codes
	switch {
	case numbers == nil:
	case d.Size < 1<<8:
		digits.U8 = make([]uint8, places)
	case d.Size < 1<<16:
		digits.U16 = make([]uint16, places)
	default:
		digits.U32 = make([]uint32, places)
	}
	var found atomic.Int64
	var twice atomic.Bool
	inParallel(len(keys.of), func(lo, hi int) {
		n := 0
		for i := lo; i < hi; i++ {
			at := keys.of[i] - of.Base
			if at >= uint64(places) || keys.null != nil && keys.null.Get(i) {
				continue
			}
			if bit := uint32(1) << (at % 32); atomic.OrUint32(&words[at/32], bit)&bit != 0 {
				twice.Store(true)
				break
			}
			n++
			switch {
			case digits.U8 != nil:
				digits.U8[at] = uint8(numbers[i] + 1)
			case digits.U16 != nil:
				digits.U16[at] = uint16(numbers[i] + 1)
			case digits.U32 != nil:
				digits.U32[at] = numbers[i] + 1
			}
		}
		found.Add(int64(n))
	})
	if twice.Load() {
		return &plan.Declined{Why: fmt.Sprintf("%s has several rows of the same %s", s.scans[t.scan].name, t.build)}
	}
	d.Base, d.Bits, d.Digits = of.Base, plan.Array(table.Codes{U32: words}, math.MaxUint32), nil
	if numbers != nil {
		d.Digits = plan.Array(digits, uint64(d.Size))
	}
	d.Share = float64(found.Load()) / float64(max(1, min(places, s.scans[t.scan].Rows())))
	return nil
}

// numbered numbers what the keys read of a joined table's rows, each combination once; nil where they read
// nothing of it.
func (s *Star) numbered(t *starTable, rel *relation, d *plan.Dimension) (numbers []uint32, err error) {
	of := s.scans[t.scan]
	d.Size = 1
	for _, c := range s.columns {
		if c < of.first || c >= of.first+of.n {
			continue
		}
		if numbers == nil {
			numbers = make([]uint32, rel.rows)
		}
		seg := s.column(c).segment(ids{rel.ids[0], 0}, rel.rows, false)
		if seg.Bits > 31 {
			return nil, &plan.Declined{Why: fmt.Sprintf("%s has codes of %d bits", s.fields[c].Name, seg.Bits)}
		}
		d.Size, t.rows = renumber(numbers, d.Size, seg)
	}
	if rel.ids[0] != nil {
		for i, row := range t.rows {
			t.rows[i] = rel.ids[0][row]
		}
	}
	return numbers, nil
}

// renumber makes numbers below size, one a row, those of their combinations with the codes of a column. It
// says how many there are, and for each a row that has it.
func renumber(numbers []uint32, size int, seg *table.Segment) (n int, rows []uint32) {
	radix := seg.Max + 2 // 0 is NULL
	combined := func(i int) uint64 {
		at := uint64(numbers[i]) * radix
		if !seg.IsNull(i) {
			at += seg.Codes.At(i) + 1
		}
		return at
	}
	if all := uint64(size) * radix; all > max(1<<16, uint64(len(numbers))) {
		known := map[uint64]uint32{}
		for i := range numbers {
			at := combined(i)
			number, ok := known[at]
			if !ok {
				number = uint32(len(rows))
				known[at], rows = number, append(rows, uint32(i))
			}
			numbers[i] = number
		}
		return max(1, len(rows)), rows
	}
	known := make([]uint32, uint64(size)*radix) // one more than a row, then the number
	inParallel(len(numbers), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			if at := combined(i); atomic.LoadUint32(&known[at]) == 0 {
				atomic.StoreUint32(&known[at], uint32(i+1))
			}
		}
	})
	for at, row := range known {
		if row > 0 {
			known[at], rows = uint32(len(rows)), append(rows, row-1)
		}
	}
	inParallel(len(numbers), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			numbers[i] = known[combined(i)]
		}
	})
	return max(1, len(rows)), rows
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
	i := slices.IndexFunc(s.tables, func(t starTable) bool { return t.scan == scan })
	t, d := s.tables[i], s.Dimensions[i]
	digits := d.Digits.Segments[0].Codes
	key := chunk.Segments[t.probe.Index-s.scans[s.fact].first]
	out := make([]uint32, len(rows))
	for i, row := range rows {
		out[i] = t.rows[digits.At(int(key.Base+key.Codes.At(int(row))-d.Base))-1]
	}
	return out
}
