package debugger

import (
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// bars is how many a number line in proportion has.
const bars = 160

// axis is the number line of an attribute. Its values have numbers, which are their
// places among those of the whole table (plan.Space), or of floating point themselves.
// On the line they lie by rank: at the share of records with smaller ones; or in
// proportion to their numbers.
type axis struct {
	typ       table.Type
	space     *plan.Space
	lo, hi    float64   // numbers
	step      float64   // of floating point: a round number; 0: numbers are places
	sorted    []float64 // the numbers of the records, or of a sample
	histogram []float64 // how many lie at each bar, by the fullest one
}

// newAxis returns the number line of an attribute of a table.
func newAxis(t *table.Table, col int) *axis {
	a := &axis{typ: t.Fields[col].Type, space: plan.NewSpace(t, col)}
	a.lo, a.hi = 0, float64(a.space.Max())
	if a.typ.IsFloat() {
		lo, hi := a.space.Value(0).F, a.space.Value(a.space.Max()).F
		if !math.IsInf(lo, 0) && !math.IsNaN(hi) && !math.IsInf(hi, 0) && hi > lo && !math.IsInf(hi-lo, 0) {
			a.lo, a.hi = lo, hi
			a.step = math.Pow(10, math.Floor(math.Log10((hi-lo)/200)))
		}
	}
	a.survey(t, col)
	return a
}

// survey looks at the records.
func (a *axis) survey(t *table.Table, col int) {
	for _, c := range t.Chunks {
		seg := c.Segments[col]
		for row := 0; row < c.Rows; row += stride(c.Rows) {
			if seg.IsNull(row) {
				continue
			}
			x := float64(seg.Codes.At(row))
			if a.step != 0 || len(t.Chunks) > 1 {
				x = a.number(seg.Value(row))
			}
			a.sorted = append(a.sorted, x)
		}
	}
	slices.Sort(a.sorted)
	a.histogram = make([]float64, bars)
	for _, x := range a.sorted {
		a.histogram[min(int(a.share(x)*bars), bars-1)]++
	}
	most := max(1, slices.Max(a.histogram))
	for i := range a.histogram {
		a.histogram[i] /= most
	}
}

// share is how much of the line in proportion lies below a number.
func (a *axis) share(x float64) float64 {
	if a.hi <= a.lo {
		return 0
	}
	return min(max((x-a.lo)/(a.hi-a.lo), 0), 1)
}

// at returns the value at a place from 0 to 1.
func (a *axis) at(place float64, linear bool) table.Value {
	place = min(max(place, 0), 1)
	if linear || len(a.sorted) == 0 {
		return a.value(a.lo + place*(a.hi-a.lo))
	}
	i := min(int(place*float64(len(a.sorted))+1e-6), len(a.sorted)-1) // a place that span has rounded down
	if a.step != 0 && 0 < place && place < 1 {
		return table.Float(a.short(a.sorted[i]))
	}
	return a.exactly(a.sorted[i])
}

// short returns the number of the fewest digits that has as many records below it as x.
func (a *axis) short(x float64) float64 {
	before := math.Inf(-1)
	if i, _ := slices.BinarySearch(a.sorted, x); i > 0 {
		before = a.sorted[i-1]
	}
	for digits := 1; digits < 17; digits++ {
		if y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', digits, 64), 64); err == nil && before < y && y <= x {
			return y
		}
	}
	return x
}

// span returns where a value lies, from 0 to 1: from and to differ by the share of the
// records that have it, or not at all in proportion.
func (a *axis) span(v table.Value, linear bool) (from, to float64) {
	x := a.number(v)
	if linear || len(a.sorted) == 0 {
		return a.share(x), a.share(x)
	}
	n := float64(len(a.sorted))
	below, _ := slices.BinarySearch(a.sorted, x)
	upTo := sort.Search(len(a.sorted), func(i int) bool { return a.sorted[i] > x })
	switch c := a.compare(a.exactly(x), v); {
	case c > 0: // v lies between two values
		upTo = below
	case c < 0: // above all
		below = upTo
	}
	return float64(below) / n, float64(upTo) / n
}

// next is the value so many steps of the attribute after a value.
func (a *axis) next(v table.Value, steps float64) table.Value {
	unit := 1.0
	if a.step != 0 {
		unit = a.step
	}
	return a.value(a.number(v) + steps*unit)
}

// value returns the value with a number, a round one near it of floating point.
func (a *axis) value(x float64) table.Value {
	x = min(max(x, a.lo), a.hi)
	if a.step == 0 {
		return a.exactly(math.Round(x))
	}
	digits := max(0, -int(math.Floor(math.Log10(a.step)+0.5)))
	scale := math.Pow(10, float64(digits))
	return table.Float(math.Round(math.Round(x/a.step)*a.step*scale) / scale)
}

// exactly returns the value with the number of a record.
func (a *axis) exactly(x float64) table.Value {
	if a.step != 0 {
		return table.Float(x)
	}
	if top := a.space.Max(); x < float64(top) {
		return a.space.Value(uint64(max(x, 0)))
	}
	return a.space.Value(a.space.Max())
}

// number returns the number of a value, which need not be one of the attribute's: then
// that of the next one, or of floating point its own.
func (a *axis) number(v table.Value) float64 {
	if a.step != 0 {
		return number(v)
	}
	top := a.space.Max()
	below := sort.Search(int(min(top, 1<<62)), func(code int) bool { return a.compare(a.space.Value(uint64(code)), v) >= 0 })
	return float64(below)
}

// compare orders a value of the attribute and a constant, which may have another
// numeric type.
func (a *axis) compare(x, v table.Value) int {
	if a.typ.Kind == v.Type.Kind || a.typ.IsInteger() && v.Type.IsInteger() {
		return table.Compare(x, v)
	}
	return table.CompareFloat(number(x), number(v))
}

// number is a value as a number.
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
	switch c.Text[strings.LastIndexByte(c.Text, ' ')+1:] {
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
	if strings.HasSuffix(c.Text, "<>") {
		return knob, [][2]float64{{0, from}, {to, 1}}
	}
	return knob, [][2]float64{{from, to}}
}
