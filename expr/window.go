package expr

import (
	"strings"

	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/table"
)

// WindowKind is what a [Window] computes of a row's partition, or of its frame.
type WindowKind uint8

// The functions. Those up to Lead look at the whole partition, the others at the row's frame.
const (
	RowNumber   WindowKind = iota // row_number(): from 1, BIGINT
	Rank                          // rank(): the row number of the row's first peer
	DenseRank                     // dense_rank(): the number of its peers, counted from 1
	PercentRank                   // percent_rank(): (rank - 1) / (rows - 1), 0 for one row, DOUBLE
	CumeDist                      // cume_dist(): the share of the rows that stand not behind its peers, DOUBLE
	Ntile                         // ntile(n): the number of the row's part, of n parts as alike as can be, INTEGER
	Lag                           // lag(x [, n [, other]]): x in the n-th row before it, other where there is none
	Lead                          // lead(x [, n [, other]]): the same behind it
	FirstValue                    // first_value(x)
	LastValue                     // last_value(x)
	NthValue                      // nth_value(x, n): NULL where the frame has fewer rows
	OfAggregate                   // an aggregate of the frame's rows
)

var windowNames = [...]string{"row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile", "lag", "lead",
	"first_value", "last_value", "nth_value", ""}

func (k WindowKind) String() string { return windowNames[k] }

// FrameMode is what a frame's bounds count.
type FrameMode uint8

// The modes.
const (
	FrameRange  FrameMode = iota // distances of the value of ORDER BY
	FrameRows                    // rows
	FrameGroups                  // groups of peers
)

// BoundKind is where a frame begins or ends.
type BoundKind uint8

// The bounds, in their order.
const (
	UnboundedPreceding BoundKind = iota
	Preceding                    // Offset before the row
	CurrentRow
	Following // Offset behind it
	UnboundedFollowing
)

// Bound is one end of a frame.
type Bound struct {
	Kind   BoundKind
	Offset Expr // a constant; of Preceding and Following
}

// Exclusion is which rows a frame leaves out.
type Exclusion uint8

// The exclusions.
const (
	ExcludeNoOthers Exclusion = iota
	ExcludeCurrentRow
	ExcludeGroup // the row and its peers
	ExcludeTies  // its peers
)

// Frame is the rows of a partition that a function of a [Window] looks at.
type Frame struct {
	Mode       FrameMode
	Start, End Bound
	Exclude    Exclusion
}

// DefaultFrame is that of a window which names none.
var DefaultFrame = Frame{Start: Bound{Kind: UnboundedPreceding}, End: Bound{Kind: CurrentRow}}

// Window is a window function: a value for each row, of the rows of its partition in an order. It is not
// evaluated: package rules makes a column of it.
type Window struct {
	Kind      WindowKind
	Args      []Expr
	Agg       Aggregate // of OfAggregate, FILTER included
	Partition []Expr
	Order     []SortKey
	Frame     Frame
	T         table.Type
	P         int
}

// Type and Pos implement [Expr].
func (w *Window) Type() table.Type { return w.T }
func (w *Window) Pos() int         { return w.P }

// Operands are its arguments, with those of the aggregate, then what it partitions and orders by.
func (w *Window) Operands() []Expr {
	var list []Expr
	w.Map(func(e Expr) Expr {
		list = append(list, e)
		return e
	})
	return list
}

// Map is the function of what f gives for each of its operands.
func (w *Window) Map(f func(Expr) Expr) *Window {
	out := *w
	list := func(in []Expr) (out []Expr) {
		return xslices.Map(in, f)
	}
	out.Args = list(w.Args)
	if w.Kind == OfAggregate {
		out.Agg = w.Agg.Map(f)
	}
	out.Partition = list(w.Partition)
	out.Order = nil
	for _, k := range w.Order {
		k.E = f(k.E)
		out.Order = append(out.Order, k)
	}
	return &out
}

// Spec is a text that functions of the same partitions and order have in common.
func (w *Window) Spec() (text string) {
	for _, e := range w.Partition {
		text += Identity(e) + ","
	}
	text += ";"
	for _, k := range w.Order {
		text += SortKey{E: &Column{Name: Identity(k.E)}, Desc: k.Desc, NullsFirst: k.NullsFirst}.String() + ","
	}
	return text
}

// String is the function as SQL.
func (w *Window) String() string {
	var text strings.Builder
	if w.Kind == OfAggregate {
		text.WriteString(w.Agg.String())
	} else {
		text.WriteString(w.Kind.String() + "(" + joined(w.Args) + ")")
	}
	text.WriteString(" OVER (")
	var parts []string
	if len(w.Partition) > 0 {
		parts = append(parts, "PARTITION BY "+joined(w.Partition))
	}
	if len(w.Order) > 0 {
		keys := xslices.Map(w.Order, SortKey.String)
		parts = append(parts, "ORDER BY "+strings.Join(keys, ", "))
	}
	if f := w.Frame.String(); f != DefaultFrame.String() {
		parts = append(parts, f)
	}
	text.WriteString(strings.Join(parts, " ") + ")")
	return text.String()
}

func joined(list []Expr) string {
	texts := xslices.Map(list, Expr.String)
	return strings.Join(texts, ", ")
}

// String is the frame as SQL.
func (f Frame) String() string {
	text := [...]string{"RANGE", "ROWS", "GROUPS"}[f.Mode] + " BETWEEN " + f.Start.String() + " AND " + f.End.String()
	return text + [...]string{"", " EXCLUDE CURRENT ROW", " EXCLUDE GROUP", " EXCLUDE TIES"}[f.Exclude]
}

func (b Bound) String() string {
	text := [...]string{"UNBOUNDED PRECEDING", " PRECEDING", "CURRENT ROW", " FOLLOWING", "UNBOUNDED FOLLOWING"}[b.Kind]
	if b.Offset != nil {
		return b.Offset.String() + text
	}
	return text
}

// HasWindow reports a [Window] in an expression.
func HasWindow(e Expr) bool {
	found := false
	Walk(e, func(e Expr) {
		_, ok := e.(*Window)
		found = found || ok
	})
	return found
}
