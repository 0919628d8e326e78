package predicates_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan/lower"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/predicates"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// columns is a table of six attributes of several widths, some with NULLs.
func columns(rng *rand.Rand, rows int) *table.Table {
	t := &table.Table{Name: "t", Chunks: []*table.Chunk{{Rows: rows}}}
	for i, top := range []uint64{9, 1<<10 - 1, 1<<19 - 1, 1<<24 - 1, 1<<30 - 1, 1<<50 - 1} {
		t.Fields = append(t.Fields, table.Field{Name: string(rune('a' + i)), Type: table.Type{Kind: table.BigInt}})
		t.Chunks[0].Segments = append(t.Chunks[0].Segments, segment(rng, rows, top, i%2 == 0))
	}
	return t
}

// comparison is a random Compare or Range leaf over t.
func comparison(rng *rand.Rand, t *table.Table) *predicate.Pred {
	col := rng.IntN(len(t.Fields))
	top := t.Chunks[0].Segments[col].Max
	k := 1 + rng.Uint64()%(top-1)
	if rng.IntN(4) == 0 {
		lo := rng.Uint64() % k
		return leafOf(&predicate.Range{Col: col, Lo: lo, Hi: k, Text: fmt.Sprintf("%s in %d..%d", t.Fields[col].Name, lo, k)})
	}
	op := expr.CmpOp(rng.IntN(6))
	return leafOf(&predicate.Compare{Col: col, Op: op, Code: k, Text: fmt.Sprintf("%s %v code %d", t.Fields[col].Name, op, k)})
}

func leafOf(l predicate.Leaf) *predicate.Pred { return &predicate.Pred{Op: predicate.Simple, Leaf: l} }

// alternating is a full tree of AND and OR of a depth and a fan-out: neither normal
// form is small when it is deep.
func alternating(rng *rand.Rand, t *table.Table, op predicate.Op, depth, fan int) *predicate.Pred {
	if depth == 0 {
		return comparison(rng, t)
	}
	p := &predicate.Pred{Op: op}
	for range fan {
		p.Kids = append(p.Kids, alternating(rng, t, predicate.And+predicate.Or-op, depth-1, fan))
	}
	return p
}

func TestEveryFormOfBooleanCombination(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	tab := columns(rng, 1500)
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		e := predicates.New(g, predicates.LimitsOf(ctx.Caps()), tab, 0, predicates.Format(tab, []int{0, 1, 2, 3, 4, 5}), 0, predicates.NewSlots())
		seen := map[string]bool{}
		check := func(p *predicate.Pred, leaves int) {
			r := &pass.Recorder{}
			if _, err := predicates.New(r, predicates.LimitsOf(ctx.Caps()), tab, 0, e.Target().Format, 0, predicates.NewSlots()).Select(p, true).Wait(); err != nil {
				t.Fatal(err)
			}
			for _, q := range r.Passes {
				seen[q.Routine()] = true
			}
			if len(r.Passes) > 24*leaves {
				t.Errorf("%d leaves: %d passes", leaves, len(r.Passes))
			}
			checkSelect(t, g, e, tab.Chunks[0], p, true)
			g.End()
		}
		// A disjunction of conjunctions of narrow comparisons: its CNF has 3^6 clauses.
		dnf := &predicate.Pred{Op: predicate.Or}
		for i := range uint64(6) {
			dnf.Kids = append(dnf.Kids, &predicate.Pred{Op: predicate.And, Kids: []*predicate.Pred{
				leafOf(&predicate.Compare{Col: 0, Op: expr.GT, Code: i + 1, Text: fmt.Sprint("a > ", i+1)}),
				leafOf(&predicate.Compare{Col: 1, Op: expr.LT, Code: 100 * (i + 1), Text: fmt.Sprint("b < ", 100*(i+1))}),
				leafOf(&predicate.Compare{Col: 2, Op: expr.NE, Code: i + 7, Text: fmt.Sprint("c <> ", i+7)})}})
		}
		check(dnf, 18)
		for _, c := range []struct{ depth, fan int }{{1, 2}, {1, 7}, {2, 2}, {2, 4}, {3, 2}, {4, 2}, {5, 2}, {3, 4}, {7, 2}, {9, 2}} {
			for _, op := range []predicate.Op{predicate.And, predicate.Or} {
				leaves := 1
				for range c.depth {
					leaves *= c.fan
				}
				check(alternating(rng, tab, op, c.depth, c.fan), leaves)
			}
		}
		for _, form := range []string{"EvalCNF", "EvalDNF", "StencilBits", "Render", "Range", "Compare"} {
			if !seen[form] && (form != "Range" || ctx.Caps().DepthBounds) {
				t.Errorf("no pass of %s: %v", form, seen)
			}
		}
	})
}

// EvalDNF takes as many conjuncts as stencil values lie below its parking bit, and any number of
// clauses. A k-th search over its selection has the scratch bit that clauses have counted in.
func TestLimitsOfEvalDNF(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	tab := columns(rng, 900)
	// Comparisons that most records satisfy, no two alike.
	clause := func(n, from int) *predicate.Pred {
		p := &predicate.Pred{Op: predicate.And}
		for i := range n {
			k := uint64(from+i) % (1 << 19)
			p.Kids = append(p.Kids, leafOf(&predicate.Compare{Col: 2, Op: expr.NE, Code: k, Text: fmt.Sprint("c <> ", k)}))
		}
		return p
	}
	high := leafOf(&predicate.Compare{Col: 1, Op: expr.LT, Code: 300, Text: "b < 300"})
	low := leafOf(&predicate.Compare{Col: 0, Op: expr.GT, Code: 4, Text: "a > 4"})
	var many []*predicate.Pred
	for i := range 600 {
		many = append(many, &predicate.Pred{Op: predicate.And, Kids: []*predicate.Pred{
			leafOf(&predicate.Compare{Col: 2, Op: expr.EQ, Code: tab.Chunks[0].Segments[2].Codes.At(i), Text: fmt.Sprint("c = ", i)}),
			leafOf(&predicate.Compare{Col: 1, Op: expr.GT, Code: uint64(i), Text: fmt.Sprint("b > ", i)})}})
	}
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		for _, c := range []struct {
			name string
			p    *predicate.Pred
			dnf  bool
		}{
			{"62 conjuncts", &predicate.Pred{Op: predicate.Or, Kids: []*predicate.Pred{predicate.Combine(predicate.And, clause(61, 0), high), clause(62, 100)}}, true},
			{"126 conjuncts", &predicate.Pred{Op: predicate.Or, Kids: []*predicate.Pred{predicate.Combine(predicate.And, clause(125, 0), high), predicate.Combine(predicate.And, clause(125, 200), low)}}, true},
			{"127 conjuncts", &predicate.Pred{Op: predicate.Or, Kids: []*predicate.Pred{predicate.Combine(predicate.And, clause(126, 0), high), predicate.Combine(predicate.And, clause(126, 200), low)}}, false},
			{"600 clauses", &predicate.Pred{Op: predicate.Or, Kids: many}, true},
		} {
			r := &pass.Recorder{}
			if _, err := predicates.New(r, predicates.LimitsOf(ctx.Caps()), tab, 0, textures.D24S8, 0, predicates.NewSlots()).Select(c.p, true).Wait(); err != nil {
				t.Fatal(err)
			}
			dnf := slices.ContainsFunc(r.Passes, func(p *pass.Pass) bool { return p.Routine() == "EvalDNF" })
			if dnf != c.dnf {
				t.Errorf("%s: EvalDNF %v, want %v", c.name, dnf, c.dnf)
			}
			e := predicates.New(g, predicates.LimitsOf(ctx.Caps()), tab, 0, textures.D24S8, 0, predicates.NewSlots())
			checkSelect(t, g, e, tab.Chunks[0], c.p, true)
			g.End()
		}
	})
}

// A linear combination of many attributes: in float32, four to a texture, where
// that is exact, else in a generated program.
func TestSemilinearOverManyAttributes(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	integer := table.Type{Kind: table.BigInt}
	for _, c := range []struct {
		columns int
		top     uint64
		factor  int64
		program string
	}{{2, 1<<19 - 1, 1, "semilinear.frag"}, {9, 1 << 10, 3, "semilinear.frag"}, {40, 1 << 10, 5, "semilinear.frag"},
		{9, 1 << 20, 1000, "generated semilinear"}, {3, 1 << 40, 7, "generated semilinear"}} {
		tab := &table.Table{Name: "t", Chunks: []*table.Chunk{{Rows: 700}}}
		var sum expr.Expr
		for i := range c.columns {
			name := fmt.Sprintf("a%d", i)
			tab.Fields = append(tab.Fields, table.Field{Name: name, Type: integer})
			tab.Chunks[0].Segments = append(tab.Chunks[0].Segments, segment(rng, 700, c.top, i == 1))
			term := expr.Expr(&expr.Arith{Op: expr.Mul, L: &expr.Const{V: table.Int(c.factor + int64(i%3))},
				R: &expr.Column{Index: i, Name: name, T: integer}, T: integer})
			if sum != nil {
				op := expr.Add
				if i%2 == 1 {
					op = expr.Sub
				}
				term = &expr.Arith{Op: op, L: sum, R: term, T: integer}
			}
			sum = term
		}
		where := &expr.Compare{Op: expr.LT, L: sum, R: &expr.Const{V: table.Int(c.factor * int64(c.top/7))}}
		p, checks, err := lower.Lower(where, tab, tab.Chunks[0])
		if err != nil || len(checks) > 0 {
			t.Fatal(err, checks)
		}
		gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
			r := &pass.Recorder{}
			if _, err := predicates.New(r, predicates.LimitsOf(ctx.Caps()), tab, 0, textures.D24S8, 0, predicates.NewSlots()).Select(p, false).Wait(); err != nil {
				t.Fatal(err)
			}
			if len(r.Passes) != 1 || r.Passes[0].Program.Name != c.program {
				t.Errorf("%d attributes up to %d: %d passes, program %q, want %q", c.columns, c.top, len(r.Passes), r.Passes[0].Program.Name, c.program)
			}
			checkSelect(t, g, predicates.New(g, predicates.LimitsOf(ctx.Caps()), tab, 0, textures.D24S8, 0, predicates.NewSlots()), tab.Chunks[0], p, true)
		})
	}
}
