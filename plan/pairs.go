package plan

import (
	"math/bits"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// PairQuery asks for the pairs of rows of two tables of which the keys compare.
type PairQuery struct {
	Sides  [2]*Query // the left and the right table's rows that may be in a pair: none is NULL in a key
	Keys   []PairKey // one or more; several compare by =
	Cmp    expr.CmpOp
	Way    string // the algorithm; perfect may become hash
	Exists bool   // of a left row that is in several pairs only one is wanted
	Most   uint64 // where there are more pairs, and with 0, they are only counted

	fields []KeyField // once they are known
}

// PairKey is a column of each side, whose codes are comparable in a space of both.
type PairKey [2]int

// KeyBits is how many bits the keys of a row may have together, in the spaces of both sides.
const KeyBits = 64

// KeyField is where a key is in a row's number of [KeyBits] bits: its codes in a space of both sides, shifted. The first key is lowest.
type KeyField struct {
	Space *Space
	Shift int
}

// Fields are those of the keys. They may take more than [KeyBits] bits together: see Fit.
func (q *PairQuery) Fields() []KeyField {
	shift := 0
	for _, f := range q.fields {
		shift = f.Shift + f.Space.Bits()
	}
	for _, k := range q.Keys[len(q.fields):] {
		f := KeyField{q.space(k), shift}
		q.fields, shift = append(q.fields, f), shift+f.Space.Bits()
	}
	return q.fields
}

// Fit takes away the keys that do not fit [KeyBits] bits beside those before them, and gives their places among the keys.
func (q *PairQuery) Fit() (without []int) {
	used, keys, fields := 0, q.Keys[:0:0], []KeyField(nil)
	for i, f := range q.Fields() {
		if n := f.Space.Bits(); used+n > KeyBits {
			without = append(without, i)
		} else {
			keys, fields, used = append(keys, q.Keys[i]), append(fields, KeyField{f.Space, used}), used+n
		}
	}
	q.Keys, q.fields = keys, fields
	return without
}

// Max is the largest number of a row, of keys that fit [KeyBits] bits.
func (q *PairQuery) Max() (most uint64) {
	for _, f := range q.Fields() {
		most |= f.Space.Max() << f.Shift
	}
	return most
}

// Bits is the width of Max, at least 1.
func (q *PairQuery) Bits() int { return max(1, bits.Len64(q.Max())) }

// space is the code space that both columns of a key have in common.
func (q *PairQuery) space(k PairKey) *Space {
	both := &table.Table{Fields: []table.Field{q.Sides[0].Table.Fields[k[0]]}}
	for i, s := range q.Sides {
		for _, c := range s.Table.Chunks {
			both.Chunks = append(both.Chunks, &table.Chunk{Rows: c.Rows, Segments: []*table.Segment{c.Segments[k[i]]}})
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
