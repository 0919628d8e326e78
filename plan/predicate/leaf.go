package predicate

import "github.com/stencildb/stencildb/expr"

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

func (c *Compare) String() string { return c.Text }

// Columns implements Leaf.
func (c *Compare) Columns() []int { return []int{c.Col} }

// Range is TRUE where Col is not NULL and Lo <= code <= Hi, Lo < Hi <= Max, not
// all codes. One pass with the depth bounds test (the paper's Range).
type Range struct {
	Col    int
	Lo, Hi uint64
	Text   string
}

func (r *Range) String() string { return r.Text }

func (r *Range) Columns() []int { return []int{r.Col} }

// NullTest is TRUE where Col is NULL (Not: is not NULL); its segment has both
// NULLs and values.
type NullTest struct {
	Col  int
	Not  bool
	Text string
}

func (n *NullTest) String() string { return n.Text }

func (n *NullTest) Columns() []int { return []int{n.Col} }

// Has reports whether a code lies in one of the spans. Only the last span that starts at or below the code
// can hold it.
func (m *Members) Has(code uint64) bool {
	lo, hi := 0, len(m.Spans)
	for lo < hi {
		if mid := (lo + hi) / 2; m.Spans[mid].Lo <= code {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo > 0 && code <= m.Spans[lo-1].Hi
}

// Members is TRUE where Col is not NULL and its code lies in one of the Spans. These are ascending, disjoint,
// not adjacent, and more than [MaxSpans]; fewer become Compare and Range leaves. It carries IN lists and LIKE
// over a small dictionary.
type Members struct {
	Col   int
	Spans []Span
	Text  string
}

func (m *Members) String() string { return m.Text }

func (m *Members) Columns() []int { return []int{m.Col} }

// Span is an inclusive range of codes.
type Span struct{ Lo, Hi uint64 }

// MaxSpans is the number of spans up to which membership is a disjunction of
// Compare and Range leaves.
const MaxSpans = 4
