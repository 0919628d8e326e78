package plan_test

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
	"github.com/stencildb/stencildb/table"
)

// flights is a small table: delay 0..99, distance 100..1090, a and b NULL once,
// price DECIMAL(18,2), city VARCHAR.
func flights(t testing.TB) *table.Table {
	b := table.NewBuilder("flights", []table.Field{
		{Name: "delay", Type: table.Type{Kind: table.SmallInt}},
		{Name: "distance", Type: table.Type{Kind: table.BigInt}},
		{Name: "a", Type: table.Type{Kind: table.BigInt}},
		{Name: "price", Type: table.Type{Kind: table.Decimal, Precision: 18, Scale: 2}},
		{Name: "city", Type: table.Type{Kind: table.Varchar}},
		{Name: "x", Type: table.Type{Kind: table.Double}},
	}, 0)
	for i := range 100 {
		b.Column(0).Int(int64(i))
		b.Column(1).Int(int64(100 + 10*i))
		if i == 50 {
			b.Column(2).Null()
		} else {
			b.Column(2).Int(int64(i%7 - 3))
		}
		b.Column(3).Int(int64(i * 25))
		b.Column(4).String(string(rune('a'+i%26)) + "x")
		b.Column(5).Float(float64(i) / 8)
		if err := b.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	return b.Table()
}

func col(t *table.Table, name string) *expr.Column {
	for i, f := range t.Fields {
		if f.Name == name {
			return &expr.Column{Index: i, Name: name, T: f.Type, P: i}
		}
	}
	return nil
}

func num(i int64) *expr.Const { return &expr.Const{V: table.Literal(i)} }

func cmp(l expr.Expr, op expr.CmpOp, r expr.Expr) expr.Expr {
	return &expr.Compare{Op: op, L: l, R: r}
}

func op(l expr.Expr, o expr.ArithOp, r expr.Expr) expr.Expr {
	return &expr.Arith{Op: o, L: l, R: r, T: table.Type{Kind: table.BigInt}, P: 9}
}

func and(k ...expr.Expr) expr.Expr { return &expr.And{Kids: k} }
func or(k ...expr.Expr) expr.Expr  { return &expr.Or{Kids: k} }

// describe writes leaves with their codes.
func describe(p *plan.Pred) string {
	if p.Op != plan.Simple {
		if len(p.Kids) == 0 {
			return show(p)
		}
		var parts []string
		for _, k := range p.Kids {
			parts = append(parts, describe(k))
		}
		return "(" + strings.Join(parts, map[plan.Op]string{plan.And: " AND ", plan.Or: " OR "}[p.Op]) + ")"
	}
	switch x := p.Leaf.(type) {
	case *plan.Compare:
		return fmt.Sprintf("{%s: code %s %d}", x.Text, x.Op, x.Code)
	case *plan.Range:
		return fmt.Sprintf("{%s: %d..%d}", x.Text, x.Lo, x.Hi)
	case *plan.Members:
		return fmt.Sprintf("{%s: %v}", x.Text, x.Spans)
	case *plan.Computed:
		return fmt.Sprintf("{%s: %s}", x.Text, [...]string{"semilinear", "polynomial", "expression"}[x.Shape])
	}
	return "{" + p.Leaf.String() + "}"
}

func TestLowerMakes(t *testing.T) {
	tab := flights(t)
	delay, distance, a, price, city, x := col(tab, "delay"), col(tab, "distance"), col(tab, "a"), col(tab, "price"), col(tab, "city"), col(tab, "x")
	str := func(s string) *expr.Const { return &expr.Const{V: table.Str(s)} }
	list := func(is ...int64) (out []*expr.Const) {
		for _, i := range is {
			out = append(out, num(i))
		}
		return out
	}
	double := func(e expr.Expr) expr.Expr { return &expr.Cast{X: e, To: table.Type{Kind: table.Double}} }
	dec := func(i int64) *expr.Const { return &expr.Const{V: table.Value{Type: price.T, I: i}} }
	for _, c := range []struct {
		e    expr.Expr
		want string
	}{
		{cmp(delay, expr.LT, num(60)), "{delay < 60: code < 60}"},
		{cmp(num(60), expr.GT, delay), "{60 > delay: code < 60}"},
		{&expr.Not{X: cmp(delay, expr.LT, num(60))}, "{delay >= 60: code >= 60}"},
		{cmp(delay, expr.LT, num(0)), "FALSE"},
		{cmp(delay, expr.GE, num(0)), "TRUE"},
		{cmp(a, expr.GE, num(-3)), "{a IS NOT NULL}"},
		{cmp(delay, expr.NE, num(5)), "{delay <> 5: code <> 5}"},
		{cmp(distance, expr.EQ, num(105)), "{distance = 105: code = 5}"},
		{cmp(double(delay), expr.LT, &expr.Const{V: table.Float(3.5)}), "{CAST(delay AS double precision) < 3.5: code < 4}"},
		{cmp(op(num(10), expr.Sub, op(num(2), expr.Mul, delay)), expr.GE, num(4)), "{(10 - (2 * delay)) >= 4: code <= 3}"},
		{cmp(price, expr.LE, dec(101)), "{price <= 1.01: code <= 101}"},
		{&expr.Between{X: distance, Lo: num(100), Hi: num(500)}, "{distance BETWEEN 100 AND 500: code <= 400}"},
		{&expr.Between{X: distance, Lo: num(150), Hi: num(500)}, "{distance BETWEEN 150 AND 500: 50..400}"},
		{and(cmp(delay, expr.GE, num(10)), cmp(distance, expr.LT, num(200)), cmp(delay, expr.LT, num(20))),
			"({delay >= 10 AND delay < 20: 10..19} AND {distance < 200: code < 100})"},
		{and(cmp(delay, expr.GE, num(10)), cmp(delay, expr.LT, num(5))), "FALSE"},
		{or(cmp(delay, expr.GE, num(10)), cmp(delay, expr.LT, num(50))), "TRUE"},
		{&expr.In{X: delay, List: list(3, 4, 5, 9)}, "({delay BETWEEN 3 AND 5: 3..5} OR {delay = 9: code = 9})"},
		{&expr.In{X: delay, List: list(3, 9), Not: true}, "({delay <> 3: code <> 3} AND {delay <> 9: code <> 9})"},
		{&expr.In{X: delay, List: list(1, 3, 5, 7, 9)}, "{delay IN (1, 3, 5, 7, 9): [{1 1} {3 3} {5 5} {7 7} {9 9}]}"},
		{&expr.Like{X: city, Pattern: "b%", Escape: '\\'}, "{city LIKE 'b%': code = 1}"},
		{cmp(city, expr.LT, str("c")), "{city < 'c': code < 2}"},
		{cmp(delay, expr.LT, distance), "TRUE"},
		{cmp(op(delay, expr.Mul, num(20)), expr.LT, distance), "{(delay * 20) < distance: semilinear}"},
		{cmp(op(op(num(2), expr.Mul, delay), expr.Sub, distance), expr.LT, op(a, expr.Add, num(10))), "{((2 * delay) - distance) < (a + 10): semilinear}"},
		{cmp(op(op(delay, expr.Add, distance), expr.Sub, distance), expr.LT, num(10)), "{((delay + distance) - distance) < 10: code < 10}"},
		{cmp(op(op(delay, expr.Mul, delay), expr.Add, distance), expr.LT, num(1000)), "{((delay * delay) + distance) < 1000: polynomial}"},
		{cmp(op(delay, expr.Mod, num(2)), expr.EQ, num(0)), "{(delay % 2) = 0: expression}"},
		{&expr.Cast{X: op(delay, expr.Sub, num(60)), To: table.Type{Kind: table.Boolean}}, "{(delay - 60) <> 0: code <> 60}"},
		{cmp(double(delay), expr.LT, x), "{CAST(delay AS double precision) < x: expression}"},
		{&expr.IsNull{X: op(a, expr.Add, delay)}, "{a IS NULL}"},
		{&expr.IsNull{X: delay}, "FALSE"},
	} {
		p, checks, err := plan.Lower(c.e, tab, tab.Chunks[0])
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
	tab := flights(t)
	delay, a := col(tab, "delay"), col(tab, "a")
	ratio := cmp(op(delay, expr.Div, a), expr.GT, num(2))
	for _, c := range []struct {
		e    expr.Expr
		want string
	}{
		{ratio, "division by zero: {a = 0: code = 3}"},
		{and(cmp(a, expr.NE, num(0)), ratio), ""},
		{or(cmp(a, expr.EQ, num(0)), ratio), ""},
		{&expr.Not{X: and(cmp(a, expr.NE, num(0)), ratio)}, ""},
		{and(cmp(delay, expr.LT, num(9)), ratio), "division by zero: ({delay < 9: code < 9} AND {a = 0: code = 3})"},
		{and(ratio, cmp(a, expr.NE, num(0))), "division by zero: {a = 0: code = 3}"},
		{cmp(op(delay, expr.Add, num(math.MaxInt64-90)), expr.GT, num(0)), "bigint out of range: {error in delay: bigint out of range: code >= 91}"},
		{and(cmp(delay, expr.LT, num(0)), cmp(op(num(1), expr.Div, num(0)), expr.EQ, num(1))), ""},
		{and(cmp(delay, expr.LT, num(1)), cmp(op(num(1), expr.Div, num(0)), expr.EQ, num(1))), "division by zero: {delay < 1: code < 1}"},
	} {
		_, checks, err := plan.Lower(c.e, tab, tab.Chunks[0])
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
			q, err := plan.NewQuery(tab, &plan.Fragment{Where: plantest.Where(t, tab, k)})
			if err != nil {
				return
			}
			for ci, c := range tab.Chunks {
				for _, p := range programs(q.Chunks[ci].Pred) {
					holds := selected(t, &plan.Pred{Op: plan.Simple, Leaf: p}, c)
					for row := range c.Rows {
						checkProgram(t, p, c, row, holds.Get(row))
					}
				}
			}
		})
	}
}

func programs(p *plan.Pred) (out []*plan.Computed) {
	if p.Op == plan.Simple {
		if x, ok := p.Leaf.(*plan.Computed); ok {
			out = append(out, x)
		}
	}
	for _, k := range p.Kids {
		out = append(out, programs(k)...)
	}
	return out
}

func checkProgram(t *rapid.T, p *plan.Computed, c *table.Chunk, row int, holds bool) {
	for _, i := range p.Columns() {
		if c.Segments[i].IsNull(row) {
			return
		}
	}
	code := func(i int) uint64 { return c.Segments[i].Codes.At(row) }
	checkVal(t, p.L, code, p)
	checkVal(t, p.R, code, p)
	cols, coef, rhs, bound, ok := p.Linear()
	if ok != (p.Shape == plan.Semilinear) {
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

// evalVal computes v from the codes of one record, none of them NULL's. ok is false
// when an operation in it fails: an integer result that does not fit 64 bits, a
// division by 0 (of a double other than NaN), a double or float operation that
// overflows or underflows as package expr defines it.
func evalVal(v *plan.Val, code func(col int) uint64) (n number, ok bool) {
	switch v.Op {
	case plan.Const:
		return number{v.I, v.F}, v.Float || v.Lo.IsInt64()
	case plan.Col:
		return number{i: int64(code(v.Column)) + v.Offset}, true
	case plan.ColF:
		return number{f: v.Decode(code(v.Column))}, true
	case plan.Lookup:
		return number{i: int64(v.Table[code(v.Column)])}, true
	}
	a, ok := evalVal(v.Kids[0], code)
	if !ok {
		return n, false
	}
	switch v.Op {
	case plan.NegV:
		return number{i: -a.i, f: -a.f}, v.Float || a.i == 0 || a.i != -a.i
	case plan.ToFloat:
		return number{f: float64(a.i)}, true
	case plan.Round32:
		f, msg := expr.Round32(a.f)
		return number{f: f}, msg == ""
	}
	b, ok := evalVal(v.Kids[1], code)
	if !ok {
		return n, false
	}
	op := [...]expr.ArithOp{expr.Add, expr.Sub, expr.Mul, expr.Div, expr.Mod}[v.Op-plan.AddV]
	if v.Float {
		f, msg := expr.FloatOp(op, a.f, b.f)
		return number{f: f}, msg == ""
	}
	i, ok, _ := expr.IntOp(op, a.i, b.i)
	return number{i: i}, ok
}

// checkVal checks what v promises of a record. It is false where an operation fails, or a value passes the limits of its integer type,
// which is an error of the query: nothing is promised of what is made of it.
func checkVal(t *rapid.T, v *plan.Val, code func(int) uint64, p *plan.Computed) bool {
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
	tab := flights(t)
	delay, a := col(tab, "delay"), col(tab, "a")
	var kids []expr.Expr
	for i := range 1000 {
		kids = append(kids, cmp(op(delay, expr.Div, a), expr.GT, num(int64(i%30))))
	}
	p, checks, err := plan.Lower(or(kids...), tab, tab.Chunks[0])
	if err != nil || p.Op != plan.Or || len(checks) == 0 {
		t.Errorf("1000 divisions: %v, %d checks", err, len(checks))
	}
	var e expr.Expr = cmp(op(delay, expr.Mul, a), expr.GT, num(50))
	for i := range 64 {
		e = &expr.Compare{Op: expr.EQ, L: e, R: cmp(op(delay, expr.Mul, a), expr.GT, num(int64(i)))}
	}
	if _, _, err := plan.Lower(e, tab, tab.Chunks[0]); err == nil || !strings.Contains(err.Error(), "too complex") {
		t.Errorf("64 nested comparisons of conditions: %v", err)
	}
}
