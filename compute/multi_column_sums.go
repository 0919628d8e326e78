package compute

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan/lower"
	"github.com/stencildb/stencildb/plan/partial"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/textures"
)

// multiSum is what sums of expressions over the same columns need of a chunk's selection. They count only
// records in which none of the columns is NULL.
type multiSum struct {
	cols []int
	n    *number // of these records; that of the selected ones where there are no NULLs
	sums []*columnSum
	aggs []int // that it serves
}

// mostCounters is how many counters a sweep has for sums of expressions. SHARE of report.glsl and the
// smallest shared memory of an OpenGL device limit it; two counters are for the numbers of records.
const mostCounters = 256/16 - 2

// mostBeside is how many words of arguments a tree may have beside those of products.
const mostBeside = 200

// askSum notes what an aggregate of an expression needs of the chunk.
func (x *ChunkWork) askSum(agg int, s *lower.CodeSum) error {
	j := x.multiSum(s.Cols)
	if j == nil {
		j = &multiSum{cols: s.Cols}
		x.joints = append(x.joints, j)
	}
	j.aggs = append(j.aggs, agg)
	for _, t := range s.Terms {
		if len(t.Cols) > 0 && j.sum(t.Cols) == nil {
			sum := &columnSum{t.Cols, &number{}}
			if err := x.tooWide(sum); err != nil {
				return err
			}
			j.sums = append(j.sums, sum)
		}
	}
	return nil
}

func (x *ChunkWork) multiSum(cols []int) *multiSum {
	if i := slices.IndexFunc(x.joints, func(j *multiSum) bool { return slices.Equal(j.cols, cols) }); i >= 0 {
		return x.joints[i]
	}
	return nil
}

// sum is the sum of a column's codes, or of the products of several columns'.
func (j *multiSum) sum(cols []int) *columnSum {
	if i := slices.IndexFunc(j.sums, func(s *columnSum) bool { return slices.Equal(s.cols, cols) }); i >= 0 {
		return j.sums[i]
	}
	return nil
}

// settleMultiSum notes the numbers that are known beforehand.
func (x *ChunkWork) settleMultiSum(j *multiSum) {
	var nulls []int // the columns that have some
	never := x.Tree.Op == predicate.False
	for _, col := range j.cols {
		seg := x.Segment(col)
		never = never || seg.NonNull() == 0
		if seg.Nulls > 0 {
			nulls = append(nulls, col)
		}
	}
	switch {
	case never:
		j.n = known(0)
		for _, s := range j.sums {
			s.number = known(0)
		}
	case len(nulls) == 0:
		j.n = x.selected
	case len(nulls) == 1 && x.Tree.Op == predicate.True:
		j.n = known(x.Segment(nulls[0]).NonNull())
	default:
		j.n = &number{}
	}
}

// multiSumSweeps adds up the sums, as many in one sweep as it has counters for.
func (x *ChunkWork) multiSumSweeps(j *multiSum) (list []*sweep) {
	counters := 0
	for _, s := range j.sums {
		n := len(x.places(s))
		if s.set {
			continue
		}
		if counters += n; len(list) == 0 || counters > mostCounters {
			list, counters = append(list, &sweep{aggs: j.aggs, cols: j.cols}), n
		}
		last := list[len(list)-1]
		last.sums = append(last.sums, s)
	}
	for _, s := range list {
		var terms [][]pass.Attribute
		for _, sum := range s.sums {
			var t []pass.Attribute
			for _, col := range sum.cols {
				t = append(t, x.attribute(col))
			}
			terms = append(terms, t)
		}
		s.op = func(r Result) pass.Op { return Products{r, terms} }
	}
	if j.n.set || j.n == x.selected {
		return list
	}
	if len(list) == 0 {
		var names []string
		for _, col := range j.cols {
			names = append(names, x.attribute(col).Name+" IS NOT NULL")
		}
		where := strings.Join(names, " AND ")
		list = []*sweep{{op: func(r Result) pass.Op { return Popcount{Result: r, Where: where} }, aggs: j.aggs, cols: j.cols}}
	}
	list[0].values = j.n
	return list
}

// reserve notes how many storage blocks the sums of a query need beside a tree's.
func (x *ChunkWork) reserve(sums []*lower.CodeSum) {
	for _, s := range sums {
		if s == nil {
			continue
		}
		n := 2 // the result, and the selection
		for _, col := range s.Cols {
			seg := x.Segment(col)
			n += textures.Parts(seg) + min(1, seg.Nulls)
		}
		for _, t := range s.Terms {
			if x.packed(&columnSum{cols: t.Cols}) {
				n += len(t.Cols)
			}
		}
		x.reserved = max(x.reserved, n)
	}
}

// crowded reports whether a tree leaves too little room in a program for sums of expressions.
func (x *ChunkWork) crowded(n *Node) bool {
	if len(x.Q.Chunks[x.Index].Sums) == 0 || n.Op == predicate.True || n.Op == predicate.False || n.Op == predicate.Simple && n.Leaf.test == marked {
		return false
	}
	w := NewWriter(x)
	w.function(n)
	return len(w.Slots)+x.reserved > x.Device.BlockLimit() || len(w.args) > mostBeside
}

// SumOf implements [partial.ExpressionSums].
func (x *execution) SumOf(agg int) (sum partial.Sum, err error) {
	counts, once := map[word]bool{}, map[word]bool{}
	for _, c := range x.Chunks {
		of := x.Q.Chunks[c.Index].Sums[agg]
		j := c.multiSum(of.Cols)
		n, err := j.n.read(x.Words, counts)
		if err != nil {
			return sum, err
		}
		sum.N += n.Uint64()
		for _, t := range of.Terms {
			codes := n
			if len(t.Cols) > 0 {
				if codes, err = j.sum(t.Cols).read(x.Words, once); err != nil {
					return sum, err
				}
			}
			sum.Int.Add(&sum.Int, new(big.Int).Mul(t.Coef, codes))
		}
	}
	return sum, nil
}

// Products adds up selected codes of columns, and products of the codes of several columns, all bits in one
// pass. It reads the records in which none of the columns is NULL.
type Products struct {
	Result
	Sums [][]pass.Attribute // each of one column or of several
}

// String implements pass.Op.
func (p Products) String() string { return "Accumulate(" + p.list() + ")" }

func (p Products) list() string {
	var sums []string
	for _, s := range p.Sums {
		name := s[0].Name
		for _, of := range s[1:] {
			name += " * " + of.Name
		}
		sums = append(sums, name)
	}
	return strings.Join(sums, ", ")
}

// Counts implements pass.Op.
func (p Products) Counts() string {
	return fmt.Sprintf("of the selected records, for each sum of %s, those with bit i set, times 2^i, or with bits i and j, times 2^(i+j)", p.list())
}
