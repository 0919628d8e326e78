package aggregation

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"runtime"
	"slices"

	"github.com/stencildb/stencildb/cpu/hashtable"
	"github.com/stencildb/stencildb/cpu/radixsort"
	"github.com/stencildb/stencildb/cpu/vector"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/ordered"
	"github.com/stencildb/stencildb/internal/parallel"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// Group runs a [plan.Aggregate] over rows of a table, on all cores. Workers take blocks of rows and have
// groups of their own; at the end these are merged. It yields the groups in the order of their first rows. If
// rows raise errors, the error is that of the first such row. Within a row it is that of the first
// expression: keys before aggregates, FILTER before the argument.
func Group(ctx context.Context, t *table.Table, n *plan.Aggregate, in iter.Seq2[table.Block, error]) iter.Seq2[GroupRows, error] {
	return func(yield func(GroupRows, error) bool) {
		all, err := newGrouping(t, n).run(ctx, in)
		if err != nil {
			yield(GroupRows{}, err)
			return
		}
		all.rows(ctx, n.TopN)(yield)
	}
}

// grouping is what the workers share.
type grouping struct {
	table  *table.Table
	node   *plan.Aggregate
	keys   *keys
	inputs []*input
	places []place // of the aggregates' states
}

func newGrouping(t *table.Table, n *plan.Aggregate) *grouping {
	g := &grouping{table: t, node: n, keys: newKeys(t, n.Keys)}
	g.inputs, g.places = inputsOf(n.Aggs)
	for _, i := range g.inputs {
		if i.distinct {
			i.codes = codesOf(t, i.x)
		}
	}
	return g
}

// input is what some aggregates have in common: rows, and expressions over them.
type input struct {
	x, y, filter expr.Expr
	distinct     bool
	placed       bool        // y are the places of the rows
	codes        *key        // of which the words stand for the values of x, where it is distinct; nil where none do
	kinds        []StateKind // of the states that they need
}

// place is that of a state.
type place struct{ input, state int }

// inputsOf lists the inputs of aggregates, and where the state of each aggregate is.
func inputsOf(aggs []expr.Aggregate) (list []*input, places []place) {
	at := map[[4]string]int{}
	for _, a := range aggs {
		kind := KindOf(a)
		placed := kind == Gathering
		distinct := a.Distinct && !placed
		var key [4]string
		if len(aggs) > 1 {
			key = [4]string{expr.Identity(a.Argument()), expr.Identity(a.Y), expr.Identity(a.Filter), fmt.Sprint(distinct, placed)}
		}
		i, ok := at[key]
		if !ok {
			i = len(list)
			at[key] = i
			list = append(list, &input{x: a.Argument(), y: a.Y, filter: a.Filter, distinct: distinct, placed: placed})
		}
		in := list[i]
		s := slices.Index(in.kinds, kind)
		if s < 0 {
			s = len(in.kinds)
			in.kinds = append(in.kinds, kind)
		}
		places = append(places, place{i, s})
	}
	return list, places
}

// set is room for the different values of an input.
func (in *input) set(t *table.Table) distinctValues {
	if in.codes == nil {
		return orderOf(in.x.Type()).distinct()
	}
	size := in.codes.null + 1
	if size >= 1<<12 {
		size = (size + 63) &^ 63 // whole words for each group
	}
	return &codeSet{key: in.codes, t: t, size: size}
}

// states are those of an input.
func (in *input) states() []State {
	return xslices.Map(in.kinds, func(k StateKind) State { return NewState(k, in.x) })
}

// keepsTexts reports that all texts of the input that are made stay until the end.
func (in *input) keepsTexts() bool {
	_, column := in.x.(*expr.Column)
	return in.x != nil && !column && in.x.Type().Kind == table.Varchar && (in.distinct || slices.Contains(in.kinds, Listing))
}

// worker has the groups of the rows that it was given.
type worker struct {
	*grouping
	eval   vector.Evaluator
	caches []cache // of keys
	folded []cache // of what is before a key
	ids    hashtable.Table
	direct []uint32 // for words of few bits: a group plus 1, 0 for none; nil for others
	low    []uint32 // for others below lowWords, as the first numbers of values are: a group plus 1, 0 for what is not known to have one
	first  []uint64 // of each group, the place of its first row
	states [][]State
	sets   []distinctValues // of inputs that are DISTINCT
	left   int              // groups that devices have left out
	row    []uint32         // the group of each row at hand
}

// lowWords is below which a word's group is looked up in an array first.
const lowWords = 1 << 12

// directBits is up to how many bits of a word groups are looked up in an array.
const directBits = 16

func (g *grouping) worker() *worker {
	w := &worker{grouping: g, caches: make([]cache, len(g.keys.list)), folded: make([]cache, len(g.keys.list))}
	w.eval.Arena = &expr.Arena{KeepsTexts: slices.ContainsFunc(g.inputs, (*input).keepsTexts)}
	if g.keys.bits <= directBits {
		w.direct = make([]uint32, 1<<g.keys.bits)
	}
	for _, in := range g.inputs {
		w.states = append(w.states, in.states())
		w.sets = append(w.sets, nil)
		if in.distinct {
			w.sets[len(w.sets)-1] = in.set(g.table)
		}
	}
	if len(g.keys.list) == 0 {
		w.direct[0] = 1
		w.first = []uint64{0}
	}
	return w
}

// run gives all rows to workers and merges what they found.
func (g *grouping) run(ctx context.Context, in iter.Seq2[table.Block, error]) (groupsFound, error) {
	if col, ok := g.onlyDistinct(); ok {
		n, err := countDistinct(ctx, g.table, col, in)
		w := g.worker()
		w.states[0][0].(*counts).n = []uint64{uint64(n)}
		return groupsFound{w}, err
	}
	f, err := g.find(ctx, in)
	if err == nil {
		err = f.arrange()
	}
	return f, err
}

// find is run whose states are not ready to be read.
func (g *grouping) find(ctx context.Context, in iter.Seq2[table.Block, error]) (groupsFound, error) {
	workers, rows, err := g.group(ctx, in, g.keys.deterministic())
	switch {
	case err != nil:
		return nil, err
	case rows != nil:
		return g.groupPartitions(ctx, len(workers), rows)
	}
	return groupsFound{merged(workers)}, nil
}

// arrange makes the states of all ready to be read.
func (f groupsFound) arrange() (err error) {
	if len(f) == 1 {
		return f[0].arrange()
	}
	for failed := range ordered.Map(runtime.GOMAXPROCS(0), slices.Values(f), func(_ int, w *worker) error { return w.arrange() }) {
		err = cmp.Or(err, failed)
	}
	return err
}

// merged is a worker with what all have found.
func merged(workers []*worker) *worker {
	for _, w := range workers[1:] {
		workers[0].merge(w)
	}
	return workers[0]
}

// group gives all rows to workers. Where ask says so, it asks a sample whether there are many groups, and only deals the
// rows then.
func (g *grouping) group(ctx context.Context, in iter.Seq2[table.Block, error], ask bool) ([]*worker, []*partitionedRows, error) {
	var failed error           // of the input; read when all blocks are done
	asked, many := !ask, false // whether there are many groups; before the first block is looked at
	blocks := func(yield func(table.Block) bool) {
		for b, err := range in {
			if failed = err; err != nil {
				return
			}
			if !asked {
				asked, many = true, g.manyGroups(b)
			}
			size := vector.BlockRows
			if many {
				size = partRows
			}
			for i, n := 0, b.Len(); i < n; i += size { // a block may be a whole chunk
				if failed = ctx.Err(); failed != nil || !yield(b.Cut(i, min(n, i+size))) {
					return
				}
			}
		}
	}
	workers := make([]*worker, runtime.GOMAXPROCS(0)) // no result by name: an error's return would take it from who still works
	for i := range workers {
		workers[i] = g.worker()
	}
	var rows []*partitionedRows
	type done struct {
		*partitionedRows
		err error
	}
	for d := range ordered.Map(len(workers), blocks, func(w int, b table.Block) done {
		if many {
			return done{partitionedRows: workers[w].partition(b)}
		}
		return done{err: workers[w].block(b)}
	}) {
		if d.err != nil {
			return nil, nil, d.err
		}
		if many {
			rows = append(rows, d.partitionedRows)
		}
	}
	return workers, rows, failed
}

// block takes in a block of rows.
func (w *worker) block(b table.Block) error {
	for i, n := 0, b.Len(); i < n; i += vector.PieceRows {
		if err := w.piece(b.Cut(i, min(n, i+vector.PieceRows))); err != nil {
			return err
		}
	}
	return nil
}

// piece takes in some rows. Of the error of a row it is the first that counts, so what comes
// later is computed of the rows before it only.
func (w *worker) piece(b table.Block) (err error) {
	w.eval.Arena.Reset()
	words, err := w.words(w.table.Chunks[b.Chunk], b)
	if err != nil {
		b = b.Cut(0, len(words))
	}
	if _, failed := w.take(words, b); failed != nil {
		err = failed
	}
	return err
}

// take takes in rows with these words. Where a row raises an error it says at which row of the block.
func (w *worker) take(words []uint64, b table.Block) (_ int, err error) {
	c, groups := w.table.Chunks[b.Chunk], w.groups(words, b)
	for i, in := range w.inputs {
		w.eval.Arena.Reset() // states keep none of the vectors
		x, y, of, at, failed := w.input(in, c, b, groups)
		if failed != nil {
			err, b, groups = failed, b.Cut(0, at), groups[:at]
			continue
		}
		if in.distinct {
			w.sets[i].add(of, &x)
			continue
		}
		for _, s := range w.states[i] {
			s.Resize(len(w.first))
			s.Add(of, &x, &y)
		}
	}
	return b.Len(), err
}

// groups are those of rows with these keys.
func (w *worker) groups(words []uint64, b table.Block) []uint32 {
	w.row = slices.Grow(w.row[:0], b.Len())[:b.Len()]
	if len(w.keys.list) == 0 {
		clear(w.row)
		return w.row
	}
	if w.direct != nil {
		for i, word := range words {
			if w.direct[word] == 0 {
				w.ids.Words = append(w.ids.Words, word)
				w.direct[word] = uint32(w.group(b, i) + 1)
			}
			w.row[i] = w.direct[word] - 1
		}
		return w.row
	}
	if w.low == nil {
		w.low = make([]uint32, lowWords)
	}
	for i, word := range words {
		if word < lowWords {
			if id := w.low[word]; id != 0 {
				w.row[i] = id - 1
				continue
			}
		}
		id := w.ids.ID(word)
		if int(id) == len(w.first) {
			w.group(b, i)
		}
		if w.row[i] = id; word < lowWords {
			w.low[word] = id + 1
		}
	}
	return w.row
}

// group begins one with row i of a block.
func (w *worker) group(b table.Block, i int) int {
	w.first = append(w.first, placeOf(b, i))
	return len(w.first) - 1
}

// placeOf is that of row i of a block: chunk and row.
func placeOf(b table.Block, i int) uint64 { return uint64(b.Chunk)<<32 | uint64(b.Row(i)) }

// input computes an input of the rows of a block: its values that are not NULL and the groups
// that they belong to. Where a row raises an error it says at which row of the block.
func (w *worker) input(in *input, c *table.Chunk, b table.Block, groups []uint32) (x, y expr.Vector, of []uint32, at int, err error) {
	rows := b // those of which the FILTER holds
	of = groups
	where := func(i int) int { return i }
	if in.filter != nil {
		holds, failed := w.eval.Vector(in.filter, c, b)
		if failed != nil {
			at, err = holds.Len(), failed
		}
		rows, of = table.Block{Chunk: b.Chunk, Rows: []uint32{}}, nil
		var places []int
		for i, v := range holds.Ints {
			if v != 0 && !holds.IsNull(i) {
				rows.Rows, of, places = append(rows.Rows, uint32(b.Row(i))), append(of, groups[i]), append(places, i)
			}
		}
		where = func(i int) int { return places[i] }
	}
	if in.x == nil {
		return x, y, of, at, err
	}
	if x, y, at, err = w.arguments(in, c, rows, where, at, err); err != nil {
		return x, y, of, at, err
	}
	if y.Len() > 0 {
		valid := expr.Both(x.Valid, y.Valid)
		x.Valid, y.Valid = valid, valid
		y, _ = vector.Compact(y, of)
	}
	x, of = vector.Compact(x, of)
	return x, y, of, 0, nil
}

// arguments computes those of an input, of rows that are at these places.
func (w *worker) arguments(in *input, c *table.Chunk, rows table.Block, where func(int) int, at int, err error) (x, y expr.Vector, _ int, _ error) {
	for i, e := range []expr.Expr{in.x, in.y} {
		if e == nil {
			continue
		}
		var v expr.Vector
		var failed error
		if column, ok := e.(*expr.Column); in.codes != nil {
			v = in.codes.vector(c, rows)
		} else if ok && i == 0 {
			v = expr.BlockRows{Chunk: c, Block: rows, Arena: w.eval.Arena}.Column(column.Index)
		} else {
			v, failed = w.eval.Vector(e, c, rows)
		}
		if failed != nil {
			at, err = where(v.Len()), failed
			rows = rows.Cut(0, v.Len())
		}
		if i == 0 {
			x = v
		} else {
			y = v
		}
	}
	if in.placed {
		y.Ints = make([]int64, x.Len())
		for i := range y.Ints {
			y.Ints[i] = int64(placeOf(rows, i))
		}
	}
	return x, y, at, err
}

// merge takes in what another worker found.
func (w *worker) merge(o *worker) {
	to := make([]uint32, len(o.first))
	for i := range to {
		if len(w.keys.list) == 0 {
			break
		}
		to[i] = w.same(o.ids.Words[i], o.first[i])
	}
	w.takeAll(o, to)
}

// takeAll takes in the states of another worker, whose group i is to[i] here.
func (w *worker) takeAll(o *worker, to []uint32) {
	for i := range w.inputs {
		if w.inputs[i].distinct {
			w.sets[i].merge(o.sets[i], to)
			continue
		}
		for k, s := range w.states[i] {
			s.Resize(len(w.first))
			o.states[i][k].Resize(len(to))
			s.Merge(o.states[i][k], to)
		}
	}
}

// same is the group of a word that another worker found first at a place.
func (w *worker) same(word, first uint64) (id uint32) {
	n := len(w.first)
	if w.direct == nil {
		id = w.ids.ID(word)
	} else {
		if w.direct[word] == 0 {
			w.ids.Words = append(w.ids.Words, word)
			w.direct[word] = uint32(n + 1)
		}
		id = w.direct[word] - 1
	}
	if int(id) == n {
		w.first = append(w.first, first)
	}
	w.first[id] = min(w.first[id], first)
	return id
}

// arrange makes the states ready to be read: it adds up the values of those that are DISTINCT.
func (w *worker) arrange() error {
	for i := range w.inputs {
		for _, s := range w.states[i] {
			s.Resize(len(w.first))
			if w.inputs[i].distinct {
				w.sets[i].each(func(groups []uint32, x *expr.Vector) { s.Add(groups, x, &expr.Vector{}) })
			}
			s.Arrange()
		}
	}
	return nil
}

const (
	groupBatch = 1 << 8  // groups that are yielded at a time
	fewGroups  = 1 << 12 // up to which one goroutine makes the rows: others take longer to wake
)

// inOrder lists the groups in the order of their first rows: all of them, or at least those that an order has first.
func (f groupsFound) inOrder(ctx context.Context, by *plan.Sort) ([]uint64, error) {
	ids, first := f.wanted(by)
	if slices.IsSorted(first) { // as those of one worker are
		return ids, nil
	}
	last := slices.Max(first)
	// 64 bits and 32 are never too many.
	workers := min(runtime.GOMAXPROCS(0), len(ids)/fewGroups+1)
	sorter, _ := radixsort.New(workers, radixsort.Spec{KeyBits: []int{radixsort.Width(last)}, PlaceBits: radixsort.Width(uint64(len(ids))), First: -1})
	places := radixsort.UpTo[uint64](len(ids))
	var wg parallel.Group
	for w := range workers {
		wg.Go(func() {
			lo, hi := w*len(ids)/workers, (w+1)*len(ids)/workers
			sorter.Add(w, [][]uint64{first[lo:hi], places[lo:hi]})
		})
	}
	wg.Wait()
	order, err := sorter.Places(ctx)
	for i, at := range order {
		order[i] = ids[at]
	}
	return order, err
}

// rowsOfValues are groups as rows of values.
func (f groupsFound) rowsOfValues(ctx context.Context, order []uint64) iter.Seq2[[][]table.Value, error] {
	type batch struct {
		rows [][]table.Value
		err  error
	}
	return func(yield func([][]table.Value, error) bool) {
		of := func(_ int, part []uint64) (b batch) {
			if b.err = ctx.Err(); b.err == nil {
				b.rows, b.err = f.values(part)
			}
			return b
		}
		parts := slices.Chunk(order, groupBatch)
		batches := ordered.Map(runtime.GOMAXPROCS(0), parts, of)
		if len(order) <= fewGroups {
			batches = func(yield func(batch) bool) {
				for part := range parts {
					if !yield(of(0, part)) {
						return
					}
				}
			}
		}
		for b := range batches {
			if len(b.rows) > 0 && !yield(b.rows, nil) {
				return
			}
			if b.err != nil {
				yield(nil, b.err)
				return
			}
		}
	}
}

// values are the rows of some groups; before an error those that come before it.
func (f groupsFound) values(part []uint64) (out [][]table.Value, err error) {
	width := len(f[0].node.Keys) + len(f[0].node.Aggs)
	cells := make([]table.Value, width*len(part))
	having := f[0].node.Having
	for _, id := range part {
		w, g := f[id>>32], uint32(id)
		if having != nil {
			if keep, err := w.having(having, g); err != nil {
				return out, err
			} else if !keep {
				continue
			}
		}
		row := cells[:0:width]
		cells = cells[width:]
		for _, e := range w.node.Keys {
			v, err := evaluate(e, w.table, w.first[g])
			if err != nil {
				return out, err
			}
			row = append(row, v)
		}
		for k := range w.node.Aggs {
			v, err := w.aggregate(k, g)
			if err != nil {
				return out, err
			}
			row = append(row, v)
		}
		if out == nil {
			out = make([][]table.Value, 0, len(part))
		}
		out = append(out, row)
	}
	return out, nil
}

// aggregate is the value of an aggregate of a group.
func (w *worker) aggregate(k int, g uint32) (table.Value, error) {
	at := w.places[k]
	return w.states[at.input][at.state].Value(w.node.Aggs[k], g, w.table)
}

// having reports whether a condition is TRUE of a group.
func (w *worker) having(e expr.Expr, g uint32) (keep bool, err error) {
	value := func(i int) (v table.Value) {
		var failed error
		if n := len(w.node.Keys); i < n {
			v, failed = evaluate(w.node.Keys[i], w.table, w.first[g])
		} else {
			v, failed = w.aggregate(i-n, g)
		}
		err = cmp.Or(err, failed)
		return v
	}
	v, failed := expr.Eval(e, &expr.Env{Column: value, Agg: value})
	return !v.Null && v.I != 0, cmp.Or(err, failed)
}

// evaluate computes an expression in the row at a place.
func evaluate(e expr.Expr, t *table.Table, place uint64) (table.Value, error) {
	c, row := t.Chunks[place>>32], int(place&(1<<32-1))
	if col, ok := e.(*expr.Column); ok {
		return c.Segments[col.Index].Value(row), nil
	}
	column := func(i int) table.Value { return c.Segments[i].Value(row) }
	return expr.Eval(e, &expr.Env{Column: column, Agg: column})
}
