package join

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"sort"

	"github.com/stencildb/stencildb/cpu"
	"github.com/stencildb/stencildb/cpu/hashtable"
	"github.com/stencildb/stencildb/cpu/radixsort"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/ordered"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
)

// bucketPiece is how many rows are dealt at a time.
const bucketPiece = 1 << 16

// Partition partitions the rows of a side of a join into 2^log buckets by a hash of their keys. Equal keys of both sides are in buckets of
// the same number. The keys are columns; the list that the rows are taken by, if there is one, is in host memory.
func Partition(ctx context.Context, b *cpu.Backend, q *physical.JoinQuery, side, log int) ([]physical.Bucket, error) {
	for _, k := range q.Keys {
		if _, columns := k.Columns(); !columns {
			return nil, &plan.Declined{Why: fmt.Sprintf("rows are partitioned by keys that are columns, %s = %s has others", k[0], k[1])}
		}
	}
	if q.RowIDs[side].Held != nil {
		return nil, &plan.Declined{Why: "rows that are on a device are not partitioned"}
	}
	d := newDealer(q, side, log)
	var err error
	pieces := func(yield func(physical.RowIDs, table.Block) bool) {}
	if list := q.RowIDs[side]; list.IsNone() {
		pieces = func(yield func(physical.RowIDs, table.Block) bool) {
			for block, failed := range b.Rows(ctx, q.Sides[side]) {
				if err = failed; err != nil {
					return
				}
				for i := 0; i < block.Len(); i += bucketPiece {
					if !yield(physical.RowIDs{}, block.Cut(i, min(block.Len(), i+bucketPiece))) {
						return
					}
				}
			}
		}
	} else {
		selected := table.NewBitmap(d.starts[len(d.starts)-1])
		for block, err := range b.Rows(ctx, q.Sides[side]) {
			if err != nil {
				return nil, err
			}
			for i := range block.Len() {
				selected.Set(d.starts[block.Chunk] + block.Row(i))
			}
		}
		d.selected = selected
		pieces = func(yield func(physical.RowIDs, table.Block) bool) {
			for i := 0; i < len(list.Rows) && err == nil; i += bucketPiece {
				if err = ctx.Err(); err != nil || !yield(physical.RowIDs{Rows: list.Rows[i:min(len(list.Rows), i+bucketPiece)]}, table.Block{First: i}) {
					return
				}
			}
		}
	}
	type piece struct {
		list  physical.RowIDs
		block table.Block
	}
	workers := runtime.GOMAXPROCS(0)
	lists := make([][]physical.Bucket, workers)
	for range ordered.Map(workers, func(yield func(piece) bool) {
		pieces(func(l physical.RowIDs, b table.Block) bool { return yield(piece{l, b}) })
	}, func(w int, p piece) bool {
		if lists[w] == nil {
			lists[w] = make([]physical.Bucket, 1<<log)
		}
		if p.list.IsNone() {
			d.block(lists[w], p.block)
		} else {
			d.list(lists[w], p.list.Rows, p.block.First)
		}
		return true
	}) {
	}
	if err != nil {
		return nil, err
	}
	out := make([]physical.Bucket, 1<<log)
	ordered.Each(len(out), func(k int) {
		for _, of := range lists {
			if of != nil {
				out[k].Append(of[k])
			}
		}
	})
	return out, nil
}

// dealer makes the keys of rows of a side, and deals these.
type dealer struct {
	log      int
	wide     bool          // keys have two words
	starts   []int         // of the chunks
	keys     [][]dealtCode // of each chunk
	selected table.Bitmap  // the rows of the table that may be in a pair, where a list takes them
}

// dealtCode is where the codes of a key come from, and where they go in the space of both sides.
type dealtCode struct {
	codes table.Codes
	delta uint64
	ranks []uint32
	shift int
}

func newDealer(q *physical.JoinQuery, side, log int) *dealer {
	d := &dealer{log: log, wide: q.Bits() > 32, starts: q.RowOffsets(side), keys: make([][]dealtCode, len(q.Sides[side].Table.Chunks))}
	for i := range d.keys {
		for k, f := range q.Fields() {
			s := q.Segment(q.Keys[k], side, i)
			in := dealtCode{codes: s.Codes, shift: f.Shift}
			in.delta, in.ranks = f.Space.Translation(s)
			d.keys[i] = append(d.keys[i], in)
		}
	}
	return d
}

// add deals a row of a chunk, which has a number.
func (d *dealer) add(to []physical.Bucket, chunk, row int, number uint32) {
	key := uint64(0)
	for _, in := range d.keys[chunk] {
		code := in.codes.At(row)
		if in.ranks != nil {
			code = uint64(in.ranks[code])
		} else {
			code += in.delta
		}
		key |= code << in.shift
	}
	b := &to[key*0x9e3779b97f4a7c15>>(64-d.log)]
	b.Low, b.Rows = append(b.Low, uint32(key)), append(b.Rows, number)
	if d.wide {
		b.High = append(b.High, uint32(key>>32))
	}
}

func (d *dealer) block(to []physical.Bucket, b table.Block) {
	for i := range b.Len() {
		row := b.Row(i)
		d.add(to, b.Chunk, row, uint32(d.starts[b.Chunk]+row))
	}
}

// list deals the rows of a list from a place on.
func (d *dealer) list(to []physical.Bucket, rows []uint32, place int) {
	chunk := 0
	for i, r := range rows {
		row := int(r)
		if r == NoRow || !d.selected.Get(row) {
			continue
		}
		if row < d.starts[chunk] || row >= d.starts[chunk+1] {
			chunk = sort.SearchInts(d.starts, row+1) - 1
		}
		d.add(to, chunk, row-d.starts[chunk], uint32(place+i))
	}
}

// SortBucket puts the rows of a bucket in the order of their keys.
func SortBucket(b physical.Bucket) (out physical.Bucket) {
	order := radixsort.UpTo[uint32](b.Len())
	slices.SortFunc(order, func(i, j uint32) int { return cmp.Compare(b.Key(int(i)), b.Key(int(j))) })
	for _, i := range order {
		out.Low, out.Rows = append(out.Low, b.Low[i]), append(out.Rows, b.Rows[i])
		if b.High != nil {
			out.High = append(out.High, b.High[i])
		}
	}
	return out
}

// JoinBuckets finds the pairs of two buckets whose keys compare, on one core. If the query asks only whether there is a partner, it finds
// the left rows, each once. Of a comparison other than =, and of nested loops, the right one is sorted (see [SortBucket]). Where list is
// false it counts them.
func JoinBuckets(q *physical.JoinQuery, left, right physical.Bucket, list bool) (out physical.JoinPairs) {
	if left.Len() == 0 || right.Len() == 0 {
		return out
	}
	partners, order := sortedPartners(q.Cmp, right), right.Rows
	if q.Cmp == expr.EQ && q.Algorithm != "loops" {
		partners, order = hashedPartners(right)
	}
	for i, row := range left.Rows {
		for _, r := range partners(left.Key(i)) {
			others := order[r[0]:r[1]]
			if q.Exists && len(others) > 1 {
				others = others[:1]
			}
			out.N += uint64(len(others))
			for k := 0; list && k < len(others); k++ {
				out.Rows[0], out.Rows[1] = append(out.Rows[0], row), append(out.Rows[1], others[k])
			}
			if q.Exists && len(others) > 0 {
				break
			}
		}
	}
	if q.Exists {
		out.Rows[1] = nil
	}
	return out
}

// sortedPartners finds where the partners of a key stand in a sorted bucket: in one range or in two.
func sortedPartners(op expr.CmpOp, right physical.Bucket) func(key uint64) [2][2]int {
	n := right.Len()
	return func(key uint64) (out [2][2]int) {
		from := sort.Search(n, func(i int) bool { return right.Key(i) >= key })
		to := from + sort.Search(n-from, func(i int) bool { return right.Key(from+i) > key })
		switch op {
		case expr.LT:
			out[0] = [2]int{to, n}
		case expr.LE:
			out[0] = [2]int{from, n}
		case expr.EQ:
			out[0] = [2]int{from, to}
		case expr.NE:
			out = [2][2]int{{0, from}, {to, n}}
		case expr.GE:
			out[0] = [2]int{0, to}
		case expr.GT:
			out[0] = [2]int{0, from}
		}
		return out
	}
}

// hashedPartners is sortedPartners by a hash table, where the rows of a key stand together in order.
func hashedPartners(right physical.Bucket) (partners func(key uint64) [2][2]int, order []uint32) {
	list, out := make([]hashtable.Row, right.Len()), make([]hashtable.Row, right.Len())
	for i, row := range right.Rows {
		list[i] = hashtable.Row{Key: right.Key(i), Row: row}
	}
	t := hashtable.NewRowTable(list, out, 0)
	for _, k := range out {
		order = append(order, k.Row)
	}
	return func(key uint64) (out [2][2]int) {
		if s := t.Find(key); s.From <= s.To {
			out[0] = [2]int{int(s.From), int(s.To)}
		}
		return out
	}, order
}
