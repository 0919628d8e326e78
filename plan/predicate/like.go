package predicate

import "github.com/stencildb/stencildb/expr/match"

// Match is TRUE where Col is not NULL and its text is LIKE a pattern or, with Not, is not. The dictionary has
// many texts, which a device may scan itself. For backends that do not, [MatchAsMembers] turns it into
// Members.
type Match struct {
	Col     int
	Not     bool
	Pattern *match.Like
	Text    string

	Spans func() SpanSet // the codes whose texts match, found once, when first asked for
	Top   func() uint64  // the largest code
}

func (m *Match) String() string { return m.Text }

// Columns implements Leaf.
func (m *Match) Columns() []int { return []int{m.Col} }

// MatchAsMembers returns a leaf, in the place of a [Match] the [Members] that the host finds.
func MatchAsMembers(l Leaf) Leaf {
	m, ok := l.(*Match)
	if !ok {
		return l
	}
	list := m.Spans()
	if len(list) == 0 { // a code that no record has
		list = SpanSet{{m.Top() + 1, m.Top() + 1}}
	}
	return &Members{Col: m.Col, Spans: list, Text: m.Text}
}
