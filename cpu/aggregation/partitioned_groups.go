package aggregation

import (
	"context"
	"slices"

	"github.com/stencildb/stencildb/cpu/hashtable"
	"github.com/stencildb/stencildb/cpu/radixsort"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/ordered"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

const (
	// partBits bits of a hash of a row's key say in which part the row is, where there are many groups. The
	// groups of a part stay in the caches, and each part has one worker.
	partBits = 6
	parts    = 1 << partBits
	// partRows is how many rows are dealt to the parts in one go.
	partRows = 1 << 15
	// partSample rows tell whether there are many groups: where all but one in sixteen of their keys differ. Fewer are many
	// where each has many different values.
	partSample = 1 << 12
)

// partTable is from how many rows of a table on it is worth asking. Tests lower it.
var partTable = 1 << 17

// partOf is the part of a word; the upper bits of the hash are those that an interner looks at.
func partOf(word uint64) uint64 { return hashtable.Hash(word) >> 20 & (parts - 1) }

// partitionedRows is some rows part by part: those of part p, and their words, from starts[p] to starts[p+1].
type partitionedRows struct {
	chunk  int
	rows   []uint32
	words  []uint64
	starts [parts + 1]uint32
}

// deterministic reports that the words of keys raise no error, and are the same whoever makes them.
func (k *keys) deterministic() bool {
	return len(k.list) > 0 && len(k.folds) == 0 && !slices.ContainsFunc(k.list, func(k *key) bool { return !k.direct })
}

// manyGroups guesses from a block whether there are many groups, or many different values in some groups.
func (g *grouping) manyGroups(b table.Block) bool {
	n := b.Len()
	if g.keys.bits <= directBits || n < partSample || g.table.Rows() < partTable {
		return false
	}
	rows := make([]uint32, partSample)
	for i := range rows {
		rows[i] = uint32(b.Row(i * (n / partSample)))
	}
	words, err := g.worker().words(g.table.Chunks[b.Chunk], table.Block{Chunk: b.Chunk, Rows: rows})
	if err != nil {
		return false
	}
	slices.Sort(words)
	n = len(slices.Compact(words))
	return n > partSample-partSample/16 || n >= 4*parts && slices.ContainsFunc(g.inputs, func(in *input) bool { return in.hashes(n) })
}

// hashes reports that the different values of an input are looked up by a hash in so many groups. One worker merges these values.
func (in *input) hashes(groups int) bool {
	return in.distinct && (in.codes == nil || uint64(groups)*in.codes.null > mostBits)
}

// groupPartitions groups rows that are dealt to the parts: each part by one worker.
func (g *grouping) groupPartitions(ctx context.Context, workers int, all []*partitionedRows) (groupsFound, error) {
	type part struct {
		*worker
		err   error
		place uint64 // of the row that raised it
	}
	var out groupsFound
	var first part // that with the error of the first row
	for p := range ordered.Map(workers, slices.Values(radixsort.UpTo[uint64](parts)), func(_ int, p uint64) (out part) {
		out.worker = g.worker()
		for _, d := range all {
			if out.err = ctx.Err(); out.err != nil {
				return out
			}
			from, to := d.starts[p], d.starts[p+1]
			b := table.Block{Chunk: d.chunk, Rows: d.rows[from:to]}
			if at, err := out.worker.take(d.words[from:to], b); err != nil {
				out.err, out.place = err, placeOf(b, at)
				return out
			}
		}
		return out
	}) {
		if p.err != nil && (first.err == nil || p.place < first.place) {
			first = p
		}
		out = append(out, p.worker)
	}
	return out, first.err
}

// partition deals the rows of a block to the parts, each in order.
func (w *worker) partition(b table.Block) *partitionedRows {
	w.eval.Arena.Reset()
	words, _ := w.words(w.table.Chunks[b.Chunk], b) // of columns, which raise no error
	d := &partitionedRows{chunk: b.Chunk, rows: make([]uint32, len(words)), words: make([]uint64, len(words))}
	var next [parts + 1]uint32
	for _, word := range words {
		next[partOf(word)+1]++
	}
	for p := range parts {
		next[p+1] += next[p]
	}
	d.starts = next
	for i, word := range words {
		at := &next[partOf(word)]
		d.rows[*at], d.words[*at] = uint32(b.Row(i)), word
		*at++
	}
	return d
}

// groupsFound is the groups of workers, of which no two have the same.
type groupsFound []*worker

// groupID names a group of a worker.
func groupID(worker, group int) uint64 { return uint64(worker)<<32 | uint64(group) }

// wanted lists the groups, and the places of their first rows. With a LIMIT, it leaves out groups whose first
// sort key is behind that of the last wanted group.
func (f groupsFound) wanted(by *plan.Sort) (ids, first []uint64) {
	var codes [][]uint64
	most, n := ^uint64(0), 0
	for _, w := range f {
		n += len(w.first) + w.left
	}
	if found := f[0].node.Found; found != nil {
		found(n)
	}
	if by != nil && by.Limit < int64(n-f[0].left) && f[0].raisesNothing() {
		var all []uint64
		for _, w := range f {
			list := w.codesOf(by.Keys[0])
			if list == nil && len(w.first) > 0 {
				codes = nil
				break
			}
			codes, all = append(codes, list), append(all, list...)
		}
		if codes != nil && by.Limit > 0 {
			radixsort.Quickselect(all, int(by.Limit)-1, func(a, b uint64) bool { return a < b })
			most = all[by.Limit-1]
		}
	}
	if codes == nil && f[0].node.Having == nil { // all of them
		ids, first = make([]uint64, 0, n), make([]uint64, 0, n)
	}
	for i, w := range f {
		keep := w.kept()
		for g, at := range w.first {
			if (codes == nil || codes[i][g] <= most) && (keep == nil || keep(g)) {
				ids, first = append(ids, groupID(i, g)), append(first, at)
			}
		}
	}
	return ids, first
}

// kept tells of a group whether HAVING may be TRUE of it, by codes alone; nil where these say nothing.
func (w *worker) kept() func(group int) bool {
	for _, e := range plan.Conjuncts(w.node.Having) {
		agg, lo, hi, ok := plan.HavingRange(e, len(w.node.Keys))
		if !ok || !w.raisesNothing() {
			continue
		}
		at := w.places[agg]
		codes := stateCodes(w.states[at.input][at.state], w.node.Aggs[agg], len(w.first))
		if codes == nil {
			continue
		}
		least, most := table.OrdinalInt(lo), table.OrdinalInt(hi)
		if KindOf(w.node.Aggs[agg]) == Counting { // its codes are the counts
			if hi < 0 {
				return func(int) bool { return false }
			}
			least, most = uint64(max(0, lo)), uint64(hi)
		}
		return func(g int) bool { return least <= codes[g] && codes[g] <= most }
	}
	return nil
}

// raisesNothing reports that the aggregates of no group raise an error: those of a group that is left out would
// be lost.
func (w *worker) raisesNothing() bool {
	for _, a := range w.node.Aggs {
		switch KindOf(a) {
		case Counting, Summing, Extremes:
		default:
			return false
		}
	}
	return true
}

// codesOf are numbers that order as a sort key of the groups does; nil where there are none.
func (w *worker) codesOf(k expr.SortKey) []uint64 {
	ref, ok := k.E.(*expr.AggRef)
	if !ok {
		return nil
	}
	if at := ref.Index - len(w.node.Keys); at >= 0 {
		p := w.places[at]
		return descending(k.Desc, stateCodes(w.states[p.input][p.state], w.node.Aggs[at], len(w.first)))
	}
	if !w.keys.deterministic() {
		return nil
	}
	shift := xslices.Sum(w.keys.list[:ref.Index], func(before *key) int { return before.bits })
	key := w.keys.list[ref.Index]
	if key.nulls && k.NullsFirst != k.Desc { // NULL is the greatest
		return nil
	}
	codes := make([]uint64, len(w.first))
	for g, word := range w.ids.Words {
		codes[g] = word >> shift & (1<<key.bits - 1)
	}
	return descending(k.Desc, codes)
}

func descending(desc bool, codes []uint64) []uint64 {
	if desc {
		for i, c := range codes {
			codes[i] = ^c
		}
	}
	return codes
}

// stateCodes are numbers that order as the values of an aggregate do; nil where there are none, or a NULL is
// among them.
func stateCodes(s State, a expr.Aggregate, groups int) []uint64 {
	codes := make([]uint64, groups)
	switch s := s.(type) {
	case *counts:
		if a.Kind == expr.Selectivity {
			return nil
		}
		copy(codes, s.n)
	case *intSums:
		if a.Kind != expr.Sum {
			return nil
		}
		for g := range codes {
			total := s.total(uint32(g))
			v, ok := total.Int64()
			if !ok || s.n[g] == 0 {
				return nil
			}
			codes[g] = table.OrdinalInt(v)
		}
	case *ends[int64]:
		for g := range codes {
			v := s.lo[g]
			if a.Kind == expr.Max || a.Kind == expr.BoolOr {
				v = s.hi[g]
			}
			if !s.some[g] {
				return nil
			}
			if codes[g] = table.OrdinalInt(v); s.by == ofSignedFloats {
				codes[g] = table.Type{Kind: table.Double}.Unsigned(codes[g])
			}
		}
	default:
		return nil
	}
	return codes
}
