package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stencildb/stencildb/cpu"
	"github.com/stencildb/stencildb/cpu/vector"
	"github.com/stencildb/stencildb/engine/querystats"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/storage"
	"github.com/stencildb/stencildb/table"
)

// Rows of a key are looked for one by one, by an index of one of its columns in each chunk: those that a statement names
// (WHERE k = 5), and those that have the key of a new row. Small chunks are looked through, and so are larger ones
// until an index pays: it is made when a segment has been looked through so often, and kept with it. Queries use it, too.
const (
	scannedRows  = 1 << 12 // rows of a segment that is always looked through
	scannedTimes = 32      // times that a larger one is, about as many as an index costs
	mostAlike    = 1 << 10 // rows with the same code of one column that are looked at for the others
)

// lookups is what is kept with a segment in which rows are looked for: see [table.Segment.Lookups].
type lookups struct {
	times  atomic.Int32
	making sync.Mutex
	index  atomic.Pointer[cpu.Index]
}

func lookupsOf(s *table.Segment) *lookups {
	if s.Lookups.Load() == nil {
		s.Lookups.CompareAndSwap(nil, &lookups{})
	}
	return s.Lookups.Load().(*lookups)
}

// keyIndex is the index that is kept with a segment; nil where none is.
func keyIndex(s *table.Segment) *cpu.Index {
	if kept, ok := s.Lookups.Load().(*lookups); ok {
		return kept.index.Load()
	}
	return nil
}

// indexed is an index of a segment that is a column of a key; nil where looking through it is cheaper as yet, or another goroutine makes one.
func (db *DB) indexed(ctx context.Context, name string, s *table.Segment) (*cpu.Index, error) {
	if list := db.indexes.at(s); len(list) > 0 {
		return list[0], nil
	}
	kept := lookupsOf(s)
	if kept.times.Add(1) <= scannedTimes || !kept.making.TryLock() {
		return nil, nil
	}
	defer kept.making.Unlock()
	if x := kept.index.Load(); x != nil {
		return x, nil
	}
	if db.now().hostMemory > 0 {
		if left, err := db.hostBudget(); err != nil || left < indexBytes*int64(s.Rows()) {
			return nil, nil
		}
	}
	x, err := cpu.NewIndex(ctx, name, cpu.IndexKinds[0], s)
	if err == nil {
		kept.index.Store(x)
	}
	return x, err
}

// indexBytes is what an index takes for a row while it is made, about.
const indexBytes = 32

// rowsOfKey lists the rows of a chunk, ascending, that are there and have values of a key, none of them NULL. ok is false
// where too many would have to be looked at.
func (db *DB) rowsOfKey(ctx context.Context, k *storage.Key, values []table.Value, chunk *table.Chunk) (rows []uint32, ok bool, err error) {
	var few [4]uint64
	codes, lead := few[:0], 0
	for i, col := range k.Columns {
		code, there := chunk.Segments[col].Code(values[i])
		if !there {
			return nil, true, nil
		}
		codes = append(codes, code)
		if chunk.Segments[col].Max > chunk.Segments[k.Columns[lead]].Max {
			lead = i
		}
	}
	same := func(at int) bool {
		for i, col := range k.Columns {
			if seg := chunk.Segments[col]; seg.Codes.At(at) != codes[i] || seg.IsNull(at) {
				return false
			}
		}
		return chunk.IsLive(at)
	}
	seg := chunk.Segments[k.Columns[lead]]
	if chunk.Rows >= scannedRows {
		x, err := db.indexed(ctx, k.Name, seg)
		if err != nil {
			return nil, false, err
		}
		if x != nil {
			list := x.RowsOf(codes[lead])
			if len(list) > mostAlike {
				return nil, false, nil
			}
			for _, at := range list {
				if same(int(at)) {
					rows = append(rows, at)
				}
			}
			return rows, true, nil
		}
	}
	for at := seg.Codes.Next(0, codes[lead]); at >= 0; at = seg.Codes.Next(at+1, codes[lead]) {
		if same(at) {
			rows = append(rows, uint32(at))
		}
	}
	return rows, true, nil
}

// lookup is a query of the rows of one table whose condition gives a key values, with nothing above but a select list and a LIMIT.
type lookup struct {
	table  string
	of     *storage.Definition
	key    *storage.Key
	values []table.Value // of its columns
	where  expr.Expr     // all of the condition
	items  []plan.Item
	reads  []int       // the columns of the table that it reads
	limit  *plan.Limit // nil for none
}

// lookupOf is a tree as a look-up; nil for another one.
func (db *DB) lookupOf(tree plan.Node) *lookup {
	l := &lookup{}
	if limit, ok := tree.(*plan.Limit); ok && limit.Count != 0 {
		l.limit, tree = limit, limit.Input
	}
	p, ok := tree.(*plan.Project)
	if !ok {
		return nil
	}
	f, ok := p.Input.(*plan.Filter)
	if !ok {
		return nil
	}
	scan, ok := f.Input.(*plan.Scan)
	if !ok || scan.Of != nil {
		return nil
	}
	e := db.entry(scan.Table)
	if e == nil || e.of == nil || len(e.of.Keys) == 0 {
		return nil
	}
	l.table, l.of = e.name, e.of
	l.where, l.items = f.Where, p.Items
	known := map[int]table.Value{}
	parts := plan.Conjuncts(f.Where)
	before := len(parts) // the first that may raise an error, which rows without the key must not come to
	for i, part := range parts {
		if plan.CanRaise(part) {
			before = i
			break
		}
		if col, v, ok := constantOf(part); ok && col < len(l.of.Fields) {
			known[col] = v
		}
	}
	for i := range l.of.Keys {
		k := &l.of.Keys[i]
		missing := slices.ContainsFunc(k.Columns, func(col int) bool {
			_, ok := known[col]
			return !ok || before < len(parts) && !l.of.Columns[col].NotNull // UNKNOWN decides nothing
		})
		if missing {
			continue
		}
		if slices.ContainsFunc(p.Items, func(i plan.Item) bool { return !ofRow(i.E) }) || !ofRow(f.Where) {
			return nil
		}
		for _, col := range k.Columns {
			l.values = append(l.values, known[col])
		}
		l.key, l.reads = k, expr.Columns(f.Where)
		for _, item := range p.Items {
			l.reads = append(l.reads, expr.Columns(item.E)...)
		}
		return l
	}
	return nil
}

// byKey is the look-up that a statement is which is planned for EXPLAIN; nil where it is none.
func (s *Statement) byKey() *lookup {
	if !s.looks || s.nested != nil || !s.db.looksUp() {
		return nil
	}
	return s.db.lookupOf(plan.Rewrite(s.tree, func(n plan.Node) plan.Node {
		if f, ok := n.(*plan.Fragment); ok && f.Tree != nil {
			return f.Tree
		}
		return n
	}))
}

// step is the look-up as EXPLAIN shows it.
func (l *lookup) step() Step {
	var parts []string
	for i, col := range l.key.Columns {
		parts = append(parts, fmt.Sprintf("%s = %s", expr.Ident(l.of.Fields[col].Name), (&expr.Const{V: l.values[i]}).String()))
	}
	return Step{Pass: "Look up(" + expr.Ident(l.key.Name) + ": " + strings.Join(parts, ", ") + ")"}
}

// constantOf is the column and the constant of a condition that sets them equal.
func constantOf(e expr.Expr) (col int, v table.Value, ok bool) {
	c, ok := e.(*expr.Compare)
	if !ok || c.Op != expr.EQ {
		return 0, v, false
	}
	left, right := c.L, c.R
	if _, constant := left.(*expr.Const); constant {
		left, right = right, left
	}
	column, isColumn := left.(*expr.Column)
	constant, isConst := right.(*expr.Const)
	if !isColumn || !isConst || constant.V.Null {
		return 0, v, false
	}
	v = constant.V
	switch {
	case column.T.IsInteger() && v.Type.IsInteger():
	case column.T != v.Type || v.Big != nil:
		return 0, v, false
	case column.T.Kind == table.Real || column.T.Kind == table.Double || column.T.Kind == table.Interval: // values that are equal may be written otherwise
		return 0, v, false
	}
	return column.Index, v, true
}

// ofRow reports an expression that reads columns of the row at hand and nothing else.
func ofRow(e expr.Expr) bool {
	ok := true
	expr.Walk(e, func(e expr.Expr) {
		switch e.(type) {
		case *expr.Subquery, *expr.Outer, *expr.Window, *expr.AggRef:
			ok = false
		}
	})
	return ok
}

// rows calls do for each row of a snapshot that satisfies the condition, by its number in the table, and with what its columns are. ok
// is false, before the first, where the rows are not to be looked for one by one.
func (l *lookup) rows(ctx context.Context, db *DB, t *table.Table, do func(number int, value func(col int) table.Value) error) (ok bool, err error) {
	found := make([][]uint32, len(t.Chunks))
	for i, c := range t.Chunks {
		if found[i], ok, err = db.rowsOfKey(ctx, l.key, l.values, c); err != nil || !ok {
			return false, err
		}
	}
	first := 0
	for i, c := range t.Chunks {
		for _, row := range found[i] {
			value := func(col int) table.Value {
				if col == len(t.Fields) { // of [table.NumberField]
					return table.Int(int64(first) + int64(row))
				}
				return c.Segments[col].Value(int(row))
			}
			if holds, err := expr.Eval(l.where, &expr.Env{Column: value}); err != nil {
				return true, err
			} else if holds.Null || holds.I == 0 {
				continue
			}
			if err := do(first+int(row), value); err != nil {
				return true, err
			}
		}
		first += c.Rows
	}
	return true, nil
}

// itemsOf are select items of a row.
func itemsOf(items []plan.Item, value func(col int) table.Value) (row []table.Value, err error) {
	row = make([]table.Value, len(items))
	env := &expr.Env{Column: value, Agg: value}
	for i, item := range items {
		v, err := vector.Eval(item.E, env)
		if err != nil {
			return nil, err
		}
		if t := item.E.Type(); v.Type != t {
			if !v.Null && t.Kind == table.Decimal {
				v = table.Dec(t, v.Unscaled())
			}
			v.Type = t
		}
		row[i] = v
	}
	return row, nil
}

// looksUp reports that rows are looked for by a key: where no backend was asked for that would find them by passes of its own.
func (db *DB) looksUp() bool {
	name := db.Backend()
	return name == "cpu" || name == "auto"
}

// changed are the numbers of the rows that an UPDATE or a DELETE finds, ascending, and behind them its other items as columns; ok is false
// where they are not to be looked for one by one.
func (l *lookup) changed(ctx context.Context, db *DB) (numbers []int, columns []*table.Segment, ok bool, err error) {
	t := settled(db.entry(l.table))
	if t == nil || !t.Has(t.All()) { // a statement has made room meanwhile
		return nil, nil, false, nil
	}
	values := make([][]table.Value, len(l.items)-1) // by columns
	ok, err = l.rows(ctx, db, t, func(number int, value func(int) table.Value) error {
		numbers = append(numbers, number)
		return appendItems(values, l.items[1:], value)
	})
	if err != nil || !ok {
		return nil, nil, ok, err
	}
	return numbers, segmentsOf(l.items[1:], values), true, nil
}

// appendItems appends items of a row to columns of values.
func appendItems(columns [][]table.Value, items []plan.Item, value func(col int) table.Value) error {
	row, err := itemsOf(items, value)
	for i := 0; i < len(row) && err == nil; i++ {
		row[i], err = stored(row[i], row[i].Type)
		columns[i] = append(columns[i], row[i])
	}
	return err
}

// segmentsOf are columns of values as segments, each nil without values.
func segmentsOf(items []plan.Item, values [][]table.Value) []*table.Segment {
	columns := make([]*table.Segment, len(items))
	for i, list := range values {
		if len(list) > 0 {
			columns[i] = table.SegmentOf(items[i].E.Type(), list...)
		}
	}
	return columns
}

// looked is the answer of a SELECT that is a look-up; nil where its rows are not to be looked for one by one, or have not been read.
func (s *Statement) looked(ctx context.Context) (r *Rows, err error) {
	start := time.Now()
	db, l := s.db, s.lookup
	e := db.entry(l.table)
	if e == nil || e.of != l.of {
		return nil, nil
	}
	if t := e.table.Load(); t == nil || !t.Has(l.reads) {
		return nil, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, s.described(err)
	}
	defer recovered(&err)
	if err := settle(ctx, []*table.Table{e.table.Load()}); err != nil {
		return nil, s.described(err)
	}
	t, unpin := db.pin(e)
	defer unpin()
	var rows valueRows
	ok, err := l.rows(ctx, db, t, func(_ int, value func(int) table.Value) error {
		row, err := itemsOf(l.items, value)
		rows = append(rows, row)
		return err
	})
	switch {
	case err != nil:
		return nil, s.described(err)
	case !ok:
		return nil, nil
	case l.limit != nil:
		n := int64(len(rows))
		from := min(n, l.limit.Offset)
		if l.limit.Count >= 0 {
			n = min(n, from+min(n, l.limit.Count))
		}
		rows = rows[from:n]
	}
	r = &Rows{of: s, ctx: ctx, at: -1, took: querystats.NewCollector(Stats{Backend: "cpu"}), next: func() (batch, error, bool) { return nil, nil, false }}
	for _, item := range l.items {
		c := Column{Name: item.Name, Type: item.E.Type()}
		if of, ok := item.E.(*expr.Column); ok {
			c.coded, c.NotNull = c.Type.Kind == table.Varchar, of.Index < len(l.of.Columns) && l.of.Columns[of.Index].NotNull
		}
		r.columns = append(r.columns, c)
	}
	if len(rows) > 0 {
		r.now = rows
	}
	r.waited = time.Since(start)
	return r, nil
}
