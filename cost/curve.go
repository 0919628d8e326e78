package cost

import "sort"

// Point is what an algorithm took over a number of rows, beyond a query's overhead.
type Point struct {
	Rows    int     `json:"rows"`
	Seconds float64 `json:"seconds"`
}

// Curve is what an algorithm takes over codes of Bits bits, by rows, ascending. Its
// first point is of a table so small that the passes' overhead is all there is.
type Curve struct {
	Bits   int     `json:"bits"`
	Points []Point `json:"points"`
}

// NewCurve makes a curve that does not fall, for noise aside more rows take longer.
// The points' rows ascend.
func NewCurve(bits int, points []Point) Curve {
	c := Curve{Bits: bits}
	least := 0.0
	for _, p := range points {
		least = max(least, p.Seconds)
		c.Points = append(c.Points, Point{p.Rows, least})
	}
	return c
}

// fixed is what it takes at any size.
func (c Curve) fixed() float64 { return c.Points[0].Seconds }

// growth is what n rows take beyond fixed: between two points on the line through
// them, beyond the last as steep as at the end.
func (c Curve) growth(n int) float64 {
	p := c.Points
	if n <= p[0].Rows || len(p) == 1 {
		return 0
	}
	i := sort.Search(len(p), func(i int) bool { return p[i].Rows >= n })
	i = min(max(i, 1), len(p)-1)
	a, b := p[i-1], p[i]
	slope := (b.Seconds - a.Seconds) / float64(b.Rows-a.Rows)
	return a.Seconds + slope*float64(n-a.Rows) - p[0].Seconds
}

// cost is one curve, or what lies between two, at a number of rows.
type cost struct{ fixed, growth float64 }

func (a cost) times(f float64) cost { return cost{a.fixed, a.growth * f} }

// Curves are those of one class, by ascending width.
type Curves []Curve

// at is the cost over n rows of codes of width w, as width measures it. It is linear between two measured
// widths. Below the narrowest width it is constant, and beyond the widest proportional to w.
func (cs Curves) at(n int, w float64, width func(bits int) float64) cost {
	for i, c := range cs {
		at := width(c.Bits)
		if w > at && i < len(cs)-1 {
			continue
		}
		here := cost{c.fixed(), c.growth(n)}
		if w >= at {
			return here.times(w / at)
		}
		if i == 0 {
			return here
		}
		before, low := cs[i-1], width(cs[i-1].Bits)
		f := (w - low) / (at - low)
		return cost{before.fixed()*(1-f) + here.fixed*f, before.growth(n)*(1-f) + here.growth*f}
	}
	return cost{}
}
