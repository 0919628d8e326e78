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
	marks    *marks     // of a marked leaf
	sum      *planeSum  // of a summed one
	function *glsl.Func // of a coded one
	codes    *marks     // or a bitmap of the codes that pass, the same in each window
	valid    []source   // of both: the records that are not NULL
	// passing says that nothing else needs the bitmap.
	passing bool
	text    string
	// joined says that the bitmap is of an AND or OR, which text tells.
	joined bool
}

// marks is a bitmap of a chunk's records, one block a window; or shared, of all chunks',
// where a window's units begin at piece.from.
type marks struct {
	blocks []textures.Block
	shared bool
}

// first is where a program finds the first unit of a piece.
func (m *marks) first() string {
	if m.shared {
		return "FROM"
	}
	return "0u"
}

// unit is where a program finds a unit of a piece.
func (m *marks) unit() string { return m.first() + " + unit" }

// node is a predicate over planes and bitmaps: predicate.True, predicate.False, predicate.And,
// predicate.Or or predicate.Simple. And and Or have two or more kids, none of them constant.
type node struct {
	op   predicate.Op
	kids []*node
	leaf *leaf
}

var (
	all  = &node{op: predicate.True}
	none = &node{op: predicate.False}
)

func leafNode(l leaf) *node { return &node{op: predicate.Simple, leaf: &l} }

// markedNode is the predicate of a bitmap.
func markedNode(m *marks, text string) *node {
	return leafNode(leaf{test: marked, marks: m, text: text})
}

func (n *node) String() string {
	switch n.op {
	case predicate.True:
		return "TRUE"
	case predicate.False:
		return "FALSE"
	case predicate.Simple:
		return n.leaf.text
	}
	var parts []string
	for _, k := range n.kids {
		s := k.String()
		if k.op == predicate.And || k.op == predicate.Or || k.op == predicate.Simple && k.leaf.joined {
			s = "(" + s + ")"
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, map[predicate.Op]string{predicate.And: " AND ", predicate.Or: " OR "}[n.op])
}

// short is String for the name of a pass.
func (n *node) short() string {
	const most = 60
	if s := []rune(n.String()); len(s) > most {
		return string(s[:most]) + "..."
	}
	return n.String()
}

// named is how a sweep that only evaluates n is called.
func (n *node) named(otherwise func(Result) pass.Op) func(Result) pass.Op {
	switch {
	case n.op == predicate.Simple && n.leaf.test == coded:
		return func(r Result) pass.Op { return Values{r, n.leaf.text} }
	case n.op == predicate.Simple && n.leaf.test == summed:
		return func(r Result) pass.Op { return Semilinear{Values{r, n.leaf.text}} }
	}
	return otherwise
}

// leaves counts the leaves below n.
func (n *node) leaves() int {
	if n.op == predicate.Simple {
		return 1
	}
	total := 0
	for _, k := range n.kids {
		total += k.leaves()
	}
	return total
}

// tests reports whether a leaf below n is a test of that kind.
func (n *node) tests(kind test) bool {
	return n.op == predicate.Simple && n.leaf.test == kind || slices.ContainsFunc(n.kids, func(k *node) bool { return k.tests(kind) })
}

// junction makes an And or an Or of kids that may be constant.
func junction(op predicate.Op, kids []*node) *node {
	kids = predicate.FoldBooleans(op, kids, func(n *node) (predicate.Op, []*node) { return n.op, n.kids })
	switch {
	case len(kids) == 1:
		return kids[0]
	case len(kids) > 1:
		return &node{op: op, kids: kids}
	case op == predicate.And:
		return all
	}
	return none
}

// node makes a predicate over planes from one over codes; what needs the codes is
// evaluated to a bitmap first, where it is not the whole.
func (x *chunk) node(p *predicate.Pred) (*node, error) {
	switch p.Op {
	case predicate.True:
		return all, nil
	case predicate.False:
		return none, nil
	case predicate.Simple:
		return x.leaf(p.Leaf)
	}
	var kids []*node
	for _, k := range p.Kids {
		n, err := x.node(k)
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

func (x *chunk) leaf(l predicate.Leaf) (*node, error) {
	switch l := l.(type) {
	case *predicate.Compare:
		return x.compare(l), nil
	case *predicate.Range:
		return x.between(l), nil
	case *predicate.NullTest:
		switch has := x.segment(l.Col).Nulls > 0; {
		case !has && l.Not:
			return all, nil
		case !has:
			return none, nil
		}
		return leafNode(leaf{test: present, col: l.Col, negate: !l.Not, text: l.Text}), nil
	}
	return x.values(l)
}

// notNull is the predicate that a column is not NULL.
func (x *chunk) notNull(col int, text string) *node {
	if x.segment(col).Nulls == 0 {
		return all
	}
	return leafNode(leaf{test: present, col: col, text: text})
}

func (x *chunk) compare(c *predicate.Compare) *node {
	s := storedOf(x.segment(c.Col))
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
func (x *chunk) below(col int, t uint64, every, negate bool, text string) *node {
	switch {
	case every && !negate, !every && t == 0 && negate:
		return x.notNull(col, text)
	case every, t == 0:
		return none
	}
	return leafNode(leaf{test: below, col: col, hi: t, negate: negate, text: text})
}

func (x *chunk) between(r *predicate.Range) *node {
	s := storedOf(x.segment(r.Col))
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
