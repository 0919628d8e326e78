package physical

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/lower"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/table"
)

// GroupStates is what a device found of the groups of a chunk. It tells groups apart by the codes
// of columns: several of them may have equal keys.
type GroupStates struct {
	Chunk    int          // in the whole table
	Rows     []uint32     // the first row of each group
	N        []uint64     // how many rows each has
	Aggs     []GroupState // one an aggregate of [Query].Groups
	Omitted  int          // groups that are left out, since [Query].Bound does not want them
	Distinct bool         // no two have the same codes of the columns
	// Numbers are, by [Dimension] of a star, the numbers of what the keys read of the groups' partners; nil where they read nothing.
	Numbers [][]uint32
}

// GroupState is what an aggregate needs of each group.
type GroupState struct {
	N         []uint64 // rows that count: those in which no column of the aggregate is NULL
	High, Low []int64  // of sums: the sum, an integer of 128 bits
	// Ends are the smallest or the largest codes, where an aggregate is of them; of a group
	// without values they mean nothing.
	Extremes []uint32
	Codes    *DistinctCodes // of [Query.CountsDistinct] alone
}

// Add adds n * factor to the sum of group i.
func (s *GroupState) Add(i int, n uint64, factor int64) {
	size := uint64(factor)
	if factor < 0 {
		size = -size
	}
	high, low := bits.Mul64(n, size)
	var carry uint64
	if factor < 0 {
		low, carry = bits.Sub64(uint64(s.Low[i]), low, 0)
		high, _ = bits.Sub64(uint64(s.High[i]), high, carry)
	} else {
		low, carry = bits.Add64(uint64(s.Low[i]), low, 0)
		high, _ = bits.Add64(uint64(s.High[i]), high, carry)
	}
	s.High[i], s.Low[i] = int64(high), int64(low)
}

// GroupAggregate is what an aggregate asks of the records of a chunk's group.
type GroupAggregate struct {
	Sum           *lower.CodeSum  // of its Cols also how many records have no NULL in them; without Terms that alone
	ExtremeColumn int             // the column whose smallest or largest codes are asked for; -1 for none
	Largest       bool            // it is the largest
	Filter        *predicate.Pred // of the records for which it holds; nil for all
}

// MaxSlots is how many combinations of codes the keys of a chunk's groups may have on a device.
const MaxSlots = 1 << 16

// MaxStarSlots is the most that MaxSlots is of a star.
const MaxStarSlots = 1 << 24

// MaxBoundSlots is the most that MaxSlots is of groups of which few are wanted: the others stay on the device.
const MaxBoundSlots = 1 << 27

// slotLimit is how many combinations the keys of a chunk's groups may have. A star may have as many as the chunk has rows.
// Where few of the groups are wanted, twice as many.
func (q *Query) slotLimit(chunk int) uint64 {
	rows := q.Table.Chunks[chunk].Rows
	if q.Bound == nil && len(q.Star) > 0 && rows > MaxSlots {
		return uint64(min(MaxStarSlots, rows))
	}
	return SlotLimit(rows, q.Bound != nil)
}

// SlotLimit is how many combinations of codes the keys of groups may have in a chunk of so many rows, without a star. bound says that few
// of the groups are wanted.
func SlotLimit(rows int, bound bool) uint64 {
	if bound {
		return uint64(max(MaxSlots, min(MaxBoundSlots, 2*rows)))
	}
	return MaxSlots
}

// GroupInputColumns lists the columns that the aggregation by keys reads.
func (q *Query) GroupInputColumns() []int {
	list := q.Groups.InputColumns()
	for _, l := range q.Star {
		if !slices.Contains(list, l.Col) {
			list = append(list, l.Col)
		}
	}
	return list
}

// GroupKeyColumns lists the columns that the keys read, each once.
func (q *Query) GroupKeyColumns() (list []int) {
	for _, k := range q.Groups.Keys {
		for _, col := range expr.Columns(k) {
			if !slices.Contains(list, col) {
				list = append(list, col)
			}
		}
	}
	return list
}

// GroupKey is a digit of what tells groups of a chunk apart, and how many values it has; NULL is one behind the others. It is the codes of a
// column that keys read, or those of a key that is computed where these are fewer.
type GroupKey struct {
	Col      int // -1 for a key that is computed
	Size     int
	Computed *lower.ComputedCodes
	Nulls    bool // in some record it is NULL
	Name     string
}

// GroupKeys lists what tells groups apart. It is a [plan.Declined] where their codes have too many combinations in a
// chunk: more than [MaxSlots]. In a star the limit is its rows or [MaxStarSlots], with a Bound twice its rows or
// [MaxBoundSlots].
func (q *Query) GroupKeys(chunk int) (list []GroupKey, err error) {
	slots, most := uint64(1), q.slotLimit(chunk)
	for _, l := range q.Star {
		if l.Build != nil && l.Built == nil { // how many combinations it has is known when it is built
			continue
		}
		if slots *= uint64(max(1, l.Size)); slots > most {
			return nil, &plan.Declined{Why: fmt.Sprintf("the keys of joined tables have more than %d combinations", most)}
		}
	}
	digits, have := q.groupDigits(chunk), map[int]bool{}
	for _, k := range digits {
		if k.Col >= 0 {
			have[k.Col] = true
		}
	}
	for _, k := range digits {
		if k.Computed != nil && !slices.ContainsFunc(k.Computed.Cols, func(col int) bool { return !have[col] }) {
			continue // columns that tell it apart are there
		}
		size := k.most
		if k.Nulls && size < most {
			size++
		}
		if size >= most/slots {
			return nil, &plan.Declined{Why: fmt.Sprintf("the codes of the keys have more than %d combinations", most)}
		}
		size++
		slots *= size
		k.GroupKey.Size = int(size)
		list = append(list, k.GroupKey)
	}
	return list, nil
}

// groupDigit is a [GroupKey] with its largest code.
type groupDigit struct {
	GroupKey
	most uint64
}

// groupDigits are the columns that the keys read. A key that is computed is one itself where its columns have more combinations of codes.
func (q *Query) groupDigits(chunk int) (list []groupDigit) {
	c, seen := q.Table.Chunks[chunk], map[int]bool{}
	for _, k := range q.Groups.Keys {
		var columns []groupDigit
		combinations := uint64(1)
		for _, col := range expr.Columns(k) {
			seg := c.Segments[col]
			columns = append(columns, groupDigit{GroupKey{Col: col, Nulls: seg.Nulls > 0}, seg.Max})
			high, low := bits.Mul64(combinations, seg.Max+1)
			if combinations = low; high > 0 || seg.Max == math.MaxUint64 {
				combinations = math.MaxUint64
			}
		}
		if d, ok := computedDigit(q.Table, c, k); ok && d.most < combinations-1 {
			list = append(list, d)
			continue
		}
		for _, d := range columns {
			if !seen[d.Col] {
				seen[d.Col] = true
				list = append(list, d)
			}
		}
	}
	return list
}

// computedDigit is the codes of a key that is computed; ok is false where a device does not make them besides.
func computedDigit(t *table.Table, c *table.Chunk, e expr.Expr) (d groupDigit, ok bool) {
	if _, column := e.(*expr.Column); column || c.Rows == 0 {
		return d, false
	}
	m, err := lower.ComputeCodes(e, t, c)
	if err != nil || m.Val == nil || m.MayFail || bits.Len64(m.Max) > 31 {
		return d, false
	}
	d = groupDigit{GroupKey{Col: -1, Computed: m, Name: e.String()}, m.Max}
	for _, col := range m.Cols {
		seg := c.Segments[col]
		d.Nulls = d.Nulls || seg.Nulls > 0
		if bits.Len64(seg.Max) > 32 {
			return d, false
		}
	}
	return d, true
}

// Groupable reports whether a device may find the groups of a chunk.
func (q *Query) Groupable(chunk int) bool {
	if q.Groups == nil {
		return false
	}
	if col, ok := q.CountsDistinct(); ok {
		c := q.Table.Chunks[chunk]
		return MarksCodes(c.Segments[col.Index].Max, c.Rows)
	}
	_, keys := q.GroupKeys(chunk)
	_, parts := q.GroupAggregates(chunk)
	return keys == nil && parts == nil
}

// SortGroupable reports whether a device may find the groups of a chunk by a sort.
func (q *Query) SortGroupable(chunk int) bool {
	if q.Groups == nil || len(q.Star) > 0 || len(q.Groups.Keys) == 0 {
		return false
	}
	_, err := q.GroupAggregates(chunk)
	return err == nil
}

// GroupAggregates lists what each aggregate of Groups asks of a chunk. It is a [plan.Declined] where one is
// not made of counts, sums over codes and ends.
func (q *Query) GroupAggregates(chunk int) ([]GroupAggregate, error) {
	var list []GroupAggregate
	for k, a := range q.Groups.Aggs {
		filter := a.Filter
		a.Filter = nil
		p, ok := q.groupAggregate(a, q.Table.Chunks[chunk])
		if filter != nil {
			a.Filter, p.Filter = filter, q.Chunks[chunk].Filters[k]
		}
		if !ok || filter != nil && p.Filter == nil {
			return nil, &plan.Declined{Why: fmt.Sprintf("groups with %s are cpu's", a)}
		}
		list = append(list, p)
	}
	return list, nil
}

func (q *Query) groupAggregate(a expr.Aggregate, c *table.Chunk) (p GroupAggregate, ok bool) {
	p = GroupAggregate{Sum: &lower.CodeSum{}, ExtremeColumn: -1}
	if a.Distinct || a.Kind == expr.Selectivity {
		return p, false
	}
	if a.Col >= 0 {
		p.Sum.Cols = []int{a.Col}
	}
	switch a.Kind {
	case expr.CountAll:
		return p, true
	case expr.Count:
		if a.X == nil {
			return p, true
		}
	case expr.Min, expr.Max, expr.BoolAnd, expr.BoolOr, expr.AnyValue:
		if a.X == nil && c.Segments[a.Col].NegativeZeros != nil { // whose sign is not in the code
			return p, false
		}
		p.ExtremeColumn, p.Largest = a.Col, a.Kind == expr.Max || a.Kind == expr.BoolOr
		return p, a.X == nil
	case expr.Sum, expr.Avg:
		if a.X == nil && a.Arg.IsExact() {
			base := big.NewInt(table.IntFromOrdinal(c.Segments[a.Col].Base))
			p.Sum.Terms = []lower.CodeTerm{{Coef: big.NewInt(1), Cols: []int{a.Col}}, {Coef: base, Cols: nil}}
			return p, true
		}
	}
	if a.X == nil {
		return p, false
	}
	p.Sum = lower.NewCodeSum(a, q.Table, c)
	return p, p.Sum != nil
}
