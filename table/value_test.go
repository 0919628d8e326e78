package table

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

var (
	real32 = Type{Kind: Real}
	double = Type{Kind: Double}
)

func realValue(f float32) Value { return Value{Type: real32, F: float64(f)} }

// As psql of PostgreSQL 15 prints them.
func TestValueString(t *testing.T) {
	dec := func(p, s int, i int64) Value { return Value{Type: Type{Kind: Decimal, Precision: p, Scale: s}, I: i} }
	huge, _ := new(big.Int).SetString("-123456789012345678901234567890", 10)
	for _, c := range []struct {
		v    Value
		want string
	}{
		{Null(double), "NULL"},
		{Int(math.MinInt64), "-9223372036854775808"},
		{Value{Type: Type{Kind: SmallInt}, I: -5}, "-5"},
		{Bool(true), "true"},
		{Bool(false), "false"},
		{Str("a'b"), "a'b"},
		{dec(5, 2, 12345), "123.45"},
		{dec(5, 2, -5), "-0.05"},
		{dec(5, 5, 1), "0.00001"},
		{dec(5, 0, 7), "7"},
		{Dec(Type{Kind: Decimal, Precision: 38, Scale: 10}, huge), "-12345678901234567890.1234567890"},
		{Float(0.1), "0.1"},
		{Float(100), "100"},
		{Float(1e-4), "0.0001"},
		{Float(1e-5), "1e-05"},
		{Float(123456789012345), "123456789012345"},
		{Float(1e15), "1e+15"},
		{Float(-1.5e300), "-1.5e+300"},
		{Float(math.NaN()), "NaN"},
		{Float(math.Inf(1)), "Infinity"},
		{Float(math.Inf(-1)), "-Infinity"},
		{Float(0), "0"},
		{realValue(0.1), "0.1"},
		{realValue(0.0001), "0.0001"},
		{realValue(0.00001), "1e-05"},
		{realValue(999999), "999999"},
		{realValue(1e6), "1e+06"},
		{realValue(math.MaxFloat32), "3.4028235e+38"},
		{Value{Type: Type{Kind: Date}, I: -1}, "1969-12-31"},
		{Value{Type: Type{Kind: Timestamp}, I: -1}, "1969-12-31 23:59:59.999999"},
	} {
		if got := c.v.String(); got != c.want {
			t.Errorf("%s value prints %q, want %q", c.v.Type, got, c.want)
		}
	}
}

func TestCompare(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	dec := func(s int, i int64) Value { return Value{Type: Type{Kind: Decimal, Precision: 18, Scale: s}, I: i} }
	for _, c := range []struct {
		a, b Value
		want int
	}{
		{Int(-1), Int(0), -1},
		{Float(nan), Float(nan), 0},
		{Float(nan), Float(inf), 1},
		{Float(inf), Float(nan), -1},
		{Float(math.Copysign(0, -1)), Float(0), 0},
		{Str("a"), Str("B"), 1}, // bytes, not letters
		{Str("a"), Str("aa"), -1},
		{dec(1, 15), dec(2, 150), 0},
		{dec(0, math.MaxInt64), dec(18, math.MaxInt64), 1},
		{dec(2, -151), dec(1, -15), -1},
	} {
		if got := Compare(c.a, c.b); got != c.want {
			t.Errorf("Compare(%s, %s) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestTypeNames(t *testing.T) {
	for typ, want := range map[Type]string{
		{Kind: Boolean}: "boolean", {Kind: SmallInt}: "smallint", {Kind: Integer}: "integer", {Kind: BigInt}: "bigint",
		{Kind: Decimal, Precision: 10, Scale: 2}: "numeric(10,2)", {Kind: Real}: "real", {Kind: Double}: "double precision",
		{Kind: Date}: "date", {Kind: Timestamp}: "timestamp without time zone", {Kind: Varchar}: "character varying",
		{Kind: Interval}: "interval", {}: "unknown",
	} {
		if got := typ.String(); got != want {
			t.Errorf("type prints %q, want %q", got, want)
		}
	}
}

func TestOrdinalsOfFloatsAscend(t *testing.T) {
	up := []float64{math.Inf(-1), -math.MaxFloat64, -1, -math.SmallestNonzeroFloat64, 0,
		math.SmallestNonzeroFloat64, 1, math.Nextafter(1, 2), math.MaxFloat64, math.Inf(1), math.NaN()}
	for i := 1; i < len(up); i++ {
		if OrdinalFloat64(up[i-1]) >= OrdinalFloat64(up[i]) {
			t.Errorf("ordinal of %v is not below that of %v", up[i-1], up[i])
		}
	}
	up32 := []float32{float32(math.Inf(-1)), -math.MaxFloat32, -1, -math.SmallestNonzeroFloat32, 0,
		math.SmallestNonzeroFloat32, 1, math.MaxFloat32, float32(math.Inf(1)), float32(math.NaN())}
	for i := 1; i < len(up32); i++ {
		if OrdinalFloat32(up32[i-1]) >= OrdinalFloat32(up32[i]) {
			t.Errorf("32-bit ordinal of %v is not below that of %v", up32[i-1], up32[i])
		}
	}
	if OrdinalFloat64(math.Copysign(0, -1)) != OrdinalFloat64(0) || OrdinalFloat32(float32(math.Copysign(0, -1))) != OrdinalFloat32(0) {
		t.Error("-0 and 0 have different ordinals")
	}
	for _, b := range []uint64{0x7ff8000000000000, 0xfff8000000000000, 0x7ff0000000000001, 0xffffffffffffffff} {
		if o := OrdinalFloat64(math.Float64frombits(b)); o != NaNOrdinal64 {
			t.Errorf("NaN %x has ordinal %x", b, o)
		}
	}
	if !math.IsNaN(Float64FromOrdinal(NaNOrdinal64)) || Float32FromOrdinal(NaNOrdinal32) == Float32FromOrdinal(NaNOrdinal32) {
		t.Error("the ordinals of NaN do not decode to NaN")
	}
}

// drawValue draws a value that is not NULL, with the extremes often among them.
func drawValue(t *rapid.T, typ Type) Value {
	v := Value{Type: typ}
	ints := func(lo, hi int64) int64 {
		return rapid.OneOf(rapid.SampledFrom([]int64{lo, hi, max(lo, -1), 0, min(hi, 1)}), rapid.Int64Range(lo, hi)).Draw(t, "i")
	}
	switch typ.Kind {
	case Boolean:
		v.I = ints(0, 1)
	case SmallInt:
		v.I = ints(math.MinInt16, math.MaxInt16)
	case Integer:
		v.I = ints(math.MinInt32, math.MaxInt32)
	case Decimal:
		v.I = ints(-999, 999)
	case Real:
		v.F = float64(rapid.OneOf(rapid.Float32(), rapid.SampledFrom([]float32{0, float32(math.Copysign(0, -1)), float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))})).Draw(t, "f"))
	case Double:
		v.F = rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1)})).Draw(t, "f")
	case Varchar:
		v.S = rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "NULL", "a", "b"})).Draw(t, "s")
	default:
		v.I = ints(math.MinInt64, math.MaxInt64)
	}
	return v
}

var allTypes = []Type{
	{Kind: Boolean}, {Kind: SmallInt}, {Kind: Integer}, {Kind: BigInt}, {Kind: Decimal, Precision: 3, Scale: 1},
	{Kind: Real}, {Kind: Double}, {Kind: Date}, {Kind: Timestamp}, {Kind: Varchar},
}

func TestOrdinalsOrderAsValuesDo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		typ := rapid.SampledFrom(slices.DeleteFunc(slices.Clone(allTypes), func(t Type) bool { return t.Kind == Varchar })).Draw(t, "type")
		a, b := drawValue(t, typ), drawValue(t, typ)
		oa, ob := Ordinal(a), Ordinal(b)
		if want := Compare(a, b); (oa < ob) != (want < 0) || (oa == ob) != (want == 0) {
			t.Fatalf("%s: ordinals %x and %x of %s and %s, which compare %d", typ, oa, ob, a, b, want)
		}
		if back := FromOrdinal(typ, oa); Compare(back, a) != 0 || back.Type != typ {
			t.Fatalf("%s: %s came back as %s", typ, a, back)
		}
	})
}
