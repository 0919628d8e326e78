package compute

import (
	"slices"
	"strings"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan/glsl"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/textures"
)

// test is what a leaf of a tree asks of a record.
type test uint8

const (
	below   test = iota // dense code < hi
	within              // lo <= dense code < hi
	equals              // dense code = lo
	present             // not NULL
	marked              // set in a bitmap
	summed              // a semi-linear sum, from the planes of several columns
	coded               // a function of the codes: the only leaf of its program
)

// leaf is a test of the planes of one column, of a bitmap, or of several columns. NULLs
// never pass, negated or not, but for present.
type leaf struct {
	test     test
	col      int
	lo, hi   uint64 // dense codes
	negate   bool
	Marks    *Marks     // of a marked leaf
	sum      *planeSum  // of a summed one
	function *glsl.Func // of a coded one
	codes    *Marks     // or a bitmap of the codes that pass, the same in each window
	valid    []Source   // of both: the records that are not NULL
	// passing says that nothing else needs the bitmap.
	passing bool
	text    string
	// joined says that the bitmap is of an AND or OR, which text tells.
	joined bool
}

// Marks is a bitmap of a chunk's records, one block a window; or shared, of all chunks',
// where a window's units begin at piece.from.
type Marks struct {
	Blocks []textures.Block
	shared bool
}

// first is where a program finds the first unit of a piece.
func (m *Marks) first() string {
	if m.shared {
		return "FROM"
	}
	return "0u"
}

// unit is where a program finds a unit of a piece.
func (m *Marks) unit() string { return m.first() + " + unit" }

// Node is a predicate over planes and bitmaps: predicate.True, predicate.False, predicate.And,
// predicate.Or or predicate.Simple. And and Or have two or more kids, none of them constant.
type Node struct {
	Op   predicate.Op
	kids []*Node
	Leaf *leaf
}

var (
	All  = &Node{Op: predicate.True}
	none = &Node{Op: predicate.False}
)

func leafNode(l leaf) *Node { return &Node{Op: predicate.Simple, Leaf: &l} }

// markedNode is the predicate of a bitmap.
func markedNode(m *Marks, text string) *Node {
	return leafNode(leaf{test: marked, Marks: m, text: text})
}

func (n *Node) String() string {
	switch n.Op {
	case predicate.True:
		return "TRUE"
	case predicate.False:
		return "FALSE"
	case predicate.Simple:
		return n.Leaf.text
	}
	var parts []string
	for _, k := range n.kids {
		s := k.String()
		if k.Op == predicate.And || k.Op == predicate.Or || k.Op == predicate.Simple && k.Leaf.joined {
			s = "(" + s + ")"
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, map[predicate.Op]string{predicate.And: " AND ", predicate.Or: " OR "}[n.Op])
}

// short is String for the name of a pass.
func (n *Node) short() string {
	const most = 60
	if s := []rune(n.String()); len(s) > most {
		return string(s[:most]) + "..."
	}
	return n.String()
}

// named is how a sweep that only evaluates n is called.
func (n *Node) named(otherwise func(Result) pass.Op) func(Result) pass.Op {
	switch {
	case n.Op == predicate.Simple && n.Leaf.test == coded:
		return func(r Result) pass.Op { return Values{r, n.Leaf.text} }
	case n.Op == predicate.Simple && n.Leaf.test == summed:
		return func(r Result) pass.Op { return Semilinear{Values{r, n.Leaf.text}} }
	}
	return otherwise
}

// leaves counts the leaves below n.
func (n *Node) leaves() int {
	if n.Op == predicate.Simple {
		return 1
	}
	total := 0
	for _, k := range n.kids {
		total += k.leaves()
	}
	return total
}

// tests reports whether a leaf below n is a test of that kind.
func (n *Node) tests(kind test) bool {
	return n.Op == predicate.Simple && n.Leaf.test == kind || slices.ContainsFunc(n.kids, func(k *Node) bool { return k.tests(kind) })
}

// junction makes an And or an Or of kids that may be constant.
func junction(op predicate.Op, kids []*Node) *Node {
	kids = predicate.FoldBooleans(op, kids, func(n *Node) (predicate.Op, []*Node) { return n.Op, n.kids })
	switch {
	case len(kids) == 1:
		return kids[0]
	case len(kids) > 1:
		return &Node{Op: op, kids: kids}
	case op == predicate.And:
		return All
	}
	return none
}

// Node makes a predicate over planes from one over codes. If a part of the predicate needs the codes, the
// part is first evaluated to a bitmap.
func (x *ChunkWork) Node(p *predicate.Pred) (*Node, error) {
	switch p.Op {
	case predicate.True:
		return All, nil
	case predicate.False:
		return none, nil
	case predicate.Simple:
		return x.leaf(p.Leaf)
	}
	var kids []*Node
	for _, k := range p.Kids {
		n, err := x.Node(k)
		if err == nil {
			n, err = x.plain(n)
		}
		if err != nil {
			return nil, err
		}
		kids = append(kids, n)
	}
	return junction(p.Op, kids), nil
}

func (x *ChunkWork) leaf(l predicate.Leaf) (*Node, error) {
	switch l := l.(type) {
	case *predicate.Compare:
		return x.compare(l), nil
	case *predicate.Range:
		return x.between(l), nil
	case *predicate.NullTest:
		switch has := x.Segment(l.Col).Nulls > 0; {
		case !has && l.Not:
			return All, nil
		case !has:
			return none, nil
		}
		return leafNode(leaf{test: present, col: l.Col, negate: !l.Not, text: l.Text}), nil
	}
	return x.values(l)
}

// notNull is the predicate that a column is not NULL.
func (x *ChunkWork) notNull(col int, text string) *Node {
	if x.Segment(col).Nulls == 0 {
		return All
	}
	return leafNode(leaf{test: present, col: col, text: text})
}

func (x *ChunkWork) compare(c *predicate.Compare) *Node {
	s := storedOf(x.Segment(c.Col))
	switch c.Op {
	case expr.EQ, expr.NE:
		l := leaf{test: equals, col: c.Col, lo: s.dense(c.Code), negate: c.Op == expr.NE, text: c.Text}
		switch possible := s.holds(c.Code); {
		case possible && s.planes() > 0:
			return leafNode(l)
		case possible == l.negate:
			return none
		}
		return x.notNull(c.Col, c.Text)
	}
	t, every := s.threshold(c.Code)
	if c.Op == expr.LE || c.Op == expr.GT {
		t, every = s.after(c.Code)
	}
	return x.below(c.Col, t, every, c.Op == expr.GE || c.Op == expr.GT, c.Text)
}

// below is dense < t, or every value; negate: the others.
func (x *ChunkWork) below(col int, t uint64, every, negate bool, text string) *Node {
	switch {
	case every && !negate, !every && t == 0 && negate:
		return x.notNull(col, text)
	case every, t == 0:
		return none
	}
	return leafNode(leaf{test: below, col: col, hi: t, negate: negate, text: text})
}

func (x *ChunkWork) between(r *predicate.Range) *Node {
	s := storedOf(x.Segment(r.Col))
	lo, beyond := s.threshold(r.Lo)
	hi, every := s.after(r.Hi)
	switch {
	case beyond:
		return none
	case every:
		return x.below(r.Col, lo, false, true, r.Text)
	case lo == 0:
		return x.below(r.Col, hi, false, false, r.Text)
	case lo >= hi:
		return none
	}
	return leafNode(leaf{test: within, col: r.Col, lo: lo, hi: hi, text: r.Text})
}
