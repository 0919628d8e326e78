package relational

import (
	"fmt"
	"math/bits"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/primitives"
	"github.com/stencildb/stencildb/table"
)

// windowFunction is a function as it is computed: what the passes of a row give, from what, and what that is.
type windowFunction struct {
	*expr.Window
	WindowColumn
	input     windowInput
	result    string // GLSL that sets a, and b where there are two words
	constants []uint32
	from, to  string // the row's frame in GLSL; "" where it is not asked for
	peer      bool   // it asks for the row's peers
	// counted says that the number of rows that an aggregate takes of a frame is found apart.
	counted bool
}

// windowInput is what a function reads of the rows in their order.
type windowInput struct {
	kind   inputKind
	col    int
	filter int // a column; negative for none
}

type inputKind uint8

const (
	noInput    inputKind = iota
	codesInput           // codes, more by 1; 0 of a NULL
	largest              // of a frame from the partition's first row on: the largest of these so far
	smallest             // the same of complements
	sums                 // prefix sums of codes
	signedSums           // of values, 0 of rows that the aggregate does not take
	counts               // of rows that the aggregate takes
)

// lower says how a function is computed; a [plan.Declined] leaves it to cpu.
func (w *windowing) lower(f *expr.Window) (x *windowFunction, err error) {
	x = &windowFunction{Window: f, WindowColumn: WindowColumn{typ: f.T, base: 1, most: uint64(max(1, w.rows)) - 1}, input: windowInput{filter: -1}}
	if _, _, bits := w.fields(f); bits > 32*mostKeyWords {
		return nil, x.declined("the keys of PARTITION BY and ORDER BY take more than %d bits", 32*mostKeyWords)
	}
	switch f.Kind {
	case expr.RowNumber:
		x.result = "a = i - first"
	case expr.Rank:
		x.result, x.peer = "a = own_group(i, 0u) - first", true
	case expr.DenseRank:
		x.result, x.peer = "a = peer_of(i) - peer_of(first)", true
	case expr.Ntile:
		n, ok := constantOf(f.Args[0])
		if !ok || n < 1 {
			return nil, x.declined("ntile takes a number above 0")
		}
		x.constants = []uint32{uint32(min(n, int64(max(1, w.rows))))}
		x.result = "uint size = (last - first) / c0, more = (last - first) % c0, at = i - first;" +
			" a = at < more * (size + 1u) ? at / (size + 1u) : more + (at - more * (size + 1u)) / max(size, 1u)"
	case expr.PercentRank:
		x.ratio, x.words = true, 2
		x.result, x.peer = "a = own_group(i, 0u) - first; b = max(1u, last - first - 1u)", true
	case expr.CumeDist:
		x.ratio, x.words = true, 2
		x.result, x.peer = "a = own_group(i, 1u) - first; b = last - first", true
	case expr.Lag, expr.Lead:
		err = w.lowerOffset(x)
	case expr.FirstValue, expr.LastValue, expr.NthValue:
		err = w.lowerValue(x)
	default:
		err = w.lowerAggregate(x)
	}
	if x.words == 0 {
		x.words = 1
	}
	return x, err
}

func (x *windowFunction) declined(why string, args ...any) error {
	return &plan.Declined{Why: x.String() + ": " + fmt.Sprintf(why, args...)}
}

// constantOf is an argument that is an integer.
func constantOf(e expr.Expr) (int64, bool) {
	k, ok := e.(*expr.Const)
	if !ok || k.V.Null || !k.V.Type.IsInteger() {
		return 0, false
	}
	return k.V.I, true
}

// ofCodes has the function give codes of a column, more by 1, or 0 for NULL.
func (w *windowing) ofCodes(x *windowFunction, e expr.Expr, kind inputKind) error {
	c, ok := e.(*expr.Column)
	if !ok {
		return x.declined("the value of a constant")
	}
	if physical.HasNegativeZeros(w.t, c.Index) {
		return x.declined("%s has -0, of which the code is that of 0", c)
	}
	s := w.space(c.Index)
	if s.Max() == ^uint64(0) {
		return x.declined("%s has values as far apart as 64 bits allow", c)
	}
	x.input.kind, x.input.col, x.space, x.words = kind, c.Index, s, 1
	if takesTwo(s.Max() + 1) {
		x.words = 2
	}
	return nil
}

// pick has the function look its value up in row j, if in holds.
func (x *windowFunction) pick(j, in string) {
	x.result = fmt.Sprintf("if (%s) { uint j = %s; a = x[j]; ", in, j)
	if x.words > 1 {
		x.result += "b = y[j]; "
	}
	x.result += "}"
}

// lowerOffset is lag and lead.
func (w *windowing) lowerOffset(x *windowFunction) error {
	n := int64(1)
	if len(x.Args) > 1 {
		var ok bool
		if n, ok = constantOf(x.Args[1]); !ok {
			return x.declined("its offset is no constant")
		}
	}
	if len(x.Args) > 2 {
		return x.declined("a value in the place of rows that are not there")
	}
	n = max(-int64(w.rows), min(n, int64(w.rows)))
	if x.Kind == expr.Lag {
		n = -n
	}
	x.constants = []uint32{uint32(int32(n))}
	if err := w.ofCodes(x, x.Args[0], codesInput); err != nil {
		return err
	}
	x.pick("uint(int(i) + int(c0))", "int(i) + int(c0) >= int(first) && int(i) + int(c0) < int(last)")
	return nil
}

// lowerValue is first_value and its kin.
func (w *windowing) lowerValue(x *windowFunction) error {
	if err := w.frame(x); err != nil {
		return err
	}
	if err := w.ofCodes(x, x.Args[0], codesInput); err != nil {
		return err
	}
	switch x.Kind {
	case expr.FirstValue:
		x.pick("from", "from < to")
	case expr.LastValue:
		x.pick("to - 1u", "from < to")
	default:
		n, ok := constantOf(x.Args[1])
		if !ok || n < 1 {
			return x.declined("nth_value takes a number above 0")
		}
		at := len(x.constants)
		x.constants = append(x.constants, uint32(min(n, int64(w.rows)+1)))
		x.pick(fmt.Sprintf("from + c%d - 1u", at), fmt.Sprintf("c%d <= to - from", at))
	}
	return nil
}

// frame finds where the rows' frames begin and end.
func (w *windowing) frame(x *windowFunction) error {
	f := x.Frame
	if f.Exclude != expr.ExcludeNoOthers {
		return x.declined("a frame with EXCLUDE")
	}
	bound := func(b expr.Bound, end bool) (string, error) {
		behind := 0
		if end {
			behind = 1
		}
		switch b.Kind {
		case expr.UnboundedPreceding:
			return "first", nil
		case expr.UnboundedFollowing:
			return "last", nil
		case expr.CurrentRow:
			if f.Mode == expr.FrameRows {
				return fmt.Sprintf("i + %du", behind), nil
			}
			x.peer = true
			return fmt.Sprintf("own_group(i, %du)", behind), nil
		}
		if f.Mode == expr.FrameRange {
			return "", x.declined("a RANGE frame with an offset")
		}
		by, ok := constantOf(b.Offset)
		if !ok {
			return "", x.declined("a frame's offset is no integer")
		}
		by = min(by, int64(w.rows))
		if b.Kind == expr.Preceding {
			by = -by
		}
		c := fmt.Sprintf("int(c%d)", len(x.constants))
		x.constants = append(x.constants, uint32(int32(by)+int32(behind)))
		if f.Mode == expr.FrameRows {
			return fmt.Sprintf("uint(clamp(int(i) + %s, int(first), int(last)))", c), nil
		}
		x.peer = true
		return fmt.Sprintf("group_start(int(peer_of(i)) - 1 + %s)", c), nil
	}
	var err error
	if x.from, err = bound(f.Start, false); err == nil {
		x.to, err = bound(f.End, true)
	}
	return err
}

// lowerAggregate is an aggregate over a frame.
func (w *windowing) lowerAggregate(x *windowFunction) error {
	a := x.Agg
	if err := w.frame(x); err != nil {
		return err
	}
	if a.Distinct || a.Y != nil {
		return x.declined("compute has counts, sums, averages and extremes of one column over frames")
	}
	if a.Filter != nil {
		x.input.filter = a.Filter.(*expr.Column).Index
	}
	x.input.col = -1
	some := x.input.filter >= 0 // an aggregate takes not all rows
	if c, ok := a.Argument().(*expr.Column); ok {
		x.input.col = c.Index
		some = some || w.nulls(c.Index)
	}
	switch a.Kind {
	case expr.CountAll, expr.Count:
		x.base, x.most = 0, uint64(w.rows)
		if x.result = "a = to - from"; some {
			x.input.kind, x.result = counts, "a = before(to) - before(from)"
		}
		return nil
	case expr.Sum, expr.Avg:
		return w.lowerSum(x, some)
	case expr.Min, expr.Max, expr.BoolAnd, expr.BoolOr, expr.AnyValue:
		if x.Frame.Start.Kind != expr.UnboundedPreceding {
			return x.declined("the extreme of a frame that slides")
		}
		kind := smallest
		if a.Kind == expr.Max || a.Kind == expr.BoolOr {
			kind = largest
		}
		if err := w.ofCodes(x, a.Argument(), kind); err != nil {
			return err
		}
		if x.words > 1 {
			return x.declined("the extreme of codes of more than 32 bits")
		}
		x.mirrored = kind == smallest
		x.pick("to - 1u", "from < to")
		return nil
	}
	return x.declined("compute has counts, sums, averages and extremes of one column over frames")
}

// lowerSum is SUM and AVG of integers and DECIMALs.
func (w *windowing) lowerSum(x *windowFunction, some bool) error {
	if x.Agg.Arg.IsFloat() || !x.Agg.Arg.IsExact() {
		return x.declined("compute adds up integers and DECIMALs over frames")
	}
	s := w.space(x.input.col)
	least := table.IntFromOrdinal(s.Segment().Base)
	most := table.IntFromOrdinal(s.Segment().Base + s.Max())
	over, reach := bits.Mul64(max(uint64(max(most, -most)), uint64(max(least, -least))), uint64(w.rows)+1)
	if least == -1<<63 || over != 0 || reach >= 1<<62 {
		return x.declined("a sum may take more than 63 bits")
	}
	always := x.Frame.Start.Kind <= expr.CurrentRow && x.Frame.End.Kind >= expr.CurrentRow // the row itself is in its frame
	x.counted = some || !always || x.Agg.Kind == expr.Avg
	if x.Agg.Kind == expr.Avg {
		x.avg = &x.Agg
	}
	low, high := min(0, least)*int64(w.rows), max(0, most)*int64(w.rows)
	x.base, x.most, x.words = low, uint64(high-low), 1
	if takesTwo(x.most) {
		x.words = 2
	}
	x.input.kind = sums
	if some {
		x.input.kind = signedSums
	}
	// The result is low plus a, or low plus (a, b). Where codes are summed, the sum of the values is larger by the least
	// value for each row.
	plus, each := uint64(-low), uint64(0)
	if !some {
		each = uint64(least)
	}
	at := len(x.constants)
	x.constants = append(x.constants, uint32(plus), uint32(plus>>32), uint32(each), uint32(each>>32))
	if x.words == 1 {
		x.result = fmt.Sprintf("a = before(to) - before(from) + (to - from) * c%d + c%d", at+2, at)
		return nil
	}
	x.result = fmt.Sprintf("uvec2 s = add(minus(before_wide(to), before_wide(from)), add(times(to - from, uvec2(c%d, c%d)), uvec2(c%d, c%d))); a = s.x; b = s.y", at+2, at+3, at, at+1)
	return nil
}

// column computes a function of the rows.
func (o *orderedRows) column(x *windowFunction) (*WindowColumn, error) {
	out := x.WindowColumn
	if o.rows == 0 {
		return &out, nil
	}
	in, err := o.input(x)
	if err != nil {
		return nil, err
	}
	p := windowPass{verb: x.String(), result: x.result, constants: x.constants, in: in, partitions: true, peer: x.peer}
	if x.from != "" {
		p.defines = []string{"FRAME", "FROM " + x.from, "TO " + x.to}
	}
	if out.Words, err = o.found(p, x.words); err != nil || !x.counted {
		return &out, err
	}
	p.verb, p.result, p.in = x.String()+": rows that it takes", "a = to - from", nil
	if x.input.kind == signedSums {
		of := *x
		of.input.kind = counts
		if p.in, err = o.input(&of); err != nil {
			return nil, err
		}
		p.result = "a = before(to) - before(from)"
	}
	taken, err := o.found(p, 1)
	out.taken = taken[0]
	return &out, err
}

// found is what a pass gives, at the rows' places.
func (o *orderedRows) found(p windowPass, words int) ([]primitives.Vector, error) {
	for range words {
		p.out = append(p.out, primitives.New(o.rows))
	}
	if err := o.pass(p); err != nil {
		return p.out, err
	}
	return o.atPlaces(p.out)
}

// loadings are the words of a row's column that a function reads.
func (w *windowing) loadings(x *windowFunction) (list []loading) {
	in, l, n := x.input, loading{verb: "codes"}, 1
	switch in.kind {
	case codesInput:
		l.plus, n = 1, x.words
	case largest:
		l.plus = 1
	case smallest:
		l.negate, l.plus = true, w.space(in.col).Max()+1
	case counts:
		l = loading{verb: "not NULL", constant: true, plus: 1}
	case sums:
		if x.words > 1 && takesTwo(w.space(in.col).Max()) {
			n = 2
		}
	case signedSums:
		s := w.space(in.col).Segment()
		base := uint64(table.IntFromOrdinal(s.Base))
		l = loading{verb: "values", plus: base}
		if x.words > 1 && (int64(base) < 0 || takesTwo(base+s.Max)) {
			n = 2
		}
	}
	if in.kind == noInput || in.col < 0 {
		return nil
	}
	l.col = in.col
	for i := range n {
		l.shift = -32 * i
		list = append(list, l)
	}
	return list
}

// input is what a function reads of the rows, in their order.
func (o *orderedRows) input(x *windowFunction) (list []primitives.Vector, err error) {
	d, in := o.device.Primitives, x.input
	for _, l := range o.loadings(x) {
		v, err := o.loaded(l)
		if err != nil {
			return list, err
		}
		list = append(list, v)
	}
	if in.kind == counts && in.col < 0 {
		list = []primitives.Vector{primitives.New(o.rows)}
		if err = primitives.Map(o.run, d, primitives.Expr("1u"), list[0]); err != nil {
			return list, err
		}
	}
	if in.kind == noInput || in.kind == codesInput {
		return list, nil
	}
	if err = o.filtered(in, list); err != nil {
		return list, err
	}
	if in.kind != largest && in.kind != smallest {
		return o.prefixSums(list, x.words > 1 && in.kind != counts)
	}
	shape := primitives.ScanShape{Inclusive: true, Segments: o.partitions.of}
	so := primitives.New(o.rows)
	return []primitives.Vector{so}, primitives.Scan(o.run, d, primitives.Max, shape, list[0], so)
}

// prefixSums are the inclusive ones of words, of 64 bits where wide.
func (o *orderedRows) prefixSums(in []primitives.Vector, wide bool) (out []primitives.Vector, err error) {
	d, low := o.device.Primitives, primitives.New(o.rows) // what there was may be the column's
	if !wide {
		return []primitives.Vector{low}, primitives.Scan(o.run, d, primitives.Add, primitives.ScanShape{Inclusive: true}, in[0], low)
	}
	high, upper := primitives.New(o.rows), primitives.Vector{}
	if len(in) > 1 {
		upper = in[1]
	}
	return []primitives.Vector{low, high}, primitives.ScanWide(o.run, d, in[0], upper, low, high)
}

// filtered makes the words of rows that an aggregate does not take 0, in vectors of their own.
func (o *orderedRows) filtered(in windowInput, list []primitives.Vector) error {
	if in.filter < 0 {
		return nil
	}
	holds, err := o.loaded(loading{verb: "FILTER", col: in.filter, plus: o.space(in.filter).Segment().Base})
	if err != nil {
		return err
	}
	for i, v := range list {
		list[i] = primitives.New(o.rows)
		if err := primitives.Map(o.run, o.device.Primitives, primitives.Expr("y != 0u ? x : 0u"), list[i], v, holds); err != nil {
			return err
		}
	}
	return nil
}
