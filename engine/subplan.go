package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/stencildb/stencildb/engine/catalog"
	"github.com/stencildb/stencildb/engine/querystats"
	"github.com/stencildb/stencildb/engine/spill"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/ingest/arrays"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/internal/parallel"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/rules"
	"github.com/stencildb/stencildb/sql"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// nested is what is known of the subplans of a statement before they run: which columns of each are needed.
type nested struct {
	needed map[*plan.Subplan][]int
	reads  map[*plan.Subplan]int // the nodes that read it
}

// bindNested is bind of a tree with subplans or subqueries.
func (db *DB) bindNested(tree plan.Node, c sql.Catalog, params []table.Value) (*bound, error) {
	tree = rules.Inline(tree, c.Off)
	reads := rules.CountReaders(tree)
	b := &bound{tree: rules.PushLimitIntoUnion(rules.PushIntoSubquery(c.Off.Rewrite(tree), reads, c.Off), reads, c.Off), version: c.Version, off: c.Off, params: params, nested: &nested{map[*plan.Subplan][]int{}, reads}}
	for _, f := range tree.Fields() {
		b.columns = append(b.columns, Column{Name: f.Name, Type: f.Type})
	}
	b.need(db, b.tree)
	return b, nil
}

// need notes which columns a tree needs of the tables and the subplans that it reads.
func (b *bound) need(db *DB, tree plan.Node) {
	switch n := tree.(type) {
	case *plan.Concat, *plan.Recursion, *plan.Window:
		for _, in := range n.Inputs() {
			b.need(db, in)
		}
		return
	}
	plan.Walk(tree, func(n plan.Node, _ int) {
		for _, e := range plan.Exprs(n) {
			expr.Walk(e, func(e expr.Expr) {
				if q, ok := e.(*expr.Subquery); ok {
					b.needOf(db, q.Of.(*plan.Subplan), []int{0})
				}
			})
		}
	})
	for _, f := range plan.Fragments(rules.CutFragments(plan.DerivedAsScans(tree))) {
		scans := plan.Scans(f.Tree)
		for i, columns := range f.Scanned() {
			if s := scans[i]; s.Of == nil {
				b.reads(db.entry(s.Table), columns)
			} else {
				b.needOf(db, s.Of, columns)
			}
		}
	}
}

// needOf notes columns of a subplan, and what its tree needs for them.
func (b *bound) needOf(db *DB, s *plan.Subplan, columns []int) {
	have, seen := b.nested.needed[s]
	if r, ok := s.Tree.(*plan.Recursion); ok { // its steps read all
		columns = all(plan.Width(r))
	}
	more := union(have, columns)
	if seen && len(more) == len(have) {
		return
	}
	if !seen {
		s.Tree = b.rewrittenParts(s.Tree)
	}
	b.nested.needed[s] = more
	if r, ok := s.Tree.(*plan.Recursion); ok {
		b.nested.needed[r.Last] = more
	}
	b.need(db, rules.PruneColumns(s.Tree, more, b.off))
}

func all(n int) (list []int) {
	for i := range n {
		list = append(list, i)
	}
	return list
}

// rewrittenParts is a subplan's tree after all rules; those of a Concat, a Recursion or a Window run apart.
func (b *bound) rewrittenParts(n plan.Node) plan.Node {
	switch n.(type) {
	case *plan.Concat, *plan.Recursion, *plan.Window:
		var inputs []plan.Node
		for _, in := range n.Inputs() {
			inputs = append(inputs, b.rewrittenParts(in))
		}
		return n.With(inputs...)
	}
	return rules.PushLimitIntoUnion(rules.PushIntoSubquery(b.off.Rewrite(n), b.nested.reads, b.off), b.nested.reads, b.off)
}

// settling runs the subplans and the subqueries of a statement: each once.
type settling struct {
	*Statement
	nested  *nested                   // the statement's, or of what PushAggregate put aside
	at      map[string]*catalog.Entry // the tables that it reads, those in memory as they were when it began
	tables  map[*plan.Subplan]*catalog.Entry
	values  map[*plan.Subplan]table.Value
	stats   map[*plan.Subplan]Stats
	rows    map[*plan.Subplan]int
	windows map[*plan.Subplan]*Executor // who computed those of them that are windows
	total   querystats.Collector
	unpins  []func()
	pins    map[*plan.Subplan]func() // as unpins, of their tables
	into    string                   // what rows are collected for; "" for a subquery
	spill   *spill.File              // the temporary file of rows that the host memory budget has no room for; nil where there are none

	explain *ExplainOptions               // each is explained before it runs; nil for none
	parts   map[*plan.Subplan][]*PlanNode // those that ran
	plans   map[*plan.Subplan]*PlanNode
	scalars []*plan.Subplan // those of one value, in the order in which they ran
}

// settled is the statement with the tables of its subplans and the values of its subqueries, which have run;
// ran.done releases them. Without any it is the statement itself. Where explain is not nil, it is also told how
// each is answered.
func (s *Statement) settled(ctx context.Context, explain *ExplainOptions) (_ *Statement, ran *settling, err error) {
	if s.bound == nil {
		return s, nil, nil
	}
	tree, known, was := s.tree, s.nested, pushing{}
	switch {
	case known != nil:
	case s.apart != nil:
		tree, known = s.apart, &nested{}
	default:
		if was, err = s.pushed(ctx); was.tree == nil {
			return s, nil, err
		}
		tree, known = was.tree, &nested{}
	}
	x := &settling{Statement: s, nested: known, tables: map[*plan.Subplan]*catalog.Entry{}, values: map[*plan.Subplan]table.Value{}, stats: map[*plan.Subplan]Stats{}, rows: map[*plan.Subplan]int{}, windows: map[*plan.Subplan]*Executor{}, pins: map[*plan.Subplan]func(){},
		explain: explain, parts: map[*plan.Subplan][]*PlanNode{}, plans: map[*plan.Subplan]*PlanNode{}}
	x.pin()
	out, err := x.statement(ctx, tree)
	if err != nil {
		x.done()
		if s.nested == nil && s.apart == nil && ctx.Err() == nil { // rows that are not joined may raise errors, and sums of groups be too large for a column
			s.pushing.Store(&pushing{tables: was.tables})
			return s, nil, nil
		}
		return s, nil, err
	}
	return out, x, nil
}

// pin keeps the tables that the statement reads as they are now, for all of its parts.
func (x *settling) pin() {
	x.at = map[string]*catalog.Entry{}
	var entries []*catalog.Entry
	for _, r := range x.sources {
		if x.at[r.Name] = r.Entry; r.Open == nil {
			entries = append(entries, r.Entry)
		}
	}
	tables, unpin := x.db.pinAll(entries)
	x.unpins = append(x.unpins, unpin)
	for i, e := range entries {
		now := catalog.NewEntry(e.Name, nil)
		now.Definition = e.Definition
		now.Table.Store(tables[i])
		x.at[e.Name] = now
	}
}

// entry is a table that the statement reads.
func (x *settling) entry(name string) *catalog.Entry {
	if e := x.at[name]; e != nil {
		return e
	}
	return x.db.entry(name)
}

func (x *settling) done() {
	if x != nil {
		for _, f := range x.unpins {
			f()
		}
		for _, f := range x.pins {
			f()
		}
		x.unpins, x.pins = nil, nil
	}
}

// before is what was taken before the statement, with what its subplans took.
func (x *settling) before(t *querystats.Collector) *querystats.Collector {
	if x == nil {
		return t
	}
	s := t.Snapshot()
	x.total.Include(s)
	return &x.total
}

// both calls two functions.
func both(f, g func()) func() {
	return func() {
		f()
		g()
	}
}

// statement is a tree as a statement: what it reads of subplans has been computed.
func (x *settling) statement(ctx context.Context, tree plan.Node) (*Statement, error) {
	var failed error
	tree = plan.Rewrite(tree, func(n plan.Node) plan.Node {
		n = plan.MapExprs(n, func(e expr.Expr) expr.Expr {
			if !expr.HasSubquery(e) {
				return e
			}
			return folded(expr.Map(e, func(e expr.Expr) expr.Expr {
				q, ok := e.(*expr.Subquery)
				if !ok || failed != nil {
					return nil
				}
				v, err := x.value(ctx, q)
				if err != nil {
					failed = err
				}
				return &expr.Const{V: v, P: q.P}
			}))
		})
		if f, ok := n.(*plan.Filter); ok && len(withoutTrue([]expr.Expr{f.Where})) == 0 {
			return f.Input
		}
		return n
	})
	if failed != nil {
		return nil, failed
	}
	tree = rules.CutFragments(x.off.Rewrite(plan.DerivedAsScans(tree)))
	for _, f := range plan.Fragments(tree) {
		scans := plan.Scans(f.Tree)
		for i, columns := range f.Scanned() {
			if s := scans[i]; s.Of != nil {
				if _, err := x.table(ctx, s.Of, columns); err != nil {
					return nil, err
				}
			}
		}
	}
	b, err := x.db.bound(ctx, tree, func(s *plan.Scan) *catalog.Entry {
		if s.Of != nil {
			return x.tables[s.Of]
		}
		return x.entry(s.Table)
	})
	if err != nil {
		return nil, err
	}
	if b.apart != nil {
		return x.statement(ctx, b.apart)
	}
	b.version, b.params, b.off = x.bound.version, x.params, x.off
	st := &Statement{db: x.db, script: x.script, parsed: x.parsed, watch: x.watch, bound: b, part: true}
	p, err := st.pushed(ctx)
	if err != nil {
		return nil, err
	}
	if p.tree != nil {
		if out, err := x.statement(ctx, p.tree); err == nil || ctx.Err() != nil {
			return out, err
		}
	}
	return st, nil
}

// folded is an expression with constants in the place of what is computed from constants alone.
func folded(e expr.Expr) expr.Expr {
	return expr.Map(e, func(e expr.Expr) expr.Expr {
		switch and := e.(type) {
		case *expr.Const:
			return nil
		case *expr.And:
			if kids := withoutTrue(and.Kids); len(kids) > 0 && len(kids) < len(and.Kids) {
				return folded(plan.Conjunction(kids))
			}
		}
		constant := true
		expr.Walk(e, func(e expr.Expr) {
			if _, ok := e.(*expr.Const); !ok && len(expr.Kids(e)) == 0 {
				constant = false
			}
		})
		if !constant {
			return nil
		}
		v, err := expr.Eval(e, &expr.Env{})
		if err != nil || v.Big != nil {
			return nil
		}
		if v.Null {
			v.Type = e.Type()
		}
		return &expr.Const{V: v, P: e.Pos()}
	})
}

// withoutTrue are conditions but those that are TRUE once they are folded.
func withoutTrue(list []expr.Expr) (out []expr.Expr) {
	for _, e := range list {
		if c, ok := folded(e).(*expr.Const); !ok || c.V.Null || c.V.Type.Kind != table.Boolean || c.V.I == 0 {
			out = append(out, e)
		}
	}
	return out
}

// value is that of a subquery of one value.
func (x *settling) value(ctx context.Context, q *expr.Subquery) (table.Value, error) {
	s := q.Of.(*plan.Subplan)
	if v, ok := x.values[s]; ok {
		return v, nil
	}
	rows, err := x.run(ctx, s, rules.PruneColumns(s.Tree, []int{0}, x.off))
	if err != nil {
		return table.Value{}, err
	}
	defer rows.Close()
	v, n := table.Null(q.T), 0
	for ; rows.Next(); n++ {
		if n == 1 {
			return v, expr.Coded(sqlstate.CardinalityViolation, q.P, "more than one row returned by a subquery used as an expression")
		}
		v = rows.Values()[0]
	}
	x.account(s, rows, n)
	x.values[s], x.scalars = v, append(x.scalars, s)
	return v, rows.Err()
}

// run starts a tree of a subplan.
func (x *settling) run(ctx context.Context, s *plan.Subplan, tree plan.Node) (*Rows, error) {
	st, err := x.statement(ctx, plan.Projected(tree)) // rules may leave rows of a table alone
	if err != nil {
		return nil, err
	}
	if _, again := s.Tree.(*plan.Recursion); x.explain != nil && !(again && len(x.parts[s]) > 1) { // its first rows, and its first step
		if st, _, err = st.readable(ctx); err != nil {
			return nil, err
		}
		e, err := st.explainedTree(ctx, *x.explain, x)
		if err != nil {
			return nil, err
		}
		e.Plan.apart = true
		x.total.Include(Stats{Loading: e.prepared})
		x.parts[s] = append(x.parts[s], e.Plan)
		seen := querystats.NewRowCounts()
		rows, err := st.run(ctx, func(r *execution) { r.rowCounts = seen })
		if err == nil {
			rows.closing = append(rows.closing, func() { e.withSeen(st.tree, st.tree, seen) })
		}
		return rows, err
	}
	return st.run(ctx, nil)
}

// account notes what a subplan's rows took.
func (x *settling) account(s *plan.Subplan, r *Rows, n int) {
	of := r.Stats()
	sum := x.stats[s]
	sum.Elapsed, sum.Backend = sum.Elapsed+of.Elapsed, of.Backend
	x.stats[s], x.rows[s] = sum, n
	x.total.Include(of)
}

// subplans numbers the tables of subplans.
var subplans atomic.Int64

// table is that of a subplan's rows, with the needed columns: those that bindNested found. There may be others, once the values of
// subqueries have let rules rewrite what reads it. Where there is no room for the rows they are spilled, and the table is nil.
func (x *settling) table(ctx context.Context, s *plan.Subplan, columns []int) (*table.Table, error) {
	if e := x.tables[s]; e != nil {
		if a, ok := e.Source.(*spilled); ok && len(union(columns, a.columns)) == len(a.columns) {
			return nil, nil
		} else if !ok && e.Table.Load().Has(columns) {
			return e.Table.Load(), nil
		}
	}
	t, a, err := x.rowsOf(ctx, s, s.Tree, union(x.nested.needed[s], columns))
	switch {
	case err != nil:
		return nil, err
	case a != nil:
		x.tables[s] = a.entry()
		return nil, nil
	}
	x.set(s, t)
	return t, nil
}

// set makes t the table of a subplan.
func (x *settling) set(s *plan.Subplan, t *table.Table) {
	e := catalog.NewEntry(t.Name, nil)
	e.Table.Store(t)
	x.tables[s] = e
	unpin := x.db.pinned(t)
	if was := x.pins[s]; was != nil {
		unpin = both(was, unpin)
	}
	x.pins[s] = unpin
}

// unset drops the table of a subplan, whose rows are to be others.
func (x *settling) unset(s *plan.Subplan) {
	if unpin := x.pins[s]; unpin != nil {
		unpin()
	}
	delete(x.tables, s)
	delete(x.pins, s)
}

// rowsOf is a table of the rows of a tree, or these rows spilled; columns are those that are needed.
func (x *settling) rowsOf(ctx context.Context, s *plan.Subplan, tree plan.Node, columns []int) (t *table.Table, a *spilled, err error) {
	switch n := tree.(type) {
	case *plan.Series:
		return x.series(ctx, n)
	case *plan.Recursion:
		t, err = x.recursion(ctx, s, n)
		return t, nil, err
	case *plan.Window:
		if err := x.refused(ctx, n); err != nil {
			return nil, nil, err
		}
		t, err = x.asIs(ctx, n.Input)
		if t == nil && err == nil {
			t, a, err = x.rowsOf(ctx, s, n.Input, all(plan.Width(n.Input)))
		}
		switch {
		case err != nil:
		case a != nil:
			if a, err = x.windowSpilled(ctx, s, a, n); err == nil {
				x.rows[s] = a.rows()
			}
		default:
			if t, err = x.window(ctx, s, t, n); err == nil {
				x.rows[s] = t.Rows()
			}
		}
		return t, a, err
	case *plan.Concat:
		return x.concat(ctx, s, n, columns)
	}
	pruned := rules.PruneColumns(tree, columns, x.off)
	rows, err := x.run(ctx, s, pruned)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	out := &table.Table{Name: x.name(), Fields: tree.Fields()}
	at := columns
	if plan.Width(pruned) == len(out.Fields) {
		at = all(len(out.Fields))
	} else if len(at) == 0 {
		at = []int{rules.CheapColumn(out.Fields)}
	}
	t, a, err = x.collect(ctx, rows, out, at, x.mayLeave())
	switch {
	case err != nil:
	case a != nil:
		x.account(s, rows, a.rows())
	default:
		x.account(s, rows, t.Rows())
	}
	return t, a, err
}

// concat is rowsOf of the rows of several trees, one behind the other: where there is no room for those of one, all are spilled.
func (x *settling) concat(ctx context.Context, s *plan.Subplan, n *plan.Concat, columns []int) (*table.Table, *spilled, error) {
	out := &table.Table{Name: x.name(), Fields: n.Fields()}
	var gone *spilled
	budget, err := x.budget(ctx)
	if err != nil {
		return nil, nil, err
	}
	if len(columns) == 0 {
		columns = []int{rules.CheapColumn(out.Fields)}
	}
	piece := pieceOf(out.Fields, budget)
	for _, in := range n.Of {
		t, a, err := x.rowsOf(ctx, s, in, columns)
		if err != nil {
			return nil, nil, err
		}
		if gone == nil && (a != nil || x.mayLeave() && out.Bytes()+t.Bytes() > budget/2) {
			gone = x.leave(out.Fields, columns)
			if err := gone.addTable(out, piece); err != nil {
				return nil, nil, err
			}
		}
		switch {
		case a != nil:
			err = gone.addRows(a)
		case gone != nil:
			err = gone.addTable(t, piece)
		default:
			out.Chunks = append(out.Chunks, t.Chunks...)
			err = out.UniteSpans()
		}
		if err != nil {
			return nil, nil, err
		}
	}
	if gone != nil {
		x.rows[s] = gone.rows()
		return nil, gone, nil
	}
	x.rows[s] = out.Rows()
	return out, nil, nil
}

// asIs is a table of the columns that a tree gives of all rows of a table, where it does no more; else nil.
func (x *settling) asIs(ctx context.Context, n plan.Node) (*table.Table, error) {
	p, ok := n.(*plan.Project)
	if !ok {
		return nil, nil
	}
	var columns []int
	for _, item := range p.Items {
		c, ok := item.E.(*expr.Column)
		if !ok {
			return nil, nil
		}
		columns = append(columns, c.Index)
	}
	var t *table.Table
	switch in := p.Input.(type) {
	case *plan.Derived:
		var err error
		if t, err = x.table(ctx, in.Of, columns); t == nil {
			return nil, err
		}
	case *plan.Scan:
		e := x.entry(in.Table)
		if !e.Table.Load().Has(columns) {
			return nil, nil
		}
		snapshot, unpin := x.db.pin(e)
		x.unpins = append(x.unpins, unpin)
		t = snapshot.Compacted()
	default:
		return nil, nil
	}
	out := &table.Table{Name: x.name(), Fields: p.Fields()}
	for _, c := range t.Chunks {
		chunk := &table.Chunk{Rows: c.Rows}
		for _, i := range columns {
			chunk.Segments = append(chunk.Segments, c.Segments[i])
		}
		out.Chunks = append(out.Chunks, chunk)
	}
	return out, nil
}

// name is that of another table.
func (x *settling) name() string { return fmt.Sprintf("subquery %d", subplans.Add(1)) }

const aSubquery = "a subquery"

// budget is how much host memory the rows of a subquery may take.
func (x *settling) budget(ctx context.Context) (int64, error) {
	budget, err := x.db.hostBudget()
	if err != nil && x.db.evict(ctx) {
		budget, err = x.db.hostBudget()
	}
	if err == nil && budget == 0 {
		budget = x.db.freeBytes()
	}
	return budget, err
}

func overBudget(of string, budget int64) error {
	return sqlstate.Also(sqlstate.Errorf(sqlstate.OutOfMemory, "the rows of %s take more than %s, which is what is left of the host memory budget: raise it (--host-memory), or select fewer rows", of, size(budget)), errNoRoom)
}

// collect reads rows to their end into a table; they are the table's fields at some places. Where they take more than half of the
// host memory budget and may leave it, they are spilled.
func (x *settling) collect(ctx context.Context, rows *Rows, out *table.Table, at []int, mayLeave bool) (*table.Table, *spilled, error) {
	fields := fieldsAt(out.Fields, at)
	budget, err := x.budget(rows.ctx)
	if err != nil {
		return nil, nil, err
	}
	b := table.NewBuilder(out.Name, fields, x.db.chunkRows())
	var gone *spilled
	piece := pieceOf(fields, budget)
	for batch := range rows.rest() {
		switch {
		case gone != nil:
			err = gone.add(batch, piece)
		default:
			if err = appendAll(b, batch, fields); err != nil || int64(b.Bytes()) <= budget/2 {
				break
			}
			if x.db.evict(rows.ctx) {
				budget, err = x.budget(rows.ctx)
			}
			switch taken := int64(b.Bytes()); {
			case err != nil:
			case mayLeave && taken > budget/2:
				gone = x.leave(out.Fields, at)
				err = gone.addTable(widened(b.Table(), out.Fields, at), piece)
				b = nil
			case taken > budget:
				err = overBudget(cmp.Or(x.into, aSubquery), budget)
			}
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, nil, err
		}
	}
	switch {
	case rows.Err() != nil:
		return nil, nil, rows.Err()
	case gone != nil:
		return nil, gone, nil
	}
	return widened(b.Table(), out.Fields, at), nil, nil
}

// appendRows appends a batch to a table, all columns at a time.
func appendRows(b *table.Builder, rows batch, fields []table.Field) error {
	failed := make([]error, len(fields))
	var work parallel.Group
	for i, f := range fields {
		do := func() { failed[i] = appendColumn(b.Column(i), rows, i, f.Type) }
		if rows.Len() < 1<<10 {
			do()
		} else {
			work.Go(do)
		}
	}
	work.Wait()
	for _, err := range failed {
		if err != nil {
			return err
		}
	}
	return b.EndRows(rows.Len())
}

// appendColumn appends a column of a batch.
func appendColumn(c *table.ColumnBuilder, rows batch, i int, t table.Type) error {
	if v, ok := rows.(valueRows); ok {
		for _, row := range v {
			v, err := stored(row[i], t)
			if err != nil {
				return err
			}
			c.Value(v)
		}
		return nil
	}
	a := rows.(computed)[i]
	if t.Kind != table.Varchar && t.Kind != table.Interval && arrow.TypeEqual(a.DataType(), arrays.TypeOf(t)) && arrays.AppendArray(c, t, a) == nil {
		return nil
	}
	switch a := a.(type) {
	case *array.String:
		if t.Kind != table.Varchar {
			return appendValues(c, a, t)
		}
		appendNumbers(c, a, func(k int) { c.String(a.Value(k)) })
	case *array.Dictionary:
		words, ok := a.Dictionary().(*array.String)
		if !ok {
			return appendValues(c, a, t)
		}
		numbers := make([]uint64, words.Len()) // plus one, of those that the rows have
		appendNumbers(c, a, func(k int) {
			at := a.GetValueIndex(k)
			if numbers[at] == 0 {
				numbers[at] = c.Number(words.Value(at)) + 1
			}
			c.Ordinal(numbers[at] - 1)
		})
	default:
		return appendValues(c, a, t)
	}
	return nil
}

// appendValues appends an array's values one by one.
func appendValues(c *table.ColumnBuilder, a arrow.Array, t table.Type) error {
	value := arrays.Values(a, t)
	for k := range a.Len() {
		v, err := stored(value(k), t)
		if err != nil {
			return err
		}
		c.Value(v)
	}
	return nil
}

// appendNumbers appends an array's values, or NULLs.
func appendNumbers(c *table.ColumnBuilder, a arrow.Array, value func(k int)) {
	for k := range a.Len() {
		if a.IsNull(k) {
			c.Null()
		} else {
			value(k)
		}
	}
}

// stored is a value as a column of a type can have it.
func stored(v table.Value, t table.Type) (table.Value, error) {
	switch {
	case v.Null:
		return v, nil
	case v.Months != 0 && !v.Unscaled().IsInt64():
		return v, sqlstate.Errorf(sqlstate.NumericOutOfRange, "a column cannot have the interval %s: it takes more than 64 bits", v)
	case t.Kind == table.Decimal && v.Type.Scale != t.Scale:
		scaled, err := expr.Eval(&expr.Cast{X: &expr.Const{V: v, P: -1}, To: t, P: -1}, &expr.Env{})
		if err != nil {
			return v, err
		}
		v = scaled
	}
	if v.Big != nil {
		return v, sqlstate.Errorf(sqlstate.NumericOutOfRange, "a column cannot have the value %s: it takes more than 64 bits", v)
	}
	return v, nil
}

// isTrue reports that a condition, or none, is TRUE.
func isTrue(where expr.Expr, env *expr.Env) (bool, error) {
	if where == nil {
		return true, nil
	}
	v, err := expr.Eval(where, env)
	return !v.Null && v.I != 0, err
}

// maxSteps is the most steps of a WITH RECURSIVE, which may have no end.
var maxSteps = 10_000_000

// recursion runs the steps of WITH RECURSIVE until one gives no rows, or enough are there. The rows that were there before are left
// out by a query, too: for UNION.
func (x *settling) recursion(ctx context.Context, s *plan.Subplan, n *plan.Recursion) (*table.Table, error) {
	columns := all(plan.Width(n))
	budget, err := x.budget(ctx)
	if err != nil {
		return nil, err
	}
	out := table.NewBuilder(x.name(), n.Fields(), x.db.chunkRows())
	seen := map[string]bool{}
	left := n.Limit
	for tree, step := n.First, 0; ; tree, step = n.Step, step+1 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		t, a, err := x.rowsOf(ctx, s, tree, columns)
		if a != nil {
			err = expr.Coded(sqlstate.OutOfMemory, -1, "the rows of a step of WITH RECURSIVE take more than half of the host memory budget: raise it (--host-memory)")
		}
		if err != nil {
			return nil, err
		}
		if !n.All {
			if t, err = withoutSeen(t, seen); err != nil {
				return nil, err
			}
		}
		t.Fields = n.Fields()
		for _, c := range t.Chunks {
			for i := range c.Rows {
				if err := addRow(out, c, i); err != nil {
					return nil, err
				}
			}
		}
		if left >= 0 {
			left = max(left-holding(t, n.Where), 0)
		}
		if t.Rows() == 0 || left == 0 {
			x.rows[s] = out.Rows()
			return out.Table(), nil
		}
		taken := int64(out.Bytes())
		if !n.All { // seen has their texts
			taken = 4*taken + 100*int64(len(seen))
		}
		if why := ""; taken > budget/2 || step == maxSteps {
			if why = numbers.Count(int64(step), "step", "steps"); taken > budget/2 {
				why = "its rows take more than half of the host memory budget"
			}
			return nil, sqlstate.Errorf(sqlstate.InvalidRecursion, "the recursive query has given %s and may have no end (%s): write a condition that ends it, or LIMIT", numbers.Count(int64(out.Rows()), "row", "rows"), why)
		}
		x.unset(n.Last)
		x.set(n.Last, t)
		x.forget(n.Step, n.Last)
	}
}

// addRow appends a row of a chunk. It fails for intervals that a column cannot have beside those of other chunks.
func addRow(b *table.Builder, c *table.Chunk, row int) error {
	for k, s := range c.Segments {
		b.Column(k).Value(s.Value(row))
	}
	return b.EndRow()
}

// holding counts the rows of a table for which conditions are TRUE, but for one that raises an error.
func holding(t *table.Table, where []expr.Expr) (n int64) {
	for _, c := range t.Chunks {
		for i := range c.Rows {
			env := &expr.Env{Column: func(k int) table.Value { return c.Segments[k].Value(i) }}
			if !slices.ContainsFunc(where, func(e expr.Expr) bool {
				v, err := expr.Eval(e, env)
				return err != nil || v.Null || v.I == 0
			}) {
				n++
			}
		}
	}
	return n
}

// forget has the subplans of a tree that read another one run again.
func (x *settling) forget(tree plan.Node, of *plan.Subplan) {
	for _, s := range plan.Subplans(tree) {
		if s != of && plan.UsesSubplan(&plan.Derived{Of: s}, of) {
			x.unset(s)
			delete(x.values, s)
			x.forget(s.Tree, of)
		}
	}
}

// withoutSeen is a table without rows that were seen before; those that it has are seen from now on.
func withoutSeen(t *table.Table, seen map[string]bool) (*table.Table, error) {
	b := table.NewBuilder(t.Name, t.Fields, 0)
	var key []byte
	for _, c := range t.Chunks {
		for i := range c.Rows {
			key = key[:0]
			for _, s := range c.Segments {
				v := s.Value(i)
				switch { // equal ones are the same
				case v.Null:
				case v.Type.Kind == table.Interval:
					v = table.Int(int64(table.Ordinal(v)))
				case v.F == 0:
					v.F = 0
				}
				key = fmt.Appendf(key, "%t %q,", v.Null, v.String())
			}
			if seen[string(key)] {
				continue
			}
			seen[string(key)] = true
			if err := addRow(b, c, i); err != nil {
				return nil, err
			}
		}
	}
	return b.Table(), nil
}

// valuesOf is a batch of rows that are no table's, of some fields, as values.
func valuesOf(b batch, fields []table.Field) valueRows {
	switch b := b.(type) {
	case valueRows:
		return b
	case intermediate:
		return b.values()
	}
	columns := b.(computed)
	out := make(valueRows, b.Len())
	room := make([]table.Value, len(out)*len(fields))
	for k, f := range fields {
		read := arrays.Reader(columns[k], f.Type)
		for i := range out {
			read(i, &room[i*len(fields)+k])
		}
	}
	for i := range out {
		out[i] = room[i*len(fields) : (i+1)*len(fields) : (i+1)*len(fields)]
	}
	return out
}

// repeated gives rows as often as their last value says, without that.
func (x *execution) repeated(n *plan.Repeat) stream {
	return func(yield func(batch, error) bool) {
		for b, err := range x.stream(n.Input) {
			if err != nil {
				yield(nil, err)
				return
			}
			var out valueRows
			for _, row := range valuesOf(b, n.Input.Fields()) {
				last := len(row) - 1
				for range row[last].I {
					if out = append(out, row[:last]); len(out) == 1<<12 {
						if !yield(out, nil) {
							return
						}
						out = nil
					}
				}
			}
			if !yield(out, nil) {
				return
			}
		}
	}
}

// subtrees are the subplans that a node reads and the subqueries in its expressions, which out says what they took.
func (x *Explanation) subtrees(n plan.Node, out *PlanNode) (list []*PlanNode) {
	switch n := n.(type) {
	case *plan.Derived:
		list = append(list, x.subtree(n.Of))
		out.Node += x.ran.words(n.Of)
	case *plan.Scan:
		if n.Of != nil {
			list = append(list, x.subtree(n.Of))
			out.Node += x.ran.words(n.Of)
		}
	}
	for _, e := range plan.Exprs(n) {
		expr.Walk(e, func(e expr.Expr) {
			if q, ok := e.(*expr.Subquery); ok {
				list = append(list, x.subtree(q.Of.(*plan.Subplan)))
			}
		})
	}
	return list
}

// subtree is a subplan, as it has run if it has.
func (x *Explanation) subtree(s *plan.Subplan) *PlanNode {
	if x.ran == nil || x.ran.parts[s] == nil && x.ran.windows[s] == nil {
		if x.pushed != nil {
			return x.node(x.pushed(s.Tree))
		}
		return x.node(s.Tree)
	}
	if x.ran.plans[s] == nil {
		var out *PlanNode
		switch parts := x.ran.parts[s]; s.Tree.(type) {
		case *plan.Window:
			if out = x.node(s.Tree); parts != nil {
				out.Inputs = parts
			}
			out.Executor, out.apart = x.ran.windows[s], true
		case *plan.Concat, *plan.Recursion:
			out = &PlanNode{Node: s.Tree.String(), Inputs: parts, apart: true}
		default:
			out = parts[0]
		}
		x.ran.plans[s] = out
	}
	return x.ran.plans[s]
}

// subqueries are those of one value, which have become constants.
func (x *settling) subqueries(of *Explanation) (list []*PlanNode) {
	if x == nil {
		return nil
	}
	for _, s := range x.scalars {
		list = append(list, &PlanNode{Node: "Subquery gives " + x.values[s].String() + x.words(s), Inputs: []*PlanNode{of.subtree(s)}})
	}
	return list
}

// words say what a subplan gave and took.
func (x *settling) words(s *plan.Subplan) string {
	if x == nil {
		return ""
	}
	of := x.stats[s]
	text := fmt.Sprintf(" (%s, %s", numbers.Count(int64(x.rows[s]), "row", "rows"), numbers.Milliseconds(of.Elapsed.Seconds()))
	if of.Backend != "" {
		text += " on " + of.Backend
	}
	if e := x.tables[s]; e != nil {
		if gone, ok := e.Source.(*spilled); ok {
			text += ", spilled " + size(gone.bytes()) + " to a temporary file"
		}
	}
	return text + ")"
}
