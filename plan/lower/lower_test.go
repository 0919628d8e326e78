package lower_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/cpu"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/plantest"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/table"
)

// Conditions are many: more of them than rapid's hundred, unless told otherwise.
func TestMain(m *testing.M) {
	flag.Parse()
	told := false
	flag.Visit(func(f *flag.Flag) { told = told || f.Name == "rapid.checks" })
	if !told {
		if err := flag.Set("rapid.checks", "1000"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// evalRow evaluates where for one record of a chunk.
func evalRow(where expr.Expr, c *table.Chunk, row int) (table.Value, error) {
	return expr.Eval(where, &expr.Env{Column: func(i int) table.Value { return c.Segments[i].Value(row) }})
}

// catchUnsupported reports an error of Lower that says that something is not supported.
func catchUnsupported(err error) bool {
	return strings.Contains(err.Error(), "not supported") || strings.Contains(err.Error(), "does not fit 64 bits")
}

// selected are the records of a chunk that satisfy a predicate.
func selected(t interface{ Fatal(...any) }, p *predicate.Pred, c *table.Chunk) table.Bitmap {
	b, err := cpu.Selected(p, c)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// agree checks the lowered query against Eval, record by record; deleted ones are
// never selected and raise nothing.
func agree(t rapid.TB, tab *table.Table, where expr.Expr) (refusedOne bool) {
	q, err := physical.NewQuery(tab, &plan.Fragment{Where: where})
	if err != nil {
		if !catchUnsupported(err) {
			t.Fatalf("%s: %v", where, err)
		}
		return true
	}
	for ci, c := range tab.Chunks {
		cp := q.Chunks[ci]
		holds := selected(t, cp.Pred, c)
		var checks []table.Bitmap
		for _, k := range cp.Checks {
			checks = append(checks, selected(t, k.Pred, c))
		}
		if err := wellFormed(cp.Pred, c); err != "" {
			t.Fatalf("%s\nchunk %d: %s\n%s", where, ci, err, plantest.Show(cp.Pred))
		}
		anyError := false
		for row := range c.Rows {
			if !c.IsLive(row) {
				if holds.Get(row) || slices.ContainsFunc(checks, func(b table.Bitmap) bool { return b.Get(row) }) {
					t.Fatalf("%s\nchunk %d row %d %v is deleted, but the predicate or a check holds", where, ci, row, values(c, row))
				}
				continue
			}
			v, err := evalRow(where, c, row)
			anyError = anyError || err != nil
			raised := error(nil)
			for i, k := range cp.Checks {
				if checks[i].Get(row) {
					raised = k.ErrorAt(c, row)
					break
				}
			}
			if (err != nil) != (raised != nil) {
				t.Fatalf("%s\nchunk %d row %d %v: Eval says %v, checks say %v", where, ci, row, values(c, row), err, raised)
			}
			if err != nil {
				if p, q := err.(*expr.Error).Pos, raised.(*expr.Error).Pos; p != q {
					t.Fatalf("%s\nchunk %d row %d %v: Eval says %v at %d, the first check %v at %d", where, ci, row, values(c, row), err, p, raised, q)
				}
				continue
			}
			if want := !v.Null && v.I != 0; holds.Get(row) != want {
				t.Fatalf("%s\nchunk %d row %d %v: Eval says %v, the predicate is\n%s", where, ci, row, values(c, row), v, plantest.Show(cp.Pred))
			}
		}
	}
	return false
}

func values(c *table.Chunk, row int) (out []string) {
	for _, s := range c.Segments {
		out = append(out, s.Value(row).String())
	}
	return out
}

// wellFormed checks what the types of package predicate promise.
func wellFormed(p *predicate.Pred, c *table.Chunk) string {
	if p.Op == predicate.And || p.Op == predicate.Or {
		if len(p.Kids) < 2 {
			return "a junction of fewer than two"
		}
		for _, k := range p.Kids {
			if k.Op == p.Op || k.Op == predicate.True || k.Op == predicate.False {
				return "a constant or a node of the same kind below a junction"
			}
			if err := wellFormed(k, c); err != "" {
				return err
			}
		}
		return ""
	}
	if p.Op != predicate.Simple {
		return ""
	}
	top := func(col int) uint64 { return c.Segments[col].Max }
	switch x := p.Leaf.(type) {
	case *predicate.Compare:
		all := x.Op == expr.GE && x.Code == 0 || x.Op == expr.LE && x.Code == top(x.Col)
		none := x.Op == expr.LT && x.Code == 0 || x.Op == expr.GT && x.Code == top(x.Col)
		if x.Code > top(x.Col) || all || none || top(x.Col) == 0 {
			return "a comparison that should have been folded: " + x.Text
		}
	case *predicate.Range:
		if x.Lo >= x.Hi || x.Hi > top(x.Col) || x.Lo == 0 && x.Hi == top(x.Col) {
			return "a range out of its bounds: " + x.Text
		}
	case *predicate.NullTest:
		if s := c.Segments[x.Col]; s.Nulls == 0 || s.NonNull() == 0 {
			return "a null test that should have been folded"
		}
	case *predicate.Members:
		if len(x.Spans) <= predicate.MaxSpans {
			return "members of few spans"
		}
		for i, s := range x.Spans {
			if s.Lo > s.Hi || s.Hi > top(x.Col) || i > 0 && x.Spans[i-1].Hi+1 >= s.Lo {
				return "spans out of order"
			}
		}
	case *predicate.Computed:
		if len(x.Columns()) == 0 {
			return "a program without columns: " + x.Text
		}
		if x.Shape != predicate.Expression && x.R.Op != predicate.Const {
			return "a shape against something that is not a constant"
		}
	}
	return ""
}

// What Lower makes of a condition selects the records for which Eval says TRUE,
// and its checks those for which Eval fails.
func TestLowerAgreesWithEval(t *testing.T) {
	for name, k := range map[string]plantest.Knobs{
		"everything": plantest.Default(),
		"exact":      plantest.Exact(),
		"plain":      {MaxColumns: 3, MaxRows: 24, MaxChunk: 12, Depth: 2, Arith: 2, Narrow: true, Nulls: true, Kinds: plantest.Default().Kinds},
		"integers":   {MaxColumns: 4, MaxRows: 24, Depth: 1, Arith: 3, Narrow: true, Nulls: true, Kinds: []table.Kind{table.BigInt, table.SmallInt}},
		"decimals":   {MaxColumns: 3, MaxRows: 24, Depth: 1, Arith: 2, Errors: true, Casts: true, Kinds: []table.Kind{table.BigInt, table.Decimal}},
		"wide":       {MaxColumns: 2, MaxRows: 24, Depth: 0, Arith: 3, Errors: true, Casts: true, Special: true, Kinds: plantest.Default().Kinds},
	} {
		t.Run(name, func(t *testing.T) {
			total, no := 0, 0
			rapid.Check(t, func(t *rapid.T) {
				tab := plantest.Table(t, k)
				where := plantest.Where(t, tab, k)
				total++
				if agree(t, tab, where) {
					no++
				}
			})
			if no*4 > total {
				t.Errorf("%d of %d conditions refused", no, total)
			}
			t.Logf("%d of %d conditions refused", no, total)
		})
	}
}

// A condition over so many texts that they are shared out among cores agrees with Eval in each part.
func TestConditionsOverManyTextsAgreeWithEval(t *testing.T) {
	b := table.NewBuilder("t", []table.Field{{Name: "s", Type: table.Type{Kind: table.Varchar}}}, 0)
	for i := range 40_000 {
		if i%1000 == 0 {
			b.Column(0).Null()
		} else {
			b.Column(0).String(fmt.Sprintf("comment %05d", i*7%40_000))
		}
		if err := b.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	tab := b.Table()
	s := &expr.Column{T: table.Type{Kind: table.Varchar}}
	for _, pattern := range []string{"%9%", "%0_9_", "%t 3%", "%", "x%"} {
		for _, not := range []bool{false, true} {
			agree(t, tab, &expr.Like{X: s, Pattern: pattern, Not: not})
		}
	}
}

// A CASE of constants beside a constant agrees with Eval.
func TestComparedCasesAgreeWithEval(t *testing.T) {
	tab, integer := texts(t), table.Type{Kind: table.Integer}
	x := &expr.Column{Name: "s", T: table.Type{Kind: table.Varchar}}
	number := func(n int) expr.Expr {
		if n < 0 {
			return &expr.Const{V: table.Null(integer)}
		}
		return &expr.Const{V: table.Value{Type: integer, I: int64(n)}}
	}
	like := func(p string) expr.Expr { return &expr.Like{X: x, Pattern: p} }
	for _, values := range [][]int{{1, 0}, {1, 2, 3}, {1, 1, 1}, {-1, 1}, {1, -1, 2}, {2, 1, -1}, {-1, -1}, {0, 1, 0, 1}} {
		var args []expr.Expr
		for i, v := range values {
			if i < len(values)-1 {
				args = append(args, like([]string{"a%", "%b", "%c%"}[i]))
			}
			args = append(args, number(v))
		}
		for _, args := range [][]expr.Expr{args, args[:len(args)-1]} { // without ELSE
			c := expr.NewCall(expr.Case, args, 0)
			for _, op := range []expr.CmpOp{expr.LT, expr.LE, expr.EQ, expr.NE, expr.GE, expr.GT} {
				for _, k := range []int{-1, 0, 1, 2, 7} {
					agree(t, tab, &expr.Compare{Op: op, L: c, R: number(k)})
					agree(t, tab, &expr.Compare{Op: op, L: number(k), R: c})
				}
			}
		}
	}
}

// texts is a table of one column of texts and NULL.
func texts(t *testing.T) *table.Table {
	b := table.NewBuilder("t", []table.Field{{Name: "s", Type: table.Type{Kind: table.Varchar}}}, 0)
	for _, s := range []string{"a", "ab", "b", "cb", "ccc", "", "acb", "NULL"} {
		if s == "NULL" {
			b.Column(0).Null()
		} else {
			b.Column(0).String(s)
		}
		if err := b.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	return b.Table()
}

// Conditions that become LIKE of their column agree with Eval, over few texts and over many.
func TestConditionsAsLikeAgreeWithEval(t *testing.T) {
	x := &expr.Column{Name: "s", T: table.Type{Kind: table.Varchar}}
	call := func(name string, args ...any) expr.Expr {
		list := []expr.Expr{x}
		for _, a := range args {
			if s, ok := a.(string); ok {
				list = append(list, &expr.Const{V: table.Str(s)})
			} else {
				list = append(list, &expr.Const{V: table.Int(int64(a.(int)))})
			}
		}
		for _, f := range expr.Functions(name) {
			if slices.EqualFunc(f.Params, list, func(p table.Type, e expr.Expr) bool {
				return (p.Kind == table.Varchar) == (e.Type().Kind == table.Varchar)
			}) {
				return expr.NewCall(f, list, 0)
			}
		}
		panic(name)
	}
	list := []expr.Expr{call("starts_with", "a%"), call("starts_with", "é"), &expr.Like{X: call("lower"), Pattern: "%ab_", Not: true}}
	for _, op := range []expr.CmpOp{expr.LT, expr.LE, expr.EQ, expr.NE, expr.GE, expr.GT} {
		compare := func(l expr.Expr, k table.Value) {
			list = append(list, &expr.Compare{Op: op, L: l, R: &expr.Const{V: k}})
		}
		for k := range 4 {
			compare(call("length"), table.Int(int64(3*k)))
			compare(call("strpos", "b"), table.Int(int64(k)))
			compare(call("strpos", ""), table.Int(int64(k)))
		}
		for _, s := range []string{"ab", "é", "", `a%_\`, "A", "abc"} {
			for from := range 4 {
				for n := range 4 {
					compare(call("substring", from, n), table.Str(s))
				}
				compare(call("substr", from), table.Str(s))
				compare(call("left", from-1), table.Str(s))
				compare(call("right", from-1), table.Str(s))
			}
			compare(call("lower"), table.Str(s))
		}
	}
	for _, not := range []bool{false, true} {
		list = append(list, &expr.In{X: call("substring", 1, 2), Not: not, List: []*expr.Const{{V: table.Str("ab")}, {V: table.Str("é")}, {V: table.Str("%_")}}},
			&expr.In{X: call("left", 1), Not: not, List: []*expr.Const{{V: table.Str("b")}, {V: table.Null(x.T)}}})
	}
	parts := []string{"a", "b", "B", "é", "%", "_", `\`, "\xff", "ab", "K"}
	for _, rows := range []int{200, 40_000} {
		rng := rand.New(rand.NewPCG(5, 5))
		b := table.NewBuilder("t", []table.Field{{Name: "s", Type: x.T}}, 0)
		for i := range rows {
			if i%50 == 0 {
				b.Column(0).Null()
			} else {
				s := ""
				for range rng.IntN(14) {
					s += parts[rng.IntN(len(parts))]
				}
				if i%20 > 0 {
					s += fmt.Sprint(i)
				}
				b.Column(0).String(s)
			}
			if err := b.EndRow(); err != nil {
				t.Fatal(err)
			}
		}
		tab := b.Table()
		if n := len(tab.Chunks[0].Segments[0].Dict); rows == 40_000 && n < 1<<15 {
			t.Fatalf("%d texts are few", n)
		}
		for i, e := range list {
			if rows == 40_000 && i%11 > 0 { // a part of them, for the time that it takes
				continue
			}
			if agree(t, tab, e) {
				t.Errorf("%s is refused", e)
			}
		}
	}
}
