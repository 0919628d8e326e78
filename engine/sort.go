package engine

import (
	"iter"
	"math"
	"runtime"
	"slices"

	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/stencildb/stencildb/cpu/aggregation"
	"github.com/stencildb/stencildb/cpu/radixsort"
	"github.com/stencildb/stencildb/cpu/vector"
	"github.com/stencildb/stencildb/engine/externalsort"
	"github.com/stencildb/stencildb/engine/sortkey"
	"github.com/stencildb/stencildb/engine/spill"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/internal/ordered"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// sorting is a Sort that runs, on the CPU. Of a row it keeps the codes of its keys and its
// place, a number that grows in the order of the input.
type sorting struct {
	*execution
	*plan.Sort
	of     *table.Table // nil of rows of values
	keys   []sortkey.Coded
	by     radixsort.Spec
	sorter radixsort.Sorter
	rows   int64 // that have come
}

// sorted gives rows of the fragment's table in the order of a Sort. They stay where they are until the reader has their order.
// Where the host memory budget has no room to sort them all, sorted runs of keys and places are merged.
func (x *execution) sorted(n *plan.Sort) stream {
	return func(yield func(batch, error) bool) {
		var ordered batch // where a device has done it
		blocks := func(yield func(batch, error) bool) {
			for b, err := range x.stream(n.Input) {
				switch b.(type) {
				case rowIDs, intermediate, passedRows:
					ordered = b
					return
				}
				if !yield(b, err) {
					return
				}
			}
		}
		budget, err := x.db.hostBudget()
		if err != nil {
			yield(nil, err)
			return
		}
		of := spill.NewFile(x.db.newTemporary)
		defer of.Close()
		var items []plan.Item
		var keys []sortkey.Key
		for i, k := range n.Keys {
			items, keys = append(items, plan.Item{E: k.E}), append(keys, sortkey.Key{SortKey: k, Column: i})
		}
		m := x.sortMerge(of, n, keys, budget, externalsort.MaxRuns, int64(16*len(keys)+16))
		var placed rowIDs // the one run, of which nothing is written
		var runs [][]spill.Extent
		some := false
		write := func(rows rowIDs) error {
			run, err := x.writtenRun(m, rows, items, true)
			runs = append(runs, run)
			return err
		}
		err = x.sortedRuns(n, x.plan.Table, blocks, budget, func(rows rowIDs) (err error) {
			if !some {
				placed, some = rows, true
				return nil
			}
			if runs == nil {
				err = write(placed)
				placed.ids = nil
			}
			if err == nil {
				err = write(rows)
			}
			return err
		})
		switch {
		case err != nil:
			yield(nil, err)
		case ordered != nil:
			yield(ordered, nil)
		case runs == nil:
			yield(placed, nil)
		default:
			for rows, err := range m.All(runs) {
				if err != nil {
					yield(nil, err)
					return
				}
				places := slices.Clone(rows[len(keys)].(*array.Uint64).Uint64Values())
				released([]computed{rows})
				if !yield(rowIDs{places, placed.starts}, nil) {
					return
				}
			}
		}
	}
}

// SortedRuns sorts blocks of rows of a table: all at once, or as many at a time as a budget has room for.
func (x *execution) sortedRuns(n *plan.Sort, t *table.Table, blocks stream, budget int64, do func(rowIDs) error) error {
	s := x.newSorting(n, t)
	_, end := chunkStarts(t)
	if err := s.begin(end); err != nil {
		return err
	}
	each := int64(s.sorter.RowBytes())
	if budget <= 0 || s.by.First >= 0 || int64(end)*each <= budget || !externalsort.Supports(n.Keys) {
		rows, err := s.blocks(blocks)
		if err == nil {
			err = do(rows)
		}
		return err
	}
	room := int(max(1<<8, budget/each))
	left := room
	var list []batch
	flush := func() error {
		some := list
		list, left = nil, room
		rows, err := s.blocks(func(yield func(batch, error) bool) {
			for _, b := range some {
				if !yield(b, nil) {
					return
				}
			}
		})
		if err == nil {
			err = do(rows)
		}
		return err
	}
	for rows, err := range blocks {
		for err == nil && rows.Len() > 0 {
			if left == 0 {
				if err = flush(); err != nil {
					return err
				}
			}
			some := rows.cut(0, min(left, rows.Len()))
			list, rows = append(list, some), rows.cut(some.Len(), rows.Len())
			left -= some.Len()
		}
		if err != nil {
			return err
		}
	}
	return flush()
}

// newSorting is a Sort of rows of a table.
func (x *execution) newSorting(n *plan.Sort, t *table.Table) *sorting {
	s := &sorting{execution: x, Sort: n, of: t}
	for _, k := range n.Keys {
		if c, ok := k.E.(*expr.Column); ok {
			s.keys = append(s.keys, sortkey.OfColumn(k, t, c.Index))
		} else {
			s.keys = append(s.keys, sortkey.OfValues(k))
		}
	}
	return s
}

// blocks sorts blocks of rows of the table.
func (s *sorting) blocks(blocks stream) (out rowIDs, err error) {
	var end uint64
	out.starts, end = chunkStarts(s.of)
	piece := func(eval *vector.Evaluator, w int, b batch) (sortkey.Piece, error) {
		return s.blockPiece(eval, w, b.(blockRows).Block, out.starts)
	}
	pieces := inPieces(s.execution, blocks, 1<<16, piece)
	if end <= pieceOfMade { // others take longer to wake
		pieces = func(yield func(sortkey.Piece, error) bool) {
			for b, err := range blocks {
				var p sortkey.Piece
				if err == nil {
					p, err = piece(&vector.Evaluator{}, 0, b)
				}
				if !yield(p, err) || err != nil {
					return
				}
			}
		}
	}
	out.ids, err = s.places(end, pieces)
	return out, err
}

// sortedIntermediate sorts rows that are made, by their columns; ok is false where that cannot be done.
func (x *execution) sortedIntermediate(n *plan.Sort, batches []batch) (out intermediate, ok bool, err error) {
	t, blocks := madeTable(batches)
	byColumns := *n
	byColumns.Keys = slices.Clone(n.Keys)
	for i, k := range n.Keys {
		if byColumns.Keys[i].E = aggregation.OverGroups(k.E); t == nil || named(k.E) < 0 {
			return out, false, nil
		}
	}
	placed, err := x.newSorting(&byColumns, t).blocks(func(yield func(batch, error) bool) {
		for _, b := range blocks {
			if !yield(blockRows{b}, nil) {
				return
			}
		}
	})
	return intermediate{t, placed}, true, err
}

// sortedValues gives rows that are no table's in the order of a Sort, or those that it leaves in the order
// of its input.
func (x *execution) sortedValues(n *plan.Sort, inputOrder bool) stream {
	return func(yield func(batch, error) bool) {
		var batches []batch
		for b, err := range x.stream(n.Input) {
			if err != nil {
				yield(nil, err)
				return
			}
			batches = append(batches, b)
		}
		if out, ok, err := x.sortedIntermediate(n, batches); ok {
			if inputOrder {
				slices.Sort(out.batch.(rowIDs).ids)
			}
			yield(out, err)
			return
		}
		var rows valueRows
		for _, b := range batches {
			rows = append(rows, valuesOf(b, n.Input.Fields())...)
		}
		s := &sorting{execution: x, Sort: n}
		piece, err := s.valuesPiece(rows)
		if err != nil {
			yield(nil, err)
			return
		}
		places, err := s.places(uint64(len(rows)), func(yield func(sortkey.Piece, error) bool) {
			yield(s.taken(piece, radixsort.UpTo[uint64](len(rows))), nil)
		})
		if err != nil {
			yield(nil, err)
			return
		}
		if inputOrder {
			slices.Sort(places)
		}
		out := make(valueRows, len(places))
		for i, at := range places {
			out[i] = rows[at]
		}
		yield(out, nil)
	}
}

// blockPiece is the keys of a block of the table. Of the error of a row it is the first that
// counts, so what comes later is computed of the rows before it only.
func (s *sorting) blockPiece(eval *vector.Evaluator, worker int, b table.Block, starts []uint64) (p sortkey.Piece, err error) {
	p.Worker, p.Rows = worker, b.Len()
	if !slices.ContainsFunc(s.keys, func(k sortkey.Coded) bool { return k.Column == nil }) { // no row raises an error
		s.columnPiece(worker, b, starts)
		return p, nil
	}
	chunk := s.of.Chunks[b.Chunk]
	for i := range s.keys {
		k := &s.keys[i]
		if k.Column != nil {
			p.Columns = append(p.Columns, k.Arrange(k.Column.Codes(chunk, b))...)
			continue
		}
		x, failed := eval.Vector(k.E, chunk, b)
		if failed != nil {
			b, err = b.Cut(0, x.Len()), failed
		}
		k.Add(&p, x)
	}
	if err != nil {
		return p, err
	}
	return s.taken(p, placesOf(b, starts)), nil
}

// firstRows is how many rows a sorter takes in one go as long as it does not know which ones are of use.
const firstRows = 1 << 13

// columnPiece makes the sorter take a block of the table whose keys are columns. It leaves out rows of which the
// first key says that they are not among those wanted.
func (s *sorting) columnPiece(worker int, b table.Block, starts []uint64) {
	chunk := s.of.Chunks[b.Chunk]
	for i, end := 0, 0; i < b.Len(); i = end {
		end = b.Len()
		most := s.sorter.Most(worker)
		if s.by.First >= 0 && most == math.MaxUint64 {
			end = min(i+firstRows, end)
		}
		part := s.keys[0].UpTo(most, chunk, b.Cut(i, end))
		if part.Len() == 0 {
			continue
		}
		var columns [][]uint64
		for k := range s.keys {
			columns = append(columns, s.keys[k].Arrange(s.keys[k].Column.Codes(chunk, part))...)
		}
		s.sorter.Add(worker, append(columns, placesOf(part, starts)))
	}
}

// placesOf are the places of a block's rows.
func placesOf(b table.Block, starts []uint64) []uint64 {
	places := make([]uint64, b.Len())
	for i := range places {
		places[i] = starts[b.Chunk] + uint64(b.Row(i))
	}
	return places
}

// valuesPiece is the keys of rows of values, whose places are their numbers: as few bits as they take.
func (s *sorting) valuesPiece(rows valueRows) (sortkey.Piece, error) {
	p := sortkey.Piece{Rows: len(rows)}
	for _, k := range s.Keys {
		x, err := sortkey.VectorOf(len(rows), func(i int) (table.Value, error) { return valueIn(rows[i], k.E) }, k.E.Type())
		if err != nil {
			return p, err
		}
		key, codes := sortkey.Fitted(k, x)
		s.keys, p.Columns = append(s.keys, key), append(p.Columns, codes...)
	}
	return p, nil
}

// taken is a piece with the places of its rows, which the sorter has where no key is ranked.
func (s *sorting) taken(p sortkey.Piece, places []uint64) sortkey.Piece {
	p.Columns = append(p.Columns, places)
	if len(p.Ranked) == 0 && len(places) > 0 {
		s.sorter.Add(p.Worker, p.Columns)
		p.Columns = nil
	}
	return p
}

// begin makes the sorter, of rows whose places are below end.
func (s *sorting) begin(end uint64) error {
	s.by, s.rows = radixsort.Spec{PlaceBits: radixsort.Width(max(end, 1) - 1), First: s.Limit}, 0
	for i, k := range s.keys {
		s.by.KeyBits = append(s.by.KeyBits, k.Bits()...)
		if i < s.Unique {
			s.by.Unique = len(s.by.KeyBits)
		}
	}
	if s.by.Unique > 0 || s.by.First > int64(end/8) {
		s.by.First = -1 // Limit does it
	}
	var ok bool
	if s.sorter, ok = radixsort.New(runtime.GOMAXPROCS(0), s.by); !ok {
		return expr.Coded(sqlstate.ProgramLimitExceeded, s.Keys[0].E.Pos(), "ORDER BY has too many keys: name fewer columns")
	}
	return nil
}

// places has all pieces made and sorts their rows, whose places are below end.
func (s *sorting) places(end uint64, pieces iter.Seq2[sortkey.Piece, error]) ([]uint64, error) {
	if err := s.begin(end); err != nil {
		return nil, err
	}
	budget, err := s.db.hostBudget()
	if err != nil {
		return nil, err
	}
	var ranked []sortkey.Piece
	for p, err := range pieces {
		if err != nil {
			return nil, err
		}
		if len(p.Ranked) > 0 {
			ranked = append(ranked, p)
		}
		s.rows += int64(p.Rows)
		if err := sortFits(s.rows, s.sorter.RowBytes(), budget); err != nil && s.by.First < 0 {
			return nil, err
		}
	}
	s.rank(ranked)
	for range ordered.Map(runtime.GOMAXPROCS(0), slices.Values(ranked), func(w int, p sortkey.Piece) bool {
		s.sorter.Add(w, p.Columns)
		return true
	}) {
	}
	return s.sorter.Places(s.ctx)
}

// sortFits is an error where a sort of so many rows, of so many bytes each, takes more than a budget. 0 is no limit.
func sortFits(rows int64, rowBytes int, budget int64) error {
	if budget <= 0 || rows*int64(rowBytes) <= budget {
		return nil
	}
	return sqlstate.Errorf(sqlstate.OutOfMemory, "sorting %s takes more than %s, which is what is left of the host memory budget: raise it (--host-memory), or add a LIMIT",
		numbers.Count(rows, "row", "rows"), size(budget))
}

// rank puts ranks in the place of the keys that have to be ranked.
func (s *sorting) rank(pieces []sortkey.Piece) {
	at, n := 0, 0 // in the columns, and in the ranked keys
	for i := range s.keys {
		k := &s.keys[i]
		if k.Ranked && len(pieces) > 0 {
			var lists [][]string
			for _, p := range pieces {
				lists = append(lists, p.Ranked[n].Texts)
			}
			for j, codes := range sortkey.Ranks(lists) {
				pieces[j].Columns[at] = k.Arrange(codes, pieces[j].Ranked[n].Valid)[0]
			}
			n++
		}
		at += len(k.Bits())
	}
}
