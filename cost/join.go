package cost

import (
	"math"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/table"
)

// OfPairs reads the work off a join of two tables, of which as many pairs are expected as the larger one has rows.
func OfPairs(q *physical.JoinQuery) *Work {
	w, join, most := &Work{}, Item{Class: Join, Scale: 1}, 0
	for i, s := range q.Sides {
		w.Rows, most = w.Rows+q.Rows(i), max(most, q.Rows(i))
		for k, c := range s.Table.Chunks {
			r := reader{table: s.Table, chunk: c, work: w, seen: map[Column]bool{}}
			bytes := 0
			for _, key := range q.Keys {
				_, plain := key[i].(*expr.Column)
				for _, col := range expr.Columns(key[i]) {
					bytes += r.column(col, plain && s.Chunks[k].Pred.Op == predicate.True && c.Segments[col].Codes.Width() == 4).Codes.Width()
				}
			}
			join.Bytes = max(join.Bytes, min(bytes, physical.KeyBits/8))
		}
	}
	join.Bits = q.Bits()
	if q.Exists {
		w.join(join, q.Max(), most, q.Rows(0))
	} else {
		w.join(join, q.Max(), most, most)
	}
	if q.Limit == 0 { // they are only counted
		w.Rows, w.Chunks = w.Chunks[0].Rows, w.Chunks[:1]
	}
	return w
}

// join adds a join of all the rows so far, and the listing of its pairs. most is the number of rows of the larger side,
// and largest the largest key.
func (w *Work) join(by Item, largest uint64, most, pairs int) {
	if largest < uint64(max(1<<22, 8*most)) {
		by.Scale = denseJoin
	}
	list := Item{Class: Pairs, Bits: by.Bits, Bytes: by.Bytes, Scale: 1}
	w.Chunks = []ChunkWork{{Rows: w.Rows, Aggs: []Item{by}}, {Rows: pairs, Aggs: []Item{list}}}
	w.Rows += pairs
}

// Side is what a join is expected to read of one side: rows, by keys that are columns of a table. Of others the table is nil.
type Side struct {
	Rows  int
	Table *table.Table
	Keys  []int
}

// OfJoin is the work of a join that has yet to run, of which so many pairs are expected: see [OfPairs]. One without keys has no costs.
func OfJoin(sides [2]Side, pairs int) *Work {
	w, join, most := &Work{}, Item{Class: Join, Scale: 1}, 0
	for _, s := range sides {
		w.Rows, most = w.Rows+s.Rows, max(most, s.Rows)
		bits, bytes := physical.KeyBits/2, 4 // of keys of which nothing is known
		if s.Table != nil {
			bits, bytes = 0, 0
			for _, col := range s.Keys {
				b, n := widest(s.Table, col)
				bits, bytes = bits+b, bytes+n
				for _, c := range s.Table.Chunks {
					(&reader{table: s.Table, chunk: c, work: w, seen: map[Column]bool{}}).column(col, false)
				}
			}
		}
		join.Bits, join.Bytes = max(join.Bits, min(bits, physical.KeyBits)), max(join.Bytes, min(bytes, physical.KeyBits/8))
	}
	largest := uint64(math.MaxUint64)
	if join.Bits < physical.KeyBits {
		largest = 1<<join.Bits - 1
	}
	w.join(join, largest, most, pairs)
	return w
}

// denseJoin is about what a join by dense keys takes beside one by sparse keys: on cpu, and on compute.
const denseJoin = 0.3
