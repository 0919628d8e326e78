package answer

import (
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/rules"
	"github.com/stencildb/stencildb/sql"
	"github.com/stencildb/stencildb/table"
)

// Shape says how the rows of two right answers of a statement may differ. The zero value is
// that of rows in any order.
type Shape struct {
	Keys  []int // the columns by which the rows are ordered, as far as they are among the answer's
	Skips bool  // OFFSET: of the rows alike in Keys that come first any may be missing
	Most  int64 // LIMIT: of those that come last too, where there are so many; 0 for none
	Picks bool  // DISTINCT ON: the other columns are of any row of several
}

// Describe are the columns of each table that a statement reads, and the shape of its answer.
func Describe(text string, tables []*table.Table) (columns map[string][]int, s Shape, err error) {
	list, err := sql.Parse(text)
	if err != nil {
		return nil, s, err
	}
	c := sql.Catalog{Table: func(i int) (*table.Table, error) { return tables[i], nil }}
	for _, t := range tables {
		c.Names = append(c.Names, t.Name)
	}
	tree, err := list[0].Bind(c)
	if err != nil {
		return nil, s, err
	}
	_, columns = Reads(tree)
	return columns, shapeOf(tree), nil
}

// Reads lists the tables that a tree reads, in the order of FROM, and the columns that it reads of each. It includes
// those of its subqueries.
func Reads(tree plan.Node) (names []string, columns map[string][]int) {
	columns = map[string][]int{}
	add := func(name string, reads []int) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
		list := columns[name]
		for _, col := range reads {
			if !slices.Contains(list, col) {
				list = append(list, col)
			}
		}
		columns[name] = list // of none, too
	}
	seen := map[*plan.Subplan]bool{}
	var visit func(tree plan.Node)
	visit = func(tree plan.Node) {
		switch n := tree.(type) {
		case *plan.Concat, *plan.Recursion, *plan.Window:
			for _, in := range n.Inputs() {
				visit(in)
			}
			return
		}
		for _, f := range plan.Fragments(rules.CutFragments(plan.DerivedAsScans(tree))) {
			for i, s := range plan.Scans(f.Tree) {
				if s.Of == nil {
					add(s.Table, f.Scanned()[i])
				}
			}
		}
		for _, s := range plan.Subplans(tree) {
			if !seen[s] {
				seen[s] = true
				visit(s.Tree)
			}
		}
	}
	visit(tree)
	return names, columns
}

// shapeOf is the shape of what a tree gives.
func shapeOf(n plan.Node) (s Shape) {
	if l, ok := n.(*plan.Limit); ok {
		s.Skips, s.Most, n = l.Offset > 0, max(0, l.Count), l.Input
	}
	var sort *plan.Sort
	var column func(e expr.Expr) int
	switch top := n.(type) {
	case *plan.Project:
		sort, _ = top.Input.(*plan.Sort)
		column = func(e expr.Expr) int {
			return slices.IndexFunc(top.Items, func(i plan.Item) bool { return i.E.String() == e.String() && i.E.Type() == e.Type() })
		}
	case *plan.Sort: // of a DISTINCT, by its columns
		sort = top
		column = func(e expr.Expr) int { return e.(*expr.Column).Index }
	}
	if sort == nil {
		return s
	}
	s.Picks = sort.Unique > 0
	for _, k := range sort.Keys {
		i := column(k.E)
		if i < 0 {
			break
		}
		s.Keys = append(s.Keys, i)
	}
	return s
}
