package engine

import (
	"iter"
	"math/bits"
	"runtime"
	"slices"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/stencildb/stencildb/cpu/aggregation"
	"github.com/stencildb/stencildb/cpu/vector"
	"github.com/stencildb/stencildb/engine/backends"
	"github.com/stencildb/stencildb/engine/externalsort"
	"github.com/stencildb/stencildb/engine/querystats"
	"github.com/stencildb/stencildb/engine/sortkey"
	"github.com/stencildb/stencildb/engine/spill"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/ingest/arrays"
	"github.com/stencildb/stencildb/internal/ordered"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// spills reports a tree whose rows or groups cpu gives within the host memory budget, whatever the size of its tables. What
// does not fit goes to a temporary file.
func spills(tree plan.Node) bool {
	switch n := tree.(type) {
	case *plan.Distinct:
		return spills(different(n))
	case *plan.Sort:
		return externalsort.Supports(n.Keys) && spills(n.Input)
	case *plan.Limit, *plan.Project, *plan.Filter, *plan.Repeat, *plan.SeriesOfEach:
		return spills(n.Inputs()[0])
	case *plan.Aggregate:
		f, ok := n.Input.(*plan.Fragment)
		return ok && len(f.Aggs) == 0 && spillsGroups(n)
	case *plan.Fragment:
		a := aggregateOf(n)
		return a == nil || spillsGroups(a)
	}
	return false
}

// spillsGroups reports an aggregation whose groups do not depend on how many rows the table has. It must have keys, or need few
// words of all rows.
func spillsGroups(n *plan.Aggregate) bool {
	return !slices.ContainsFunc(n.Aggs, func(a expr.Aggregate) bool { return a.Kind == expr.Selectivity }) && (len(n.Keys) > 0 || aggregation.NewGroups(n) != nil || splits(n) || takesInOrder(n))
}

// aggregateOf is what a fragment that gives aggregates adds up of its rows; nil for one that gives rows.
func aggregateOf(f *plan.Fragment) *plan.Aggregate {
	if f.Fallback != nil || len(f.Aggs) == 0 {
		return f.Fallback
	}
	return &plan.Aggregate{Aggs: f.Aggs}
}

// beyond is a statement over rows that do not fit the host memory budget. The rows come in parts, each a table of its
// own, and what has to be kept of them is in a temporary file.
type beyond struct {
	*execution
	kept
	all    func() iter.Seq2[*execution, error] // the parts
	runs   int                                 // about how many parts there are
	budget int64                               // bytes of host memory
	spill  *spill.File
	times  batchTimes
	start  time.Time
}

// kept is what is kept of rows: columns of a table.
type kept struct {
	fields      []table.Field  // of the table
	rest        *plan.Fragment // these columns of all rows that there are
	total, most int64          // bytes of these columns of all rows, about, and how many rows there are
	row         int64          // bytes that a row takes besides its columns
}

// newBeyond is what an execution has the rows of its fragment by: over an outline of a file, or over a join.
func newBeyond(x *execution) *beyond {
	f := x.fragment
	if f.Fallback != nil {
		f = f.FallbackFragment()
	}
	of := x.pruning.batches
	out := &beyond{execution: x, runs: len(of.groups), budget: of.budget, start: time.Now()}
	out.kept = kept{x.pruning.Table.Fields, &plan.Fragment{Table: f.Table, Columns: f.Columns, Tree: f.Tree}, of.total, of.rows, rowBytes}
	out.spill = spill.NewFile(x.db.newTemporary)
	out.all = func() iter.Seq2[*execution, error] { return out.parts(of, out.rest, f.Where) }
	if way := x.pruning.way; way != nil {
		out.runs = externalsort.MaxRuns
		out.all = func() iter.Seq2[*execution, error] { return way.parts(out, f.Where) }
	}
	return out
}

// whole is the stream of the statement: at its end the temporary file goes.
func (b *beyond) whole(in stream) stream {
	return func(yield func(batch, error) bool) {
		b.execution.rows.collector = &querystats.Collector{}
		b.execution.rows.collector.Start("cpu", 0)
		defer b.close()
		in(yield)
	}
}

func (b *beyond) close() {
	b.times.spilled = b.spill.Size()
	b.spill.Close()
	b.pruning.batches.ended(b.times, b.start, b.execution.rows.collector)
}

// over is an execution over another table of the same fields.
func (b *beyond) over(t *table.Table, f *plan.Fragment) (*execution, error) {
	q, err := physical.NewQuery(t, f)
	if err != nil {
		return nil, err
	}
	s := b.Statement
	of := &Statement{db: s.db, script: s.script, parsed: s.parsed, bound: &bound{tree: s.tree, off: s.off, columns: s.columns, fragment: f, params: s.params}, part: true}
	return &execution{planned: &planned{Statement: of, tables: []*table.Table{t}, plan: q}, ctx: b.ctx, rows: &Rows{of: of}, atMost: -1, on: "cpu", states: backends.InGroups,
		order: func(backends.Backend, *querystats.Collector) (batch, error) {
			return rowIDs{}, &plan.Declined{Why: "cpu sorts"}
		}}, nil
}

// parts are the executions over the batches of a file, of what a fragment keeps of the rows of which a condition holds.
func (b *beyond) parts(of *batches, rest *plan.Fragment, where expr.Expr) iter.Seq2[*execution, error] {
	return func(yield func(*execution, error) bool) {
		f := *rest
		f.Where = where
		r := of.reader(b.ctx, b.db, &b.times)
		defer r.close()
		for i := range of.groups {
			t, err := r.get(i)
			var part *execution
			if err == nil {
				part, err = b.over(t, &f)
			}
			if !yield(part, err) || err != nil {
				return
			}
		}
	}
}

// selectedRows are the rows of a part that the condition selects.
func (x *execution) selectedRows() iter.Seq2[table.Block, error] {
	return x.db.backends.CPU.Rows(x.ctx, x.plan, &querystats.Collector{})
}

// groups are those of an aggregation.
func (b *beyond) groups(n *plan.Aggregate) stream {
	return func(yield func(batch, error) bool) {
		err := b.group(n, b.all(), 0, yield)
		if err != nil && err != errStopped {
			yield(nil, err)
		}
	}
}

const (
	// rowBytes is about what cpu takes of a row that is a group of its own, besides its columns.
	rowBytes = 80
	// mostBuckets is how many buckets rows are dealt to at a time.
	mostBuckets = 1 << 8
	// mostLevels is how often rows are dealt again, by other bits of their hashes.
	mostLevels = 4
	// manySample rows of the first batch tell whether there are many groups.
	manySample = 1 << 12
)

// group gives the groups of rows that come in parts. While the groups are few they are kept, and the rows are not. From then on
// rows of other groups are partitioned into buckets in the temporary file, by a hash of their keys. The buckets are grouped one
// after the other: directly where they fit memory, else in the same way.
func (b *beyond) group(n *plan.Aggregate, parts iter.Seq2[*execution, error], level int, yield func(batch, error) bool) error {
	kept, known := aggregation.NewGroups(n), map[uint64]struct{}{}
	if kept == nil && (len(n.Keys) == 0 || level == mostLevels) {
		switch {
		case splits(n):
			return b.groupSplit(n, parts, yield)
		case takesInOrder(n):
			return b.groupOrdered(n, parts, yield)
		}
	}
	var dealt *buckets
	hasher := aggregation.Hasher{Keys: n.Keys}
	first := true
	for part, err := range parts {
		if err != nil {
			return err
		}
		t := part.plan.Table
		if dealt == nil && level < mostLevels {
			full := kept == nil || kept.Bytes()+16*int64(kept.Len()) > b.budget/4
			if !full && first && len(n.Keys) > 0 {
				if full, err = b.many(&hasher, part); err != nil {
					return err
				}
			}
			if full {
				dealt = b.deal(b.kept, n.Keys, b.bucketsFor(level, b.kept), level)
			}
		}
		first = false
		rows := part.selectedRows()
		if dealt != nil {
			if rows, err = dealt.add(part, rows, known); err != nil {
				return err
			}
			if len(known) == 0 {
				continue
			}
		}
		if kept == nil {
			return sqlstate.Errorf(sqlstate.OutOfMemory, "the rows of a group take more than the host memory budget of %s: raise it (--host-memory)", size(b.budget))
		}
		fresh, err := kept.Add(b.ctx, t, rows)
		if err != nil {
			return err
		}
		for _, rows := range fresh {
			hashes, err := hasher.Rows(t.Chunks[rows.Chunk], rows)
			if err != nil {
				return err
			}
			for _, h := range hashes {
				known[h] = struct{}{}
			}
		}
	}
	if kept != nil && (dealt == nil || kept.Len() > 0) {
		for rows, err := range kept.Rows(b.ctx, &table.Table{Fields: b.fields}) {
			if err != nil {
				return err
			}
			if !yield(valueRows(rows), nil) {
				return errStopped
			}
		}
	}
	kept, known = nil, nil
	if dealt == nil {
		return nil
	}
	if err := dealt.end(); err != nil {
		return err
	}
	for i := range dealt.list {
		if err := dealt.group(n, i, level, yield); err != nil {
			return err
		}
	}
	return nil
}

// many reports that most rows of a part have keys of their own, by a sample.
func (b *beyond) many(h *aggregation.Hasher, part *execution) (bool, error) {
	seen, n := map[uint64]struct{}{}, 0
	for rows, err := range part.selectedRows() {
		if err != nil {
			return false, err
		}
		rows = rows.Cut(0, min(rows.Len(), manySample-n))
		hashes, err := h.Rows(part.plan.Table.Chunks[rows.Chunk], rows)
		if err != nil { // which is for the one who looks at all rows
			return false, nil
		}
		for _, x := range hashes {
			seen[x] = struct{}{}
		}
		if n += rows.Len(); n == manySample {
			break
		}
	}
	return n == manySample && 2*len(seen) > n, nil
}

// buckets are rows in the temporary file, dealt by a hash of keys: rows of equal keys are in the same.
type buckets struct {
	*beyond
	kept
	hashers []aggregation.Hasher // by worker
	shift   int                  // of the bits of the hash that tell the bucket
	list    []bucket
	waiting int64 // bytes of all buckets that wait
}

type bucket struct {
	extents []spill.Extent
	rows    int64
	bytes   int64    // in the file
	waiting []byte   // pieces, see [spill.AppendRows], that are not in the file yet
	listed  []uint32 // rows of the chunk at hand that are not packed yet
}

// takes is about what it takes to have the rows of a bucket in memory.
func (b *buckets) takes(at int) int64 { return b.list[at].bytes + b.kept.row*b.list[at].rows }

// bucketsFor is the number of buckets for rows that are kept, of a bucket of a level or of all. Buckets with the same number are in memory
// together.
func (b *beyond) bucketsFor(level int, of ...kept) int {
	if level > 0 {
		return 16
	}
	takes := int64(0)
	for _, k := range of {
		takes += k.total + k.row*k.most
	}
	return 1 << min(bits.Len(mostBuckets)-1, max(2, bits.Len64(uint64(3*takes/b.budget))))
}

// deal begins n buckets, a power of two, for rows of a level.
func (b *beyond) deal(of kept, keys []expr.Expr, n, level int) *buckets {
	out := &buckets{beyond: b, kept: of, shift: 8 * level, list: make([]bucket, n)}
	for range runtime.GOMAXPROCS(0) {
		out.hashers = append(out.hashers, aggregation.Hasher{Keys: keys})
	}
	return out
}

// each is about how many bytes a row takes while it is dealt.
func (b *buckets) each() int64 { return b.kept.total/max(1, b.kept.most) + 16 }

// pieceOf is how many rows are hashed, or packed, at a time. The pieces that are on their way take a small part of the budget.
func (b *buckets) pieceOf() int { return int(min(1<<18, max(1<<10, b.budget/64/b.each()))) }

// add deals rows of a part to their buckets, but those whose hash is known: these it gives back.
func (b *buckets) add(part *execution, rows iter.Seq2[table.Block, error], known map[uint64]struct{}) (iter.Seq2[table.Block, error], error) {
	type piece struct {
		rows []uint32 // bucket by bucket
		ends []int    // by bucket: where its rows end
		keep table.Block
		err  error
	}
	var failed error
	most := b.pieceOf()
	pieces := func(yield func(table.Block) bool) {
		for rows, err := range rows {
			if failed = err; err != nil {
				return
			}
			for i, n := 0, rows.Len(); i < n; i += most {
				if failed = b.ctx.Err(); failed != nil || !yield(rows.Cut(i, min(n, i+most))) {
					return
				}
			}
		}
	}
	const none = ^uint64(0) // the bucket of a row that is given back
	var keep []table.Block
	listed, chunk := int64(0), 0
	pack := func() error {
		listed = 0
		return b.pack(part.plan.Table.Chunks[chunk])
	}
	for p := range ordered.Map(len(b.hashers), pieces, func(w int, rows table.Block) (p piece) {
		hashes, err := b.hashers[w].Rows(part.plan.Table.Chunks[rows.Chunk], rows)
		if err != nil && b.hashers[w].Spread {
			err = &badKey{err}
		}
		if err != nil {
			return piece{err: err}
		}
		p.ends, p.keep.Chunk = make([]int, len(b.list)+1), rows.Chunk
		for i, h := range hashes {
			if len(known) > 0 {
				if _, ok := known[h]; ok {
					p.keep.Rows = append(p.keep.Rows, uint32(rows.Row(i)))
					hashes[i] = none
					continue
				}
			}
			hashes[i] = h >> b.shift & uint64(len(b.list)-1)
			p.ends[hashes[i]+1]++
		}
		for at := range b.list {
			p.ends[at+1] += p.ends[at]
		}
		p.rows = make([]uint32, p.ends[len(b.list)])
		for i, at := range hashes {
			if at != none {
				p.rows[p.ends[at]] = uint32(rows.Row(i))
				p.ends[at]++
			}
		}
		return p
	}) {
		if p.err != nil {
			return nil, p.err
		}
		if len(p.keep.Rows) > 0 {
			keep = append(keep, p.keep)
		}
		if p.keep.Chunk != chunk || listed > b.budget/8/b.each() {
			if err := pack(); err != nil {
				return nil, err
			}
			chunk = p.keep.Chunk
		}
		first := 0
		for at, end := range p.ends[:len(b.list)] {
			of := &b.list[at]
			of.listed, first = append(of.listed, p.rows[first:end]...), end
		}
		listed += int64(len(p.rows))
	}
	if failed == nil && listed > 0 {
		failed = pack()
	}
	return func(yield func(table.Block, error) bool) {
		for _, rows := range keep {
			if !yield(rows, nil) {
				return
			}
		}
	}, failed
}

// pack adds the rows of a chunk that are listed to what waits in their buckets.
func (b *buckets) pack(c *table.Chunk) error {
	most := b.pieceOf()
	some := func(yield func(int) bool) { // of the buckets the first one
		for at := 0; at < len(b.list); at += packedTogether {
			if !yield(at) {
				return
			}
		}
	}
	for bytes := range ordered.Map(len(b.hashers), some, func(_ int, first int) (bytes int64) {
		for at := first; at < min(len(b.list), first+packedTogether); at++ {
			if of := &b.list[at]; len(of.listed) > 0 {
				before := len(of.waiting)
				for rows := range slices.Chunk(of.listed, most) {
					of.waiting = spill.AppendRows(of.waiting, c, rows, b.kept.rest.Columns)
				}
				of.rows += int64(len(of.listed))
				bytes += int64(len(of.waiting) - before)
				of.listed = of.listed[:0]
			}
		}
		return bytes
	}) {
		b.waiting += bytes
	}
	if b.waiting > b.budget/8 {
		return b.write()
	}
	return b.ctx.Err()
}

// packedTogether is how many buckets one goroutine packs rows for at a time.
const packedTogether = 16

// write writes what waits to the file, of a bucket in extents of a small part of the budget.
func (b *buckets) write() error {
	for at := range b.list {
		of := &b.list[at]
		for rest := of.waiting; len(rest) > 0; {
			if err := b.ctx.Err(); err != nil {
				return err
			}
			var data []byte
			data, rest = spill.FirstPieces(rest, b.budget/64)
			e, err := b.spill.Write(data, spill.CountRows(data))
			if err != nil {
				return err
			}
			of.extents, of.bytes = append(of.extents, e), of.bytes+e.Bytes
		}
		of.waiting = of.waiting[:0]
	}
	b.waiting = 0
	return nil
}

// end writes what waits, once all rows have been dealt.
func (b *buckets) end() error {
	err := b.write()
	for at := range b.list {
		b.list[at].waiting, b.list[at].listed = nil, nil
	}
	return err
}

// table is the rows of some extents of a bucket.
func (b *buckets) table(list []spill.Extent) (*table.Table, error) {
	columns := b.kept.rest.Columns
	fields := fieldsAt(b.kept.fields, columns)
	out := &table.Table{Name: b.kept.rest.Table, Fields: fields}
	t := table.NewBuilder(out.Name, fields, 0)
	var data []byte
	for i := 0; i < len(list); {
		if err := b.ctx.Err(); err != nil {
			return nil, err
		}
		data = data[:0]
		for rows := 0; i < len(list) && (rows == 0 || len(data) < 1<<16 && rows+list[i].Rows <= t.Room()); i++ {
			var err error
			if data, err = b.spill.AppendExtent(data, list[i]); err != nil {
				return nil, err
			}
			rows += list[i].Rows
		}
		if t.Room() < spill.CountRows(data) {
			out.Chunks, t = append(out.Chunks, t.Table().Chunks...), table.NewBuilder(out.Name, fields, 0)
		}
		if err := spill.ReadRows(t, fields, data); err != nil {
			return nil, err
		}
	}
	if out.Chunks = append(out.Chunks, t.Table().Chunks...); len(out.Chunks) > 1 {
		if err := out.UniteSpans(); err != nil {
			return nil, err
		}
	}
	return widened(out, b.kept.fields, columns), nil
}

// parts are the executions over the rows of a bucket, as many rows each as a batch of the file has bytes.
func (b *buckets) parts(at int, most int64) iter.Seq2[*execution, error] {
	return func(yield func(*execution, error) bool) {
		list := b.list[at].extents
		for len(list) > 0 {
			n, bytes := 0, int64(0)
			for n < len(list) && (n == 0 || bytes+list[n].Bytes <= most) {
				bytes += list[n].Bytes
				n++
			}
			t, err := b.table(list[:n])
			var part *execution
			if err == nil {
				part, err = b.over(t, b.kept.rest)
			}
			if !yield(part, err) || err != nil {
				return
			}
			list = list[n:]
		}
	}
}

// group gives the groups of a bucket.
func (b *buckets) group(n *plan.Aggregate, at, level int, yield func(batch, error) bool) error {
	of, budget := &b.list[at], b.budget
	if b.takes(at) > budget/2 {
		all := int64(0)
		for _, o := range b.list {
			all += o.rows
		}
		if level++; of.rows == all { // dealing them again does not help
			level = mostLevels
		}
		return b.beyond.group(n, b.parts(at, budget/8), level, yield)
	}
	for part, err := range b.parts(at, of.bytes) {
		if err != nil {
			return err
		}
		for rows, err := range part.groups(n) {
			if err != nil {
				return err
			}
			if !yield(rows, nil) {
				return errStopped
			}
		}
	}
	return nil
}

// aggregates are those of the fragment.
func (b *beyond) aggregates() (values []table.Value, err error) {
	err = b.group(aggregateOf(b.fragment), b.all(), 0, func(rows batch, _ error) bool {
		values = rows.(valueRows)[0]
		return true
	})
	return values, err
}

// project is a Project of rows of the table, in the order of a Sort or in theirs.
func (b *beyond) project(p *plan.Project) stream {
	in, most := p.Input, (*plan.Limit)(nil)
	if l, ok := in.(*plan.Limit); ok {
		in, most = l.Input, l
	}
	var out stream
	if n, ok := in.(*plan.Sort); ok {
		out = b.projected(p, b.sorted(n))
	} else {
		out = func(yield func(batch, error) bool) {
			for part, err := range b.all() {
				if err != nil {
					yield(nil, err)
					return
				}
				part.atMost = b.atMost
				for rows, err := range part.gather(&plan.Project{Input: in, Items: p.Items}) {
					if !yield(rows, err) || err != nil {
						return
					}
				}
			}
		}
	}
	if most != nil {
		out = limit(out, most.Offset, most.Count)
	}
	return out
}

// projected computes items of batches that have the columns of the table that the statement reads.
func (b *beyond) projected(p *plan.Project, in iter.Seq2[computed, error]) stream {
	var columns []int // of the batches, where all items are columns
	fields := fieldsAt(b.fields, b.rest.Columns)
	for _, item := range p.Items {
		if c, ok := item.E.(*expr.Column); ok {
			columns = append(columns, slices.Index(b.rest.Columns, c.Index))
		}
	}
	eval := &vector.Evaluator{}
	return func(yield func(batch, error) bool) {
		for rows, err := range in {
			var out batch
			switch {
			case err != nil:
			case len(columns) == len(p.Items):
				some := make(computed, len(columns))
				for i, c := range columns {
					if some[i] = rows[c]; some[i].DataType().ID() == arrow.STRING {
						some[i] = ofDictionary(some[i])
					} else {
						some[i].Retain()
					}
				}
				out = some
			default:
				t := table.NewBuilder(b.rest.Table, fields, 0)
				if err = appendAll(t, rows[:len(fields)], fields); err != nil {
					break
				}
				g := &gather{table: widened(t.Table(), b.fields, b.rest.Columns), items: p.Items}
				out, err = g.batch(eval, table.Block{N: rows.Len()})
			}
			released([]computed{rows})
			if out != nil && !yield(out, nil) {
				return
			}
			if err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

// ofDictionary is texts as an array with a dictionary, which has a text a row: as columns of text are.
func ofDictionary(texts arrow.Array) arrow.Array {
	b := array.NewInt32Builder(memory.DefaultAllocator)
	defer b.Release()
	b.Reserve(texts.Len())
	for i := range texts.Len() {
		if texts.IsNull(i) {
			b.AppendNull()
		} else {
			b.Append(int32(i))
		}
	}
	indices := b.NewArray()
	defer indices.Release()
	return array.NewDictionaryArray(arrays.DictionaryType, indices, texts)
}

// sorted are the rows of the table in the order of a Sort. They have the columns that the statement reads, and behind them the
// keys that are not columns. Each batch of the file is sorted and becomes one or more runs in the temporary file, and runs are
// merged.
func (b *beyond) sorted(n *plan.Sort) iter.Seq2[computed, error] {
	var items []plan.Item
	item := func(e expr.Expr) int {
		items = append(items, plan.Item{E: e})
		return len(items) - 1
	}
	for _, i := range b.rest.Columns {
		item(&expr.Column{Index: i, Name: b.fields[i].Name, T: b.fields[i].Type, P: -1})
	}
	var keys []sortkey.Key
	for _, k := range n.Keys {
		if c, ok := k.E.(*expr.Column); ok {
			keys = append(keys, sortkey.Key{SortKey: k, Column: slices.Index(b.rest.Columns, c.Index)})
		} else {
			keys = append(keys, sortkey.Key{SortKey: k, Column: item(k.E)})
		}
	}
	m := b.sortMerge(b.spill, n, keys, b.budget, b.runs, b.total/max(1, b.most)+int64(16*len(keys)+16))
	return func(yield func(computed, error) bool) {
		rows, err := b.inOrder(m, n, items, b.all())
		if err != nil {
			yield(nil, err)
			return
		}
		rows(yield)
	}
}

// inOrder are items of the rows of parts in the order of a Sort, whose keys are among them.
func (b *beyond) inOrder(m *externalsort.Merge, n *plan.Sort, items []plan.Item, parts iter.Seq2[*execution, error]) (iter.Seq2[computed, error], error) {
	var runs [][]spill.Extent
	for part, err := range parts {
		if err == nil {
			err = part.sortedRuns(n, part.plan.Table, part.selected, b.budget, func(rows rowIDs) error {
				run, err := part.writtenRun(m, rows, items, false)
				runs = append(runs, run)
				return err
			})
		}
		if err != nil {
			return nil, err
		}
	}
	return batchesIn(m.All(runs)), nil
}

// sortedValues gives rows that are not of a table in the order of a Sort. What does not fit a part of the budget becomes runs in
// the temporary file.
func (b *beyond) sortedValues(n *plan.Sort) stream {
	fields := n.Input.Fields()
	var keys []sortkey.Key
	var made []expr.Expr // the keys that are no values of the rows
	for _, k := range n.Keys {
		at := named(k.E)
		if at < 0 {
			at = len(fields) + len(made)
			made = append(made, k.E)
		}
		keys = append(keys, sortkey.Key{SortKey: k, Column: at})
	}
	return func(yield func(batch, error) bool) {
		r := externalsort.NewRuns(b.sortMerge(b.spill, n, keys, b.budget, externalsort.MaxRuns, int64(16*(len(fields)+len(keys)))), b.budget)
		for in, err := range b.stream(n.Input) {
			var rows computed
			if err == nil && in.Len() > 0 {
				rows, err = arrowOf(in, fields, made)
			}
			if err == nil && rows != nil {
				err = r.Add(rows)
			}
			if err != nil {
				yield(nil, err)
				return
			}
		}
		out, err := r.Sorted()
		if err != nil {
			yield(nil, err)
			return
		}
		for rows, err := range out {
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(valuesOf(computed(rows[:len(fields)]), fields), nil) {
				return
			}
		}
	}
}

// arrowOf is rows of fields as columns, texts without a dictionary, with expressions over them behind these.
func arrowOf(in batch, fields []table.Field, more []expr.Expr) (out computed, err error) {
	if m, ok := in.(intermediate); ok && len(more) == 0 {
		if rows, ok := m.batch.(blockRows); ok {
			return columnsOf(m.of.Chunks[rows.Chunk], rows.Block, all(len(fields))), nil
		}
	}
	rows := valuesOf(in, fields)
	column := func(t table.Type, at func(row []table.Value) (table.Value, error)) error {
		b := array.NewBuilder(memory.DefaultAllocator, arrays.TypeOf(t))
		defer b.Release()
		for _, row := range rows {
			v, err := at(row)
			if err == nil && !v.Null && t.Kind == table.Decimal && v.Type.Scale != t.Scale {
				v, err = expr.Eval(&expr.Cast{X: &expr.Const{V: v, P: -1}, To: t, P: -1}, &expr.Env{})
			}
			if err != nil {
				return err
			}
			arrays.AppendValue(b, v)
		}
		out = append(out, b.NewArray())
		return nil
	}
	for i, f := range fields {
		if err := column(f.Type, func(row []table.Value) (table.Value, error) { return row[i], nil }); err != nil {
			return nil, err
		}
	}
	for _, e := range more {
		if err := column(e.Type(), func(row []table.Value) (table.Value, error) { return valueIn(row, e) }); err != nil {
			return nil, err
		}
	}
	return out, nil
}
