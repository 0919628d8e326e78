package aggregation

import (
	"math"
	"math/big"

	"github.com/stencildb/stencildb/cpu/int128"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan/partial"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// intMoments are sums of integers and DECIMALs and of their squares.
type intMoments struct {
	intSums
	squares []int128.Sum
	large   map[uint32]*big.Int // sums of the squares of what has more than 64 bits
}

func (s *intMoments) Resize(groups int) {
	s.intSums.Resize(groups)
	s.squares = resized(s.squares, groups)
}

func (s *intMoments) Add(groups []uint32, x, y *expr.Vector) {
	s.intSums.Add(groups, x, y)
	for i, v := range x.Ints {
		if x.Highs == nil || x.Highs[i] == v>>63 {
			s.squares[groups[i]].AddSquare(v)
			continue
		}
		w := int128.Int{Hi: x.Highs[i], Lo: uint64(v)}.Big()
		s.addLarge(groups[i], w.Mul(w, w))
	}
}

func (s *intMoments) addLarge(group uint32, square *big.Int) {
	if s.large == nil {
		s.large = map[uint32]*big.Int{}
	}
	if s.large[group] == nil {
		s.large[group] = new(big.Int)
	}
	s.large[group].Add(s.large[group], square)
}

func (s *intMoments) Merge(o State, to []uint32) {
	other := o.(*intMoments)
	s.intSums.Merge(&other.intSums, to)
	for i, v := range other.squares {
		s.squares[to[i]].Add(v.Lo, v.Mid, v.Hi)
	}
	for g, v := range other.large {
		s.addLarge(to[g], v)
	}
}

func (s *intMoments) Value(a expr.Aggregate, group uint32, _ *table.Table) (table.Value, error) {
	total, squares := new(big.Int), new(big.Int)
	sum := s.total(group)
	sum.Into(total)
	s.squares[group].Into(squares)
	if l := s.large[group]; l != nil {
		squares.Add(squares, l)
	}
	unit := new(big.Rat).SetInt(table.Pow10(2 * a.Arg.Scale))
	m := crossDeviations(s.n[group], new(big.Rat).SetInt(total), new(big.Rat).SetInt(total), new(big.Rat).SetInt(squares))
	return dispersion(a, s.n[group], m.Quo(m, unit))
}

// crossDeviations is n times the sum of products less the product of the sums, of n pairs.
func crossDeviations(n uint64, x, y, products *big.Rat) *big.Rat {
	out := new(big.Rat).SetInt(new(big.Int).SetUint64(n))
	return out.Sub(out.Mul(out, products), new(big.Rat).Mul(x, y))
}

// dispersion is a variance, covariance or standard deviation of n values with this spread,
// rounded once; NULL of too few values.
func dispersion(a expr.Aggregate, n uint64, spread *big.Rat) (table.Value, error) {
	by := new(big.Int).SetUint64(n)
	switch a.Kind {
	case expr.VarSamp, expr.StddevSamp, expr.CovarSamp:
		by.Mul(by, new(big.Int).Sub(by, big.NewInt(1)))
	default:
		by.Mul(by, by)
	}
	if spread != nil && by.Sign() > 0 && (a.Kind == expr.StddevPop || a.Kind == expr.StddevSamp) {
		out, _ := root(spread.Quo(spread, new(big.Rat).SetInt(by))).Float64()
		return finite(a, out)
	}
	return quotient(a, spread, new(big.Rat).SetInt(by))
}

// rootBits is how many bits of a root are computed before it is rounded.
const rootBits = 256

func root(x *big.Rat) *big.Float {
	f := new(big.Float).SetPrec(rootBits).SetRat(x)
	return f.Sqrt(f)
}

// floatMoments are exact sums of doubles, of their squares, and of pairs also of their
// products.
type floatMoments struct {
	counts
	of []*productSums // nil for none
}

// productSums are the sums of x, y, x*x, y*y and x*y, of the products those of finite values; without
// y of those with x only.
type productSums struct{ x, y, xx, yy, xy exactSum }

func (s *floatMoments) Resize(groups int) {
	s.counts.Resize(groups)
	s.of = resized(s.of, groups)
}

func (s *floatMoments) group(g uint32) *productSums {
	if s.of[g] == nil {
		s.of[g] = &productSums{}
	}
	return s.of[g]
}

func (s *floatMoments) Add(groups []uint32, x, y *expr.Vector) {
	s.counts.Add(groups, x, y)
	for i, f := range x.Floats {
		p := s.group(groups[i])
		p.x.Add(f)
		p.xx.product(f, f)
		if y.Floats != nil {
			g := y.Floats[i]
			p.y.Add(g)
			p.yy.product(g, g)
			p.xy.product(f, g)
		}
	}
}

func (s *floatMoments) Merge(o State, to []uint32) {
	other := o.(*floatMoments)
	s.counts.Merge(&other.counts, to)
	for i, v := range other.of {
		if v == nil {
			continue
		}
		p := s.group(to[i])
		p.x.merge(&v.x)
		p.y.merge(&v.y)
		p.xx.merge(&v.xx)
		p.yy.merge(&v.yy)
		p.xy.merge(&v.xy)
	}
}

func (s *floatMoments) Value(a expr.Aggregate, group uint32, _ *table.Table) (table.Value, error) {
	n, p := s.n[group], s.of[group]
	few := uint64(0) // up to how many values give NULL
	if a.Kind == expr.VarSamp || a.Kind == expr.StddevSamp || a.Kind == expr.CovarSamp {
		few = 1
	}
	if n <= few {
		return table.Null(a.Type()), nil
	}
	if a.Kind == expr.RegrAvgX || a.Kind == expr.RegrAvgY {
		of := &p.x
		if a.Kind == expr.RegrAvgX {
			of = &p.y
		}
		mean, err := of.Mean(n)
		return table.Float(mean), err
	}
	return p.value(a, n)
}

// Value is that of n values or pairs, more than none. A spread is NaN, which is nil, where one of the
// values is NaN or infinite.
func (p *productSums) value(a expr.Aggregate, n uint64) (table.Value, error) {
	x, y := p.x.rat(), p.y.rat()
	of := func(l, r *exactSum, products *exactSum) *big.Rat {
		if l.Special() != 0 || r.Special() != 0 {
			return nil
		}
		return crossDeviations(n, l.rat(), r.rat(), products.rat())
	}
	xx := of(&p.x, &p.x, &p.xx)
	if a.Y == nil {
		return dispersion(a, n, xx)
	}
	yy, xy, all := of(&p.y, &p.y, &p.yy), of(&p.x, &p.y, &p.xy), new(big.Rat).SetInt(new(big.Int).SetUint64(n))
	switch a.Kind {
	case expr.Corr:
		return correlation(a, xx, yy, xy)
	case expr.RegrSXX:
		return quotient(a, yy, all)
	case expr.RegrSYY:
		return quotient(a, xx, all)
	case expr.RegrSXY:
		return quotient(a, xy, all)
	case expr.RegrSlope:
		return quotient(a, xy, yy)
	case expr.RegrIntercept: // (x - y * slope) / n
		if xy == nil {
			return quotient(a, nil, yy)
		}
		x.Sub(x.Mul(x, yy), y.Mul(y, xy))
		return quotient(a, x, yy.Mul(yy, all))
	case expr.RegrR2:
		switch {
		case isZero(xx) && !isZero(yy):
			return table.Float(1), nil
		case xy == nil:
			return quotient(a, nil, yy)
		}
		return quotient(a, xy.Mul(xy, xy), xx.Mul(xx, yy))
	}
	return dispersion(a, n, xy)
}

func isZero(x *big.Rat) bool { return x != nil && x.Sign() == 0 }

// quotient is rounded once; NULL where the divisor is 0.
func quotient(a expr.Aggregate, of, by *big.Rat) (table.Value, error) {
	switch {
	case isZero(by):
		return table.Null(a.Type()), nil
	case of == nil || by == nil:
		return table.Float(math.NaN()), nil
	}
	out, _ := of.Quo(of, by).Float64()
	return finite(a, out)
}

func finite(a expr.Aggregate, out float64) (table.Value, error) {
	if math.IsInf(out, 0) {
		return table.Value{}, expr.Coded(sqlstate.NumericOutOfRange, a.P, "%s: %s", a, expr.Overflow)
	}
	return table.Float(out), nil
}

// correlation is xy / sqrt(xx * yy), of the spreads; NULL where one of them is 0.
func correlation(a expr.Aggregate, xx, yy, xy *big.Rat) (table.Value, error) {
	switch {
	case isZero(xx) || isZero(yy):
		return table.Null(a.Type()), nil
	case xy == nil:
		return table.Float(math.NaN()), nil
	}
	f := new(big.Float).SetPrec(rootBits).SetRat(xy)
	out, _ := f.Quo(f, root(xx.Mul(xx, yy))).Float64()
	return table.Float(min(1, max(-1, out))), nil
}

// exactSum is an exact sum of doubles and of products of two.
type exactSum struct {
	partial.FloatSum
	// extreme is the sum of the products that are no sum of two doubles, in units of
	// 2^(2*-1074); nil for none.
	extreme *big.Int
}

// product adds a * b, unless one of them is NaN or infinite. It adds the rounded product and its rounding
// error. Both are doubles, unless they are very large or very small (Dekker 1971).
func (s *exactSum) product(a, b float64) {
	p := a * b
	if a-a != 0 || b-b != 0 {
		return
	}
	if abs := math.Abs(p); a == 0 || b == 0 || abs > 0x1p-960 && abs < 0x1p1000 {
		s.Add(p)
		s.Add(math.FMA(a, b, -p))
		return
	}
	s.addExtreme(new(big.Int).Mul(inUnits(a), inUnits(b)))
}

// inUnits is a double in units of 2^-1074.
func inUnits(f float64) *big.Int {
	frac, exp := math.Frexp(f)
	i := big.NewInt(int64(math.Ldexp(frac, 53)))
	if shift := exp - 53 + 1074; shift >= 0 {
		return i.Lsh(i, uint(shift))
	} else {
		return i.Rsh(i, uint(-shift)) // of zeros: the double is denormal
	}
}

func (s *exactSum) addExtreme(i *big.Int) {
	if s.extreme == nil {
		s.extreme = new(big.Int)
	}
	s.extreme.Add(s.extreme, i)
}

func (s *exactSum) merge(o *exactSum) {
	s.FloatSum.Merge(&o.FloatSum)
	if o.extreme != nil {
		s.addExtreme(o.extreme)
	}
}

// rat is the sum.
func (s *exactSum) rat() *big.Rat {
	out := s.FloatSum.Rat()
	if s.extreme != nil {
		unit := new(big.Int).Lsh(big.NewInt(1), 2*1074)
		out.Add(out, new(big.Rat).SetFrac(s.extreme, unit))
	}
	return out
}
