package expr_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/expr/match"
	"github.com/stencildb/stencildb/internal/plantest"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/table/dictionary"
)

func kind(k table.Kind) table.Type { return table.Type{Kind: k} }

func dec(i int64, scale int) table.Value {
	return table.Value{Type: table.Type{Kind: table.Decimal, Precision: 18, Scale: scale}, I: i}
}

func numeric(p, s int) table.Type { return table.Type{Kind: table.Decimal, Precision: p, Scale: s} }

func c(v table.Value) *expr.Const { return &expr.Const{V: v, P: 1} }

func arith(op expr.ArithOp, l, r table.Value, t table.Type) expr.Expr {
	return &expr.Arith{Op: op, L: c(l), R: c(r), T: t, P: 7}
}

func text(v table.Value, err error) string {
	if err != nil {
		return "error: " + err.Error()
	}
	return v.String()
}

func TestArithmetic(t *testing.T) {
	big, dbl, real := kind(table.BigInt), kind(table.Double), kind(table.Real)
	i, f := table.Int, table.Float
	r := func(x float64) table.Value { return table.Value{Type: real, F: float64(float32(x))} }
	date := func(d int64) table.Value { return table.Value{Type: kind(table.Date), I: d} }
	for _, x := range []struct {
		op   expr.ArithOp
		l, r table.Value
		t    table.Type
		want string
	}{
		{expr.Add, i(2), i(3), big, "5"},
		{expr.Add, i(math.MaxInt64), i(1), big, "error: bigint out of range"},
		{expr.Sub, i(math.MinInt64), i(1), big, "error: bigint out of range"},
		{expr.Sub, i(0), i(math.MinInt64), big, "error: bigint out of range"},
		{expr.Mul, i(math.MinInt64), i(-1), big, "error: bigint out of range"},
		{expr.Mul, i(1 << 32), i(1 << 31), big, "error: bigint out of range"},
		{expr.Mul, i(-1 << 32), i(1 << 31), big, "-9223372036854775808"},
		{expr.Div, i(-7), i(2), big, "-3"},
		{expr.Div, i(7), i(0), big, "error: division by zero"},
		{expr.Div, i(math.MinInt64), i(-1), big, "error: bigint out of range"},
		{expr.Mod, i(-7), i(2), big, "-1"},
		{expr.Mod, i(7), i(-2), big, "1"},
		{expr.Mod, i(math.MinInt64), i(-1), big, "0"},
		{expr.Mod, i(7), i(0), big, "error: division by zero"},
		{expr.Add, i(7), table.Null(big), big, "NULL"},
		{expr.Div, table.Null(big), i(0), big, "NULL"},
		{expr.Add, f(0.1), f(0.2), dbl, "0.30000000000000004"},
		{expr.Mul, f(1e200), f(1e200), dbl, "error: value out of range: overflow"},
		{expr.Mul, f(1e-200), f(1e-200), dbl, "error: value out of range: underflow"},
		{expr.Mul, f(math.Inf(1)), f(2), dbl, "Infinity"},
		{expr.Sub, f(math.Inf(1)), f(math.Inf(1)), dbl, "NaN"},
		{expr.Div, f(1), f(0), dbl, "error: division by zero"},
		{expr.Div, f(math.NaN()), f(0), dbl, "NaN"},
		{expr.Div, f(1), f(math.Inf(1)), dbl, "0"},
		{expr.Add, r(0.1), r(0.2), real, "0.3"},
		{expr.Mul, r(1e30), r(1e30), real, "error: value out of range: overflow"},
		{expr.Mul, r(1e-30), r(1e-30), real, "error: value out of range: underflow"},
		{expr.Add, dec(150, 2), dec(5, 1), numeric(18, 2), "2.00"},
		{expr.Mul, dec(150, 2), dec(5, 1), numeric(18, 3), "0.750"},
		{expr.Mod, dec(-150, 2), dec(4, 1), numeric(18, 2), "-0.30"},
		{expr.Add, dec(math.MaxInt64, 0), dec(5, 1), numeric(18, 1), "error: numeric out of range"},
		{expr.Add, date(0), i(31), kind(table.Date), "1970-02-01"},
		{expr.Sub, date(31), date(1), big, "30"},
	} {
		e := arith(x.op, x.l, x.r, x.t)
		v, err := expr.Eval(e, nil)
		if got := text(v, err); got != x.want {
			t.Errorf("%s = %s, want %s", e, got, x.want)
		}
		if err != nil && err.(*expr.Error).Pos != 7 {
			t.Errorf("%s: error at %d, want 7", e, err.(*expr.Error).Pos)
		}
	}
}

// The quotient of two DECIMALs is the nearest DOUBLE.
func TestDecimalDivision(t *testing.T) {
	for _, x := range []struct {
		l, r table.Value
		want string
	}{
		{dec(1, 0), dec(3, 0), "0.3333333333333333"},
		{dec(10, 0), dec(3, 0), "3.3333333333333335"},
		{dec(1, 1), dec(3, 1), "0.3333333333333333"}, // not that of the doubles 0.1 and 0.3
		{dec(1, 0), dec(30000, 0), "3.3333333333333335e-05"},
		{dec(-1, 0), dec(4, 0), "-0.25"},
		{dec(0, 0), dec(-7, 0), "0"},
		{dec(150, 2), dec(5, 1), "3"},
		{dec(9007199254740993, 0), dec(1, 0), "9.007199254740992e+15"},
		{dec(9007199254740993, 0), dec(3, 0), "3.002399751580331e+15"},
		{dec(1, 400), dec(1, 0), "error: value out of range: underflow"},
		{dec(1, 0), dec(1, 400), "error: value out of range: overflow"},
		{dec(1, 0), dec(0, 0), "error: division by zero"},
	} {
		v, err := expr.Eval(arith(expr.Div, x.l, x.r, kind(table.Double)), nil)
		if got := text(v, err); got != x.want {
			t.Errorf("%s / %s = %s, want %s", x.l, x.r, got, x.want)
		}
	}
}

func TestCasts(t *testing.T) {
	real := kind(table.Real)
	f, s := table.Float, table.Str
	for _, x := range []struct {
		v    table.Value
		to   table.Type
		want string
	}{
		{f(2.5), kind(table.BigInt), "2"},
		{f(3.5), kind(table.BigInt), "4"},
		{f(-0.5), kind(table.Integer), "0"},
		{f(0x1p63), kind(table.BigInt), "error: bigint out of range"},
		{f(-0x1p63), kind(table.BigInt), "-9223372036854775808"},
		{f(math.NaN()), kind(table.SmallInt), "error: smallint out of range"},
		{dec(25, 1), kind(table.BigInt), "3"},
		{dec(-25, 1), kind(table.BigInt), "-3"},
		{table.Int(40000), kind(table.SmallInt), "error: smallint out of range"},
		{table.Int(math.MaxInt64), real, "9.223372e+18"},
		{f(1e300), real, "error: value out of range: overflow"},
		{f(1e-300), real, "error: value out of range: underflow"},
		{f(0.1), numeric(18, 3), "0.100"},
		{f(1.0 / 3), numeric(18, 17), "0.33333333333333300"},
		{f(math.Inf(1)), numeric(18, 3), "error: cannot convert Infinity to numeric"},
		{dec(12345, 3), numeric(18, 1), "12.3"},
		{dec(12350, 3), numeric(18, 1), "12.4"},
		{dec(12345, 3), numeric(3, 2), "error: numeric field overflow: a value does not fit numeric(3,2)"},
		{dec(1, 1), kind(table.Double), "0.1"},
		{table.Bool(true), kind(table.Integer), "1"},
		{table.Int(2), kind(table.Boolean), "true"},
		{table.Value{Type: kind(table.Timestamp), I: -1}, kind(table.Date), "1969-12-31"},
		{table.Value{Type: kind(table.Date), I: 1}, kind(table.Timestamp), "1970-01-02 00:00:00"},
		{s(" 42 "), kind(table.BigInt), "42"},
		{s("4 2"), kind(table.BigInt), `error: invalid input syntax for type bigint: "4 2"`},
		{s("99999"), kind(table.SmallInt), "error: smallint out of range"},
		{s("1e3"), kind(table.Double), "1000"},
		{s("0x10"), kind(table.Double), `error: invalid input syntax for type double precision: "0x10"`},
		{s("1e999"), kind(table.Double), `error: "1e999" is out of range for type double precision`},
		{s("-.5"), numeric(18, 2), "-0.50"},
		{s("1.5e2"), numeric(18, 0), "150"},
		{s("tr"), kind(table.Boolean), "true"},
		{s("2001-02-03"), kind(table.Date), "2001-02-03"},
		{s("2001-02-29"), kind(table.Date), `error: invalid input syntax for type date: "2001-02-29"`},
		{s("2001-02-03 04:05:06.5"), kind(table.Timestamp), "2001-02-03 04:05:06.5"},
		{s("0044-03-15 BC"), kind(table.Date), "0044-03-15 BC"},
		{table.Int(7), kind(table.Varchar), "7"},
		{table.Bool(true), kind(table.Double), "error: cannot cast type boolean to double precision"},
	} {
		v, err := expr.Eval(&expr.Cast{X: c(x.v), To: x.to, P: 7}, nil)
		if got := text(v, err); got != x.want {
			t.Errorf("CAST(%s AS %s) = %s, want %s", x.v, x.to, got, x.want)
		}
	}
}

// AND and OR stop at the operand that decides them; UNKNOWN does not.
func TestThreeValuedLogic(t *testing.T) {
	T, F, U := c(table.Bool(true)), c(table.Bool(false)), c(table.Null(kind(table.Boolean)))
	E := &expr.Compare{Op: expr.EQ, L: arith(expr.Div, table.Int(1), table.Int(0), kind(table.BigInt)), R: c(table.Int(1))}
	and := func(k ...expr.Expr) expr.Expr { return &expr.And{Kids: k} }
	or := func(k ...expr.Expr) expr.Expr { return &expr.Or{Kids: k} }
	null := c(table.Null(kind(table.BigInt)))
	one := c(table.Int(1))
	for _, x := range []struct {
		e    expr.Expr
		want string
	}{
		{and(T, U), "NULL"}, {and(U, F), "false"}, {and(F, E), "false"}, {and(U, E), "error: division by zero"}, {and(E, F), "error: division by zero"},
		{or(F, U), "NULL"}, {or(U, T), "true"}, {or(T, E), "true"}, {or(U, E), "error: division by zero"},
		{&expr.Not{X: U}, "NULL"}, {&expr.Not{X: T}, "false"},
		{&expr.IsTruth{X: U, Want: expr.IsTrue, Not: true}, "true"},
		{&expr.IsTruth{X: U, Want: expr.IsUnknown}, "true"},
		{&expr.IsNull{X: U}, "true"},
		{&expr.In{X: one, List: []*expr.Const{null, one}}, "true"},
		{&expr.In{X: one, List: []*expr.Const{null}}, "NULL"},
		{&expr.In{X: one, List: []*expr.Const{null}, Not: true}, "NULL"},
		{&expr.In{X: one, List: []*expr.Const{one, null}, Not: true}, "false"},
		{&expr.Between{X: one, Lo: one, Hi: one}, "true"},
		{&expr.Between{X: one, Lo: null, Hi: c(table.Int(0))}, "false"},
		{&expr.Between{X: one, Lo: null, Hi: one, Not: true}, "NULL"},
		{&expr.Compare{Op: expr.GT, L: c(table.Float(math.NaN())), R: c(table.Float(math.Inf(1)))}, "true"},
		{&expr.Compare{Op: expr.EQ, L: c(table.Float(math.NaN())), R: c(table.Float(math.NaN()))}, "true"},
	} {
		if got := text(expr.Eval(x.e, nil)); got != x.want {
			t.Errorf("%s = %s, want %s", x.e, got, x.want)
		}
	}
}

func TestLike(t *testing.T) {
	for _, x := range []struct {
		s, pattern string
		fold, want bool
	}{
		{"", "", false, true}, {"", "%", false, true}, {"", "_", false, false},
		{"abc", "a%", false, true}, {"abc", "%c", false, true}, {"abc", "%b%", false, true}, {"abc", "b%", false, false},
		{"abc", "a_c", false, true}, {"é", "_", false, true}, {"éa", "__", false, true}, {"\xff", "_", false, true},
		{"100%", `100\%`, false, true}, {"100x", `100\%`, false, false}, {`a\`, `a\\`, false, true},
		{"ABC", "a%", false, false}, {"ABC", "a%", true, true}, {"É", "é", true, true}, {"é", "É_", true, false},
		{"aXbXc", "a%b%c", false, true}, {"mississippi", "%iss%ip%i", false, true}, {"mississippi", "%iss%is%is%", false, false},
	} {
		e := &expr.Like{X: c(table.Str(x.s)), Pattern: x.pattern, Escape: '\\', Fold: x.fold}
		if v, err := expr.Eval(e, nil); err != nil || (v.I != 0) != x.want {
			t.Errorf("%s: %v %v, want %v", e, v, err, x.want)
		}
	}
	if _, err := match.CompileLike(`a\`, '\\', false); err == nil {
		t.Error("a pattern that ends with the escape character was accepted")
	}
}

// 64-bit arithmetic overflows exactly where the exact result does not fit.
func TestIntOpIsExact(t *testing.T) {
	edge := rapid.OneOf(rapid.Int64(), rapid.SampledFrom([]int64{0, 1, -1, math.MaxInt64, math.MinInt64, 1 << 32, -1 << 31, 3037000500}))
	rapid.Check(t, func(t *rapid.T) {
		a, b := edge.Draw(t, "a"), edge.Draw(t, "b")
		x, y := big.NewInt(a), big.NewInt(b)
		exact := []*big.Int{new(big.Int).Add(x, y), new(big.Int).Sub(x, y), new(big.Int).Mul(x, y)}
		if b != 0 {
			exact = append(exact, new(big.Int).Quo(x, y), new(big.Int).Rem(x, y))
		}
		for op, want := range exact {
			got, ok, _ := expr.IntOp(expr.ArithOp(op), a, b)
			if ok != want.IsInt64() || ok && got != want.Int64() {
				t.Fatalf("%d %s %d = %d, %v; exactly %s", a, expr.ArithOp(op), b, got, ok, want)
			}
		}
	})
}

// LIKE is its definition: of a pattern character by character, over texts of letters and a character of two bytes.
func TestLikeIsItsDefinition(t *testing.T) {
	random := plantest.Random(t)
	draw := func(from []rune) (list []rune) {
		for range random.IntN(9) {
			list = append(list, from[random.IntN(len(from))])
		}
		return list
	}
	for range 100_000 {
		p, s := string(draw([]rune("aabé%%_"))), string(draw([]rune("aabé")))
		m, err := match.CompileLike(p, 0, false)
		if err != nil || m.Match(s) != likes(s, p) {
			t.Fatalf("%q LIKE %q: want %v (%v)", s, p, likes(s, p), err)
		}
	}
}

// likes is LIKE by its definition: one element of the pattern after the other.
func likes(s, pattern string) bool {
	if pattern == "" {
		return s == ""
	}
	_, n := utf8.DecodeRuneInString(s)
	switch pattern[0] {
	case '%':
		return likes(s, pattern[1:]) || s != "" && likes(s[n:], pattern)
	case '_':
		return s != "" && likes(s[n:], pattern[1:])
	}
	return s != "" && s[0] == pattern[0] && likes(s[1:], pattern[1:])
}

// What is found in many texts at once, one behind the other or not, is what each text says.
func TestMatchesOfManyTexts(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 3))
	parts := []string{"a", "b", "ab", "é", "\xff", "%", "", "aab"}
	var apart []string
	for range 3000 {
		s := ""
		for range rng.IntN(7) {
			s += parts[rng.IntN(len(parts))]
		}
		apart = append(apart, s)
	}
	packed := slices.Clone(apart)
	dictionary.Pack(packed)
	for _, pattern := range []string{"%", "", "_", "a", "%a", "a%", "%ab%", "%b%ab", "%é%", "%_é_%", "%\xff%", "%aab", "not there", "%abé_%", "ab%ba%", "%_%__%b", "_%", "%%_a_%_", "a_%_%", "_é%_b", "%_"} {
		for _, fold := range []bool{false, true} {
			m, err := match.CompileLike(pattern, 0, fold)
			if err != nil {
				t.Fatal(err)
			}
			for _, list := range [][]string{packed, apart, packed[1:50], packed[5:5]} {
				var got, want []int
				m.Each(list, func(i int) { got = append(got, i) })
				for i, s := range list {
					p := pattern
					if fold {
						s, p = strings.ToLower(s), strings.ToLower(p)
					}
					if likes(s, p) {
						want = append(want, i)
					}
				}
				if !slices.Equal(got, want) {
					t.Errorf("%q in %d texts: %d match, not %d", pattern, len(list), len(got), len(want))
				}
			}
		}
	}
}

// A text with more decimals than the scale that it is read with is an error: it is not rounded.
func TestNumericOfTextIsExact(t *testing.T) {
	for text, want := range map[string]string{"1.5": "1.50", " 2.500 ": "2.50", "-1e-2": "-0.01", "0.125": "", "1e-3": "", "x": ""} {
		c := expr.NewCall(expr.NumericOf, []expr.Expr{&expr.Const{V: table.Str(text)}, &expr.Const{V: table.Int(2)}}, 0)
		v, err := expr.Eval(c, nil)
		if got := v.String(); err == nil && got != want || err != nil && want != "" {
			t.Errorf("%q is %s, %v; want %q", text, got, err, want)
		}
	}
}

// The text of a CASE is written once, not once for each branch.
func TestCaseText(t *testing.T) {
	bytes := func(n int) uint64 {
		var args []expr.Expr
		for i := range n {
			args = append(args, &expr.Const{V: table.Bool(true)}, &expr.Const{V: table.Literal(int64(i))})
		}
		e := expr.NewCall(expr.Case, args, -1)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		text := e.String()
		runtime.ReadMemStats(&after)
		if n == 2 && text != "CASE WHEN true THEN 0 WHEN true THEN 1 END" {
			t.Error(text)
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	bytes(2)
	if few, many := bytes(1000), bytes(4000); many > 6*few {
		t.Errorf("%d bytes are allocated for 1000 branches, %d for 4000", few, many)
	}
}
