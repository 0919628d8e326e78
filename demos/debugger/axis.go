package debugger

import (
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
)

// bars is how many a number line in proportion has.
const bars = 160

// axis is the number line of an attribute. Its values lie there by rank: at the share of records with smaller
// values. Or they lie in proportion: floating point to the finite values, others to the codes that the chunks
// have in common.
type axis struct {
	typ       table.Type
	space     *physical.CodeSpace
	codes     []uint64  // of the records, or of a sample, in order
	finite    [2]int    // which of them have finite values, from and to
	lo, hi    float64   // the ends in proportion
	step      float64   // in which floating-point values go
	histogram []float64 // how many lie at each bar in proportion, by the fullest one
}

func newAxis(t *table.Table, col int) *axis {
	a := &axis{typ: t.Fields[col].Type, space: physical.NewCodeSpace(t, col)}
	a.sample(t, col)
	a.finite, a.hi = [2]int{0, len(a.codes)}, float64(a.space.Max())
	if a.typ.IsFloat() {
		a.measure()
	}
	a.count()
	return a
}

// sample takes the codes of records that are equally far apart in all chunks.
func (a *axis) sample(t *table.Table, col int) {
	step := 1
	for _, c := range t.Chunks {
		step = max(step, stride(c.Rows))
	}
	for _, c := range t.Chunks {
		seg := c.Segments[col]
		for row := 0; row < c.Rows; row += step {
			if !seg.IsNull(row) {
				a.codes = append(a.codes, a.space.Code(seg, seg.Codes.At(row)))
			}
		}
	}
	slices.Sort(a.codes)
}

// measure finds the finite values among floating-point ones, and in which steps they go.
func (a *axis) measure() {
	a.finite[0] = sort.Search(len(a.codes), func(i int) bool { return !math.IsInf(a.double(i), -1) })
	a.finite[1] = sort.Search(len(a.codes), func(i int) bool { return !(a.double(i) < math.Inf(1)) })
	a.hi = 0
	if a.finite[0] < a.finite[1] {
		a.lo, a.hi = a.double(a.finite[0]), a.double(a.finite[1]-1)
	}
	width := min(max(a.hi-a.lo, math.Abs(a.lo)*1e-12, 1e-300), 1e300)
	a.step = math.Pow(10, math.Floor(math.Log10(width/200)))
}

func (a *axis) count() {
	a.histogram = make([]float64, bars)
	for i := a.finite[0]; i < a.finite[1]; i++ {
		x := float64(a.codes[i])
		if a.typ.IsFloat() {
			x = a.double(i)
		}
		a.histogram[min(int(a.share(x)*bars), bars-1)]++
	}
	most := max(1, slices.Max(a.histogram))
	for i := range a.histogram {
		a.histogram[i] /= most
	}
}

// double is the floating-point value of a record's code.
func (a *axis) double(i int) float64 { return a.space.Value(a.codes[i]).F }

// share is how much of the line in proportion lies below a number.
func (a *axis) share(x float64) float64 {
	return min(max((x/2-a.lo/2)/max(a.hi/2-a.lo/2, 1e-300), 0), 1) // a.hi-a.lo may be infinite
}

// at returns the value at a place from 0 to 1: of a record, or, in proportion, a finite
// one.
func (a *axis) at(place float64, linear bool) table.Value {
	place = min(max(place, 0), 1)
	if linear || len(a.codes) == 0 {
		return a.proportional(place)
	}
	i := min(int(place*float64(len(a.codes))+1e-6), len(a.codes)-1) // a place that span has rounded down
	if a.finite[0] <= i && i < a.finite[1] && a.typ.IsFloat() && 0 < place && place < 1 {
		return table.Float(a.short(i))
	}
	return a.space.Value(a.codes[i])
}

func (a *axis) proportional(place float64) table.Value {
	if a.typ.IsFloat() {
		return a.round(a.lo*(1-place) + a.hi*place)
	}
	return a.space.Value(code(place*a.hi, a.space.Max()))
}

// code rounds a number to a code of at most top.
func code(x float64, top uint64) uint64 {
	if x >= float64(top) {
		return top
	}
	return uint64(math.Round(max(x, 0)))
}

// round returns a value of few digits between the ends.
func (a *axis) round(x float64) table.Value {
	x = min(max(x, a.lo), a.hi)
	y, err := strconv.ParseFloat(strconv.FormatFloat(math.Round(x/a.step)*a.step, 'g', 12, 64), 64)
	if err != nil || !(a.lo <= y && y <= a.hi) {
		y = x
	}
	return table.Float(y)
}

// short returns the number of the fewest digits that has as many records below it as
// code i.
func (a *axis) short(i int) float64 {
	x, before := a.double(i), math.Inf(-1)
	if first, _ := slices.BinarySearch(a.codes, a.codes[i]); first > 0 {
		before = a.double(first - 1)
	}
	for digits := 1; digits < 17; digits++ {
		if y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', digits, 64), 64); err == nil && before < y && y <= x {
			return y
		}
	}
	return x
}

// span returns where a value lies, from 0 to 1. from and to differ by the share of the records that have it,
// and in proportion they do not differ.
func (a *axis) span(v table.Value, linear bool) (from, to float64) {
	if linear || len(a.codes) == 0 {
		x := number(v)
		if !a.typ.IsFloat() {
			x = float64(a.space.AtLeast(a.order(v)))
		}
		return a.share(x), a.share(x)
	}
	n := len(a.codes)
	below := sort.Search(n, func(i int) bool { return a.compare(a.space.Value(a.codes[i]), v) >= 0 })
	upTo := sort.Search(n, func(i int) bool { return a.compare(a.space.Value(a.codes[i]), v) > 0 })
	return float64(below) / float64(n), float64(upTo) / float64(n)
}

// nudged is the value so many steps of the attribute after a value.
func (a *axis) nudged(v table.Value, steps float64) table.Value {
	if a.typ.IsFloat() {
		return a.nudgedFloat(v, steps)
	}
	code, by := a.space.AtLeast(a.order(v)), uint64(math.Abs(steps))
	if steps < 0 {
		return a.space.Value(code - min(by, code))
	}
	return a.space.Value(code + min(by, a.space.Max()-code))
}

// nudgedFloat goes by round numbers, and beyond the finite ones by the values that
// records have.
func (a *axis) nudgedFloat(v table.Value, steps float64) table.Value {
	x := v.F
	if !v.Type.IsFloat() {
		x = number(v)
	}
	switch {
	case steps > 0 && !(x < a.hi):
		if i := sort.Search(len(a.codes), func(i int) bool { return a.compare(a.space.Value(a.codes[i]), v) > 0 }); i < len(a.codes) {
			return a.space.Value(a.codes[i])
		}
		return v
	case steps < 0 && !(x > a.lo):
		if i := sort.Search(len(a.codes), func(i int) bool { return a.compare(a.space.Value(a.codes[i]), v) >= 0 }); i > 0 {
			return a.space.Value(a.codes[i-1])
		}
		return v
	case math.IsInf(x, 0) || math.IsNaN(x): // back among the finite ones
		return a.round(map[bool]float64{true: a.lo, false: a.hi}[steps > 0])
	}
	to := a.round(x + steps*a.step)
	if (to.F > x) != (steps > 0) { // rounded back, close to an end
		to.F = min(max(x+steps*a.step, a.lo), a.hi)
	}
	return to
}

// order compares values of the attribute with a constant.
func (a *axis) order(v table.Value) func(x table.Value) int {
	return func(x table.Value) int { return a.compare(x, v) }
}

// compare orders a value of the attribute and a constant, which may have another
// numeric type.
func (a *axis) compare(x, v table.Value) int {
	if a.typ.Kind == v.Type.Kind || a.typ.IsInteger() && v.Type.IsInteger() {
		return table.Compare(x, v)
	}
	return table.CompareFloat(number(x), number(v))
}

func number(v table.Value) float64 {
	switch {
	case v.Type.IsFloat():
		return v.F
	case v.Type.Kind == table.Decimal:
		f, _ := v.Unscaled().Float64()
		return f / math.Pow(10, float64(v.Type.Scale))
	}
	return float64(v.I)
}

// place returns where a constant's knob is, and the parts of the number line on which
// its comparison holds.
func (c *Constant) place(linear bool) (knob float64, holds [][2]float64) {
	from, to := c.axis.span(c.Value, linear)
	op := c.Text[strings.LastIndexByte(c.Text, ' ')+1:]
	switch op {
	case "<":
		return from, [][2]float64{{0, from}}
	case "<=":
		return to, [][2]float64{{0, to}}
	case ">":
		return to, [][2]float64{{to, 1}}
	case ">=":
		return from, [][2]float64{{from, 1}}
	}
	knob = (from + to) / 2
	if linear { // a value has no width there: the bar
		from, to = knob-0.5/bars, knob+0.5/bars
	}
	if op == "<>" {
		return knob, [][2]float64{{0, from}, {to, 1}}
	}
	return knob, [][2]float64{{from, to}}
}
