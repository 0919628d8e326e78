package physical

import (
	"math/bits"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/lower"
	"github.com/stencildb/stencildb/table"
)

// JoinQuery asks for the pairs of rows of two tables of which the keys compare.
type JoinQuery struct {
	Sides [2]*Query // the left and the right table's rows that may be in a pair: none is NULL in a key
	Keys  []JoinKey // one or more; several compare by =
	// RowIDs, where set, are lists of row numbers, such as another join has given. The pairs are then places in a list, of rows that Sides
	// selects. Without a list they are the rows that Sides selects, each once.
	RowIDs    [2]RowIDs
	Cmp       expr.CmpOp
	Algorithm string // perfect may become hash
	Exists    bool   // of a left row that is in several pairs only one is wanted
	Scans     []int  // those of the statement's joins whose rows it joins, from left to right; nil for nobody who wants to know
	Limit     uint64 // where there are more pairs, and with 0, they are only counted
	// KeepOnDevice has lists of each side. The rows at the places of the pairs then stay on the device, in place of the pairs. For a list
	// without rows the places stay. Lists on the device are released after that. Nil: the pairs go to host memory.
	KeepOnDevice *[2][]RowIDs
	Borrows      bool // lists on the device are not released

	fields     []KeyField // once they are known
	rowOffsets [2][]int   // of a part: see RowOffsets
}

// Part is the query for the rows of a side that are in some chunks of its table, for one of several devices. The rows have the numbers that
// they have in the whole table.
func (q *JoinQuery) Part(side int, chunks []int) *JoinQuery {
	q.Fields() // which parts have in common
	p := *q
	p.Sides[side] = q.Sides[side].Part(chunks)
	all, starts := q.RowOffsets(side), []int(nil)
	for _, i := range chunks {
		starts = append(starts, all[i])
	}
	p.rowOffsets[side] = append(starts, all[len(all)-1])
	return &p
}

// RowOffsets are the numbers of the first rows of the chunks of a side, and last how many numbers there are.
func (q *JoinQuery) RowOffsets(side int) []int {
	if s := q.rowOffsets[side]; s != nil {
		return s
	}
	return RowOffsetsOf(q.Sides[side].Table)
}

// RowOffsetsOf are the numbers of the first rows of the chunks of a table, and last how many numbers there are.
func RowOffsetsOf(t *table.Table) []int {
	starts := []int{0}
	for i, c := range t.Chunks {
		starts = append(starts, starts[i]+c.Rows)
	}
	return starts
}

// RowIDs is numbers of rows of a table, in host memory or on a device. The zero value is none.
type RowIDs struct {
	Rows      []uint32
	Held      *Held
	MayBeNull bool // some may be those of no row: 1<<32 - 1
}

// IsNone reports the zero value.
func (l RowIDs) IsNone() bool { return l.Rows == nil && l.Held == nil }

// Len is how many there are.
func (l RowIDs) Len() int {
	if l.Held != nil {
		return l.Held.N
	}
	return len(l.Rows)
}

// Held is N numbers of rows that stay on one device or on several.
type Held struct {
	N     int
	Parts []int // how many of them each of the devices has, whose come one after the other; nil: one has all
	On    any   // what the backend has them in
	By    any   // who keeps them
}

// JoinKey is an expression of each side, over the columns of its table. It is two columns whose codes are comparable in a space of
// both, or values that are computed on both sides. See [JoinKey.Comparable].
type JoinKey [2]expr.Expr

// Columns are those of the key where both sides are columns.
func (k JoinKey) Columns() (cols [2]int, ok bool) {
	for i, e := range k {
		c, column := e.(*expr.Column)
		if !column {
			return cols, false
		}
		cols[i] = c.Index
	}
	return cols, true
}

// Comparable finds out whether the codes of a key are comparable, and no row of either table raises an error in it. If not, it returns a
// [plan.Declined].
func (k JoinKey) Comparable(sides [2]*table.Table) error {
	if _, ok := k.Columns(); ok {
		return nil
	}
	var first *lower.ComputedCodes
	for i, t := range sides {
		for _, c := range t.Chunks {
			m, err := lower.ComputeCodes(k[i], t, c)
			switch {
			case err != nil:
				return err
			case m.MayFail:
				return &plan.Declined{Why: "a row may raise an error in " + k[i].String()}
			case m.Val == nil:
				continue
			case m.Ranked:
				return &plan.Declined{Why: k[i].String() + " is no number that compute makes"}
			}
			if first == nil {
				first = m
			}
			if m.Val.Float != first.Val.Float || m.Scale != first.Scale {
				return &plan.Declined{Why: k[0].String() + " and " + k[1].String() + " are numbers of two kinds"}
			}
		}
	}
	return nil
}

// KeyBits is how many bits the keys of a row may have together, in the spaces of both sides.
const KeyBits = 64

// KeyField is where a key is in a row's number of [KeyBits] bits: its codes in a space of both sides, shifted. The first key is lowest.
type KeyField struct {
	Space *CodeSpace
	Shift int
}

// Fields are those of the keys. They may take more than [KeyBits] bits together: see DropWideKeys.
func (q *JoinQuery) Fields() []KeyField {
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

// DropWideKeys takes away the keys that do not fit [KeyBits] bits beside those before them, and gives their places among the keys.
func (q *JoinQuery) DropWideKeys() (without []int) {
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
func (q *JoinQuery) Max() (most uint64) {
	for _, f := range q.Fields() {
		most |= f.Space.Max() << f.Shift
	}
	return most
}

// Bits is the width of Max, at least 1.
func (q *JoinQuery) Bits() int { return max(1, bits.Len64(q.Max())) }

// Segment is what says which codes a side has of a key in a chunk of its table: a column's, or one without rows.
func (q *JoinQuery) Segment(k JoinKey, side, chunk int) *table.Segment {
	t := q.Sides[side].Table
	c := t.Chunks[chunk]
	if cols, ok := k.Columns(); ok {
		return c.Segments[cols[side]]
	}
	m, err := lower.ComputeCodes(k[side], t, c)
	if err != nil || m.Val == nil || c.Rows == 0 {
		return nil
	}
	return &table.Segment{Type: k[side].Type(), Base: m.Base, Max: m.Max, Bits: m.Bits(), Codes: table.Codes{U8: make([]uint8, 1)}}
}

// space is the code space that both sides of a key have in common.
func (q *JoinQuery) space(k JoinKey) *CodeSpace {
	both := &table.Table{Fields: []table.Field{{Type: k[0].Type()}}}
	for i, s := range q.Sides {
		for at, c := range s.Table.Chunks {
			both.Chunks = append(both.Chunks, &table.Chunk{Rows: c.Rows, Segments: []*table.Segment{q.Segment(k, i, at)}})
		}
	}
	return NewCodeSpace(both, 0)
}

// Rows is how many rows a side has, those that are not selected included.
func (q *JoinQuery) Rows(side int) int {
	if of := q.RowIDs[side]; !of.IsNone() {
		return of.Len()
	}
	return q.Sides[side].Table.Rows()
}

// JoinPairs are what a [JoinQuery] finds.
type JoinPairs struct {
	Selected  [2]int      // rows of each side
	N         uint64      // pairs
	Algorithm string      // the algorithm that found them
	Rows      [2][]uint32 // theirs, by their numbers in the table or their places in the list, a pair each in no order; nil where they were only counted
	Held      [2][]*Held  // what was to be taken, a list each, instead of Rows
}
