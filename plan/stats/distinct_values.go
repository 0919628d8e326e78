package stats

import (
	"math"
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// origin is the column of a table that a column of a node is; of what is computed the scan is nil.
type origin struct {
	scan *plan.Scan
	col  int
}

// equalities are columns that are equal, two by two.
type equalities [][2]origin

// find is the column that stands for those equal to one.
func (q equalities) find(o origin) origin {
	for again := true; again; {
		again = false
		for _, p := range q {
			if p[1] == o {
				o, again = p[0], o != p[0]
				break
			}
		}
	}
	return o
}

// equalColumns adds the columns that joins below a node have made equal.
func (e *Estimates) equalColumns(n plan.Node, list equalities) equalities {
	switch n := n.(type) {
	case *plan.Filter:
		return e.equalColumns(n.Input, list)
	case *plan.Join:
		list = e.equalColumns(n.Left, list)
		if n.Kind.LeftOnly() {
			return list
		}
		list = e.equalColumns(n.Right, list)
		for _, c := range plan.Conjuncts(n.On) {
			if l, r, ok := plan.EquiJoinKey(c); ok && n.Kind == plan.Inner {
				a, b := list.find(e.originOf(n, l)), list.find(e.originOf(n, r))
				if a.scan != nil && b.scan != nil && a != b {
					list = append(list, [2]origin{a, b})
				}
			}
		}
	}
	return list
}

// originOf is where an expression over a node's columns comes from, if it is a column.
func (e *Estimates) originOf(n plan.Node, x expr.Expr) origin {
	switch x := x.(type) {
	case *expr.Column:
		return e.origin(n, x.Index)
	case *expr.AggRef:
		if x.Key != nil {
			return e.origin(n, x.Index)
		}
	}
	return origin{}
}

// scanOf is a subquery in FROM as a table: the same one each time.
func (e *Estimates) scanOf(d *plan.Derived) *plan.Scan {
	if e.derived[d] == nil {
		if e.derived == nil {
			e.derived = map[*plan.Derived]*plan.Scan{}
		}
		e.derived[d] = &plan.Scan{Table: d.As, As: d.As, Columns: d.Fields(), Of: d.Of}
	}
	return e.derived[d]
}

// origin is where a column of a node comes from, through the nodes that give rows of tables.
func (e *Estimates) origin(n plan.Node, c int) origin {
	switch n := n.(type) {
	case *plan.Scan:
		return origin{n, c}
	case *plan.Derived:
		return origin{e.scanOf(n), c}
	case *plan.Fragment:
		return e.origin(n.Tree, c)
	case *plan.Filter, *plan.Sort, *plan.Limit:
		return e.origin(n.Inputs()[0], c)
	case *plan.Join:
		if width := columnCount(n.Left); c >= width {
			return e.origin(n.Right, c-width)
		}
		return e.origin(n.Left, c)
	}
	return origin{}
}

// DistinctValues estimates how many different values a column of a table has; as many as there are rows where it has not been read.
func DistinctValues(t *table.Table, col int) float64 {
	all, most, rows := 0., 0., 0.
	base, top := ^uint64(0), uint64(0)
	for _, c := range t.Chunks {
		s := c.Segments[col]
		if s == nil {
			return float64(t.Rows())
		}
		d := float64(s.Distinct())
		all, most, rows = all+d, max(most, d), rows+float64(s.NonNull())
		if s.NonNull() > 0 {
			base, top = min(base, s.Base), max(top, s.Base+s.Max)
		}
	}
	if len(t.Chunks) <= 1 {
		return all
	}
	if t.Fields[col].Type.Kind == table.Varchar {
		if all < rows/2 { // the chunks have them in common
			return most
		}
		return all
	}
	if top >= base && float64(top-base) < all {
		return float64(top-base) + 1
	}
	return all
}

// keySide is an expression over a node's columns as a side of a join's key.
func (e *Estimates) keySide(n plan.Node, x expr.Expr) KeySide {
	out := KeySide{Values: e.domain(n, x), Rows: e.Rows(n)}
	if o := e.originOf(n, x); o.scan != nil {
		out.Table, out.Rows = o.scan, e.Rows(o.scan)
	}
	return out
}

// domain is how many values an expression over a node's columns has in the rows of its table. Conditions on the expression
// alone reduce it.
func (e *Estimates) domain(n plan.Node, x expr.Expr) float64 { return e.distinctOf(n, x, false) }

// distinct is how many values an expression has in a node's rows.
func (e *Estimates) distinct(n plan.Node, x expr.Expr) float64 {
	return min(e.distinctOf(n, x, true), max(1, e.Rows(n)))
}

// distinctOf is the values of an expression: in the rows that there are, or in all of its table.
func (e *Estimates) distinctOf(n plan.Node, x expr.Expr, here bool) float64 {
	switch x := x.(type) {
	case *expr.Column:
		return e.distinctOfColumn(n, x.Index, here)
	case *expr.AggRef:
		return e.distinctOfColumn(n, x.Index, here)
	case *expr.Const:
		return 1
	case *expr.Cast:
		return e.distinctOf(n, x.X, here)
	}
	all := 1.
	for _, c := range expr.Columns(x) {
		all *= max(1, e.distinctOfColumn(n, c, here))
	}
	if tried, ok := e.sampledDistinct(n, x); ok {
		all = min(all, tried)
	}
	return all
}

func (e *Estimates) distinctOfColumn(n plan.Node, c int, here bool) float64 {
	thinned := func(in plan.Node, d float64) float64 { // a node's rows are some of its input's
		if here {
			return table.Drawn(d, e.Rows(in), e.Rows(n))
		}
		return d
	}
	switch n := n.(type) {
	case *plan.Scan:
		if t := e.Table(n); t != nil {
			return DistinctValues(t, c)
		}
		if n.Of != nil {
			return e.distinct(n.Of.Tree, &expr.Column{Index: c})
		}
	case *plan.Derived:
		return e.distinctOfColumn(e.scanOf(n), c, here)
	case *plan.Fragment:
		return e.distinctOfColumn(n.Tree, c, here)
	case *plan.Filter:
		d := e.distinctOfColumn(n.Input, c, here)
		for _, w := range plan.Conjuncts(n.Where) {
			if cols := expr.Columns(w); len(cols) == 1 && cols[0] == c {
				return max(1, d*e.selectivity(n.Input, w))
			}
		}
		return thinned(n.Input, d)
	case *plan.Join:
		in, at := n.Left, c
		if width := columnCount(n.Left); c >= width {
			in, at = n.Right, c-width
		}
		d := e.distinctOfColumn(in, at, here)
		if all, rows := e.Rows(in), e.Rows(n); here && rows < all {
			partners := math.Inf(1) // of a key as many as the other side has
			if n.Kind == plan.Inner || n.Kind == plan.Semi {
				partners = e.distinctPartners(n, c)
			}
			if partners < d {
				return partners
			}
			d = table.Drawn(d, all, rows)
		}
		return d
	case *plan.Project:
		return e.distinctOf(n.Input, n.Items[c].E, here)
	case *plan.Aggregate:
		if c < len(n.Keys) {
			return min(e.Rows(n), e.distinct(n.Input, n.Keys[c]))
		}
	case *plan.Sort, *plan.Limit:
		in := n.Inputs()[0]
		return thinned(in, e.distinctOfColumn(in, c, here))
	}
	return e.Rows(n)
}

// distinctPartners is how many values the other side of a join has of a column that is its key; infinite for others.
func (e *Estimates) distinctPartners(n *plan.Join, c int) float64 {
	width := columnCount(n.Left)
	for _, on := range plan.Conjuncts(n.On) {
		l, r, ok := plan.EquiJoinKey(on)
		if !ok || plan.SideOf(l, width) == plan.SideOf(r, width) {
			continue
		}
		for range 2 {
			if x, ok := l.(*expr.Column); ok && x.Index == c {
				if c < width {
					return e.distinct(n.Right, expr.Moved(r, func(c int) int { return c - width }))
				}
				return e.distinct(n.Left, r)
			}
			l, r = r, l
		}
	}
	return math.Inf(1)
}

// groupCount is how many groups a node's rows have by keys. A key that other keys determine does not make more groups. It is a
// column of a table of which a unique column is a key, or equals one.
func (e *Estimates) groupCount(n plan.Node, keys []expr.Expr) float64 {
	rows := e.Rows(n)
	if len(keys) == 0 {
		return 1
	}
	same := e.equalColumns(n, nil)
	of := map[*plan.Scan][]expr.Expr{} // by the table that they read
	var scans []*plan.Scan
	all := 1.
	for _, k := range keys {
		o := e.onlyScan(n, k)
		if o == nil {
			all *= max(1, e.distinct(n, k))
			continue
		}
		if of[o] == nil {
			scans = append(scans, o)
		}
		of[o] = append(of[o], k)
	}
	for i := 0; i < len(scans); i++ { // in the order of the keys; those that others decide are left out
		var known []origin
		for k, s := range scans {
			if k != i {
				for _, x := range of[s] {
					if o := e.originOf(n, x); o.scan != nil {
						known = append(known, o)
					}
				}
			}
		}
		if e.determines(n, same, known, scans[i]) {
			scans = slices.Delete(scans, i, i+1)
			i--
		}
	}
	for _, s := range scans {
		values, most := 1., 1.
		for _, k := range of[s] {
			values *= max(1, e.distinct(n, k))
			if c, ok := k.(*expr.Column); ok && e.unique(e.origin(n, c.Index)) {
				most = max(most, e.distinct(n, k))
			}
		}
		if most > 1 { // it decides the others
			values = most
		}
		all *= min(values, max(1, e.Rows(s)))
	}
	return min(rows, table.Drawn(all, max(rows, all)*1e3, rows*1e3))
}

// onlyScan is the scan whose columns alone an expression reads; nil for others.
func (e *Estimates) onlyScan(n plan.Node, x expr.Expr) (s *plan.Scan) {
	for i, c := range expr.Columns(x) {
		o := e.origin(n, c).scan
		if o == nil || i > 0 && o != s {
			return nil
		}
		s = o
	}
	return s
}

// unique reports a column of which no two rows of its table seem to have the same value.
func (e *Estimates) unique(o origin) bool {
	if o.scan == nil {
		return false
	}
	rows := e.Rows(o.scan)
	return rows > 1 && e.distinctOfColumn(o.scan, o.col, false) >= 0.99*rows
}

// determines reports that the values of some columns determine the row of a table. They are equal to a unique column of it, or to one
// of a table that has a column equal to that.
func (e *Estimates) determines(n plan.Node, same equalities, known []origin, of *plan.Scan) bool {
	var scans []*plan.Scan
	plan.Walk(n, func(n plan.Node, _ int) {
		switch n := n.(type) {
		case *plan.Scan:
			scans = append(scans, n)
		case *plan.Derived:
			scans = append(scans, e.scanOf(n))
		}
	})
	decided := map[*plan.Scan]bool{}
	for again := true; again; {
		again = false
		for _, s := range scans {
			if decided[s] {
				continue
			}
			for c := range s.Columns {
				o := origin{s, c}
				root := same.find(o)
				if !e.unique(o) || !slices.ContainsFunc(known, func(k origin) bool { return same.find(k) == root }) && !e.inDeterminedTable(same, root, decided) {
					continue
				}
				if decided[s], again = true, true; s == of {
					return true
				}
				break
			}
		}
	}
	return false
}

// inDeterminedTable reports that a table whose row is decided has a column of a class.
func (e *Estimates) inDeterminedTable(same equalities, root origin, decided map[*plan.Scan]bool) bool {
	for _, p := range same {
		for _, o := range p {
			if decided[o.scan] && same.find(o) == root {
				return true
			}
		}
	}
	return false
}

// columnCount is how many columns a node has. It makes no list of those of joins, of which there are as many as ways to put them together.
func columnCount(n plan.Node) int {
	switch n := n.(type) {
	case *plan.Scan:
		return len(n.Columns)
	case *plan.Filter:
		return columnCount(n.Input)
	case *plan.Join:
		if n.Kind.LeftOnly() {
			return columnCount(n.Left)
		}
		return columnCount(n.Left) + columnCount(n.Right)
	}
	return plan.Width(n)
}
