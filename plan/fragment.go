package plan

import (
	"errors"
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// Fragment is the part of a tree that one backend executes as a whole. It selects the rows of a table that satisfy a
// condition, and computes aggregates over them. Each aggregate is [expr.Aggregate.OfColumn] or a sum of an expression that
// has an [lower.CodeSum]. Without aggregates it gives the rows themselves.
type Fragment struct {
	Table   string
	Join    *Join     // in the place of a table the rows of this; else nil
	Where   expr.Expr // nil: every row
	Aggs    []expr.Aggregate
	Columns []int // of the table, wanted of the rows where there are no aggregates
	// ValuesOnly says that only the values of these columns are wanted, of all rows in their order. A device
	// may then return values instead of row numbers.
	ValuesOnly bool
	// Groups is the aggregation that all rows go to, without its input: by keys, or without, where the aggregates are not Aggs.
	// A device may give what it needs of the groups instead of the rows.
	Groups *Aggregate
	// Bound, when set, says which of the groups of Groups are wanted alone.
	Bound *GroupBound
	// Order is the order in which all rows are wanted, without its input: a device may give them in it. Of rows whose Unique keys are
	// alike the first is taken of what it gives.
	Order *Sort
	// KeyOnly says that of these rows nothing is read but the one column that they are ordered by: a device may give its values.
	KeyOnly       bool
	NeedsRowCount bool // what stands above asks how many rows the table has
	Tree          Node // what it was cut from
	// Fallback is how a backend does the same that cannot add up expressions: the aggregation
	// over a fragment of the rows. Nil where no aggregate is of an expression.
	Fallback *Aggregate
}

// FallbackFragment is the fragment of the rows that Fallback is over.
func (f *Fragment) FallbackFragment() *Fragment { return f.Fallback.Input.(*Fragment) }

// Inputs, With, Fields and String implement [Node].
func (f *Fragment) Inputs() []Node        { return nil }
func (f *Fragment) With(...Node) Node     { return f }
func (f *Fragment) Fields() []table.Field { return f.Tree.Fields() }

func (f *Fragment) String() string { return "Fragment(" + expr.Ident(f.Table) + ")" }

// Reads lists columns of the table, in this order and each once: the wanted columns, those of the condition,
// and those of the aggregates.
func (f *Fragment) Reads() (list []int) {
	all := slices.Concat(f.Columns, expr.Columns(f.Where))
	for _, a := range f.Aggs {
		all = append(all, a.Reads()...)
	}
	for _, col := range all {
		if !slices.Contains(list, col) {
			list = append(list, col)
		}
	}
	return list
}

// Scanned lists the columns that each of the fragment's scans reads. The scans are those of its join from
// left to right, or the scan of its table.
func (f *Fragment) Scanned() (list [][]int) {
	if f.Join == nil {
		return [][]int{f.Reads()}
	}
	wanted := map[int]bool{} // of the columns of all, side by side
	join, fields := f.Join.OverScans()
	for _, c := range f.Reads() {
		wanted[fields[c]] = true
	}
	first := 0
	Walk(join, func(n Node, _ int) {
		var e expr.Expr
		at := 0
		switch n := n.(type) {
		case *Join:
			e = n.On
		case *Filter:
			e = n.Where
			if _, alone := n.Input.(*Scan); alone {
				at = first
			}
		case *Scan:
			first += len(n.Columns)
		}
		for _, c := range expr.Columns(e) {
			wanted[at+c] = true
		}
	})
	first = 0
	for _, s := range Scans(join) {
		var cols []int
		for i := range s.Columns {
			if wanted[first+i] {
				cols = append(cols, i)
			}
		}
		list, first = append(list, cols), first+len(s.Columns)
	}
	return list
}

// Fragments lists those of a tree that has been [rules.CutFragments].
func Fragments(n Node) (list []*Fragment) {
	Walk(n, func(n Node, _ int) {
		if f, ok := n.(*Fragment); ok {
			list = append(list, f)
		}
	})
	return list
}

// Declined is the error by which a backend leaves a query to another one, which
// may be able to do it.
type Declined struct{ Why string }

func (e *Declined) Error() string { return e.Why }

// IsDeclined reports the error of a backend that leaves a query to another way to do it.
func IsDeclined(err error) bool { return errors.As(err, new(*Declined)) }
