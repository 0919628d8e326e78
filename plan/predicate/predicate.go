package predicate

import (
	"math/bits"
	"strings"

	"github.com/stencildb/stencildb/table"
)

// Op is the kind of a [Pred] node.
type Op uint8

// The kinds of node.
const (
	False Op = iota
	True
	And
	Or
	Simple // a simple predicate: a Leaf
)

// Spans are the codes of the one column that decide a predicate. It holds for all rows that have one of them
// and for no others. ok is false where the predicate reads more than that column. NULLs have none.
func (p *Pred) Spans(c *table.Chunk) (col int, spans []Span, ok bool) {
	switch p.Op {
	case Simple:
		switch p.Leaf.(type) {
		case *Compare, *Range, *Members:
			col = p.Leaf.Columns()[0]
			return col, SetOfLeaf(p.Leaf, c.Segments[col].Max).Codes, true
		}
	case Or:
		for i, k := range p.Kids {
			of, list, ok := k.Spans(c)
			if !ok || i > 0 && of != col {
				return 0, nil, false
			}
			col, spans = of, append(spans, list...)
		}
		return col, NormalizeSpans(spans), true
	}
	return 0, nil, false
}

// CNF returns p as a conjunction of clauses, each a disjunction of leaves (the
// paper's EvalCNF): no clause for TRUE, one empty clause for FALSE. Clauses that
// another one implies and repeated leaves are left out; the order is that of p.
//
// ok is false when the form has more than limit clauses, or would take too long to find: AND over OR over AND
// multiplies. A predicate that has the form as it stands has no limit, and beyond it is returned as it
// stands.
func (p *Pred) CNF(limit int) (clauses [][]Leaf, ok bool) { return p.normal(And, limit) }

// DNF returns p as a disjunction of terms, each a conjunction of leaves: no term
// for FALSE, one empty term for TRUE. See [Pred.CNF].
func (p *Pred) DNF(limit int) (terms [][]Leaf, ok bool) { return p.normal(Or, limit) }

func (p *Pred) normal(outer Op, limit int) ([][]Leaf, bool) {
	n := &normalizer{outer: outer, limit: limit, work: normalWork, ids: map[string]int{}}
	n.number(p)
	out := [][]Leaf{}
	for _, s := range n.clauses(p) {
		var leaves []Leaf
		for w, word := range s {
			for ; word != 0; word &= word - 1 {
				leaves = append(leaves, n.leaves[w*64+bits.TrailingZeros64(word)])
			}
		}
		out = append(out, leaves)
	}
	if n.tooMany {
		return p.standing(outer)
	}
	return out, true
}

// standing returns the clauses of a predicate that is in normal form already.
func (p *Pred) standing(outer Op) (clauses [][]Leaf, ok bool) {
	if p.Op != outer {
		return nil, false
	}
	for _, k := range p.Kids {
		parts := []*Pred{k}
		if k.Op == outer.Dual() {
			parts = k.Kids
		}
		var clause []Leaf
		for _, x := range parts {
			if x.Op != Simple {
				return nil, false
			}
			clause = append(clause, x.Leaf)
		}
		clauses = append(clauses, clause)
	}
	return clauses, true
}

// Pred is a boolean combination of leaves without NOT. And and Or have two or
// more kids, none of them a True, a False or a node of the same kind.
type Pred struct {
	Op   Op
	Kids []*Pred
	Leaf Leaf // when Op is Simple

	Size int    // nodes below, for the bound on a tree's growth
	key  string // leafKey of Leaf, once asked for
}

// String writes the predicate on one line, as SQL would.
func (p *Pred) String() string {
	switch p.Op {
	case False:
		return "FALSE"
	case True:
		return "TRUE"
	case Simple:
		return p.Leaf.String()
	}
	sep := " AND "
	if p.Op == Or {
		sep = " OR "
	}
	var parts []string
	for _, k := range p.Kids {
		part := k.String()
		if k.Op == And || k.Op == Or {
			part = "(" + part + ")"
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, sep)
}

// Columns lists the columns that the predicate reads, in no order; some more than once.
func (p *Pred) Columns() (list []int) {
	if p.Op == Simple {
		return p.Leaf.Columns()
	}
	for _, k := range p.Kids {
		list = append(list, k.Columns()...)
	}
	return list
}

// The predicates that hold for no record, and for every one.
var (
	Never  = &Pred{Op: False}
	Always = &Pred{Op: True}
)

// NewLeaf is the predicate of one leaf.
func NewLeaf(l Leaf) *Pred { return &Pred{Op: Simple, Leaf: l} }

// Constant is [Always] or [Never].
func Constant(b bool) *Pred {
	if b {
		return Always
	}
	return Never
}
