package plan

import (
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// JoinKind is which rows of a [Join] stand alone, beside NULLs, where they match none; or which rows of the left
// input it gives.
type JoinKind uint8

// The kinds: none stand alone, those of the left input, of the right one, of both. A semi join gives the rows of
// the left input that match a row of the right one, once each. An anti join gives those that match none.
const (
	Inner JoinKind = iota
	LeftOuter
	RightOuter
	FullOuter
	Semi
	Anti
)

func (k JoinKind) String() string {
	return [...]string{"inner", "left", "right", "full", "semi", "anti"}[k]
}

// LeftOnly reports a join whose rows have the columns of the left input alone.
func (k JoinKind) LeftOnly() bool { return k == Semi || k == Anti }

// KeepsLeft reports that rows of the left input stand alone where they match none.
func (k JoinKind) KeepsLeft() bool { return k == LeftOuter || k == FullOuter }

// KeepsRight is KeepsLeft of the right input.
func (k JoinKind) KeepsRight() bool { return k == RightOuter || k == FullOuter }

// Join gives the pairs of a row of the left and a row of the right input for which a condition is TRUE. The
// columns of the left row come first. The pairs are in no particular order.
type Join struct {
	Kind        JoinKind
	Left, Right Node
	On          expr.Expr // nil: every pair
}

// Inputs, With, Fields and String implement [Node].
func (j *Join) Inputs() []Node           { return []Node{j.Left, j.Right} }
func (j *Join) With(inputs ...Node) Node { return &Join{j.Kind, inputs[0], inputs[1], j.On} }
func (j *Join) Fields() []table.Field {
	if j.Kind.LeftOnly() {
		return j.Left.Fields()
	}
	return slices.Concat(j.Left.Fields(), j.Right.Fields())
}

func (j *Join) String() string {
	switch {
	case j.On != nil:
		return "Join(" + j.Kind.String() + ", " + j.On.String() + ")"
	case j.Kind == Inner:
		return "Join(cross)"
	}
	return "Join(" + j.Kind.String() + ", every pair)"
}

// OverScans is the join with its conditions, and those of the filters above joins, over the columns of all its
// scans. The columns stand side by side, from left to right. A filter of one scan stays over the columns of that
// scan. Fields says which of these columns the join's fields are.
func (j *Join) OverScans() (placed *Join, fields []int) {
	first := 0
	var place func(Node) (Node, []int)
	place = func(n Node) (Node, []int) {
		switch n := n.(type) {
		case *Filter:
			if _, alone := n.Input.(*Scan); !alone {
				in, columns := place(n.Input)
				return &Filter{in, expr.Moved(n.Where, func(c int) int { return columns[c] })}, columns
			}
		case *Join:
			left, columns := place(n.Left)
			right, others := place(n.Right)
			both := slices.Concat(columns, others)
			out := &Join{Kind: n.Kind, Left: left, Right: right}
			if n.On != nil {
				out.On = expr.Moved(n.On, func(c int) int { return both[c] })
			}
			if n.Kind.LeftOnly() {
				return out, columns
			}
			return out, both
		}
		columns := make([]int, Width(n))
		for i := range columns {
			columns[i] = first + i
		}
		first += len(columns)
		return n, columns
	}
	n, fields := place(j)
	return n.(*Join), fields
}

// WithKind is the join as one of another kind.
func (j *Join) WithKind(kind JoinKind) *Join {
	return &Join{Kind: kind, Left: j.Left, Right: j.Right, On: j.On}
}

// Swapped is the join of the right input with the left one, as one of another kind.
func (j *Join) Swapped(kind JoinKind) *Join {
	out := &Join{Kind: kind, Left: j.Right, Right: j.Left}
	if left, right := Width(j.Left), Width(j.Right); j.On != nil {
		out.On = expr.Moved(j.On, func(c int) int {
			if c < left {
				return c + right
			}
			return c - left
		})
	}
	return out
}

// Scans lists the scans below a node, from left to right.
func Scans(n Node) (list []*Scan) {
	Walk(n, func(n Node, _ int) {
		if s, ok := n.(*Scan); ok {
			list = append(list, s)
		}
	})
	return list
}

// EquiJoinKey returns the sides of an equality that can be the key of a join. Each side is a value of its
// row, and no row raises an error.
func EquiJoinKey(e expr.Expr) (l, r expr.Expr, ok bool) {
	l, r, raises, ok := Equality(e)
	return l, r, ok && !raises
}

// Equality are the sides of an equality; raises says that a row of some table might raise an error in them: see [lower.MayRaise].
func Equality(e expr.Expr) (l, r expr.Expr, raises, ok bool) {
	c, ok := e.(*expr.Compare)
	if !ok || c.Op != expr.EQ {
		return nil, nil, false, false
	}
	return c.L, c.R, RaisesWhileJoining(e), true
}

// SideOf says which side of a join an expression reads, whose first width columns are the left one's.
func SideOf(e expr.Expr, width int) int {
	cols := expr.Columns(e)
	switch {
	case len(cols) == 0:
		return OnNone
	case cols[len(cols)-1] < width:
		return OnLeft
	case cols[0] >= width:
		return OnRight
	}
	return OnBoth
}

// The sides of a join that an expression may read.
const (
	OnLeft = iota
	OnRight
	OnBoth
	OnNone
)
