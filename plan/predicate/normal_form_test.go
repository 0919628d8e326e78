package predicate_test

import (
	"slices"
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

// normal is the predicate that clauses are: all of them hold some leaf (CNF), or some of
// them holds all its leaves (DNF).
func normal(clauses [][]predicate.Leaf, cnf bool) *predicate.Pred {
	outer, inner := predicate.Or, predicate.And
	if cnf {
		outer, inner = inner, outer
	}
	var kids []*predicate.Pred
	for _, cl := range clauses {
		var leaves []*predicate.Pred
		for _, leaf := range cl {
			leaves = append(leaves, &predicate.Pred{Op: predicate.Simple, Leaf: leaf})
		}
		kids = append(kids, predicate.Combine(inner, leaves...))
	}
	return predicate.Combine(outer, kids...)
}

// The normal forms select the records that the tree selects.
func TestNormalFormsAreEquivalent(t *testing.T) {
	k := plantest.Default()
	k.Depth, k.Errors = 4, false
	rapid.Check(t, func(t *rapid.T) {
		tab := plantest.Table(t, k)
		where := plantest.Where(t, tab, k)
		q, err := physical.NewQuery(tab, &plan.Fragment{Where: where})
		if err != nil {
			return
		}
		for ci, c := range tab.Chunks {
			selected := func(p *predicate.Pred) table.Bitmap {
				rows, err := cpu.Selected(p, c)
				if err != nil {
					t.Fatal(err)
				}
				return rows
			}
			p := q.Chunks[ci].Pred
			want := selected(p)
			for _, cnf := range []bool{true, false} {
				form := p.DNF
				if cnf {
					form = p.CNF
				}
				clauses, ok := form(200)
				if !ok {
					continue
				}
				if len(clauses) > 200 {
					t.Fatalf("%d clauses", len(clauses))
				}
				if got := selected(normal(clauses, cnf)); !slices.Equal(got, want) {
					t.Fatalf("%s\nnormal form (CNF %v) %v selects %x, the tree %x", plantest.Show(p), cnf, clauses, got, want)
				}
			}
		}
	})
}

func leafOn(col int, code uint64) *predicate.Pred {
	return &predicate.Pred{Op: predicate.Simple, Leaf: &predicate.Compare{Col: col, Op: expr.EQ, Code: code}}
}

func TestNormalFormsAbsorb(t *testing.T) {
	a, b, c := leafOn(0, 1), leafOn(1, 1), leafOn(2, 1)
	and := func(k ...*predicate.Pred) *predicate.Pred { return &predicate.Pred{Op: predicate.And, Kids: k} }
	or := func(k ...*predicate.Pred) *predicate.Pred { return &predicate.Pred{Op: predicate.Or, Kids: k} }
	for _, x := range []struct {
		name     string
		p        *predicate.Pred
		cnf, dnf int
	}{
		{"TRUE", &predicate.Pred{Op: predicate.True}, 0, 1},
		{"FALSE", &predicate.Pred{Op: predicate.False}, 1, 0},
		{"a", a, 1, 1},
		{"a AND b", and(a, b), 2, 1},
		{"a AND (a OR b)", and(a, or(a, b)), 1, 1},
		{"a OR (a AND b)", or(a, and(a, b)), 1, 1},
		{"(a AND b) OR c", or(and(a, b), c), 2, 2},
		{"(a AND b) OR (a AND b)", or(and(a, b), and(a, b)), 2, 1},
		{"(a OR b) AND (b OR c) AND (a OR c)", and(or(a, b), or(b, c), or(a, c)), 3, 3},
	} {
		cnf, ok1 := x.p.CNF(10)
		dnf, ok2 := x.p.DNF(10)
		if !ok1 || !ok2 || len(cnf) != x.cnf || len(dnf) != x.dnf {
			t.Errorf("%s: %d clauses and %d terms, want %d and %d", x.name, len(cnf), len(dnf), x.cnf, x.dnf)
		}
	}
}

// (a0 AND b0) OR (a1 AND b1) OR ... has 2^n clauses: CNF gives up at once, DNF is
// the tree itself.
func TestNormalFormsGiveUp(t *testing.T) {
	p := &predicate.Pred{Op: predicate.Or}
	for i := range 500 {
		p.Kids = append(p.Kids, &predicate.Pred{Op: predicate.And, Kids: []*predicate.Pred{leafOn(0, uint64(i)), leafOn(1, uint64(i))}})
	}
	if _, ok := p.CNF(300); ok {
		t.Error("CNF of 2^500 clauses found")
	}
	if terms, ok := p.DNF(500); !ok || len(terms) != 500 {
		t.Errorf("DNF: %d terms, %v", len(terms), ok)
	}
	if terms, ok := p.DNF(499); !ok || len(terms) != 500 || len(terms[7]) != 2 {
		t.Errorf("DNF beyond the limit, which is as the tree stands: %d terms, %v", len(terms), ok)
	}
	if _, ok := (&predicate.Pred{Op: predicate.And, Kids: []*predicate.Pred{p, leafOn(2, 1)}}).DNF(499); ok {
		t.Error("500 terms of a distribution within a limit of 499")
	}
}

func BenchmarkCNFGivesUp(b *testing.B) {
	p := &predicate.Pred{Op: predicate.Or}
	for i := range 1000 {
		p.Kids = append(p.Kids, &predicate.Pred{Op: predicate.And, Kids: []*predicate.Pred{leafOn(0, uint64(i)), leafOn(1, uint64(i))}})
	}
	for b.Loop() {
		p.CNF(300)
	}
}
