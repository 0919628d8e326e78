package lower_test

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/plantest"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/lower"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/table"
)

// describe writes leaves with their codes.
func describe(p *predicate.Pred) string {
	if p.Op != predicate.Simple {
		if len(p.Kids) == 0 {
			return plantest.Show(p)
		}
		var parts []string
		for _, k := range p.Kids {
			parts = append(parts, describe(k))
		}
		return "(" + strings.Join(parts, map[predicate.Op]string{predicate.And: " AND ", predicate.Or: " OR "}[p.Op]) + ")"
	}
	switch x := p.Leaf.(type) {
	case *predicate.Compare:
		return fmt.Sprintf("{%s: code %s %d}", x.Text, x.Op, x.Code)
	case *predicate.Range:
		return fmt.Sprintf("{%s: %d..%d}", x.Text, x.Lo, x.Hi)
	case *predicate.Members:
		return fmt.Sprintf("{%s: %v}", x.Text, x.Spans)
	case *predicate.Computed:
		return fmt.Sprintf("{%s: %s}", x.Text, [...]string{"semilinear", "polynomial", "expression"}[x.Shape])
	}
	return "{" + p.Leaf.String() + "}"
}

func TestLowerMakes(t *testing.T) {
	tab := plantest.Flights(t)
	delay, distance, a, price, city, x := plantest.Col(tab, "delay"), plantest.Col(tab, "distance"), plantest.Col(tab, "a"), plantest.Col(tab, "price"), plantest.Col(tab, "city"), plantest.Col(tab, "x")
	str := func(s string) *expr.Const { return &expr.Const{V: table.Str(s)} }
	list := func(is ...int64) (out []*expr.Const) {
		for _, i := range is {
			out = append(out, plantest.Num(i))
		}
		return out
	}
	double := func(e expr.Expr) expr.Expr { return &expr.Cast{X: e, To: table.Type{Kind: table.Double}} }
	dec := func(i int64) *expr.Const { return &expr.Const{V: table.Value{Type: price.T, I: i}} }
	for _, c := range []struct {
		e    expr.Expr
		want string
	}{
		{plantest.Compare(delay, expr.LT, plantest.Num(60)), "{delay < 60: code < 60}"},
		{plantest.Compare(plantest.Num(60), expr.GT, delay), "{60 > delay: code < 60}"},
		{&expr.Not{X: plantest.Compare(delay, expr.LT, plantest.Num(60))}, "{delay >= 60: code >= 60}"},
		{plantest.Compare(delay, expr.LT, plantest.Num(0)), "FALSE"},
		{plantest.Compare(delay, expr.GE, plantest.Num(0)), "TRUE"},
		{plantest.Compare(a, expr.GE, plantest.Num(-3)), "{a IS NOT NULL}"},
		{plantest.Compare(delay, expr.NE, plantest.Num(5)), "{delay <> 5: code <> 5}"},
		{plantest.Compare(distance, expr.EQ, plantest.Num(105)), "{distance = 105: code = 5}"},
		{plantest.Compare(double(delay), expr.LT, &expr.Const{V: table.Float(3.5)}), "{CAST(delay AS double precision) < 3.5: code < 4}"},
		{plantest.Compare(plantest.Arith(plantest.Num(10), expr.Sub, plantest.Arith(plantest.Num(2), expr.Mul, delay)), expr.GE, plantest.Num(4)), "{(10 - (2 * delay)) >= 4: code <= 3}"},
		{plantest.Compare(price, expr.LE, dec(101)), "{price <= 1.01: code <= 101}"},
		{&expr.Between{X: distance, Lo: plantest.Num(100), Hi: plantest.Num(500)}, "{distance BETWEEN 100 AND 500: code <= 400}"},
		{&expr.Between{X: distance, Lo: plantest.Num(150), Hi: plantest.Num(500)}, "{distance BETWEEN 150 AND 500: 50..400}"},
		{plantest.And(plantest.Compare(delay, expr.GE, plantest.Num(10)), plantest.Compare(distance, expr.LT, plantest.Num(200)), plantest.Compare(delay, expr.LT, plantest.Num(20))),
			"({delay >= 10 AND delay < 20: 10..19} AND {distance < 200: code < 100})"},
		{plantest.And(plantest.Compare(delay, expr.GE, plantest.Num(10)), plantest.Compare(delay, expr.LT, plantest.Num(5))), "FALSE"},
		{plantest.Or(plantest.Compare(delay, expr.GE, plantest.Num(10)), plantest.Compare(delay, expr.LT, plantest.Num(50))), "TRUE"},
		{&expr.In{X: delay, List: list(3, 4, 5, 9)}, "({delay BETWEEN 3 AND 5: 3..5} OR {delay = 9: code = 9})"},
		{&expr.In{X: delay, List: list(3, 9), Not: true}, "({delay <> 3: code <> 3} AND {delay <> 9: code <> 9})"},
		{&expr.In{X: delay, List: list(1, 3, 5, 7, 9)}, "{delay IN (1, 3, 5, 7, 9): [{1 1} {3 3} {5 5} {7 7} {9 9}]}"},
		{&expr.Like{X: city, Pattern: "b%", Escape: '\\'}, "{city LIKE 'b%': code = 1}"},
		{plantest.Compare(city, expr.LT, str("c")), "{city < 'c': code < 2}"},
		{plantest.Compare(delay, expr.LT, distance), "TRUE"},
		{plantest.Compare(plantest.Arith(delay, expr.Mul, plantest.Num(20)), expr.LT, distance), "{(delay * 20) < distance: semilinear}"},
		{plantest.Compare(plantest.Arith(plantest.Arith(plantest.Num(2), expr.Mul, delay), expr.Sub, distance), expr.LT, plantest.Arith(a, expr.Add, plantest.Num(10))), "{((2 * delay) - distance) < (a + 10): semilinear}"},
		{plantest.Compare(plantest.Arith(plantest.Arith(delay, expr.Add, distance), expr.Sub, distance), expr.LT, plantest.Num(10)), "{((delay + distance) - distance) < 10: code < 10}"},
		{plantest.Compare(plantest.Arith(plantest.Arith(delay, expr.Mul, delay), expr.Add, distance), expr.LT, plantest.Num(1000)), "{((delay * delay) + distance) < 1000: polynomial}"},
		{plantest.Compare(plantest.Arith(delay, expr.Mod, plantest.Num(2)), expr.EQ, plantest.Num(0)), "{(delay % 2) = 0: expression}"},
		{&expr.Cast{X: plantest.Arith(delay, expr.Sub, plantest.Num(60)), To: table.Type{Kind: table.Boolean}}, "{(delay - 60) <> 0: code <> 60}"},
		{plantest.Compare(double(delay), expr.LT, x), "{CAST(delay AS double precision) < x: expression}"},
		{&expr.IsNull{X: plantest.Arith(a, expr.Add, delay)}, "{a IS NULL}"},
		{&expr.IsNull{X: delay}, "FALSE"},
	} {
		p, checks, err := lower.Lower(c.e, tab, tab.Chunks[0])
		if err != nil {
			t.Errorf("%s: %v", c.e, err)
			continue
		}
		if got := describe(p); got != c.want || len(checks) != 0 {
			t.Errorf("%s\ngives %s and %d checks,\nwant  %s", c.e, got, len(checks), c.want)
		}
	}
}

func TestLowerChecks(t *testing.T) {
	tab := plantest.Flights(t)
	delay, a := plantest.Col(tab, "delay"), plantest.Col(tab, "a")
	ratio := plantest.Compare(plantest.Arith(delay, expr.Div, a), expr.GT, plantest.Num(2))
	for _, c := range []struct {
		e    expr.Expr
		want string
	}{
		{ratio, "division by zero: {a = 0: code = 3}"},
		{plantest.And(plantest.Compare(a, expr.NE, plantest.Num(0)), ratio), ""},
		{plantest.Or(plantest.Compare(a, expr.EQ, plantest.Num(0)), ratio), ""},
		{&expr.Not{X: plantest.And(plantest.Compare(a, expr.NE, plantest.Num(0)), ratio)}, ""},
		{plantest.And(plantest.Compare(delay, expr.LT, plantest.Num(9)), ratio), "division by zero: ({delay < 9: code < 9} AND {a = 0: code = 3})"},
		{plantest.And(ratio, plantest.Compare(a, expr.NE, plantest.Num(0))), "division by zero: {a = 0: code = 3}"},
		{plantest.Compare(plantest.Arith(delay, expr.Add, plantest.Num(math.MaxInt64-90)), expr.GT, plantest.Num(0)), "bigint out of range: {error in delay: bigint out of range: code >= 91}"},
		{plantest.And(plantest.Compare(delay, expr.LT, plantest.Num(0)), plantest.Compare(plantest.Arith(plantest.Num(1), expr.Div, plantest.Num(0)), expr.EQ, plantest.Num(1))), ""},
		{plantest.And(plantest.Compare(delay, expr.LT, plantest.Num(1)), plantest.Compare(plantest.Arith(plantest.Num(1), expr.Div, plantest.Num(0)), expr.EQ, plantest.Num(1))), "division by zero: {delay < 1: code < 1}"},
	} {
		_, checks, err := lower.Lower(c.e, tab, tab.Chunks[0])
		if err != nil {
			t.Errorf("%s: %v", c.e, err)
			continue
		}
		var got []string
		for _, k := range checks {
			got = append(got, k.Err.Error()+": "+describe(k.Pred))
		}
		if s := strings.Join(got, "; "); s != c.want {
			t.Errorf("%s\nis checked by %q,\nwant          %q", c.e, s, c.want)
		}
	}
}

// A program's intervals hold every value, only operations marked so can fail, and
// a semi-linear program over codes is the one over values.
func TestProgramsKeepTheirPromises(t *testing.T) {
	k := plantest.Default()
	k.Depth, k.Arith = 0, 3
	for _, narrow := range []bool{false, true} {
		k.Narrow = narrow
		rapid.Check(t, func(t *rapid.T) {
			tab := plantest.Table(t, k)
			q, err := physical.NewQuery(tab, &plan.Fragment{Where: plantest.Where(t, tab, k)})
			if err != nil {
				return
			}
			for ci, c := range tab.Chunks {
				for _, p := range programs(q.Chunks[ci].Pred) {
					holds := selected(t, &predicate.Pred{Op: predicate.Simple, Leaf: p}, c)
					for row := range c.Rows {
						checkProgram(t, p, c, row, holds.Get(row))
					}
				}
			}
		})
	}
}

func programs(p *predicate.Pred) (out []*predicate.Computed) {
	if p.Op == predicate.Simple {
		if x, ok := p.Leaf.(*predicate.Computed); ok {
			out = append(out, x)
		}
	}
	for _, k := range p.Kids {
		out = append(out, programs(k)...)
	}
	return out
}

func checkProgram(t *rapid.T, p *predicate.Computed, c *table.Chunk, row int, holds bool) {
	for _, i := range p.Columns() {
		if c.Segments[i].IsNull(row) {
			return
		}
	}
	code := func(i int) uint64 { return c.Segments[i].Codes.At(row) }
	checkVal(t, p.L, code, p)
	checkVal(t, p.R, code, p)
	cols, coef, rhs, bound, ok := p.Linear()
	if ok != (p.Shape == predicate.Semilinear) {
		t.Fatalf("%s: Linear says %v", p, ok)
	}
	if !ok {
		return
	}
	sum := new(big.Int)
	for i, col := range cols {
		x := new(big.Int).SetUint64(code(col))
		if sum.Add(sum, x.Mul(x, big.NewInt(coef[i]))); sum.CmpAbs(bound) > 0 {
			t.Fatalf("%s: a partial sum of %s, bound %s", p, sum, bound)
		}
	}
	if got := p.Op.Holds(sum.Cmp(rhs)); got != holds {
		t.Fatalf("%s: over codes %v, over values %v", p, got, holds)
	}
}

// number is the value of an integer program, or of one of doubles.
type number struct {
	i int64
	f float64
}

// evalVal computes v from the codes of one record, none of them NULL's. ok is false when an operation
// in it fails. An integer result does not fit 64 bits, or a division is by 0 (of a double other than
// NaN). Or an operation of floats overflows or underflows as package expr defines it.
func evalVal(v *predicate.Val, code func(col int) uint64) (n number, ok bool) {
	switch v.Op {
	case predicate.Const:
		return number{v.I, v.F}, v.Float || v.Lo.IsInt64()
	case predicate.Col:
		return number{i: int64(code(v.Column)) + v.Offset}, true
	case predicate.ColF:
		if o := code(v.Column) + v.Base; v.Single {
			return number{f: float64(table.Float32FromOrdinal(uint32(o)))}, true
		} else {
			return number{f: table.Float64FromOrdinal(o)}, true
		}
	case predicate.Lookup:
		return number{i: int64(v.Table[code(v.Column)])}, true
	}
	a, ok := evalVal(v.Kids[0], code)
	if !ok {
		return n, false
	}
	switch v.Op {
	case predicate.NegV:
		return number{i: -a.i, f: -a.f}, v.Float || a.i == 0 || a.i != -a.i
	case predicate.ToFloat:
		return number{f: float64(a.i)}, true
	case predicate.Round32:
		f, wrong := expr.Round32(a.f)
		return number{f: f}, wrong == nil
	}
	b, ok := evalVal(v.Kids[1], code)
	if !ok {
		return n, false
	}
	op := [...]expr.ArithOp{expr.Add, expr.Sub, expr.Mul, expr.Div, expr.Mod}[v.Op-predicate.AddV]
	if v.Float {
		f, wrong := expr.FloatOp(op, a.f, b.f)
		return number{f: f}, wrong == nil
	}
	i, ok, _ := expr.IntOp(op, a.i, b.i)
	return number{i: i}, ok
}

// checkVal checks what v promises of a record. It is false where an operation fails, or a value passes the limits of its integer type,
// which is an error of the query. Then nothing is promised of what is made of it.
func checkVal(t *rapid.T, v *predicate.Val, code func(int) uint64, p *predicate.Computed) bool {
	operands := true
	for _, k := range v.Kids {
		operands = checkVal(t, k, code, p) && operands
	}
	n, ok := evalVal(v, code)
	if !operands {
		return false
	}
	if !ok && !v.CanFail {
		t.Fatalf("%s: an operation fails that should not", p)
	}
	switch {
	case !ok:
	case v.Float && math.IsNaN(n.f):
		if !v.MayNaN {
			t.Fatalf("%s: an unexpected NaN", p)
		}
	case v.Float && (n.f < v.FLo || n.f > v.FHi):
		t.Fatalf("%s: %v outside [%v, %v]", p, n.f, v.FLo, v.FHi)
	case !v.Float && (big.NewInt(n.i).Cmp(v.Lo) < 0 || big.NewInt(n.i).Cmp(v.Hi) > 0):
		for _, kind := range []table.Kind{table.SmallInt, table.Integer} {
			lo, hi := table.Type{Kind: kind}.Limits()
			if n.i < lo && v.Lo.Cmp(big.NewInt(lo)) == 0 || n.i > hi && v.Hi.Cmp(big.NewInt(hi)) == 0 {
				return false
			}
		}
		t.Fatalf("%s: %d outside [%s, %s]", p, n.i, v.Lo, v.Hi)
	}
	return ok
}

// Thousands of operands, checks among them, lower in no time to speak of; what
// would grow without bound is refused.
func TestLowerLargeConditions(t *testing.T) {
	tab := plantest.Flights(t)
	delay, a := plantest.Col(tab, "delay"), plantest.Col(tab, "a")
	var kids []expr.Expr
	for i := range 1000 {
		kids = append(kids, plantest.Compare(plantest.Arith(delay, expr.Div, a), expr.GT, plantest.Num(int64(i%30))))
	}
	p, checks, err := lower.Lower(plantest.Or(kids...), tab, tab.Chunks[0])
	if err != nil || p.Op != predicate.Or || len(checks) == 0 {
		t.Errorf("1000 divisions: %v, %d checks", err, len(checks))
	}
	var e expr.Expr = plantest.Compare(plantest.Arith(delay, expr.Mul, a), expr.GT, plantest.Num(50))
	for i := range 64 {
		e = &expr.Compare{Op: expr.EQ, L: e, R: plantest.Compare(plantest.Arith(delay, expr.Mul, a), expr.GT, plantest.Num(int64(i)))}
	}
	if _, _, err := lower.Lower(e, tab, tab.Chunks[0]); err == nil || !strings.Contains(err.Error(), "too complex") {
		t.Errorf("64 nested comparisons of conditions: %v", err)
	}
}
