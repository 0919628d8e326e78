package plan

import (
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// PairQuery asks for the pairs of rows of two tables of which the values of a column each compare.
type PairQuery struct {
	Sides   [2]*Query // the left and the right table's rows that may be in a pair: none is NULL in its column
	Columns [2]int    // whose codes are comparable in a space of both
	Cmp     expr.CmpOp
	Way     string // the algorithm; perfect may become hash
	Exists  bool   // of a left row that is in several pairs only one is wanted
	Most    uint64 // where there are more pairs, and with 0, they are only counted
}

// Space is the code space that both columns have in common.
func (q *PairQuery) Space() *Space {
	both := &table.Table{Fields: []table.Field{q.Sides[0].Table.Fields[q.Columns[0]]}}
	for i, s := range q.Sides {
		for _, c := range s.Table.Chunks {
			both.Chunks = append(both.Chunks, &table.Chunk{Rows: c.Rows, Segments: []*table.Segment{c.Segments[q.Columns[i]]}})
		}
	}
	return NewSpace(both, 0)
}

// Pairs are what a [PairQuery] finds.
type Pairs struct {
	Selected [2]int      // rows of each side
	N        uint64      // pairs
	Way      string      // the algorithm that found them
	Rows     [2][]uint32 // theirs, by their numbers in the table, a pair each in no order; nil where they were only counted
}
