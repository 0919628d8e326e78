package physical

import (
	"cmp"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"weak"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/parallel"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/lower"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/table"
)

// maxCached is how many conditions a [PredicateCache] keeps.
const maxCached = 128

// PredicateCache keeps what [lower.Lower] made of the conditions that were used last: by condition, its
// constants included, and by the segments that it reads. So a statement that runs again over a later snapshot
// of its table lowers only the chunks that have changed. The other chunks keep their predicates. It keeps no
// segment in memory. The zero value is empty; several goroutines may use it.
type PredicateCache struct {
	mu   sync.Mutex
	list []*cachedPredicate // the one used last in front
}

// cachedPredicate is one condition over the chunks of one snapshot; it does not change.
type cachedPredicate struct {
	table  string
	fields int // of the table: behind them is the mark of rows that are not deleted
	where  expr.Expr
	text   string // of the condition: others are not compared node by node
	chunks []cachedChunk
}

// cachedChunk is a chunk's plan and what it depends on.
type cachedChunk struct {
	segments []weak.Pointer[table.Segment] // of the columns that are read
	live     predicate.Op                  // of the predicate for rows that are not deleted
	plan     ChunkPlan
}

// NewQuery lowers a fragment's condition for every chunk of its table, and its sums of expressions.
// Where these cannot be had from sums of codes it is the query of the rows, [plan.Fragment.FallbackFragment].
func NewQuery(t *table.Table, q *plan.Fragment) (*Query, error) {
	return new(PredicateCache).Query(t, q)
}

// Query is [NewQuery] that lowers only the chunks for which nothing is kept, several at
// a time.
func (l *PredicateCache) Query(t *table.Table, q *plan.Fragment) (*Query, error) {
	out := &Query{Table: t, Where: q.Where, Aggs: q.Aggs, Columns: q.Columns, ValuesOnly: q.ValuesOnly, Groups: q.Groups, Order: SortByColumns(q.Order, t), KeyOnly: q.KeyOnly}
	for _, a := range q.Aggs {
		if a.Col >= 0 && a.Col < len(t.Fields) && t.Fields[a.Col].Unsupported != "" {
			return nil, lower.UnsupportedColumn(t.Fields[a.Col], a.P)
		}
	}
	var err error
	if out.Chunks, err = l.chunks(t, q.Where); err != nil {
		return nil, err
	}
	l.filters(out)
	return l.withSums(out.Bounded(q.Bound), t, q)
}

// chunks lowers a condition for the chunks of a table; nil selects every record.
func (l *PredicateCache) chunks(t *table.Table, where expr.Expr) ([]ChunkPlan, error) {
	out := &Query{Table: t, Where: where, Chunks: make([]ChunkPlan, len(t.Chunks))}
	if where == nil {
		for i, c := range t.Chunks {
			out.Chunks[i].Pred = lower.LivePredicate(t, c)
		}
		return out.Chunks, nil
	}
	now := &cachedPredicate{table: t.Name, fields: len(t.Fields), where: where, text: where.String()}
	old := l.get(now)
	cols := expr.Columns(where)
	var missing []int
	for i, c := range t.Chunks {
		k := cachedChunk{live: lower.LivePredicate(t, c).Op}
		for _, col := range cols {
			if col < len(t.Fields) { // Lower says so where it is not
				k.segments = append(k.segments, weak.Make(c.Segments[col]))
			}
		}
		if p, ok := old.find(i, k); ok {
			k.plan, out.Chunks[i] = p, p
		} else {
			missing = append(missing, i)
		}
		now.chunks = append(now.chunks, k)
	}
	if err := out.lower(missing); err != nil {
		return nil, err
	}
	for _, i := range missing {
		now.chunks[i].plan = out.Chunks[i]
	}
	l.put(old, now)
	return out.Chunks, nil
}

// filters lowers the FILTERs of the groups' aggregates.
func (l *PredicateCache) filters(q *Query) {
	if q.Groups == nil || !slices.ContainsFunc(q.Groups.Aggs, func(a expr.Aggregate) bool { return a.Filter != nil }) {
		return
	}
	known := map[string][]*predicate.Pred{}
	for i := range q.Chunks {
		q.Chunks[i].Filters = make([]*predicate.Pred, len(q.Groups.Aggs))
	}
	for k, a := range q.Groups.Aggs {
		if a.Filter == nil {
			continue
		}
		id := expr.Identity(a.Filter)
		list, ok := known[id]
		if !ok {
			list = l.filter(q.Table, a.Filter)
			known[id] = list
		}
		for i, p := range list {
			q.Chunks[i].Filters[k] = p
		}
	}
}

// filter lowers a FILTER for the chunks of a table: none where it is cpu's, which is where it may raise an error.
func (l *PredicateCache) filter(t *table.Table, where expr.Expr) (list []*predicate.Pred) {
	chunks, err := l.chunks(t, where)
	if err != nil {
		return nil
	}
	for _, c := range chunks {
		if len(c.Checks) > 0 || c.scalar != nil {
			return nil
		}
		list = append(list, c.Pred)
	}
	return list
}

// withSums is a fragment's query with its sums of expressions, or that of the rows.
func (l *PredicateCache) withSums(out *Query, t *table.Table, q *plan.Fragment) (*Query, error) {
	err := out.lowerSums()
	if err != nil && q.Fallback != nil {
		return l.Query(t, q.FallbackFragment())
	}
	return out, err
}

// lower lowers the WHERE for some chunks, on all cores. The error is that of the first.
func (q *Query) lower(chunks []int) error {
	one := func(chunk int) (err error) {
		p := &q.Chunks[chunk]
		p.Pred, p.Checks, err = lower.Lower(q.Where, q.Table, q.Table.Chunks[chunk])
		p.scalar = p.firstScalar()
		return err
	}
	if len(chunks) == 1 {
		return one(chunks[0])
	}
	errs := make([]error, len(chunks))
	var g parallel.Errors
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, chunk := range chunks {
		g.Go(func() error {
			errs[i] = one(chunk)
			return errs[i]
		})
	}
	_ = g.Wait()
	return cmp.Or(errs...)
}

// find returns the plan of a chunk, which is mostly in the place that it had before.
func (o *cachedPredicate) find(i int, k cachedChunk) (p ChunkPlan, ok bool) {
	if o == nil {
		return p, false
	}
	like := func(c cachedChunk) bool { return c.live == k.live && slices.Equal(c.segments, k.segments) }
	if i >= len(o.chunks) || !like(o.chunks[i]) {
		i = slices.IndexFunc(o.chunks, like)
	}
	if i < 0 {
		return p, false
	}
	return o.chunks[i].plan, true
}

// get returns what is kept of a condition, nil where nothing is.
func (l *PredicateCache) get(of *cachedPredicate) *cachedPredicate {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.IndexFunc(l.list, func(o *cachedPredicate) bool {
		return o.table == of.table && o.fields == of.fields && o.text == of.text && (o.where == of.where || reflect.DeepEqual(o.where, of.where))
	})
	if i < 0 {
		return nil
	}
	return l.list[i]
}

// put keeps a condition in the place of what was kept of it before.
func (l *PredicateCache) put(old, now *cachedPredicate) {
	l.mu.Lock()
	defer l.mu.Unlock()
	rest := slices.DeleteFunc(l.list, func(o *cachedPredicate) bool { return o == old })
	l.list = append([]*cachedPredicate{now}, rest[:min(len(rest), maxCached-1)]...)
}
