package window

import (
	"fmt"
	"math"
	"math/bits"
	"runtime"
	"strings"

	"github.com/stencildb/stencildb/cpu/aggregation"
	"github.com/stencildb/stencildb/cpu/int128"
	"github.com/stencildb/stencildb/cpu/vector"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan/partial"
	"github.com/stencildb/stencildb/table"
)

// windowInput is what an aggregate takes of the rows, in the window's order: those that its FILTER holds for and
// whose arguments are not NULL.
type windowInput struct {
	before []int // how many of them stand before each row, and in all
	rows   []int // which they are
}

// inputs lists the rows that an aggregate takes.
func (o *orderedRows) inputs(a expr.Aggregate) *windowInput {
	var nulls [][]bool
	var holds func(place uint64) bool
	for _, e := range []expr.Expr{a.Argument(), a.Y} {
		if e != nil {
			if _, _, null := o.codes(e.(*expr.Column).Index); null != nil {
				nulls = append(nulls, null)
			}
		}
	}
	if a.Filter != nil {
		s, codes, null := o.codes(a.Filter.(*expr.Column).Index)
		holds = func(place uint64) bool { return (null == nil || !null[place]) && s.Value(codes[place]).I != 0 }
	}
	in := &windowInput{before: make([]int, o.rows+1)}
	if holds == nil && nulls == nil {
		for i := range in.before {
			in.before[i] = i
		}
		in.rows = in.before[:o.rows]
		return in
	}
	for i, place := range o.place {
		in.before[i] = len(in.rows)
		takes := holds == nil || holds(place)
		for _, null := range nulls {
			takes = takes && !null[place]
		}
		if takes {
			in.rows = append(in.rows, i)
		}
	}
	in.before[o.rows] = len(in.rows)
	return in
}

// aggregate computes an aggregate of the rows of each row's frame.
func (o *orderedRows) aggregate(f *expr.Window) (*windowColumn, error) {
	in, a := o.inputs(f.Agg), f.Agg
	switch {
	case aggregation.KindOf(a) == aggregation.Counting:
		return o.counted(f, in)
	case aggregation.KindOf(a) == aggregation.Summing && !a.Arg.IsFloat():
		return o.summed(f, in)
	case aggregation.KindOf(a) == aggregation.Extremes:
		return o.extreme(f, in)
	case aggregation.KindOf(a) == aggregation.Gathering:
		return o.texts(f, in)
	}
	return o.gathered(f, in)
}

// overFrames has do compute the value of each row's frame; consecutive rows with the same frame have the value of the
// first.
func (o *orderedRows) overFrames(f *expr.Window, do func(worker int, s *spans, to uint64) error, same func(from, to uint64)) error {
	distance := o.distanceOf(f)
	return o.each(func(worker int, p partition) error {
		frames := frameOf(f, p, distance.copied())
		if frames.ofPeers() {
			for g := range p.peers[1:] {
				if err := o.stopped(g); err != nil {
					return err
				}
				first := p.peers[g]
				s, err := frames.of(first)
				if err != nil {
					return err
				}
				if err := do(worker, &s, o.place[first]); err != nil {
					return err
				}
				for i := first + 1; i < p.peers[g+1]; i++ {
					same(o.place[first], o.place[i])
				}
			}
			return nil
		}
		var last spans
		for i := p.from; i < p.to; i++ {
			if err := o.stopped(i); err != nil {
				return err
			}
			s, err := frames.of(i)
			if err != nil {
				return err
			}
			if i > p.from && s == last {
				same(o.place[i-1], o.place[i])
				continue
			}
			if err := do(worker, &s, o.place[i]); err != nil {
				return err
			}
			last = s
		}
		return nil
	})
}

// stopped is why the statement ends, asked at every 64th of the frames: one may be all rows.
func (o *orderedRows) stopped(i int) error {
	if i%64 != 0 {
		return nil
	}
	return o.ctx.Err()
}

// count is how many rows of a frame the aggregate takes.
func (in *windowInput) count(s *spans) (n int) {
	for _, l := range s.list[:s.n] {
		n += in.before[l[1]] - in.before[l[0]]
	}
	return n
}

// counted is COUNT.
func (o *orderedRows) counted(f *expr.Window, in *windowInput) (*windowColumn, error) {
	c := &windowColumn{ints: make([]int64, o.rows)}
	return c, o.overFrames(f, func(_ int, s *spans, to uint64) error {
		c.ints[to] = int64(in.count(s))
		return nil
	}, func(from, to uint64) { c.ints[to] = c.ints[from] })
}

// summed is SUM and AVG of integers and DECIMALs: differences of sums from the first row on.
func (o *orderedRows) summed(f *expr.Window, in *windowInput) (*windowColumn, error) {
	a := f.Agg
	space, codes, _ := o.codes(a.Argument().(*expr.Column).Index)
	base := space.Segment().Base
	values := make([]int64, len(in.rows))
	table.InParts(len(values), func(from, to int) {
		for k := from; k < to; k++ {
			values[k] = table.IntFromOrdinal(base + codes[o.place[in.rows[k]]])
		}
	})
	most := uint64(0)
	for _, v := range values {
		most |= uint64(v ^ v>>63)
	}
	over, reach := bits.Mul64(most+1, uint64(len(in.rows))+1)
	var small []int64
	var large []int128.Sum
	if over == 0 && reach <= aggregation.MostReach {
		small = make([]int64, len(in.rows)+1)
		for k, v := range values {
			small[k+1] = small[k] + v
		}
	} else {
		large = make([]int128.Sum, len(in.rows)+1)
		for k, v := range values {
			large[k+1] = large[k]
			large[k+1].AddInt(v)
		}
	}
	c := &windowColumn{null: make([]bool, o.rows)}
	if a.Kind == expr.Sum {
		c.ints = make([]int64, o.rows)
	} else {
		c.floats = make([]float64, o.rows)
	}
	unit := math.Pow10(a.Arg.Scale) // exact
	return c, o.overFrames(f, func(_ int, s *spans, to uint64) error {
		var total int128.Sum
		n, simple, fits := uint64(in.count(s)), int64(0), true
		for _, l := range s.list[:s.n] {
			from, to := in.before[l[0]], in.before[l[1]]
			if small != nil {
				simple += small[to] - small[from]
			} else {
				part := large[to].Minus(large[from])
				total.Add(part.Lo, part.Mid, part.Hi)
			}
		}
		if large != nil {
			simple, fits = total.Int64()
		} else {
			total.AddInt(simple)
		}
		const exact = 1 << 53
		switch {
		case n == 0:
			c.null[to] = true
		case a.Kind == expr.Sum && fits:
			c.ints[to] = simple
		case a.Kind == expr.Avg && fits && simple > -exact && simple < exact && float64(n)*unit < exact:
			c.floats[to] = float64(simple) / (float64(n) * unit)
		default:
			whole := partial.Sum{N: n}
			total.Into(&whole.Int)
			v, err := partial.FinishSum(a, &whole)
			if err == nil && v.Big != nil {
				err = fmt.Errorf("%s: %s takes more than 64 bits", f, v)
			}
			if err != nil {
				return err
			}
			if c.floats != nil {
				c.floats[to] = v.F
			} else {
				c.ints[to] = v.I
			}
		}
		return nil
	}, func(from, to uint64) {
		if c.null[to] = c.null[from]; c.ints != nil {
			c.ints[to] = c.ints[from]
		} else {
			c.floats[to] = c.floats[from]
		}
	})
}

// extreme is MIN, MAX and their kin. Frames from a partition's first row on extend the extreme so far. Other frames
// read a tree whose inner nodes have the extreme of the two below.
func (o *orderedRows) extreme(f *expr.Window, in *windowInput) (*windowColumn, error) {
	a := f.Agg
	space, codes, _ := o.signedCodes(a.Argument().(*expr.Column).Index)
	c := &windowColumn{codes: make([]uint64, o.rows), space: space, null: make([]bool, o.rows)}
	flip := uint64(0) // of a largest one the smallest of the complements
	if a.Kind == expr.Max || a.Kind == expr.BoolOr {
		flip = math.MaxUint64
	}
	n := len(in.rows)
	tree := make([]uint64, 2*n)
	for k, i := range in.rows {
		tree[n+k] = codes[o.place[i]] ^ flip
	}
	growing := f.Frame.Start.Kind == expr.UnboundedPreceding && f.Frame.Exclude == expr.ExcludeNoOthers
	if !growing {
		for k := n - 1; k > 0; k-- {
			tree[k] = min(tree[2*k], tree[2*k+1])
		}
	}
	type sofar struct {
		from, to int
		least    uint64
	}
	seen := make([]sofar, runtime.GOMAXPROCS(0))
	return c, o.overFrames(f, func(worker int, s *spans, to uint64) error {
		least, some := uint64(math.MaxUint64), false
		for _, l := range s.list[:s.n] {
			from, until := in.before[l[0]], in.before[l[1]]
			if from == until {
				continue
			}
			some = true
			if growing {
				w := &seen[worker]
				if w.from != from || w.to > until || w.to <= from {
					*w = sofar{from, from, math.MaxUint64}
				}
				for ; w.to < until; w.to++ {
					w.least = min(w.least, tree[n+w.to])
				}
				least = w.least
				continue
			}
			for lo, hi := from+n, until+n; lo < hi; lo, hi = lo/2, hi/2 {
				if lo&1 == 1 {
					least = min(least, tree[lo])
					lo++
				}
				if hi&1 == 1 {
					hi--
					least = min(least, tree[hi])
				}
			}
		}
		if !some {
			c.null[to] = true
		} else {
			c.codes[to] = least ^ flip
		}
		return nil
	}, func(from, to uint64) { c.codes[to], c.null[to] = c.codes[from], c.null[from] })
}

// texts is string_agg, in the window's order.
func (o *orderedRows) texts(f *expr.Window, in *windowInput) (*windowColumn, error) {
	text, codes, _ := o.codes(f.Agg.Argument().(*expr.Column).Index)
	separator, separators, none := o.codes(f.Agg.Separator.(*expr.Column).Index)
	c := &windowColumn{values: make([]table.Value, o.rows)}
	return c, o.overFrames(f, func(_ int, s *spans, to uint64) error {
		var out strings.Builder
		first := true
		for _, l := range s.list[:s.n] {
			for _, i := range in.rows[in.before[l[0]]:in.before[l[1]]] {
				place := o.place[i]
				if !first && (none == nil || !none[place]) {
					out.WriteString(separator.Value(separators[place]).S)
				}
				first = false
				if out.WriteString(text.Value(codes[place]).S); out.Len() > expr.MaxText {
					return fmt.Errorf("%s: the text of a frame is longer than %d bytes", f.Agg, expr.MaxText)
				}
			}
		}
		if c.values[to] = table.Str(out.String()); first {
			c.values[to] = table.Null(f.T)
		}
		return nil
	}, func(from, to uint64) { c.values[to] = c.values[from] })
}

// vector is an argument of an aggregate in the rows that it takes.
func (o *orderedRows) vector(e expr.Expr, in *windowInput) (x expr.Vector) {
	if e == nil {
		return x
	}
	s, codes, _ := o.signedCodes(e.(*expr.Column).Index)
	switch t := e.Type(); {
	case t.IsFloat():
		x.Floats = make([]float64, len(in.rows))
	case t.Kind == table.Varchar:
		x.Texts = make([]string, len(in.rows))
	default:
		x.Ints = make([]int64, len(in.rows))
	}
	if e.Type().Kind == table.Interval {
		x.Spans = make([]table.Span, len(in.rows))
	}
	for k, i := range in.rows {
		switch v := s.Value(codes[o.place[i]]); {
		case x.Floats != nil:
			x.Floats[k] = v.F
		case x.Texts != nil:
			x.Texts[k] = v.S
		default:
			if x.Ints[k] = v.I + int64(v.Months)*table.MicrosPerMonth; x.Spans != nil {
				x.Spans[k] = v.Span
			}
		}
	}
	return x
}

// stretch is some rows of a vector.
func stretch(x *expr.Vector, from, to int) (out expr.Vector) {
	switch {
	case x.Floats != nil:
		out.Floats = x.Floats[from:to]
	case x.Texts != nil:
		out.Texts = x.Texts[from:to]
	case x.Ints != nil:
		if out.Ints = x.Ints[from:to]; x.Spans != nil {
			out.Spans = x.Spans[from:to]
		}
	}
	return out
}

// framesState is what a worker has of the frame that it looked at last.
type framesState struct {
	aggregation.State
	from, to int
}

// gathered is any other aggregate, by its state. Frames from a partition's first row on add to the state of the
// frame before, if the state has a value at any time. Other frames have a state each.
func (o *orderedRows) gathered(f *expr.Window, in *windowInput) (*windowColumn, error) {
	a, kind := f.Agg, aggregation.KindOf(f.Agg)
	x, y := o.vector(a.Argument(), in), o.vector(a.Y, in)
	c := &windowColumn{values: make([]table.Value, o.rows)}
	growing := f.Frame.Start.Kind == expr.UnboundedPreceding && f.Frame.Exclude == expr.ExcludeNoOthers && kind != aggregation.Listing
	states := make([]framesState, runtime.GOMAXPROCS(0))
	groups := make([]uint32, vector.PieceRows) // all of group 0
	return c, o.overFrames(f, func(worker int, s *spans, to uint64) error {
		st := &states[worker]
		begin := func() {
			*st = framesState{State: aggregation.NewState(kind, a.Argument())}
			st.Resize(1)
		}
		add := func(from, to int) {
			for ; from < to; from += vector.PieceRows {
				until := min(to, from+vector.PieceRows)
				xs, ys := stretch(&x, from, until), stretch(&y, from, until)
				st.Add(groups[:until-from], &xs, &ys)
			}
		}
		if !growing || s.n == 0 || st.State == nil || st.from != s.list[0][0] || st.to > s.list[0][1] {
			begin()
			if s.n > 0 {
				st.from, st.to = s.list[0][0], s.list[0][0]
			}
		}
		for _, l := range s.list[:s.n] {
			from := l[0]
			if growing {
				from, st.to = st.to, l[1]
			}
			add(in.before[from], in.before[l[1]])
		}
		if !growing {
			st.Arrange()
		}
		v, err := st.Value(a, 0, o.t)
		c.values[to] = v
		return err
	}, func(from, to uint64) { c.values[to] = c.values[from] })
}
