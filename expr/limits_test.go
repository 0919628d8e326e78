package expr_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// limits are values at and beside the limits of types, where loops over vectors have to say that a value does not fit.
var limits = func() map[table.Kind][]table.Value {
	of := map[table.Kind][]table.Value{}
	for kind, list := range map[table.Kind][]int64{
		table.SmallInt:  {math.MinInt16, math.MinInt16 + 1, math.MaxInt16, math.MaxInt16 - 1, -1, 0, 1, 2, 181, -182, -100, 100, 99},
		table.Integer:   {math.MinInt32, math.MinInt32 + 1, math.MaxInt32, math.MaxInt32 - 1, -1, 0, 1, 2, 46340, -46341, math.MaxInt16, math.MinInt16 - 1},
		table.BigInt:    {math.MinInt64, math.MinInt64 + 1, math.MaxInt64, math.MaxInt64 - 1, -1, 0, 1, 3, math.MaxInt32, math.MinInt32 - 1, 3037000499, -3037000500, -1 << 31, -1 << 32, 1 << 53, 1<<53 + 1, 1 << 60, -1 << 60},
		table.Decimal:   {999_999_999_999_999_999, -999_999_999_999_999_999, -1, 0, 1, 49, 50, 51, 149, 150, -50, -150, 9949, 9950, -9949, -9950, -10000, 1 << 53, 1<<53 + 1, 99_999_999_999},
		table.Timestamp: {0, -1, 1, table.MicrosPerDay - 1, -table.MicrosPerDay, 1_700_000_000_123_456, -2440588 * table.MicrosPerDay, math.MaxInt64 / 2, 1 << 57, -1 << 57, -25567 * table.MicrosPerDay, -25567*table.MicrosPerDay - 1, 47847 * table.MicrosPerDay, 47847*table.MicrosPerDay - 1},
		table.Date:      {0, -1, 11016, -25567, -25568, 47846, 47847, 2_000_000, -2_400_000},
	} {
		for _, i := range list {
			of[kind] = append(of[kind], table.Value{I: i})
		}
	}
	for _, f := range []float64{0, math.Copysign(0, -1), 1, -1, 0.5, 1.5, -2.5, 1e-308, 5e-324, -5e-324, math.MaxFloat64, -math.MaxFloat64, math.Inf(1), math.Inf(-1), math.NaN(),
		math.MaxInt32, math.MaxInt32 + 0.5, math.MinInt32 - 0.5, math.MinInt32 - 1, 32767.5, -32768.5, 1 << 63, -1 << 63, 1<<63 - 1024} {
		of[table.Double] = append(of[table.Double], table.Value{F: f})
	}
	for _, s := range []string{"", "a", "Z", "[", "`", "{", "@", "Straße", "ÀB", "abcdefgh", "ABCDEFGHI", "ijklmnopqrstuvwxyzA", "e\u0301e", "1234567é", "é1234567", "\xff", "aé", "ee"} {
		of[table.Varchar] = append(of[table.Varchar], table.Value{S: s})
	}
	return of
}()

// numberTexts are texts of which most are numbers.
var numberTexts = []string{"0", "-0", "000012", "-32768", "-0.0", "1.", ".5", "-1.5", "-", ".", "12.25", "999999999999999", "9999999999999999", "0.1", "123456789.123456", "32768", "-32769", "2147483648", " 7 ", "+7", "1e5", "1..2", "1.2.3", "16777217", "16777217.000001", "16777216.999999", "33554435.0"}

// timeTexts are texts of which most are times of some pattern.
var timeTexts = []string{"2024-02-29 23:59:59.123456", "2023-02-29 00:00:00.5", "0000-01-01 00:00:00.000001", "2024-12-31 24:00:00.1", "2024-00-00 00:60:00.1", "2024-02-29", "2023-02-29", "1999-13-01", "1-2-3", "2024/02/29", "2024-2-29", " 2024-02-29", "2024-02-29 ",
	"2024-02-29 23:59", "20240229", "2024-02-29T10:11:12.9", "2024-02-29  10:11:12.1234567", "2024-02-29 10:11:12.", "", "x"}

// What loops compute at the limits of types is what [Eval] gives in each row. Rows are few, many, none and only NULLs, in memory that
// is used again. Where a row raises an error the loops say nothing.
func TestVectorsAtLimits(t *testing.T) {
	col := func(i int, k table.Kind) *expr.Column {
		typ := table.Type{Kind: k}
		if k == table.Decimal {
			typ.Precision, typ.Scale = 18, 2
		}
		return &expr.Column{Index: i, Name: "c", T: typ}
	}
	constant := func(v table.Value) expr.Expr { return &expr.Const{V: v} }
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom([]table.Kind{table.SmallInt, table.Integer, table.BigInt, table.Decimal, table.Double, table.Varchar, table.Timestamp, table.Date}).Draw(t, "kind")
		x, y := col(0, kind), col(1, kind)
		fields := []table.Field{{Name: "x", Type: x.T}, {Name: "y", Type: y.T}}
		nulls := rapid.IntRange(0, 3).Draw(t, "nulls") // in ten; 3 stands for all
		b := table.NewBuilder("t", fields, 0)
		n := rapid.SampledFrom([]int{1, 2, 7, 8, 9, 64, 100}).Draw(t, "rows")
		few, most := rapid.Bool().Draw(t, "few"), rapid.SampledFrom([]int{2, 4, 8, len(numberTexts), 0}).Draw(t, "texts")
		var of [2][]table.Value // of each column: few, so that no other one hides what becomes of them
		for i := range of {
			of[i] = rapid.SliceOfN(rapid.SampledFrom(limits[kind]), 1, 6).Draw(t, "values")
		}
		for range n {
			for i := range fields {
				v := rapid.SampledFrom(of[i]).Draw(t, "value")
				if few && kind == table.Varchar && most == 0 {
					v.S = rapid.SampledFrom(timeTexts[:len(timeTexts)/(1+n%3)]).Draw(t, "time")
				} else if few && kind == table.Varchar {
					v.S = rapid.SampledFrom(numberTexts[:most]).Draw(t, "number")
				} else if few { // none of which is at a limit
					v.I, v.F = int64(rapid.IntRange(1, 9).Draw(t, "small")), float64(rapid.IntRange(1, 9).Draw(t, "small"))
				}
				switch c := b.Column(i); {
				case nulls == 3 || rapid.IntRange(0, 9).Draw(t, "null") < nulls:
					c.Null()
				case kind == table.Varchar:
					c.String(v.S)
				case kind == table.Double:
					c.Float(v.F)
				default:
					c.Int(v.I)
				}
			}
			if err := b.EndRow(); err != nil {
				t.Fatal(err)
			}
		}
		c := b.Table().Chunks[0]
		var list []expr.Expr
		call := func(name string, args ...expr.Expr) {
			for _, f := range expr.Functions(name) {
				if takes(f, args) {
					list = append(list, expr.NewCall(f, args, 0))
				}
			}
		}
		cast := func(e expr.Expr, to table.Type) { list = append(list, &expr.Cast{X: e, To: to}) }
		for op := expr.LT; op <= expr.GT; op++ {
			when := &expr.Compare{Op: op, L: x, R: y}
			list = append(list, when, expr.NewCall(expr.Case, []expr.Expr{when, x, y}, 0), expr.NewCall(expr.Case, []expr.Expr{when, constant(table.Null(x.T)), x}, 0))
		}
		list = append(list, expr.NewCall(expr.Coalesce, []expr.Expr{x, y}, 0), expr.NewCall(expr.Greatest, []expr.Expr{x, y}, 0), expr.NewCall(expr.Least, []expr.Expr{x, y}, 0))
		switch {
		case kind == table.Varchar:
			for _, f := range []string{"lower", "upper", "reverse", "length", "md5", "trim"} {
				call(f, x)
			}
			for _, f := range []string{"||", "concat", "strpos", "starts_with"} {
				call(f, x, y)
			}
			for _, n := range []int64{-9, -1, 0, 1, 3, 8, 20} {
				number := constant(table.Value{Type: table.Type{Kind: table.Integer}, I: n})
				for _, f := range []string{"left", "right", "substr", "repeat", "lpad", "rpad"} {
					call(f, x, number)
				}
			}
			call("replace", x, constant(table.Str("e")), y)
			for _, pattern := range []string{"YYYY-MM-DD", "YYYY-MM-DD HH24:MI:SS.US", "YYYY-MM-DD HH24:MI:SS.MS", "YYYY/MM-DD", "YYYYMMDD", "FMYYYY-FMMM-DD", "MM-YYYY"} {
				call("to_date", x, constant(table.Str(pattern)))
				call("to_timestamp", x, constant(table.Str(pattern)))
			}
			for _, pattern := range []string{"[a-e]", "[a-z]+", "e"} {
				call("regexp_count", x, constant(table.Str(pattern)))
				call("regexp_substr", x, constant(table.Str(pattern)))
				call("regexp_replace", x, constant(table.Str(pattern)), constant(table.Str("<>")), constant(table.Str("g")))
				call("regexp_replace", x, constant(table.Str(pattern)), constant(table.Str("")))
			}
			for _, to := range []table.Kind{table.SmallInt, table.Integer, table.BigInt, table.Real, table.Double} {
				cast(x, table.Type{Kind: to})
			}
		case kind == table.Timestamp || kind == table.Date:
			for _, unit := range []string{"year", "month", "day", "hour", "minute", "second", "microsecond", "quarter", "week", "dow", "isodow", "doy", "isoyear", "decade", "century", "millennium", "epoch"} {
				for _, f := range []string{"extract", "date_part", "date_trunc"} {
					call(f, constant(table.Str(unit)), x)
				}
			}
			for _, pattern := range []string{"FMDay, Month DD YYYY HH12:MI am", "FMDay", "month", "RM", "PM"} {
				call("to_char", x, constant(table.Str(pattern)))
			}
			cast(x, table.Type{Kind: table.Varchar})
			cast(x, table.Type{Kind: table.Date})
		default:
			for op := expr.Add; op <= expr.Mod; op++ {
				if kind == table.Double && op == expr.Mod {
					continue
				}
				list = append(list, &expr.Arith{Op: op, L: x, R: y, T: arithType(op, x.T)})
			}
			list = append(list, &expr.Neg{X: x})
			for _, f := range []string{"abs", "sign", "ceil", "floor", "round", "trunc", "sqrt", "degrees", "radians", "~"} {
				call(f, x)
			}
			for _, f := range []string{"&", "|", "#", "mod", "log", "power"} {
				call(f, x, y)
			}
			call("round", x, constant(table.Value{Type: table.Type{Kind: table.Integer}, I: 1}))
			for _, to := range []table.Type{{Kind: table.SmallInt}, {Kind: table.Integer}, {Kind: table.BigInt}, {Kind: table.Double}, {Kind: table.Varchar}, {Kind: table.Decimal, Precision: 2}, {Kind: table.Decimal, Precision: 18, Scale: 2}, {Kind: table.Decimal, Precision: 38, Scale: 4}} {
				cast(x, to)
			}
		}
		arena := &expr.Arena{}
		for _, e := range list {
			arena.Reset()
			got, ok := expr.Compute(e, expr.BlockRows{Chunk: c, Block: table.Block{N: c.Rows}, Arena: arena})
			failed := false
			for row := range c.Rows {
				want, err := expr.Eval(e, &expr.Env{Column: func(i int) table.Value { return c.Segments[i].Value(row) }, Agg: func(int) table.Value { return table.Value{Null: true} }})
				if failed = failed || err != nil; !ok || err != nil {
					continue
				}
				if g := got.Value(row, e.Type()); text(g, nil) != text(want, nil) {
					t.Fatalf("%s in row %d of %v, %v: %s, want %s", e, row, c.Segments[0].Value(row), c.Segments[1].Value(row), text(g, nil), text(want, nil))
				}
			}
			if ok && failed {
				t.Fatalf("%s: no error, and there is one", e)
			}
			if !ok && !failed && !mayBeWide(e) {
				t.Fatalf("%s: no vector, and there is no error", e)
			}
			if none, ok := expr.Compute(e, expr.BlockRows{Chunk: c, Block: table.Block{Rows: []uint32{}}, Arena: arena}); ok && none.Len() > 0 {
				t.Fatalf("%s of no rows: %d values", e, none.Len())
			}
		}
	})
}

// takes reports that a function takes arguments as they are.
func takes(f *expr.Function, args []expr.Expr) bool {
	if len(args) != len(f.Params) && !f.Repeat {
		return false
	}
	for i, a := range args {
		p, t := f.Params[min(i, len(f.Params)-1)], a.Type()
		if p.Kind != t.Kind && !(f.Widest && p.IsInteger() && t.IsInteger()) && p != expr.Each {
			return false
		}
	}
	return true
}

// arithType is the type of arithmetic of two values of a type.
func arithType(op expr.ArithOp, t table.Type) table.Type {
	switch {
	case t.Kind != table.Decimal:
		return t
	case op == expr.Div:
		return table.Type{Kind: table.Double}
	case op == expr.Mul:
		return table.Type{Kind: table.Decimal, Precision: 38, Scale: 2 * t.Scale}
	}
	return table.Type{Kind: table.Decimal, Precision: 38, Scale: t.Scale}
}
