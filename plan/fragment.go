package plan

import (
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// Fragment is the part of a tree that one backend does as a whole: the rows of a
// table that satisfy a condition, and the aggregates over them, each of which is
// [expr.Aggregate.OfColumn] or a sum of an expression that has an [CodeSum]; without aggregates, the rows themselves.
type Fragment struct {
	Table   string
	Join    *Join     // in the place of a table the rows of this; else nil
	Where   expr.Expr // nil: every row
	Aggs    []expr.Aggregate
	Columns []int // of the table, wanted of the rows where there are no aggregates
	// Gathered says that the values of these columns are all that is asked of the rows, all of them
	// and in their order: a device may give them instead of the rows' numbers.
	Gathered bool
	// Groups is the aggregation that all rows go to, without its input: by keys, or without, where the aggregates are not Aggs.
	// A device may give what it needs of the groups instead of the rows.
	Groups *Aggregate
	// Bound, when set, says which of the groups of Groups are wanted alone.
	Bound *GroupBound
	// Order is the order in which all rows are wanted, without its input: a device may give them in it. Of rows whose Unique keys are
	// alike the first is taken of what it gives.
	Order *Sort
	// Alone says that of these rows nothing is read but the one column that they are ordered by: a device may give its values.
	Alone bool
	Total bool // what stands above asks how many rows the table has
	Nodes Node // what it was cut from
	// Otherwise is how a backend does the same that cannot add up expressions: the aggregation
	// over a fragment of the rows. Nil where no aggregate is of an expression.
	Otherwise *Aggregate
}

// Selected is the fragment of the rows that Otherwise is over.
func (f *Fragment) Selected() *Fragment { return f.Otherwise.Input.(*Fragment) }

// Inputs, With, Fields and String implement [Node].
func (f *Fragment) Inputs() []Node        { return nil }
func (f *Fragment) With(...Node) Node     { return f }
func (f *Fragment) Fields() []table.Field { return f.Nodes.Fields() }

func (f *Fragment) String() string { return "Fragment(" + expr.Ident(f.Table) + ")" }

// Reads lists the columns of the table whose rows are wanted, that the condition reads, and
// that the aggregates are of, in this order and each once.
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

// Scanned lists the columns that are read of each of the fragment's scans, which are those of its
// join from left to right or the one of its table.
func (f *Fragment) Scanned() (list [][]int) {
	if f.Join == nil {
		return [][]int{f.Reads()}
	}
	wanted := map[int]bool{} // of the columns of all, side by side
	join, fields := f.Join.Placed()
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

// Cut puts a [Fragment] in the place of each part of a tree that a backend does.
func Cut(n Node) Node {
	if f := fragment(n); f != nil {
		return f
	}
	return cutInputs(n)
}

// Whole is a tree that was [Cut] as it was before.
func Whole(n Node) Node {
	return Rewrite(n, func(n Node) Node {
		if f, ok := n.(*Fragment); ok {
			return f.Nodes
		}
		return n
	})
}

// cutInputs is a node over what is cut below it.
func cutInputs(n Node) Node {
	var inputs []Node
	for _, in := range n.Inputs() {
		inputs = append(inputs, Cut(in))
	}
	n = n.With(inputs...)
	bound(n)
	if s, ok := n.(*Sort); ok {
		if f, rows := s.Input.(*Fragment); rows && len(f.Aggs) == 0 {
			f.Order = &Sort{Keys: s.Keys, First: s.First, Unique: s.Unique}
			if s.Unique > 0 { // which rows are the first is known of all
				f.Order.First = -1
			}
		}
	}
	if r, ok := n.(interface{ reads() []int }); ok {
		narrow(n.Inputs()[0], r.reads())
		f, rows := n.Inputs()[0].(*Fragment)
		if p, ok := n.(*Project); ok {
			keysAlone(p.Input)
		}
		if p, ok := n.(*Project); ok && rows {
			f.Gathered = !slices.ContainsFunc(p.Items, func(i Item) bool { _, column := i.E.(*expr.Column); return !column })
		}
		if g, ok := n.(*GroupingSets); ok && rows {
			f.Total = slices.ContainsFunc(g.Aggs, func(g expr.Aggregate) bool { return g.Kind == expr.Selectivity })
		}
		if a, ok := n.(*Aggregate); ok && rows {
			f.Total = slices.ContainsFunc(a.Aggs, func(g expr.Aggregate) bool { return g.Kind == expr.Selectivity })
			if len(a.Keys) > 0 || f.Join != nil || !a.ofColumns() && !a.ofSums() {
				f.Groups = &Aggregate{Keys: a.Keys, Aggs: a.Aggs}
			}
		}
	}
	return n
}

// bound tells the fragment of a grouped input which groups a node above it wants.
func bound(n Node) {
	of := func(n Node) (*Aggregate, *Fragment) {
		a, ok := n.(*Aggregate)
		if !ok || len(a.Keys) == 0 {
			return nil, nil
		}
		f, _ := a.Input.(*Fragment)
		return a, f
	}
	switch n := n.(type) {
	case *Filter:
		if a, f := of(n.Input); f != nil {
			f.Bound = a.having(n.Where)
		}
	case *Sort:
		if a, f := of(n.Input); f != nil {
			f.Bound = a.first(n)
		}
	}
}

// narrow tells the fragment whose rows a node gives which columns are read of them.
func narrow(n Node, reads []int) {
	if l, ok := n.(*Limit); ok {
		n = l.Input
	}
	if s, ok := n.(*Sort); ok {
		for _, k := range s.Keys {
			reads = append(reads, expr.Columns(k.E)...)
		}
		n = s.Input
	}
	if f, ok := n.(*Fragment); ok && len(f.Aggs) == 0 {
		slices.Sort(reads)
		f.Columns = slices.Compact(reads)
	}
}

// keysAlone tells the fragment of sorted rows that only what they are sorted by is read of them.
func keysAlone(n Node) {
	if l, ok := n.(*Limit); ok {
		n = l.Input
	}
	if s, ok := n.(*Sort); ok && len(s.Keys) == 1 && s.Unique == 0 {
		if f, ok := s.Input.(*Fragment); ok && len(f.Aggs) == 0 {
			f.Alone = slices.Equal(f.Columns, expr.Columns(s.Keys[0].E))
		}
	}
}

// fragment is the fragment that a node is, with all below it; nil for none.
func fragment(n Node) *Fragment {
	f := &Fragment{Nodes: n}
	a, ok := n.(*Aggregate)
	if ok && (a.ofColumns() || a.ofSums()) {
		f.Aggs, n = a.Aggs, a.Input
	}
	if w, ok := n.(*Filter); ok {
		f.Where, n = w.Where, w.Input
	}
	switch n := n.(type) {
	case *Scan:
		f.Table = n.Table
	case *Join:
		f.Join = n
	default:
		return nil
	}
	if a != nil && !a.ofColumns() {
		f.Otherwise = cutInputs(a).(*Aggregate)
	}
	if len(f.Aggs) == 0 {
		for i := range n.Fields() {
			f.Columns = append(f.Columns, i)
		}
	}
	return f
}

// Fragments lists those of a tree that has been [Cut].
func Fragments(n Node) (list []*Fragment) {
	Walk(n, func(n Node, _ int) {
		if f, ok := n.(*Fragment); ok {
			list = append(list, f)
		}
	})
	return list
}
