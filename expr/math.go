package expr

import (
	"cmp"
	"math"
	"math/big"
	"strconv"

	"github.com/stencildb/stencildb/expr/power"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// Functions of numbers. Of several forms DOUBLE comes first, the type that PostgreSQL prefers. A function
// that is not exact takes DOUBLE even where PostgreSQL has a form for NUMERIC.
func init() {
	define("abs(double) double", ofDouble(math.Abs)).by(loop1(0, absFloats))
	define("abs(real) real", ofDouble(math.Abs)).by(loop1(0, absFloats))
	define("abs(bigint) bigint!", func(a args) (table.Value, error) {
		if a.v[0].I < 0 {
			return negate(table.Value{Type: a.T, I: a.v[0].I}, a.wide, a.P)
		}
		return a.v[0], nil
	}).ofWidest(table.SmallInt).bound(sure(0, absInts, of1(0, absolute)).holding)
	define("abs(numeric) numeric!", func(a args) (table.Value, error) { return a.decimal(new(big.Int).Abs(a.v[0].Unscaled())) }).by(sure(0, absInts, of1(0, absolute))).typed = first
	for _, f := range byName["abs"] {
		operator := *f
		operator.Name = "@"
		byName["@"] = append(byName["@"], operator.as(prefix))
	}
	define("scale(numeric) integer", func(a args) (table.Value, error) { return table.Int(int64(a.v[0].Type.Scale)), nil })
	define("min_scale(numeric) integer", func(a args) (table.Value, error) {
		u, n := new(big.Int).Set(a.v[0].Unscaled()), a.v[0].Type.Scale
		for ten, rest := big.NewInt(10), new(big.Int); n > 0; n-- {
			if q, _ := new(big.Int).QuoRem(u, ten, rest); rest.Sign() == 0 {
				u = q
				continue
			}
			break
		}
		return table.Int(int64(n)), nil
	})
	define("sign(double) double", ofDouble(signOf)).by(loop1(0, signFloats)).rises = risingWithoutNaN
	define("sign(numeric) numeric/", func(a args) (table.Value, error) { return a.decimal(big.NewInt(int64(a.v[0].Unscaled().Sign()))) }).by(loop1(0, signInts))
	for _, r := range []struct {
		names string
		ofFloat
		ofExact
		whole func(x, unit int64) int64
		loop  func(ys, xs []float64)
		rounding
	}{
		{"ceiling ceil", math.Ceil, func(x, unit *big.Int) *big.Int { return new(big.Int).Neg(floorOf(new(big.Int).Neg(x), unit)) }, func(x, unit int64) int64 { return -table.FloorDiv(-x, unit) }, ceilFloats, upward},
		{"floor", math.Floor, floorOf, table.FloorDiv, floorFloats, downward},
		{"round", math.RoundToEven, table.RoundedQuotient, nearestTo, evenFloats, halfAway},
		{"trunc", math.Trunc, func(x, unit *big.Int) *big.Int { return new(big.Int).Quo(x, unit) }, func(x, unit int64) int64 { return x / unit }, truncFloats, toZero},
	} {
		define(r.names+"(double) double/", ofDouble(r.ofFloat)).by(loop1(0, r.loop))
		rounding := roundingKernel(r.whole, r.rounding)
		define(r.names+"(numeric) numeric!/", rounded(r.ofExact)).bound(rounding).typed = roundedType
		if r.names == "round" || r.names == "trunc" {
			define(r.names+"(numeric,integer) numeric!/", rounded(r.ofExact)).bound(rounding).typed = roundedType
			define(r.names+"(double,integer) double/", func(a args) (table.Value, error) { return roundedDouble(a, r.ofExact), nil }).bound(func(e *Call) kernel {
				return of2(0, 1, func(x float64, digits int64) (float64, state) {
					if y, ok := roundedShortest(x, digits, r.names == "round"); ok {
						return y, valid
					}
					return roundedDouble(args{e, []table.Value{table.Float(x), table.Int(digits)}, false}, r.ofExact).F, valid
				})
			})
		}
	}

	remains := func(e *Call) kernel {
		return kernel{run: func(v []Vector, _ Vector) (Vector, bool) { return v[0].integers(Mod, v[1], e.T) }}
	}
	define("mod(bigint,bigint) bigint!", ofArith(Mod)).ofWidest(table.SmallInt).bound(remains)
	define("mod(numeric,numeric) numeric!", ofArith(Mod)).bound(func(e *Call) kernel {
		if e.Args[0].Type().Scale == e.Args[1].Type().Scale {
			return remains(e)
		}
		return kernel{}
	}).typed = func(args []Expr) table.Type {
		return table.Type{Kind: table.Decimal, Precision: 38, Scale: max(args[0].Type().Scale, args[1].Type().Scale)}
	}
	define("div(numeric,numeric) numeric!", func(a args) (table.Value, error) {
		x := new(big.Int).Mul(a.v[0].Unscaled(), table.Pow10(a.v[1].Type.Scale))
		y := new(big.Int).Mul(a.v[1].Unscaled(), table.Pow10(a.v[0].Type.Scale))
		if y.Sign() == 0 {
			return a.raise(DivisionByZero)
		}
		return a.decimal(x.Quo(x, y))
	})
	define("pow power(double,double) double!", raised).plainly2(power.Pow)
	define("^(double,double) double!", raised).plainly2(power.Pow).as(infix)
	define("sqrt(double) double!/", within(func(x float64) *Exception { return negative(x, negativeRoot) }, math.Sqrt)).plainly(math.Sqrt).surely(sqrtFloats)
	define("|/(double) double!/", within(func(x float64) *Exception { return negative(x, negativeRoot) }, math.Sqrt)).plainly(math.Sqrt).surely(sqrtFloats).as(prefix)
	define("||/(double) double", ofDouble(math.Cbrt)).plainly(math.Cbrt).as(prefix)
	define("cbrt(double) double", ofDouble(math.Cbrt)).plainly(math.Cbrt)
	define("exp(double) double!", within(none, math.Exp)).plainly(math.Exp)
	define("ln(double) double!", within(logarithm, math.Log)).plainly(math.Log)
	define("log10 log(double) double!", within(logarithm, log10)).plainly(log10)
	logOf := define("log(double,double) double!", func(a args) (table.Value, error) {
		base, x := a.v[0].F, a.v[1].F
		for _, v := range []float64{base, x} {
			if wrong := logarithm(v); wrong != nil {
				return a.raise(wrong)
			}
		}
		if base == 1 {
			return a.raise(DivisionByZero)
		}
		return a.double(log10(x)/log10(base), base, x)
	}).plainly2(func(base, x float64) float64 { return log10(x) / log10(base) })
	ofAnyBase := logOf.kernel
	logOf.bound(func(e *Call) kernel {
		base, ok := e.Args[0].(*Const)
		if !ok || base.V.Null {
			return ofAnyBase(e)
		}
		of := log10(base.V.F)
		return of1(1, func(x float64) (float64, state) {
			if y := log10(x) / of; y-y == 0 && y != 0 && x-x == 0 && of-of == 0 {
				return y, valid
			}
			v, err := logOf.eval(args{e, []table.Value{base.V, table.Float(x)}, false})
			return v.F, failedIf(err != nil)
		}).only(2, 1)
	})
	for name, f := range map[string]ofFloat{"sinh": math.Sinh, "cosh": math.Cosh, "tanh": math.Tanh, "asinh": math.Asinh} {
		define(name+"(double) double", ofDouble(f)).plainly(f)
	}
	define("acosh(double) double!", within(func(x float64) *Exception { return negative(x-1, inputOutOfRange) }, math.Acosh)).plainly(math.Acosh)
	define("atanh(double) double!", within(unit, math.Atanh)).plainly(math.Atanh)
	define("cot(double) double!", within(finite, cotangent)).plainly(cotangent)
	define("width_bucket(double,double,double,integer) integer!", doubleBucket)
	define("width_bucket(numeric,numeric,numeric,integer) integer!", exactBucket)
	define("gcd(bigint,bigint) bigint!", ofIntegers(func(x, y *big.Int) *big.Int { return new(big.Int).GCD(nil, nil, x, y) })).ofWidest(table.Integer).bound(of2(0, 1, func(x, y int64) (int64, state) {
		g := divisor(x, y)
		return g, failedIf(g < 0)
	}).holding)
	define("lcm(bigint,bigint) bigint!", ofIntegers(func(x, y *big.Int) *big.Int {
		if x.Sign() == 0 || y.Sign() == 0 {
			return new(big.Int)
		}
		return new(big.Int).Mul(x, new(big.Int).Quo(y, new(big.Int).GCD(nil, nil, x, y)))
	})).ofWidest(table.Integer).bound(of2(0, 1, func(x, y int64) (int64, state) {
		if x == 0 || y == 0 {
			return 0, valid
		}
		g := divisor(x, y)
		if g < 0 || x == math.MinInt64 || y == math.MinInt64 {
			return 0, failed
		}
		z, fits, _ := IntOp(Mul, max(x, -x), max(y, -y)/g)
		return z, failedIf(!fits)
	}).holding)
	define("factorial(bigint) numeric!", func(a args) (table.Value, error) {
		switch n := a.v[0].I; {
		case n < 0:
			return a.raise(negativeFactor)
		case n > 33: // the last of at most 38 digits
			return a.raise(OutOfRange(a.T))
		default:
			return a.decimal(new(big.Int).MulRange(1, n))
		}
	})
	define("pi() double", func(args) (table.Value, error) { return table.Float(math.Pi), nil })
	for name, f := range map[string]ofFloat{"sin": math.Sin, "cos": math.Cos, "tan": math.Tan} {
		define(name+"(double) double!", within(finite, f)).plainly(f)
	}
	define("asin(double) double!", within(unit, math.Asin)).plainly(math.Asin)
	define("acos(double) double!", within(unit, math.Acos)).plainly(math.Acos)
	define("atan(double) double", ofDouble(math.Atan)).plainly(math.Atan)
	define("atan2(double,double) double", func(a args) (table.Value, error) {
		return table.Float(math.Atan2(a.v[0].F, a.v[1].F)), nil
	}).by(of2(0, 1, func(y, x float64) (float64, state) { return math.Atan2(y, x), valid }))
	inDegrees, inRadians := func(x float64) float64 { return x / radian }, func(x float64) float64 { return x * radian }
	define("degrees(double) double!/", within(none, inDegrees)).plainly(inDegrees).surely(degreesOf)
	define("radians(double) double!/", within(none, inRadians)).plainly(inRadians).surely(radiansOf)

	for op, loop := range map[string]func(ys, as, bs []int64){"&": andInts, "|": orInts, "#": xorInts} {
		define(op+"(bigint,bigint) bigint", func(a args) (table.Value, error) {
			var out [1]int64
			loop(out[:], []int64{a.v[0].I}, []int64{a.v[1].I})
			return table.Int(out[0]), nil
		}).ofWidest(table.SmallInt).by(loop2(0, 1, loop)).as(infix)
	}
	for op, f := range map[string]func(x int64, by int) int64{
		"<<": func(x int64, by int) int64 { return x << by }, ">>": func(x int64, by int) int64 { return x >> by },
	} {
		define(op+"(bigint,integer) bigint", func(a args) (table.Value, error) { return table.Int(shifted(f, a.T.Kind)(a.v[0].I, a.v[1].I)), nil }).bound(func(e *Call) kernel {
			if e.T.Kind == table.BigInt {
				return loop2(0, 1, shiftInts(op == "<<"))
			}
			shift := shifted(f, e.T.Kind)
			return of2(0, 1, func(x, by int64) (int64, state) { return shift(x, by), valid })
		}).ofWidest(table.SmallInt).as(infix).typed = first
	}
	define("~(bigint) bigint", func(a args) (table.Value, error) { return table.Int(^a.v[0].I), nil }).ofWidest(table.SmallInt).by(loop1(0, notInts)).as(prefix)
}

// risingWithoutNaN is [Function.rises] of what rises with its argument, but for NaN: with one that cannot be.
func risingWithoutNaN(c *Call) int {
	if x, ok := c.Args[0].(*Cast); ok && x.X.Type().IsExact() {
		return 0
	}
	return -1
}

// shifted is a shift of the bits that a type has. As in PostgreSQL the distance counts modulo the
// width of the register that does it: 64 bits of a BIGINT, else 32.
func shifted(f func(x int64, by int) int64, k table.Kind) func(x, by int64) int64 {
	switch k {
	case table.SmallInt:
		return func(x, by int64) int64 { return int64(int16(f(x, int(by&31)))) }
	case table.Integer:
		return func(x, by int64) int64 { return int64(int32(f(x, int(by&31)))) }
	}
	return func(x, by int64) int64 { return f(x, int(by&63)) }
}

// absolute is the size of an integer.
func absolute(x int64) (int64, state) { return max(x, -x), failedIf(x == math.MinInt64) }

// signOf is -1, 0 or 1, 0 also of NaN, as PostgreSQL has it.
func signOf(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return 0
}

func cotangent(x float64) float64 { return 1 / math.Tan(x) }

// divisor is the greatest one of two integers, below 0 where 64 bits have no room for it.
func divisor(x, y int64) int64 {
	for y != 0 {
		x, y = y, x%y
	}
	return max(x, -x)
}

// plainly marks f as what a function of a DOUBLE is where that gives a finite number other than 0 of a finite one.
func (f *Function) plainly(of ofFloat) *Function {
	return f.bound(func(e *Call) kernel {
		return of1(0, func(x float64) (float64, state) {
			if y := of(x); y-y == 0 && y != 0 && x-x == 0 {
				return y, valid
			}
			v, err := f.eval(args{e, []table.Value{table.Float(x)}, false})
			return v.F, failedIf(err != nil)
		})
	})
}

// surely is a loop that is asked before the kernel of a function of a DOUBLE.
func (f *Function) surely(loop func(ys, xs []float64) (ok bool)) *Function {
	otherwise := f.kernel
	return f.bound(func(e *Call) kernel { return sure(0, loop, otherwise(e)) })
}

// plainly2 is plainly of a function of two.
func (f *Function) plainly2(of func(x, y float64) float64) *Function {
	return f.bound(func(e *Call) kernel {
		return of2(0, 1, func(x, y float64) (float64, state) {
			if z := of(x, y); z-z == 0 && z != 0 && x-x == 0 && y-y == 0 {
				return z, valid
			}
			v, err := f.eval(args{e, []table.Value{table.Float(x), table.Float(y)}, false})
			return v.F, failedIf(err != nil)
		})
	})
}

// roundingKernel rounds DECIMALs to constant digits, see [rounded].
func roundingKernel(whole func(x, unit int64) int64, r rounding) func(e *Call) kernel {
	return func(e *Call) kernel {
		scale, digits := e.Args[0].Type().Scale, 0
		if len(e.Args) > 1 {
			c, ok := e.Args[1].(*Const)
			if !ok || c.V.Null {
				return kernel{}
			}
			digits = int(min(max(c.V.I, -1000), 1000))
		}
		cut, more := max(scale-digits, scale-e.T.Scale, 0), 0
		if more = e.T.Scale - (scale - cut); cut > 18 || more < 0 || more > 18 {
			return kernel{}
		}
		unit, times := table.Pow10(cut).Int64(), table.Pow10(more).Int64()
		k := of1(0, func(x int64) (int64, state) {
			y, fits, _ := IntOp(Mul, whole(x, unit), times)
			return y, failedIf(!fits)
		}).only(len(e.Args), 0)
		switch {
		case times == 1 && unit > 1:
			return sure(0, r.divide(unit), k)
		case unit == 1:
			return sure(0, multiplied(times, math.MaxInt64), k)
		}
		return k
	}
}

// roundedShortest is [roundedDouble] of numbers with few digits before the point. It rounds x times a power of ten. ok is false
// where x is so near to a half that its shortest decimal may be one.
func roundedShortest(x float64, digits int64, nearest bool) (y float64, ok bool) {
	if digits < 0 || digits > 15 || !(math.Abs(x) < 1e15) {
		return 0, false
	}
	unit := powersOfTen[digits]
	z := x * unit
	if math.Abs(z) >= 1<<50 {
		return 0, false
	}
	whole := math.Trunc(z)
	rest := math.Abs(z - whole)
	const near = 1e-3 // far more than the error of z, and than what the shortest decimal is away from x
	if whole == 0 && !nearest || rest < near || rest > 1-near || math.Abs(rest-0.5) < near {
		return 0, false
	}
	if nearest && rest > 0.5 {
		whole += math.Copysign(1, z)
	}
	return whole/unit + 0, true
}

type (
	ofFloat = func(x float64) float64
	// ofExact is x / unit, an integer.
	ofExact = func(x, unit *big.Int) *big.Int
)

func ofDouble(f ofFloat) func(args) (table.Value, error) {
	return func(a args) (table.Value, error) { return table.Float(f(a.v[0].F)), nil }
}

// within is f where nothing is wrong with its argument.
func within(wrong func(x float64) *Exception, f ofFloat) func(args) (table.Value, error) {
	return func(a args) (table.Value, error) {
		x := a.v[0].F
		if wrong := wrong(x); wrong != nil {
			return a.raise(wrong)
		}
		return a.double(f(x), x)
	}
}

// ofIntegers is f of the sizes of two integers.
func ofIntegers(f func(x, y *big.Int) *big.Int) func(args) (table.Value, error) {
	return func(a args) (table.Value, error) {
		x, y := a.v[0].Unscaled(), a.v[1].Unscaled()
		return castInt(f(x.Abs(x), y.Abs(y)), a.T, a.P)
	}
}

// doubleBucket is the number of the bucket that a value falls into. The buckets are equally wide, from one
// bound to the other. A value below them is in bucket 0, a value above in the one behind the last.
func doubleBucket(a args) (table.Value, error) {
	x, from, to, count := a.v[0].F, a.v[1].F, a.v[2].F, a.v[3].I
	switch {
	case x != x || from != from || to != to:
		return a.failAs(sqlstate.InvalidArgumentForWidth, "operand, lower bound, and upper bound cannot be NaN")
	case math.IsInf(from, 0) || math.IsInf(to, 0):
		return a.raise(infiniteBounds)
	}
	return a.bucket(count, cmp.Compare(x, from), cmp.Compare(x, to), cmp.Compare(from, to), func() int64 {
		return int64(float64(count) * ((x/2 - from/2) / (to/2 - from/2)))
	})
}

// exactBucket is doubleBucket of NUMERICs.
func exactBucket(a args) (table.Value, error) {
	x, from, to, count := a.v[0], a.v[1], a.v[2], a.v[3].I
	return a.bucket(count, table.Compare(x, from), table.Compare(x, to), table.Compare(from, to), func() int64 {
		rat := func(v table.Value) *big.Rat { return new(big.Rat).SetFrac(v.Unscaled(), table.Pow10(v.Type.Scale)) }
		low := rat(from)
		part := new(big.Rat).Sub(rat(x), low)
		part.Quo(part, low.Sub(rat(to), low)).Mul(part, new(big.Rat).SetInt64(count))
		return new(big.Int).Quo(part.Num(), part.Denom()).Int64()
	})
}

// bucket is one of count, by how a value compares with the bounds, these with each other, and the
// number of whole buckets before it.
func (a args) bucket(count int64, low, high, bounds int, before func() int64) (table.Value, error) {
	switch {
	case count <= 0:
		return a.failAs(sqlstate.InvalidArgumentForWidth, "count must be greater than zero")
	case bounds == 0:
		return a.failAs(sqlstate.InvalidArgumentForWidth, "lower bound cannot equal upper bound")
	case low*bounds > 0: // before the first bound
		return table.Int(0), nil
	case high*bounds <= 0:
		last, ok, _ := IntOp(Add, count, 1)
		if !ok {
			return a.raise(OutOfRange(a.T))
		}
		return table.Int(last), nil
	}
	return table.Int(min(before(), count-1) + 1), nil
}

// double is the result f of some values: infinite only if one of them is, 0 where it may be.
func (a args) double(f float64, of ...float64) (table.Value, error) {
	infinite := false
	for _, x := range of {
		infinite = infinite || math.IsInf(x, 0)
	}
	switch {
	case math.IsInf(f, 0) && !infinite:
		return a.raise(Overflow)
	case f == 0 && !infinite && a.Fn.Name == "exp":
		return a.raise(Underflow)
	}
	return table.Float(f), nil
}

func none(float64) *Exception { return nil }

func negative(x float64, wrong *Exception) *Exception {
	if x < 0 {
		return wrong
	}
	return nil
}

func logarithm(x float64) *Exception {
	if x == 0 {
		return logarithmOfZero
	}
	return negative(x, negativeLog)
}

func finite(x float64) *Exception {
	if math.IsInf(x, 0) {
		return inputOutOfRange
	}
	return nil
}

func unit(x float64) *Exception { return negative(1-math.Abs(x), inputOutOfRange) }

// log10 is exact for powers of ten.
func log10(x float64) float64 {
	f := math.Log10(x)
	if n := math.RoundToEven(f); math.Abs(f-n) < 1e-9 && math.Abs(n) < 300 && math.Pow10(int(n)) == x {
		return n
	}
	return f
}

func raised(a args) (table.Value, error) {
	x, y := a.v[0].F, a.v[1].F
	switch {
	case x == 0 && y < 0:
		return a.failAs(sqlstate.InvalidArgumentForPower, "zero raised to a negative power is undefined")
	case x < 0 && !math.IsInf(x, 0) && !math.IsInf(y, 0) && y == y && y != math.Floor(y):
		return a.failAs(sqlstate.InvalidArgumentForPower, "a negative number raised to a non-integer power yields a complex result")
	}
	f := power.Pow(x, y)
	if f == 0 && x != 0 && !math.IsInf(x, 0) && !math.IsInf(y, 0) {
		return a.raise(Underflow)
	}
	return a.double(f, x, y)
}

func ofArith(op ArithOp) func(args) (table.Value, error) {
	return func(a args) (table.Value, error) { return arith(op, a.v[0], a.v[1], a.T, a.wide, a.P) }
}

func floorOf(x, unit *big.Int) *big.Int { return new(big.Int).Div(x, unit) } // Euclid's: down for a positive unit

// roundedType is the type of a NUMERIC rounded to the digits of the second argument, where that is a
// constant. Otherwise it keeps its digits.
func roundedType(args []Expr) table.Type {
	t := table.Type{Kind: table.Decimal, Precision: 38}
	if len(args) == 1 {
		return t
	}
	t.Scale = args[0].Type().Scale
	if c, ok := args[1].(*Const); ok && !c.V.Null {
		t.Scale = int(min(max(c.V.I, 0), 38))
	}
	return t
}

// rounded rounds a NUMERIC to some digits after the point, or before it.
func rounded(f ofExact) func(args) (table.Value, error) {
	return func(a args) (table.Value, error) {
		x, scale := a.v[0], a.v[0].Type.Scale
		digits := 0
		if len(a.v) > 1 {
			digits = int(min(max(a.v[1].I, -1000), 1000))
		}
		u := x.Unscaled()
		if digits < scale {
			u = f(u, table.Pow10(scale-digits))
			scale = digits
		}
		if scale > a.T.Scale { // more digits were asked for than the type has
			u, scale = f(u, table.Pow10(scale-a.T.Scale)), a.T.Scale
		}
		return a.decimal(new(big.Int).Mul(u, table.Pow10(a.T.Scale-scale)))
	}
}

// roundedDouble rounds a DOUBLE to some digits: those of the shortest decimal that it is.
func roundedDouble(a args, f ofExact) table.Value {
	x := a.v[0]
	if x.F != x.F || math.IsInf(x.F, 0) {
		return x
	}
	digits := int(min(max(a.v[1].I, -400), 400))
	u, scale, _ := table.ParseNumber(strconv.FormatFloat(x.F, 'e', -1, 64))
	if digits >= scale {
		return x
	}
	u = f(u, table.Pow10(scale-digits))
	out, _ := new(big.Rat).SetFrac(new(big.Int).Mul(u, table.Pow10(max(0, -digits))), table.Pow10(max(0, digits))).Float64()
	return table.Float(out)
}
