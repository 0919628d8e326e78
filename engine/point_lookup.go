package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stencildb/stencildb/cpu/vector"
	"github.com/stencildb/stencildb/engine/querystats"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/storage"
	"github.com/stencildb/stencildb/table"
)

// rowsOfKey is [catalog.Indexes.RowsOfKey] with the room that the DB has.
func (db *DB) rowsOfKey(ctx context.Context, k *storage.Key, values []table.Value, chunk *table.Chunk) (rows []uint32, ok bool, err error) {
	return db.indexes.RowsOfKey(ctx, k, values, chunk, func(bytes int64) bool {
		if db.now().hostMemory == 0 {
			return true
		}
		left, err := db.hostBudget()
		return err == nil && left >= bytes
	})
}

// pointLookup is a query of the rows of one table whose condition gives values for a key. Only a select list and a LIMIT are above it.
type pointLookup struct {
	table  string
	of     *storage.Definition
	key    *storage.Key
	values []table.Value // of its columns
	where  expr.Expr     // all of the condition
	items  []plan.Item
	reads  []int       // the columns of the table that it reads
	limit  *plan.Limit // nil for none
}

// pointLookupOf is a tree as a look-up; nil for another one.
func (db *DB) pointLookupOf(tree plan.Node) *pointLookup {
	l := &pointLookup{}
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
	if e == nil || e.Definition == nil || len(e.Definition.Keys) == 0 {
		return nil
	}
	l.table, l.of = e.Name, e.Definition
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

// plannedLookup is the look-up that a statement is which is planned for EXPLAIN; nil where it is none.
func (s *Statement) plannedLookup() *pointLookup {
	if !s.looks || s.nested != nil || !s.db.usesPointLookups() {
		return nil
	}
	return s.db.pointLookupOf(plan.Rewrite(s.tree, func(n plan.Node) plan.Node {
		if f, ok := n.(*plan.Fragment); ok && f.Tree != nil {
			return f.Tree
		}
		return n
	}))
}

// step is the look-up as EXPLAIN shows it.
func (l *pointLookup) step() Step {
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
func (l *pointLookup) rows(ctx context.Context, db *DB, t *table.Table, do func(number int, value func(col int) table.Value) error) (ok bool, err error) {
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

// usesPointLookups reports that rows are looked for by a key: where no backend was asked for that would find them by passes of its own.
func (db *DB) usesPointLookups() bool {
	name := db.Backend()
	return name == "cpu" || name == "auto"
}

// changed are the numbers of the rows that an UPDATE or a DELETE finds, ascending, and its other items as columns. ok is false where the
// rows are not to be looked up one by one.
func (l *pointLookup) changed(ctx context.Context, db *DB) (numbers []int, columns []*table.Segment, ok bool, err error) {
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

// answerLookup is the answer of a SELECT that is a look-up. It is nil where the rows are not to be looked up one by one, or have not been
// read.
func (s *Statement) answerLookup(ctx context.Context) (r *Rows, err error) {
	start := time.Now()
	db, l := s.db, s.lookup
	e := db.entry(l.table)
	if e == nil || e.Definition != l.of {
		return nil, nil
	}
	if t := e.Table.Load(); t == nil || !t.Has(l.reads) {
		return nil, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, s.described(err)
	}
	defer recovered(&err)
	if err := settle(ctx, []*table.Table{e.Table.Load()}); err != nil {
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
	r = &Rows{of: s, ctx: ctx, at: -1, collector: querystats.NewCollector(Stats{Backend: "cpu"}), next: func() (batch, error, bool) { return nil, nil, false }}
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
