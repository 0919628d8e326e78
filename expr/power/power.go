package power

import (
	"math"
	"math/big"
	"sync"
)

// Pow is x to the power of y: e to y times the logarithm of x. The logarithm has some 15 bits more than a double. So the result is within
// 0.52 units in its last place, and exact where a double is. Logarithms and powers of e come from tables and short series (P. T. P. Tang,
// "Table-driven implementation of the logarithm function in IEEE floating-point arithmetic", 1990). math.Pow, which has what is left, takes
// several times as long and errs by more.
func Pow(x, y float64) float64 {
	const least = 0x1p-1022
	if !(x >= least && x <= math.MaxFloat64) {
		if -x >= least && -x <= math.MaxFloat64 && y == math.Trunc(y) && math.Abs(y) < 1<<53 {
			if int64(y)&1 != 0 {
				return -Pow(-x, y)
			}
			return Pow(-x, y)
		}
		return math.Pow(x, y)
	}
	t := powTables()
	hi, lo := t.log(x)
	product := y * hi
	if !(math.Abs(product) < 700) { // of which the result may be no normal number
		return math.Pow(x, y)
	}
	return t.exp(product, math.FMA(y, hi, -product)+y*lo)
}

const (
	logBits, expBits = 7, 7 // of the places of tables
	logFrom          = 0x3fe6955500000000
	gridBits         = 42 // behind the point of numbers of which sums are exact
)

// powTable has a number near 1/c and the logarithm of c for each part of [0.705, 1.41). It has 2^(i/128) for each i of 128. Logarithms and
// powers are two numbers each, for more digits.
type powTable struct {
	logs [1 << logBits]struct{ inverse, hi, lo float64 }
	exps [1 << expBits]struct{ of, rest float64 } // rest is a part of of

	ln2hi, ln2lo   float64
	stephi, steplo float64 // ln(2)/128
}

// log is the natural logarithm of a positive normal number.
func (t *powTable) log(x float64) (hi, lo float64) {
	ix := math.Float64bits(x)
	from := ix - logFrom
	at := &t.logs[from>>(52-logBits)&(1<<logBits-1)]
	k := float64(int64(from) >> 52)
	z := math.Float64frombits(ix - from&(0xfff<<52))
	zhi := math.Float64frombits(math.Float64bits(z) &^ (1<<27 - 1))
	first, second := zhi*at.inverse-1, (z-zhi)*at.inverse // without error
	r := first + second                                   // z times inverse, less 1
	sum := k*t.ln2hi + at.hi                              // without error
	one := sum + r
	half := -0.5 * r
	square := r * half
	hi = one + square
	series := r * r * r * (1./3 + r*(-1./4+r*(1./5+r*(-1./6+r*(1./7+r*(-1./8+r*(1./9)))))))
	lo = k*t.ln2lo + at.lo + (first - r + second) + (sum - one + r) + math.FMA(half, r, -square) + (one - hi + square) + series
	all := hi + lo
	return all, hi - all + lo
}

// exp is e to the power of a sum of two numbers, the second much smaller, below 700.
func (t *powTable) exp(hi, lo float64) float64 {
	const round = 0x1.8p52
	k := hi*((1<<expBits)/math.Ln2) + round - round
	r := hi - k*t.stephi - k*t.steplo + lo
	n := int64(k)
	at := &t.exps[n&(1<<expBits-1)]
	scale := math.Float64frombits(math.Float64bits(at.of) + uint64(n>>expBits)<<52)
	rest := at.rest + (r + r*r*(0.5+r*(1./6+r*(1./24+r*(1./120)))))
	return scale + scale*rest
}

// powTables are made when a power is first computed.
var powTables = sync.OnceValue(func() *powTable {
	number := preciseNumber
	// two are a number on the grid and what is left.
	two := func(x *big.Float, grid int) (hi, lo float64) {
		f, _ := x.Float64()
		unit := math.Ldexp(1, -grid)
		hi = math.RoundToEven(f/unit) * unit
		lo, _ = new(big.Float).Sub(x, number(hi)).Float64()
		return hi, lo
	}
	t, ln2 := &powTable{}, preciseLog(number(2))
	t.ln2hi, t.ln2lo = two(ln2, gridBits)
	step := new(big.Float).Quo(ln2, number(1<<expBits))
	t.stephi, t.steplo = two(step, gridBits)
	for i := range t.logs {
		middle := uint64(logFrom + i<<(52-logBits) + 1<<(51-logBits))
		z := math.Float64frombits(middle)
		inverse := math.RoundToEven(4096/z) / 4096
		if math.Abs(z-1) < 1./256 { // so that the logarithm of what is near 1 is as exact as others
			inverse = 1
		}
		at := &t.logs[i]
		at.inverse = inverse
		at.hi, at.lo = two(new(big.Float).Neg(preciseLog(number(inverse))), gridBits)
	}
	for i := range t.exps {
		x := new(big.Float).Mul(step, number(float64(i)))
		sum := preciseExp(x)
		at := &t.exps[i]
		at.of, _ = sum.Float64()
		rest := new(big.Float).Sub(sum, number(at.of))
		at.rest, _ = rest.Quo(rest, sum).Float64()
	}
	return t
})

// preciseNumber is a number of 160 bits.
func preciseNumber(x float64) *big.Float { return new(big.Float).SetPrec(160).SetFloat64(x) }

// preciseLog is the natural logarithm of a number near 1: twice the area tangent of (x-1)/(x+1).
func preciseLog(x *big.Float) *big.Float {
	one := preciseNumber(1)
	q := new(big.Float).Quo(new(big.Float).Sub(x, one), new(big.Float).Add(x, one))
	square, term, sum := new(big.Float).Mul(q, q), new(big.Float).Add(q, q), preciseNumber(0)
	for n := 1; n < 120; n += 2 { // 1/9^60 is less than the last bit for a number up to 2
		sum.Add(sum, new(big.Float).Quo(term, preciseNumber(float64(n))))
		term.Mul(term, square)
	}
	return sum
}

// preciseExp is e to the power of a number below 1.
func preciseExp(x *big.Float) *big.Float {
	sum, term := preciseNumber(1), preciseNumber(1)
	for n := 1; n < 48; n++ {
		term.Mul(term, x)
		term.Quo(term, preciseNumber(float64(n)))
		sum.Add(sum, term)
	}
	return sum
}
