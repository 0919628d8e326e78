package stats

import (
	"math"
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// Estimates say how many rows the nodes of a tree are likely to give, before any of them runs. Conditions on one table are
// tried on a sample of its rows. Keys of joins and groups are taken to be independent. The values of the join side with
// fewer values are taken to be among those of the other (P. G. Selinger et al., "Access Path Selection in a Relational
// Database Management System", 1979). They are made for the rows of a table as it is now.
type Estimates struct {
	// Table is a scan's table; nil where that is not known. Columns that have not been read have no segments.
	Table func(*plan.Scan) *table.Table

	rows    map[plan.Node]float64
	derived map[*plan.Derived]*plan.Scan
}

// defaultSelectivity is the part of rows for which a condition of which nothing is known is TRUE, as PostgreSQL has it.
const defaultSelectivity = 1. / 3

// Rows are those that a node is expected to give.
func (e *Estimates) Rows(n plan.Node) float64 {
	if rows, ok := e.rows[n]; ok {
		return rows
	}
	if e.rows == nil {
		e.rows = map[plan.Node]float64{}
	}
	rows := e.estimate(n)
	e.rows[n] = rows
	return rows
}

func (e *Estimates) estimate(n plan.Node) float64 {
	switch n := n.(type) {
	case *plan.Scan:
		if t := e.Table(n); t != nil { // also of a subplan that has run
			return float64(t.Rows())
		}
		if n.Of != nil {
			return e.Rows(n.Of.Tree)
		}
		return 1000
	case *plan.Derived:
		return e.Rows(e.scanOf(n))
	case *plan.Fragment:
		return e.Rows(n.Tree)
	case *plan.Filter:
		return e.Rows(n.Input) * e.selectivity(n.Input, n.Where)
	case *plan.Join:
		return e.join(n)
	case *plan.Aggregate:
		return e.groupCount(n.Input, n.Keys)
	case *plan.GroupingSets:
		rows := 0.
		for i := range n.Sets {
			rows += e.groupCount(n.Input, n.Set(i).Keys)
		}
		return rows
	case *plan.Distinct:
		return e.groupCount(n.Input, plan.ColumnsOf(n.Input))
	case *plan.Sort:
		rows := e.Rows(n.Input)
		if n.Unique > 0 {
			keys := xslices.Map(n.Keys[:n.Unique], func(k expr.SortKey) expr.Expr { return k.E })
			rows = e.groupCount(n.Input, keys)
		}
		if n.Limit >= 0 {
			rows = min(rows, float64(n.Limit))
		}
		return rows
	case *plan.Limit:
		rows := max(0, e.Rows(n.Input)-float64(n.Offset))
		if n.Count >= 0 {
			rows = min(rows, float64(n.Count))
		}
		return rows
	case *plan.Values:
		return float64(len(n.Rows))
	case *plan.Concat:
		rows := 0.
		for _, in := range n.Of {
			rows += e.Rows(in)
		}
		return rows
	case *plan.Recursion: // each step is another guess: as many as came first, ten times
		return 10 * e.Rows(n.First)
	case *plan.Series:
		return 1000
	case *plan.SeriesOfEach: // a guess, too: a few values a row
		return 10 * e.Rows(n.Input)
	}
	if in := n.Inputs(); len(in) > 0 {
		return e.Rows(in[0])
	}
	return 1
}

// join is the rows of a join.
func (e *Estimates) join(n *plan.Join) float64 {
	left, right := e.Rows(n.Left), e.Rows(n.Right)
	keys, rest := e.joinKeys(n)
	domain := max(1, keys.values())
	pairs, others := left*right, 1.
	if len(keys.left) > 0 {
		pairs /= domain
	}
	for _, c := range rest {
		also := e.selectivity(&plan.Join{Left: n.Left, Right: n.Right}, c)
		pairs, others = pairs*also, others*(1-also)
	}
	matching := func(rows float64, other plan.Node, of []expr.Expr) float64 { // the part of one side's rows that have a partner
		if len(of) == 0 {
			return min(1, pairs/max(1, rows))
		}
		there := 1.
		for _, k := range of {
			there *= max(1, e.distinct(other, k))
		}
		there = min(there, e.Rows(other))
		found := min(1, there/domain)
		if len(rest) > 0 && there > 0 { // for some of a row's partners these hold, too
			found *= 1 - math.Pow(others, max(1, e.Rows(other)/there))
		}
		return found
	}
	rows := pairs
	switch n.Kind {
	case plan.Semi:
		return left * matching(left, n.Right, keys.onRight)
	case plan.Anti:
		return left * (1 - matching(left, n.Right, keys.onRight))
	}
	if n.Kind.KeepsLeft() {
		rows = max(left, rows+left*(1-matching(left, n.Right, keys.onRight)))
	}
	if n.Kind.KeepsRight() {
		rows = max(right, rows+right*(1-matching(right, n.Left, keys.onLeft)))
	}
	return rows
}

// joinKeys are the equalities by which a join finds partners. They have the expressions of the left and of the right side, and how many
// values each has.
type joinKeys struct {
	onLeft, onRight []expr.Expr
	left, right     []KeySide
}

func (k *joinKeys) values() float64 { return DistinctKeys(k.left, k.right) }

// joinKeys splits the conditions of a join. An equality that follows from the others is left out.
func (e *Estimates) joinKeys(n *plan.Join) (keys joinKeys, rest []expr.Expr) {
	width := columnCount(n.Left)
	right := func(x expr.Expr) expr.Expr { return expr.Moved(x, func(c int) int { return c - width }) }
	same := e.equalColumns(n.Left, e.equalColumns(n.Right, nil))
	for _, c := range plan.Conjuncts(n.On) {
		l, r, _, ok := plan.Equality(c)
		if ok && plan.SideOf(l, width) == plan.OnRight && plan.SideOf(r, width) == plan.OnLeft {
			l, r = r, l
		}
		if !ok || plan.SideOf(l, width) != plan.OnLeft || plan.SideOf(r, width) != plan.OnRight {
			rest = append(rest, c)
			continue
		}
		r = right(r)
		a, b := e.originOf(n.Left, l), e.originOf(n.Right, r)
		if a.scan != nil && b.scan != nil {
			if same.find(a) == same.find(b) {
				continue
			}
			same = append(same, [2]origin{a, b})
		}
		keys.onLeft, keys.onRight = append(keys.onLeft, l), append(keys.onRight, r)
		keys.left, keys.right = append(keys.left, e.keySide(n.Left, l)), append(keys.right, e.keySide(n.Right, r))
	}
	return keys, rest
}

// KeySide is one side of an equality that is the key of a join.
type KeySide struct {
	Table  any     // that it is a column of; of an expression over several nil
	Values float64 // that it has in the whole table
	Rows   float64 // of the whole table
}

// DistinctKeys is how many different values the keys of a join have, taken together. The number of joined rows is that of all pairs of rows
// divided by it. The columns of one table have no more values than the table has rows; those of several tables are independent. The side
// with fewer values is taken to have some of the other's. If each side is one table with several columns, one side may have most values of
// each column: the other refers to it. Its number of rows then bounds the values of both.
func DistinctKeys(left, right []KeySide) float64 {
	of := func(list []KeySide) (all float64, tables int) {
		all = 1
		for i, k := range list {
			first := slices.IndexFunc(list, func(o KeySide) bool { return o.Table != nil && o.Table == k.Table })
			if k.Table != nil && first < i {
				continue
			}
			values := k.Values
			if k.Table != nil {
				for _, o := range list[i+1:] {
					if o.Table == k.Table {
						values *= o.Values
					}
				}
				values = min(values, k.Rows)
			}
			all, tables = all*max(1, values), tables+1
		}
		return all, tables
	}
	l, ofLeft := of(left)
	r, ofRight := of(right)
	if len(left) <= 1 || ofLeft > 1 || ofRight > 1 {
		return max(l, r)
	}
	all, leftHas, rightHas := 1., true, true
	for i := range left {
		a, b := left[i].Values, right[i].Values
		all *= max(1, a, b)
		leftHas, rightHas = leftHas && a >= b/2, rightHas && b >= a/2
	}
	if leftHas {
		all = min(all, max(1, left[0].Rows))
	}
	if rightHas {
		all = min(all, max(1, right[0].Rows))
	}
	return all
}
