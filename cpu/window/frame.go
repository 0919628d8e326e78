package window

import (
	"math"
	"sort"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// frames are those of a partition's rows, which are asked for in their order.
type frames struct {
	expr.Frame
	partition
	group    int // of peers, in which the row asked for stands
	distance *distance
}

// spans are the rows of a frame: from the first number of each to before the second.
type spans struct {
	list [4][2]int
	n    int
}

func (s *spans) add(from, to int) {
	if from < to {
		s.list[s.n] = [2]int{from, to}
		s.n++
	}
}

// row is the first, last or n-th row of a frame, negative where there is none.
func (s *spans) row(kind expr.WindowKind, n int64) int {
	switch {
	case s.n == 0:
		return -1
	case kind == expr.LastValue:
		return s.list[s.n-1][1] - 1
	case kind == expr.FirstValue:
		return s.list[0][0]
	}
	for _, l := range s.list[:s.n] {
		if size := int64(l[1] - l[0]); n > size {
			n -= size
		} else {
			return l[0] + int(n) - 1
		}
	}
	return -1
}

func frameOf(f *expr.Window, p partition, d *distance) *frames {
	out := &frames{Frame: f.Frame, partition: p, distance: d}
	if d != nil {
		d.enter(out)
	}
	return out
}

// ofPeers reports that all peers have the same frame.
func (f *frames) ofPeers() bool {
	return f.Mode != expr.FrameRows && (f.Exclude == expr.ExcludeNoOthers || f.Exclude == expr.ExcludeGroup)
}

// of is the frame of row i.
func (f *frames) of(i int) (out spans, err error) {
	for f.peers[f.group+1] <= i {
		f.group++
	}
	from, err := f.bound(i, f.Start, false)
	if err != nil {
		return out, err
	}
	to, err := f.bound(i, f.End, true)
	if err != nil || from >= to {
		return out, err
	}
	less, until := i, i
	switch f.Exclude {
	case expr.ExcludeNoOthers:
		out.add(from, to)
		return out, nil
	case expr.ExcludeCurrentRow:
		until = i + 1
	default:
		less, until = f.peers[f.group], f.peers[f.group+1]
	}
	out.add(from, min(to, less))
	if f.Exclude == expr.ExcludeTies && from <= i && i < to {
		out.add(i, i+1)
	}
	out.add(max(from, until), to)
	return out, nil
}

// bound is the first row of a frame, or the first one behind its last.
func (f *frames) bound(i int, b expr.Bound, end bool) (int, error) {
	switch b.Kind {
	case expr.UnboundedPreceding:
		return f.from, nil
	case expr.UnboundedFollowing:
		return f.to, nil
	}
	behind := 0
	if end {
		behind = 1
	}
	if f.Mode == expr.FrameRange && b.Kind != expr.CurrentRow {
		return f.distance.bound(f, i, b.Kind == expr.Following, end)
	}
	by := int64(0)
	if b.Kind != expr.CurrentRow {
		by = min(b.Offset.(*expr.Const).V.I, int64(f.to))
	}
	if b.Kind == expr.Preceding {
		by = -by
	}
	if f.Mode == expr.FrameRows {
		return min(max(i+int(by)+behind, f.from), f.to), nil
	}
	group := f.group + int(by) + behind
	return f.peers[min(max(group, 0), len(f.peers)-1)], nil
}

// distance finds the bounds of RANGE frames that the values of ORDER BY move by.
type distance struct {
	desc        bool
	ints        []int64 // the values of the rows in their order, or
	floats      []float64
	null        []bool // nil for none
	start, end  offset
	first, last int // of the partition's rows that are not NULL, and behind them
}

// offset is a constant that values move by.
type offset struct {
	floor, ceil int64 // in units of the values
	float       float64
	step        table.Value // with months; else it has none
}

// distanceOf is that of a function's frame; nil where it needs none.
func (o *orderedRows) distanceOf(f *expr.Window) *distance {
	if f.Frame.Mode != expr.FrameRange || f.Frame.Start.Offset == nil && f.Frame.End.Offset == nil {
		return nil
	}
	d := &distance{desc: f.Order[0].Desc}
	key := f.Order[0].E.(*expr.Column)
	s, codes, null := o.codes(key.Index)
	if null != nil {
		d.null = make([]bool, o.rows)
	}
	micros := key.T.Kind == table.Date
	if key.T.IsFloat() {
		d.floats = make([]float64, o.rows)
	} else {
		d.ints = make([]int64, o.rows)
	}
	table.InParts(o.rows, func(from, to int) {
		for i := from; i < to; i++ {
			place := o.place[i]
			if null != nil && null[place] {
				d.null[i] = true
				continue
			}
			switch v := s.Value(codes[place]); {
			case d.floats != nil:
				d.floats[i] = v.F
			case micros:
				d.ints[i] = v.I * table.MicrosPerDay
			default:
				d.ints[i] = v.I + int64(v.Months)*table.MicrosPerMonth
			}
		}
	})
	d.start, d.end = offsetOf(f.Frame.Start, key.T), offsetOf(f.Frame.End, key.T)
	return d
}

// offsetOf is the offset of a bound in units of values of a type.
func offsetOf(b expr.Bound, t table.Type) (out offset) {
	if b.Offset == nil {
		return out
	}
	v := b.Offset.(*expr.Const).V
	out.float, out.floor, out.ceil = v.F, v.I, v.I
	switch {
	case v.Months != 0 && t.Kind == table.Interval: // as intervals compare
		out.floor = v.I + int64(v.Months)*table.MicrosPerMonth
		out.ceil = out.floor
	case v.Months != 0:
		out.step = v
	}
	for scale := v.Type.Scale; scale < t.Scale; scale++ {
		if out.floor > math.MaxInt64/10 {
			out.floor, out.ceil = math.MaxInt64, math.MaxInt64
			break
		}
		out.floor, out.ceil = out.floor*10, out.ceil*10
	}
	for scale := v.Type.Scale; scale > t.Scale; scale-- {
		out.floor = out.floor / 10
		out.ceil = (out.ceil + 9) / 10
	}
	return out
}

// copied is a distance for another worker; nil of nil.
func (d *distance) copied() *distance {
	if d == nil {
		return nil
	}
	out := *d
	return &out
}

// enter begins with a partition: its NULLs stand at its beginning or at its end.
func (d *distance) enter(f *frames) {
	d.first, d.last = f.from, f.to
	if d.null != nil {
		for d.first < d.last && d.null[d.first] {
			d.first++
		}
		for d.last > d.first && d.null[d.last-1] {
			d.last--
		}
	}
}

// bound is the bound of row i's frame: the first row whose value is at that distance or behind it. For the end
// of a frame it is the first row behind it.
func (d *distance) bound(f *frames, i int, following, end bool) (int, error) {
	if d.null != nil && d.null[i] {
		if end {
			return f.peers[f.group+1], nil
		}
		return f.peers[f.group], nil
	}
	by := d.start
	if end {
		by = d.end
	}
	up := following != d.desc // to larger values
	var order func(j int) int // of row j beside the bound, in the window's order
	if d.floats != nil {
		at := d.floats[i] - by.float
		if up {
			at = d.floats[i] + by.float
		}
		order = func(j int) int { return compareFloats(d.floats[j], at) }
	} else {
		n := by.floor
		if following != end {
			n = by.ceil
		}
		at, over := d.ints[i], false
		switch {
		case by.step.Months != 0:
			step := by.step
			if !up {
				step.Months, step.I = -step.Months, -step.I
			}
			v, err := expr.Next(table.Value{Type: table.Type{Kind: table.Timestamp}, I: at}, step)
			if at = v.I; err != nil {
				over = true
			}
		case up:
			over = at > math.MaxInt64-n
			at += n
		default:
			over = at < math.MinInt64+n
			at -= n
		}
		if over && following {
			return d.last, nil
		} else if over {
			return d.first, nil
		}
		order = func(j int) int {
			switch {
			case d.ints[j] < at:
				return -1
			case d.ints[j] > at:
				return 1
			}
			return 0
		}
	}
	return d.first + sort.Search(d.last-d.first, func(j int) bool {
		c := order(d.first + j)
		if d.desc {
			c = -c
		}
		return c > 0 || c == 0 && !end
	}), nil
}

// compareFloats has NaN behind all others, as [table.Compare].
func compareFloats(x, y float64) int {
	switch {
	case x < y, x == x && y != y:
		return -1
	case x > y, x != x && y == y:
		return 1
	}
	return 0
}
