package compute

import (
	"errors"
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
)

// chunk is what is asked of one chunk.
type chunk struct {
	*evaluator
	checks   []count
	tree     *node
	keep     *marks // the selection, where something needs it as a bitmap
	selected count
	columns  []*column // of the aggregates, each once
}

// column is what is asked of one column of a chunk's selection.
type column struct {
	col    int
	n      count // values that are not NULL
	sum    bool
	sums   []weighted
	float  bool   // the sum is of REALs or DOUBLEs
	floats int    // where the result has it
	order  *order // when order statistics are searched for
	asked  bool   // for histograms, which need the selection
}

// count is a number of records: known, in the result, or, the zero count, neither.
type count struct {
	known bool
	n     uint64
	in    *place
}

func knownCount(n int) count { return count{known: true, n: uint64(n)} }
func counted(p place) count  { return count{in: &p} }

// read returns the number; nothing has counted it is an error.
func (c count) read(words []uint32) (uint64, error) {
	switch {
	case c.known:
		return c.n, nil
	case c.in == nil:
		return 0, errors.New("compute: no pass counts the records that are asked for")
	}
	return c.in.read(words), nil
}

// column returns what is asked of a column; nil when nothing is.
func (x *chunk) column(col int) *column {
	for _, y := range x.columns {
		if y.col == col {
			return y
		}
	}
	return nil
}

// ask notes what an aggregate needs of the chunk; histogram says that it is searched for
// over several devices.
func (x *chunk) ask(a expr.Aggregate, histogram bool) {
	if a.Col < 0 {
		return
	}
	y := x.column(a.Col)
	if y == nil {
		y = &column{col: a.Col}
		x.columns = append(x.columns, y)
	}
	y.asked = y.asked || histogram
	if a.Kind == expr.Sum || a.Kind == expr.Avg {
		y.float = y.float || a.Arg.IsFloat()
		y.sum = y.sum || !a.Arg.IsFloat()
	}
}

// settle notes the counts that are known beforehand.
func (x *chunk) settle() {
	switch x.tree.op {
	case plan.False:
		x.selected = knownCount(0)
	case plan.True:
		x.selected = knownCount(x.chunk.Rows)
	}
	for _, y := range x.columns {
		switch values := x.segment(y.col).NonNull(); {
		case x.tree.op == plan.False || values == 0:
			*y = column{col: y.col, n: knownCount(0)}
		case x.tree.op == plan.True:
			y.n = knownCount(values)
		}
	}
}

// sweeps lists how the chunk is looked at: once a column and way of gathering, and
// such that every count that is not known is taken.
func (x *chunk) sweeps(countAll bool) []*sweep {
	var list []*sweep
	needSelected := countAll && !x.selected.known
	for _, y := range x.columns {
		of := x.attribute(y.col)
		ask := !y.n.known && x.segment(y.col).Nulls > 0
		before := len(list)
		if y.sum && !(y.n.known && y.n.n == 0) {
			list = append(list, &sweep{op: func(r Result) pass.Op { return Accumulate{r, of} },
				aggs: x.compiler.q.Summed(y.col), col: y.col, sum: true, values: ask})
		}
		digits := y.order != nil && len(y.order.digits) > 0
		if digits {
			list = append(list, y.order.sweep(of))
		}
		// The counts by a digit are those of all chunks: of each one only where it is alone.
		if !(digits && (len(y.order.chunks) == 1 || !y.sum)) && !y.n.known && !ask {
			needSelected = true
		}
		if ask && len(list) == before {
			list = append(list, &sweep{op: func(r Result) pass.Op { return Popcount{Result: r, Column: of.Name} }, col: y.col, values: true})
		}
	}
	if needSelected {
		return x.countSelected(list)
	}
	return list
}

// countSelected has one of the sweeps count the selected records, too; one that
// counts by a digit of this chunk only does so where there are no NULLs.
func (x *chunk) countSelected(list []*sweep) []*sweep {
	for _, s := range list {
		if s.order == nil {
			s.selected = true
			return list
		}
	}
	for _, s := range list {
		if x.segment(s.col).Nulls == 0 && len(s.order.chunks) == 1 {
			return list
		}
	}
	return append(list, &sweep{op: x.tree.named(func(r Result) pass.Op { return Popcount{Result: r, Where: x.tree.short()} }), col: -1, selected: true})
}

// needsBitmap reports whether the selection is needed as a bitmap.
func (x *chunk) needsBitmap(list []*sweep) bool {
	if x.tree.op == plan.True || x.tree.op == plan.False {
		return false
	}
	return len(list) > 1 || slices.ContainsFunc(x.columns, func(y *column) bool {
		return y.float || y.asked || y.order != nil && len(y.order.digits) > 1
	})
}

// took notes where a sweep has left its counts.
func (x *chunk) took(s *sweep, g gathered) {
	if s.selected {
		x.selected = counted(g.selected)
	}
	if s.col < 0 {
		return
	}
	alone := s.order != nil && len(s.order.chunks) == 1
	if alone && x.segment(s.col).Nulls == 0 && !x.selected.known {
		x.selected = counted(place{at: s.order.first})
	}
	y := x.column(s.col)
	if s.sum {
		y.sums = g.sums
	}
	switch {
	case y.n.known:
	case alone:
		y.n = counted(place{at: s.order.first})
	case s.values:
		y.n = counted(g.values)
	}
}
