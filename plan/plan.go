// Package plan turns a typed WHERE expression into predicates over the codes of
// one chunk: what both the graphics pipeline (package predicates) and the CPU
// backend (package cpu) run. It knows neither SQL text nor GL.
//
// A plan is made chunk by chunk, because minimum, width and dictionary of a
// column belong to its segment: the same constant becomes another code in
// another chunk.
//
// # Two-valued by construction
//
// WHERE keeps the records for which the expression is TRUE. [Lower] pushes NOT
// down to the comparisons (NOT a < b is a >= b, UNKNOWN stays UNKNOWN), and every
// leaf says which records make it TRUE; a NULL never satisfies a leaf other than
// a [NullTest]. What remains is a monotone tree of AND and OR over leaves.
//
// # Errors of rows
//
// A division by zero or an overflow is an error of a row only where the operands
// to the left of it leave the result undecided. Interval arithmetic over the
// segments' ranges rules most of them out; for the others [Lower] returns
// [Check]s: predicates that select exactly the rows that raise the error.
//
// # Trees
//
// A statement is a tree of [Node]s over names and values: [Scan], [Filter], [Project],
// [Join], [Aggregate], [GroupingSets], [Distinct], [Sort], [Limit], [Values], a file each. A [Derived] reads the rows of a
// [Subplan], a tree of its own; [Unnest] makes joins of subqueries in expressions. A rule, such as [PushLimit], is a function from a
// node to a node. [Cut] puts a [Fragment] in the place of what one backend does as a
// whole, and [NewQuery] lowers it for a snapshot of its table.
//
// # What else is here
//
// [Pred.CNF] and [Pred.DNF] are the normal forms of the paper's
// EvalCNF; [Space] is the code space that the chunks of a column share. A [Selection]
// is the selected records on one device, [Merge] joins those of several devices, and
// [Finish] makes the answers. A [CodeSum] is the sum of an expression as sums over codes.
//
// # Caveats
//
//   - The largest and smallest codes of a segment are those of the whole chunk:
//     a check may stand for an error that no record raises, never the reverse.
//   - Where a record raises an error, what the predicate says of it means nothing.
//     Run the checks first.
//   - A double operation that may both overflow and underflow is checked once, with
//     a message that names both.
//   - Predicates share nodes; do not change them.
package plan

import (
	"strings"

	"github.com/stencildb/stencildb/expr"
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

// Pred is a boolean combination of leaves without NOT. And and Or have two or
// more kids, none of them a True, a False or a node of the same kind.
type Pred struct {
	Op   Op
	Kids []*Pred
	Leaf Leaf // when Op is Simple

	size int    // nodes below, for the bound on a tree's growth
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

// Leaf is a simple predicate over one record of a chunk: one of [*Compare],
// [*Range], [*NullTest], [*Members], [*Match], [*Computed] and [*Scalar].
type Leaf interface {
	// String reads like SQL, in values, not codes: "delay < 60".
	String() string
	// Columns lists the field indexes read, ascending, without repetition.
	Columns() []int
}

// Compare is TRUE where column Col is not NULL and code Op Code, with
// 0 <= Code <= the segment's Max. Comparisons that no code or every code
// satisfies are folded away before.
type Compare struct {
	Col  int
	Op   expr.CmpOp
	Code uint64
	Text string
}

// Range is TRUE where Col is not NULL and Lo <= code <= Hi, Lo < Hi <= Max, not
// all codes. One pass with the depth bounds test (the paper's Range).
type Range struct {
	Col    int
	Lo, Hi uint64
	Text   string
}

// NullTest is TRUE where Col is NULL (Not: is not NULL); its segment has both
// NULLs and values.
type NullTest struct {
	Col  int
	Not  bool
	Text string
}

// Span is an inclusive range of codes.
type Span struct{ Lo, Hi uint64 }

// Members is TRUE where Col is not NULL and its code lies in one of the Spans:
// ascending, disjoint, not adjacent, more than [MaxSpans] of them (fewer become
// Compare and Range leaves). It carries IN lists and LIKE over a small dictionary.
type Members struct {
	Col   int
	Spans []Span
	Text  string
}

// MaxSpans is the number of spans up to which membership is a disjunction of
// Compare and Range leaves.
const MaxSpans = 4

// Computed is TRUE where no column it reads is NULL and L Op R holds, or, when
// Fails is set, where evaluating that value raises its error. A row for which a
// value overflows or divides by zero never satisfies a Computed with Fails nil.
type Computed struct {
	Op    expr.CmpOp
	L, R  *Val // R is a constant for the shapes Semilinear and Polynomial
	Fails *Val // with L and R nil: select the rows where computing Fails' own operation (its operands being fine) fails
	Shape Shape
	Text  string
}

// Shape is what kind of arithmetic a [Computed] does.
type Shape uint8

// The shapes.
const (
	Semilinear Shape = iota // the paper's s . a op b: L is a sum of column * constant
	Polynomial              // a sum of terms c * a^i * b^j ... against a constant
	Expression              // anything else: division, remainder, nested, doubles, dictionaries
)

func (c *Compare) String() string  { return c.Text }
func (r *Range) String() string    { return r.Text }
func (n *NullTest) String() string { return n.Text }
func (m *Members) String() string  { return m.Text }
func (p *Computed) String() string { return p.Text }

// Columns implements Leaf.
func (c *Compare) Columns() []int  { return []int{c.Col} }
func (r *Range) Columns() []int    { return []int{r.Col} }
func (n *NullTest) Columns() []int { return []int{n.Col} }
func (m *Members) Columns() []int  { return []int{m.Col} }

// Check is a predicate that must select no row: where it does, the query fails
// with Err.
type Check struct {
	Pred *Pred
	Err  error
	Of   expr.Expr // where not nil, each record has the error of evaluating this: see [Check.ErrorAt]
}

// Declined is the error by which a backend leaves a query to another one, which
// may be able to do it.
type Declined struct{ Why string }

func (e *Declined) Error() string { return e.Why }
