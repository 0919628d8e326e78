package joinorder

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/stencildb/stencildb/cpu/join"
	"github.com/stencildb/stencildb/cpu/vector"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
)

// nameOf names the tables of an arm.
func (s *Star) nameOf(t *starArm) string {
	var names []string
	if t.kind != plan.Inner {
		for i := range plan.Scans(t.of.right) {
			names = append(names, s.scanName(t.of.scan+i))
		}
		return t.kind.String() + " " + strings.Join(names, ", ")
	}
	for _, scan := range t.scans {
		names = append(names, s.scanName(scan))
	}
	return strings.Join(names, ", ")
}

func (s *Star) scanName(scan int) string {
	if name := s.Scans[scan].As; name != "" {
		return name
	}
	return "a subquery"
}

// onOf is what holds of the rows of an arm, and of its key.
func (s *Star) onOf(t *starArm) string {
	parts := []string{t.probe.String() + " = " + t.build.String()}
	if t.kind != plan.Inner {
		parts[0] = t.kind.String() + " " + parts[0]
	}
	for _, scan := range t.scans {
		if w := t.filters[scan]; w != nil {
			parts = append(parts, w.String())
		}
	}
	for _, e := range t.conditions {
		parts = append(parts, e.String())
	}
	for _, a := range t.attached {
		parts = append(parts, a.kind.String()+" "+plan.Conjunction(a.on).String())
	}
	return strings.Join(parts, " AND ")
}

// evaluated is the rows of an arm: its tables joined.
func (s *Star) evaluated(t *starArm) (rel *join.Relation, err error) {
	if t.kind != plan.Inner {
		return s.rightOf(t.of)
	}
	var inputs []*join.Relation
	for _, scan := range t.scans {
		in, err := s.Selected(scan, t.filters[scan])
		if err != nil {
			return nil, err
		}
		inputs = append(inputs, in)
	}
	if rel = inputs[0]; len(inputs) > 1 || len(t.conditions) > 0 {
		if rel, err = s.inner(inputs, t.conditions); err != nil {
			return nil, err
		}
	}
	for _, a := range t.attached {
		build, err := s.rightOf(a)
		if err != nil {
			return nil, err
		}
		step, _ := s.step(rel.Scans, build, a.on)
		step.Kind = a.kind
		if rel, err = s.pipeline(rel, []*join.Stage{step}, nil); err != nil {
			return nil, err
		}
	}
	return rel, nil
}

// rightOf is the right side of a semi or an anti join.
func (s *Star) rightOf(a attached) (*join.Relation, error) {
	s.next = a.scan
	return s.relation(a.right)
}

// join makes the arrays of an arm.
func (s *Star) join(t *starArm, d *physical.Dimension) (err error) {
	of := s.Column(t.probe.Index)
	if of == nil || of.Max >= maxPlaces {
		return &plan.Declined{Why: fmt.Sprintf("%s ranges over too many values", t.probe)}
	}
	if t.kind == plan.Anti && of.HasNulls {
		return &plan.Declined{Why: fmt.Sprintf("%s has NULLs, which have no partner", t.probe)}
	}
	if t.Relation, err = s.evaluated(t); err != nil {
		return err
	}
	keys, err := s.NumbersOf(&join.Key{Probe: t.probe, Build: t.build}, t.Relation)
	if err != nil {
		return err
	}
	numbers, err := s.numbered(t, d)
	if err != nil {
		return err
	}
	places := int(of.Max) + 1
	words := make([]uint32, (places+31)/32)
	var digits table.Codes
	if numbers != nil {
		digits = table.NewCodes(places, bits.Len(uint(d.Size)))
	}
	var found atomic.Int64
	var twice atomic.Bool
	table.InParts(len(keys.Numbers), func(lo, hi int) {
		n := 0
		for i := lo; i < hi; i++ {
			at := keys.Numbers[i] - of.Base
			if at >= uint64(places) || keys.Null != nil && keys.Null.Get(i) {
				continue
			}
			if bit := uint32(1) << (at % 32); atomic.OrUint32(&words[at/32], bit)&bit != 0 {
				if t.kind != plan.Inner {
					continue
				}
				twice.Store(true)
				break
			}
			if n++; numbers != nil {
				digits.Set(int(at), uint64(numbers[i])+1)
			}
		}
		found.Add(int64(n))
	})
	if twice.Load() {
		return &plan.Declined{Why: fmt.Sprintf("%s has several rows of the same %s", s.nameOf(t), t.build)}
	}
	d.Share = float64(found.Load()) / float64(max(1, min(places, s.Scans[s.ScanOf(t.build.Index)].Rows())))
	if t.kind == plan.Anti {
		for i := range words {
			words[i] = ^words[i]
		}
		d.Share = 1 - d.Share
	}
	if t.kind != plan.Inner { // a set of keys is all that is asked of it
		t.Relation = nil
	}
	d.Base, d.Bits, d.Digits = of.Base, physical.CodesChunk(table.Codes{U32: words}, math.MaxUint32), nil
	if numbers != nil {
		d.Digits = physical.CodesChunk(digits, uint64(d.Size))
	}
	return nil
}

// fewNumbers is the most combinations of codes by which the rows of an arm are told apart. With more, the rows of a table
// tell them apart.
const fewNumbers = 1 << 16

// numbered numbers what is read of an arm's rows, each combination once; nil where nothing is read of it.
func (s *Star) numbered(t *starArm, d *physical.Dimension) (numbers []uint32, err error) {
	d.Size, t.rows, t.values = 1, nil, nil
	if len(t.reads) == 0 {
		return nil, nil
	}
	numbers = make([]uint32, t.Relation.Rows)
	all := 1.0
	for _, c := range t.reads {
		all *= float64(s.Column(c).Max) + 2
	}
	if all > fewNumbers {
		s.byRows(t, d, numbers)
		return numbers, nil
	}
	for _, c := range t.reads {
		d.Size, t.rows = renumber(numbers, d.Size, s.segmentOf(t, c, nil))
	}
	s.merge(t, d, numbers)
	s.keepValues(t)
	return numbers, nil
}

// keepValues has an arm keep what is read of it by number: groups find it there, and not among all rows.
func (s *Star) keepValues(t *starArm) {
	t.values = map[int]*table.Segment{}
	for _, c := range t.reads {
		t.values[c] = s.segmentOf(t, c, t.rows)
	}
}

// byRows numbers the rows of the table of an arm that says what its rows are told apart by.
func (s *Star) byRows(t *starArm, d *physical.Dimension, numbers []uint32) {
	scan := s.determines(t)
	ids := t.IDsOf(scan)
	if scan == t.scans[0] || ids == nil {
		for i := range numbers {
			numbers[i] = uint32(i)
		}
		d.Size = max(1, len(numbers))
		return
	}
	known := make([]uint32, s.Scans[scan].AllRows()) // one more than the number
	for i, id := range ids {
		if known[id] == 0 {
			t.rows = append(t.rows, uint32(i))
			known[id] = uint32(len(t.rows))
		}
		numbers[i] = known[id] - 1
	}
	d.Size = max(1, len(t.rows))
	s.keepValues(t)
}

// determines is the table of an arm whose row determines all columns that are read of the arm. The tables of these columns are
// joined to it, one after the other. Where more holds of them than these joins it is the table with the key.
func (s *Star) determines(t *starArm) int {
	if len(t.conditions) >= len(t.scans) {
		return t.scans[0]
	}
	path := func(scan int) (list []int) {
		for {
			list = append(list, scan)
			parent, ok := t.parents[scan]
			if !ok {
				return list
			}
			scan = parent
		}
	}
	common := path(s.ScanOf(t.reads[0]))
	for _, c := range t.reads[1:] {
		other := path(s.ScanOf(c))
		common = slices.DeleteFunc(common, func(scan int) bool { return !slices.Contains(other, scan) })
	}
	return common[0]
}

// segmentOf is a column of some of an arm's rows; nil for all.
func (s *Star) segmentOf(t *starArm, c int, rows []uint32) *table.Segment {
	of := t.IDsOf(s.ScanOf(c))
	switch {
	case rows == nil:
		return s.Column(c).SegmentOf(join.Listed(of), t.Relation.Rows, false)
	case of == nil:
		of = rows
	default:
		picked := make([]uint32, len(rows))
		for i, row := range rows {
			picked[i] = of[row]
		}
		of = picked
	}
	return s.Column(c).SegmentOf(join.Listed(of), len(rows), false)
}

// merge gives combinations one number for which what is computed of them is the same. Where that has an error they stay apart.
func (s *Star) merge(t *starArm, d *physical.Dimension, numbers []uint32) {
	if !slices.ContainsFunc(t.needs, func(e expr.Expr) bool { _, plain := e.(*expr.Column); return !plain }) || len(t.rows) == 0 {
		return
	}
	c := &table.Chunk{Rows: len(t.rows), Segments: make([]*table.Segment, len(s.Fields))}
	for _, col := range t.reads {
		c.Segments[col] = s.segmentOf(t, col, t.rows)
	}
	texts := make([]string, len(t.rows))
	for _, e := range t.needs {
		x, err := new(vector.Evaluator).Vector(e, c, table.Block{N: c.Rows})
		if err != nil {
			return
		}
		for i := range texts {
			switch {
			case x.IsNull(i):
				texts[i] += "-"
			case x.Texts != nil:
				texts[i] += fmt.Sprintf("%q", x.Texts[i])
			case x.Floats != nil:
				texts[i] += fmt.Sprint(math.Float64bits(x.Floats[i]), ";")
			case x.Highs != nil:
				texts[i] += fmt.Sprint(x.Highs[i], ",", x.Ints[i], ";")
			default:
				texts[i] += fmt.Sprint(x.Ints[i], ";")
			}
		}
	}
	known, to, rows := map[string]uint32{}, make([]uint32, len(texts)), []uint32(nil)
	for i, text := range texts {
		number, ok := known[text]
		if !ok {
			number = uint32(len(rows))
			known[text], rows = number, append(rows, t.rows[i])
		}
		to[i] = number
	}
	for i, n := range numbers {
		numbers[i] = to[n]
	}
	d.Size, t.rows = len(rows), rows
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
	table.InParts(len(numbers), func(lo, hi int) {
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
	table.InParts(len(numbers), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			numbers[i] = known[combined(i)]
		}
	})
	return max(1, len(rows)), rows
}
