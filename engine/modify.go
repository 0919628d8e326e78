package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/stencildb/stencildb/engine/catalog"
	"github.com/stencildb/stencildb/engine/querystats"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/internal/parallel"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/sql"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/storage"
	"github.com/stencildb/stencildb/table"
)

// mutation is a statement that changes a table.
type mutation struct {
	*Statement
	*sql.Change
	params  []table.Value
	def     *storage.Definition
	changed int           // rows
	rows    *table.Table  // those that are new, or changed, with the table's columns; nil where they are not asked for
	beside  *table.Table  // rows with the columns of other tables that RETURNING reads; nil without such
	merged  map[int]bool  // of a part of a MERGE: rows that it and the parts before change; else nil
	unpins  []func()      // of tables that no catalog has; called when some of their segments are a table's
	target  string        // the table whose rows have numbers in the trees; "" for none
	lookup  *pointLookup  // Rows, where they are looked for by a key; else nil
	files   *storage.Rows // the target, where it is not in memory; else nil
	kept    *ingest.Kept  // what COPY FROM STDIN has read; nil for another statement
	inParts bool          // the rows that it adds go to files piece by piece
}

// change executes a statement that changes tables. Others see all that it changes when it has ended without an error,
// else nothing.
func (s *Statement) change(ctx context.Context, args []any) (r *Rows, err error) {
	params, err := parameters(args)
	if err != nil {
		return nil, s.described(err)
	}
	r, _, err = s.changeOf(ctx, params, false)
	return r, err
}

var errBind = errors.New("the statement has to be bound")

// changeOf is change with values. Where the statement has to repeat one that was bound before, ok is false, and nothing has happened, if it cannot.
func (s *Statement) changeOf(ctx context.Context, params []table.Value, repeats bool) (_ *Rows, ok bool, err error) {
	start := time.Now()
	m := &mutation{Statement: s, params: params}
	defer func() {
		if m.kept != nil {
			m.kept.Close()
		}
	}()
	r, wait, err := m.run(ctx, repeats)
	if err != nil && repeats && (errors.Is(err, errBind) || errors.As(err, new(*expr.Error))) {
		return nil, false, nil
	}
	switch {
	case err == nil:
		err = wait() // those that change meanwhile share a sync
	case hasNoRoom(err) && m.mayAdd():
		r, err = m.added(ctx, err)
	case hasNoRoom(err) && m.kept != nil: // what came once does not come again
		err = sqlstate.Errorf(sqlstate.Of(err), "%s", err)
	case hasNoRoom(err) && m.onlyAdds():
		err = fmt.Errorf("%w; outside of a transaction a table that is kept in a folder (--db) takes any number of rows", err)
	}
	if err != nil {
		return nil, true, s.described(err)
	}
	r.waited += time.Since(start)
	return r, true, nil
}

// recovered makes an error of a panic, also of one that another goroutine had. It is deferred.
func recovered(err *error) {
	if p := parallel.Caught(recover()); p != nil {
		*err = fmt.Errorf("engine: %w", p)
	}
}

// run changes tables; what is so is kept when wait has returned.
func (m *mutation) run(ctx context.Context, repeats bool) (_ *Rows, wait func() error, err error) {
	defer recovered(&err)
	s, db := m.Statement, m.db
	if err = db.writes(); err != nil {
		return nil, nil, err
	}
	if err = db.tables.Writer.Acquire(ctx, 1); err != nil {
		return nil, nil, err
	}
	defer db.tables.Writer.Release(1)
	defer m.unpin()
	c, view := sql.Catalog{}, db
	switch again := s.again.Load(); {
	case m.repeat(again, m.params):
	case repeats:
		return nil, nil, errBind
	default:
		if c, view, err = m.bind(ctx); err != nil {
			return nil, nil, err
		}
	}
	if m.target != "" && m.lookup == nil && (m.files != nil || !m.lookUp()) {
		r := s.empty(ctx)
		r.collector = &querystats.Collector{}
		if done, err := m.ahead(ctx, c, r.collector); done || err != nil {
			r.changed = m.changed
			return r, func() error { return nil }, err
		}
		if view, err = m.numbered(ctx); err != nil {
			return nil, nil, err
		}
	}
	changes, next, err := m.computed(ctx, view)
	if err != nil {
		return nil, nil, err
	}
	r := s.empty(ctx)
	r.changed = m.changed
	if m.Returning != nil { // to the last row, whose error leaves all as it was
		rows := map[string]*table.Table{m.Table: m.rows}
		if m.beside != nil {
			rows = map[string]*table.Table{newRows: m.beside}
		}
		answer, err := Collect(m.view(rows).answer(ctx, s, m.Returning, m.params))
		if err != nil {
			return nil, nil, err
		}
		r.columns, r.now = answer.Columns, valueRows(answer.Rows)
	}
	wait, err = m.finish(ctx, changes, next)
	return r, wait, err
}

// computed is what the statement changes, and the tables that it makes. The parts of a MERGE change them one after another.
func (m *mutation) computed(ctx context.Context, view *DB) (changes []storage.Change, next []newVersion, err error) {
	if m.Parts == nil {
		if changes, err = m.changes(ctx, view); err == nil {
			next, err = m.apply(ctx, nil, changes)
		}
		return changes, next, err
	}
	of := make([][]storage.Change, len(m.Parts))
	parts, merged := make([]*mutation, len(m.Parts)), map[int]bool{}
	for i, part := range m.Parts { // all of the table as it is
		p := &mutation{Statement: m.Statement, Change: part, params: m.params, def: m.def, files: m.files, merged: merged}
		parts[i] = p
		of[i], err = p.changes(ctx, view)
		m.unpins, p.unpins = append(m.unpins, p.unpins...), nil
		if err != nil {
			return nil, nil, err
		}
		m.changed += p.changed
	}
	for i, p := range parts {
		for k := range of[i] {
			of[i][k].Compact = false // the others have the numbers of rows
		}
		next, err = p.apply(ctx, next, of[i])
		m.unpins = append(m.unpins, p.unpins...)
		if err != nil {
			return nil, nil, err
		}
		changes = append(changes, of[i]...)
	}
	return changes, next, nil
}

// writes reports why the DB takes no changes.
func (db *DB) writes() error {
	switch {
	case db.backends.IsClosed():
		return ErrClosed
	case db.tx != nil && db.tx.readOnly:
		return sqlstate.Errorf(sqlstate.ReadOnlyTransaction, "a read-only transaction takes no statement that changes tables: begin one that writes")
	}
	return db.tx.usable()
}

// finish makes the changes those of the transaction, or else commits them.
func (m *mutation) finish(ctx context.Context, changes []storage.Change, next []newVersion) (wait func() error, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for _, n := range next { // what is resident of these stays
		if n.table != nil && n.pending == nil {
			defer m.db.pinned(n.table)()
		}
	}
	m.unpin() // so that what it writes to may be nobody else's
	if tx := m.db.tx; tx != nil {
		return func() error { return nil }, tx.keep(ctx, changes, next)
	}
	return m.db.commit(ctx, changes, next)
}

// unpin lets go of the tables that the statement has made.
func (m *mutation) unpin() {
	for _, f := range m.unpins {
		f()
	}
	m.unpins = nil
}

// view is the DB with other tables in the place of those of their names, or besides. They do not change.
func (m *mutation) view(tables map[string]*table.Table) *DB {
	db := m.db
	c := db.tables.View()
	for name, t := range tables {
		e := catalog.NewEntry(name, nil)
		if old := db.entry(name); old != nil {
			e.Definition = old.Definition
		}
		e.Table.Store(t)
		e.Private = t == m.rows || t == m.beside || db.tx != nil
		c.Put(name, e)
		m.unpins = append(m.unpins, db.pinned(t))
	}
	return &DB{core: db.core, tables: c, plans: &planCache{}, statements: db.statements, config: db.config, tx: db.tx}
}

// bind resolves the statement's names in a catalog. It returns the catalog with the DB that its trees are for, unless the target's rows
// need numbers.
func (m *mutation) bind(ctx context.Context) (c sql.Catalog, view *DB, err error) {
	db := m.db
	c, view = db.catalog(ctx), db
	m.target, err = m.parsed.Numbered(c)
	if err != nil {
		return c, nil, err
	}
	switch {
	case m.parsed.Copy == nil:
	case m.inParts:
		if view, err = m.copiedFile(ctx, c); err != nil {
			return c, nil, err
		}
		c = view.catalog(ctx)
	default:
		rows, err := m.copied(ctx, c)
		if err != nil {
			return c, nil, err
		}
		view = m.view(map[string]*table.Table{sql.CopiedRows: rows})
		c = view.catalog(ctx)
	}
	if m.target != "" {
		e := db.entry(m.target) // another one, of which nothing is read, may be in its place at any time: see evict
		if m.files, err = db.inFiles(ctx, e); err != nil {
			return c, nil, err
		}
		t := e.Table.Load()
		if m.files == nil && (t == nil || !t.Has(t.All())) {
			if t, err = db.whole(ctx, m.target); err != nil {
				return c, nil, err
			}
		}
		named := &table.Table{Name: t.Name, Fields: append(slices.Clip(t.Fields), table.NumberField), Version: t.Version, Chunks: t.Chunks}
		tables := c.Table
		c.Table = func(i int) (*table.Table, error) {
			if i < len(c.Names) && c.Names[i] == m.target {
				return named, nil
			}
			return tables(i)
		}
	}
	var again *sql.GenericPlan
	if m.Change, again, err = m.parsed.BindGeneric(c, m.params...); err != nil {
		return c, nil, err
	}
	if m.def = m.Define; m.def == nil && m.Table != "" {
		m.def = db.entry(m.Table).Definition
	}
	m.keepBound(again, m.def, c.Version, c.Off)
	return c, view, nil
}

// lookUp reports that the rows of the target which the statement changes are looked for by a key.
func (m *mutation) lookUp() bool {
	switch {
	case m.Parts != nil:
		return false
	case m.Conflict != nil:
		v, ok := m.Rows.(*plan.Values)
		return ok && constants(v)
	case m.db.usesPointLookups():
		m.lookup = m.db.pointLookupOf(m.Rows)
	}
	return m.lookup != nil
}

// numbered is the DB with the target numbered: its rows have [table.NumberField].
func (m *mutation) numbered(ctx context.Context) (*DB, error) {
	db := m.db
	if m.files != nil {
		rows := m.files.Numbered()
		view := m.view(nil)
		e := catalog.NewEntry(m.target, func(context.Context, ingest.Options) (catalog.Source, error) { return rows, nil })
		e.Definition, e.Private = db.entry(m.target).Definition, true
		view.tables.Put(m.target, e)
		_, err := view.read(ctx, e, nil)
		return view, err
	}
	t, err := db.whole(ctx, m.target)
	if err != nil {
		return nil, err
	}
	t, db.tables.RowNumbers[m.target] = t.Numbered(db.tables.RowNumbers[m.target])
	return m.view(map[string]*table.Table{m.target: t}), nil
}

// answer runs a tree as a statement of the DB.
func (db *DB) answer(ctx context.Context, of *Statement, tree plan.Node, params []table.Value) (*Rows, error) {
	b, err := db.planned(ctx, tree, db.catalog(ctx), params)
	if err != nil {
		return nil, err
	}
	return (&Statement{db: db, script: of.script, parsed: of.parsed, bound: b, part: true}).run(ctx, nil)
}

// given is the rows of the statement's query as a table with fields.
func (m *mutation) given(ctx context.Context, db *DB, fields []table.Field) (*table.Table, error) {
	if m.Rows == nil {
		return &table.Table{Name: m.Table, Fields: fields}, nil
	}
	if v, ok := m.Rows.(*plan.Values); ok && constants(v) {
		return m.written(v, fields)
	}
	if t, err := m.whole(ctx, db, fields); t != nil || err != nil {
		return t, err
	}
	return m.collected(ctx, db, m.Rows, fields)
}

// constants reports rows of VALUES that read nothing.
func constants(v *plan.Values) bool {
	return v.Input == nil && !slices.ContainsFunc(v.Rows, func(row []expr.Expr) bool {
		return slices.ContainsFunc(row, func(e expr.Expr) bool { return !ofRow(e) })
	})
}

// written are rows of VALUES as a table.
func (m *mutation) written(v *plan.Values, fields []table.Field) (*table.Table, error) {
	if len(v.Rows) == 1 && !slices.ContainsFunc(fields, func(f table.Field) bool { return f.Type.Kind == table.Interval }) {
		row, err := evaluate(v.Rows[0], func(e expr.Expr) expr.Expr { return e }, nil)
		one := &table.Chunk{Rows: 1, Segments: make([]*table.Segment, len(fields))}
		for i := 0; i < len(fields) && err == nil; i++ {
			if row[i], err = stored(row[i], fields[i].Type); err == nil {
				one.Segments[i] = table.SegmentOf(fields[i].Type, row[i])
			}
		}
		return &table.Table{Name: m.Table, Fields: fields, Chunks: []*table.Chunk{one}}, err
	}
	b := table.NewBuilder(m.Table, fields, m.db.chunkRows())
	for _, list := range v.Rows {
		row, err := evaluate(list, func(e expr.Expr) expr.Expr { return e }, nil)
		if err != nil {
			return nil, err
		}
		if err := appendRows(b, valueRows{row}, fields); err != nil {
			return nil, err
		}
	}
	return b.Table(), nil
}

// whole is the rows of a query that gives columns of a table, with all of its rows and no others. The columns have the types
// of fields. It shares the table's segments. Of another query it is nil.
func (m *mutation) whole(ctx context.Context, db *DB, fields []table.Field) (*table.Table, error) {
	p, ok := m.Rows.(*plan.Project)
	if !ok {
		return nil, nil
	}
	scan, ok := p.Input.(*plan.Scan)
	if !ok || scan.Of != nil || scan.Table != sql.CopiedRows && (db.entry(scan.Table) == nil || db.entry(scan.Table).Definition == nil) {
		return nil, nil
	}
	for i, f := range p.Fields() {
		if f.Type != fields[i].Type {
			return nil, nil
		}
	}
	if _, err := db.whole(ctx, scan.Table); errors.As(err, new(*ingest.MemoryError)) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	x := &settling{Statement: &Statement{db: db}}
	t, err := x.asIs(ctx, p)
	m.unpins = append(m.unpins, x.unpins...)
	if t != nil {
		t.Name, t.Fields = m.Table, fields
	}
	return t, err
}

// changes are what the statement changes.
func (m *mutation) changes(ctx context.Context, db *DB) ([]storage.Change, error) {
	switch m.Verb {
	case "CREATE TABLE", "INSERT", "COPY":
		if m.Lax { // and there is one
			return nil, nil
		}
		t, err := m.given(ctx, db, m.def.Fields)
		if err != nil {
			return nil, err
		}
		ch := storage.Change{Table: m.Table, Define: m.Define}
		if t, err = m.setSequences(&ch, t); err == nil {
			t, err = m.fitRows(t)
		}
		if err != nil {
			return nil, err
		}
		if m.Conflict != nil {
			return m.resolve(ctx, t, ch)
		}
		if m.rows, m.changed = t, t.Rows(); m.changed == 0 && m.Define == nil {
			return nil, nil
		}
		ch.Append = t.Chunks
		return []storage.Change{ch}, nil
	case "ALTER TABLE", "CREATE INDEX":
		if m.Lax { // and there is none
			return nil, nil
		}
		if m.Verb == "CREATE INDEX" {
			if k := m.Define.Keys[len(m.Define.Keys)-1]; m.db.hasIndex(k.Name) {
				return nil, sqlstate.Errorf(sqlstate.DuplicateTable, "index %q already exists", k.Name)
			}
		}
		return m.alter(ctx, db)
	case "CREATE VIEW":
		if m.Replaces {
			m.More = []string{m.Table}
		}
		return append(m.dropped(), storage.Change{Table: m.Table, Define: m.Define}), nil
	case "DROP TABLE", "DROP VIEW", "ALTER VIEW":
		return append(m.dropped(), m.defined()...), nil
	case "TRUNCATE":
		var list []storage.Change
		for _, name := range m.More {
			def := m.db.entry(name).Definition
			if m.Restart {
				def = restartedSequences(def)
			}
			list = append(list, storage.Change{Table: name, Drop: true}, storage.Change{Table: name, Define: def})
		}
		return list, nil
	}
	numbers, columns, err := m.found(ctx, db)
	if err != nil {
		return nil, err
	}
	m.changed = len(numbers)
	ch := storage.Change{Table: m.Table}
	for _, of := range m.Sequences {
		if m.changed == 0 {
			break
		}
		if columns[slices.Index(m.Set, of.Column)], err = m.db.takeNumbers(&ch, m.def, of.Column, m.changed); err != nil {
			return nil, err
		}
	}
	if err := m.fitColumns(m.def, columns); err != nil {
		return nil, err
	}
	if len(m.Set) == len(m.def.Fields) {
		m.rows = &table.Table{Name: m.Table, Fields: m.def.Fields}
		if len(numbers) > 0 {
			chunk := &table.Chunk{Rows: len(numbers), Segments: make([]*table.Segment, len(m.Set))}
			for i, col := range m.Set {
				chunk.Segments[col] = columns[i]
			}
			m.rows.Chunks = []*table.Chunk{chunk}
		}
		if m.Others != nil {
			m.beside = &table.Table{Name: newRows, Fields: append(slices.Clip(m.def.Fields), m.Others...)}
			for _, c := range m.rows.Chunks {
				m.beside.Chunks = []*table.Chunk{{Rows: c.Rows, Segments: append(slices.Clip(c.Segments), columns[len(m.Set):]...)}}
			}
		}
	}
	switch {
	case m.changed == 0:
		return nil, nil
	case m.Verb == "DELETE":
		return []storage.Change{{Table: m.Table, Delete: numbers, Compact: m.db.tx == nil && m.files == nil && m.sparse(len(numbers), 2)}}, nil
	}
	for i, col := range m.Set[:m.Assigned] {
		ch.Update = append(ch.Update, storage.Update{Column: col, Rows: numbers, Values: columns[i]})
	}
	return []storage.Change{ch}, nil
}

// dropped are the changes that drop tables and views.
func (m *mutation) dropped() (list []storage.Change) {
	for _, name := range m.More {
		list = append(list, storage.Change{Table: name, Drop: true})
	}
	return list
}

// defined are the changes that define views anew.
func (m *mutation) defined() (list []storage.Change) {
	for _, v := range m.Views {
		if m.db.entry(v.Name) != nil {
			list = append(list, storage.Change{Table: v.Name, Drop: true})
		}
		list = append(list, storage.Change{Table: v.Name, Define: v})
	}
	return list
}

// found are the numbers of the rows that the statement changes, and the columns of Set.
func (m *mutation) found(ctx context.Context, db *DB) (numbers []int, columns []*table.Segment, err error) {
	fields := []table.Field{table.NumberField}
	for _, col := range m.Set {
		fields = append(fields, m.def.Fields[col])
	}
	fields = append(fields, m.Others...)
	if m.lookup != nil {
		var ok bool
		if numbers, columns, ok, err = m.lookup.changed(ctx, m.db); ok || err != nil {
			return numbers, columns, err
		}
		if db, err = m.numbered(ctx); err != nil {
			return nil, nil, err
		}
	}
	t, err := m.given(ctx, db, fields)
	if err != nil {
		return nil, nil, err
	}
	if numbers, columns, err = byNumber(t); err != nil || m.merged == nil {
		return numbers, columns, err
	}
	twice := len(numbers) < t.Rows()
	for _, n := range numbers {
		twice = twice || m.merged[n]
		m.merged[n] = true
	}
	if twice {
		return nil, nil, sqlstate.Errorf(sqlstate.CardinalityViolation, "MERGE command cannot affect row a second time: a row of the table has several rows of the source; make these one, with GROUP BY or DISTINCT ON")
	}
	return numbers, columns, nil
}

// sparse reports that more than a part of the table's rows will have gone when n more do.
func (m *mutation) sparse(n, part int) bool {
	rows := 0
	for _, c := range m.db.entry(m.Table).Table.Load().Chunks {
		rows, n = rows+c.Rows, n+c.Deleted
	}
	return n > rows/part
}

// byNumber is a table whose first column has numbers of rows, ascending and each once, and its other columns. Of rows
// with the same number the first counts.
func byNumber(t *table.Table) (numbers []int, columns []*table.Segment, err error) {
	if len(t.Chunks) == 0 {
		return nil, make([]*table.Segment, len(t.Fields)-1), nil
	}
	one := t.Chunks[0]
	for _, c := range t.Chunks[1:] {
		if one, err = table.Joined(t.Fields, one, c); err != nil {
			return nil, nil, err
		}
	}
	of, ascending := one.Segments[0], true
	numbers = make([]int, one.Rows)
	for i, n := range table.Gather(of.Codes, table.Block{N: one.Rows}, of.Decode(0).I) {
		numbers[i] = int(n)
		ascending = ascending && (i == 0 || numbers[i] > numbers[i-1])
	}
	if ascending {
		return numbers, one.Segments[1:], nil
	}
	order := all(one.Rows)
	slices.SortStableFunc(order, func(a, b int) int { return numbers[a] - numbers[b] })
	order = slices.CompactFunc(order, func(a, b int) bool { return numbers[a] == numbers[b] })
	var sorted []int
	for _, at := range order {
		sorted = append(sorted, numbers[at])
	}
	for _, s := range one.Segments[1:] {
		values := make([]table.Value, len(order))
		for i, at := range order {
			values[i] = s.Value(at)
		}
		columns = append(columns, table.SegmentOf(s.Type, values...))
	}
	return sorted, columns, nil
}

// newVersion is the next snapshot of a table; none where it is dropped.
type newVersion struct {
	name    string
	def     *storage.Definition
	table   *table.Table
	pending *storage.Change // that makes it when it is installed, of the one before; nil: it is there
	filed   bool            // it is in files, and not in memory
	apart   *storage.Rows   // of the same files, before the change; nil where the files are others
	after   *storage.Rows   // and after it; nil where nobody has asked for them yet
}

// apply checks the rows that are new, and applies the changes, to the tables of list where it has them.
func (m *mutation) apply(ctx context.Context, list []newVersion, changes []storage.Change) (_ []newVersion, err error) {
	for i, c := range changes {
		n := newVersion{name: c.Table, def: c.Define}
		e := m.db.entry(c.Table)
		if n.def == nil && e != nil {
			n.def = e.Definition
		}
		var t *table.Table
		apart := (*storage.Rows)(nil) // the rows before the change, where they are in files
		if at := slices.IndexFunc(list, func(o newVersion) bool { return o.name == c.Table }); at >= 0 {
			t, n.apart, apart = list[at].table, list[at].apart, list[at].after
			list = slices.Delete(list, at, at+1)
		} else if e != nil && !c.Drop { // whose rows nobody asks for
			if c.Keeps() {
				n.apart, err = m.db.inFiles(ctx, e)
			}
			if apart = n.apart; err == nil && apart == nil {
				t, err = m.db.whole(ctx, c.Table)
			}
			if err != nil {
				return nil, err
			}
		}
		if c.From != nil {
			if n.name = c.Define.Name; n.name != c.Table { // there is none of the name before
				list = append(list, newVersion{name: c.Table})
			}
		}
		if apart != nil {
			if c.From != nil {
				n.after, err = m.alterApart(ctx, e.Definition, apart, &c)
			} else {
				n.after, err = m.checkApart(ctx, apart, &c)
			}
			if err != nil {
				return nil, err
			}
			n.filed = true
			list = append(list, n)
			continue
		}
		late := m.db.tx == nil && c.Written() && m.merged == nil && !m.changesKeys(&c)
		if late {
			if err := c.Fits(t); err != nil {
				return nil, err
			}
		}
		made := &changes[i] // c as it is made: rows that it updates may move
		if *made, err = c.MoveRows(t); err != nil {
			return nil, err
		}
		if len(made.Delete) > len(c.Delete) && m.db.store == nil && m.db.tx == nil && m.merged == nil && m.sparse(len(made.Delete), 3) {
			made.Compact, late = true, false // the old places of moved rows go; in a folder the next checkpoint does that, since the log would make statements read a whole table
		}
		if n.table = t; late {
			n.pending = made
		} else if n.table, err = made.Apply(t); err != nil {
			return nil, err
		}
		if c.From != nil {
			err = m.fits(ctx, m.db.entry(c.Table).Definition, &c, m.view(map[string]*table.Table{n.name: n.table}))
		} else {
			err = m.check(ctx, &c, t, n.table)
		}
		if err != nil {
			return nil, err
		}
		list = append(list, n)
	}
	return list, nil
}

// changes reports that a change updates columns of a key.
func changes(k storage.Key, c *storage.Change) bool {
	return slices.ContainsFunc(c.Update, func(u storage.Update) bool { return slices.Contains(k.Columns, u.Column) })
}

// changesKeys reports that a change updates columns of some key of the table.
func (m *mutation) changesKeys(c *storage.Change) bool {
	return slices.ContainsFunc(m.def.Keys, func(k storage.Key) bool { return changes(k, c) })
}

// changedColumns are the values that a change gives columns.
func changedColumns(c *storage.Change) (list []changedColumn) {
	for _, chunk := range c.Append {
		for i, s := range chunk.Segments {
			list = append(list, changedColumn{i, s})
		}
	}
	for _, u := range c.Update {
		list = append(list, changedColumn{u.Column, u.Values})
	}
	return list
}

// check reports the first rule of the table that its new rows break. before is the table without the change, nil where the change
// makes it.
func (m *mutation) check(ctx context.Context, c *storage.Change, before, next *table.Table) error {
	changed := changedColumns(c)
	if err := m.hold(ctx, changed); err != nil || len(changed) == 0 {
		return err
	}
	for _, k := range m.def.Keys {
		rows := &table.Table{Name: newRows, Fields: next.Fields, Chunks: c.Append}
		if changes(k, c) { // some keys of the table are others
			rows.Chunks = next.Chunks
		} else if len(c.Append) == 0 {
			continue
		}
		if before != nil {
			if apart, err := m.apart(ctx, k, c, before); apart || err != nil {
				if err != nil {
					return err
				}
				continue
			}
		}
		if err := m.unique(ctx, k, rows, next); err != nil {
			return err
		}
	}
	return nil
}

// changedColumn is values that a column of a table gets.
type changedColumn struct {
	at int
	of *table.Segment
}

// The kinds of errors of rows that break a rule of their table, for errors.Is. Rules that ALTER TABLE or CREATE UNIQUE INDEX adds have
// them, too.
var (
	ErrDuplicateKey = sqlstate.Errorf(sqlstate.UniqueViolation, "duplicate key")
	ErrNotNull      = sqlstate.Errorf(sqlstate.NotNullViolation, "NULL in a column that is NOT NULL")
	ErrCheck        = sqlstate.Errorf(sqlstate.CheckViolation, "a CHECK is false")
)

// hold reports the first rule of the table that its new rows break by themselves.
func (m *mutation) hold(ctx context.Context, changed []changedColumn) error {
	for _, ch := range changed {
		f := m.def.Fields[ch.at]
		if ch.of.Nulls > 0 && m.def.Columns[ch.at].NotNull {
			return sqlstate.Also(sqlstate.Errorf(sqlstate.NotNullViolation, "null value in column %q of relation %q violates not-null constraint", f.Name, m.def.Name), ErrNotNull)
		}
		if err := inRange(f, ch.of); err != nil {
			return err
		}
	}
	if len(changed) == 0 || len(m.def.Checks) == 0 {
		return nil
	}
	check, err := m.broken(ctx, m.view(map[string]*table.Table{m.Table: m.rows}), m.Table, m.def.Checks)
	if err == nil && check != nil {
		err = sqlstate.Also(sqlstate.Errorf(sqlstate.CheckViolation, "new row for relation %q violates check constraint %q", m.def.Name, check.Name), ErrCheck)
	}
	return err
}

// broken is a check that some row of a table does not satisfy: the first of that row; nil where there is none. One statement asks for several of them, unless
// they are so long that their operators together may be more than an expression takes.
func (m *mutation) broken(ctx context.Context, view *DB, name string, checks []storage.Check) (*storage.Check, error) {
	const most = 512 // bytes of conditions
	for len(checks) > 0 {
		n, size := 0, 0
		var when, all []string
		for n < len(checks) && (n == 0 || size+len(checks[n].SQL) <= most) {
			when, all = append(when, fmt.Sprintf("WHEN NOT (%s) THEN %d", checks[n].SQL, n)), append(all, "("+checks[n].SQL+")")
			n, size = n+1, size+len(checks[n].SQL)
		}
		found, err := m.ask(ctx, view, fmt.Sprintf("SELECT CASE %s END FROM %s WHERE NOT (%s) LIMIT 1", strings.Join(when, " "), expr.Ident(name), strings.Join(all, " AND ")))
		if err != nil {
			return nil, err
		}
		if len(found) > 0 {
			return &checks[found[0][0].I], nil
		}
		checks = checks[n:]
	}
	return nil, nil
}

// fitted are values of a column of limited length, cut to the characters that the column takes. As in PostgreSQL only blanks are cut,
// and CHAR loses all blanks at its end. It fails for a text that is longer without them.
func fitted(def *storage.Definition, col int, s *table.Segment) (*table.Segment, error) {
	c := def.Columns[col]
	fits := func(text string) bool {
		return !(c.Padded && strings.HasSuffix(text, " ")) && (c.Length == 0 || len(text) <= c.Length || utf8.RuneCountInString(text) <= c.Length)
	}
	if c.Length == 0 && !c.Padded || s == nil || !slices.ContainsFunc(s.Dict, func(text string) bool { return !fits(text) }) {
		return s, nil
	}
	values := make([]table.Value, s.Rows()) // some of the dictionary may be of other rows
	for i := range values {
		v := s.Value(i)
		if !v.Null && !fits(v.S) {
			text := strings.TrimRight(v.S, " ")
			n := utf8.RuneCountInString(text)
			if c.Length > 0 && n > c.Length {
				return nil, sqlstate.Errorf(sqlstate.StringTooLong, "value too long for type %s: column %q of relation %q", c.TypeName(s.Type), def.Fields[col].Name, def.Name)
			}
			if !c.Padded { // blanks fill it
				text += strings.Repeat(" ", c.Length-n)
			}
			v = table.Str(text)
		}
		values[i] = v
	}
	return table.SegmentOf(s.Type, values...), nil
}

// fitRows are rows for the table whose texts fit their columns.
func (m *mutation) fitRows(t *table.Table) (*table.Table, error) {
	for col := range m.def.Columns {
		for i, chunk := range t.Chunks {
			s, err := fitted(m.def, col, chunk.Segments[col])
			if err != nil {
				return nil, err
			}
			if s != chunk.Segments[col] {
				out := *chunk
				out.Segments = slices.Clone(chunk.Segments)
				out.Segments[col] = s
				chunks := slices.Clone(t.Chunks)
				chunks[i] = &out
				t = t.With(chunks...)
			}
		}
	}
	return t, nil
}

// fitColumns fits the columns of Set, which may be without rows.
func (m *mutation) fitColumns(def *storage.Definition, columns []*table.Segment) (err error) {
	for i, col := range m.Set {
		if columns[i], err = fitted(def, col, columns[i]); err != nil {
			return err
		}
	}
	return nil
}

// inRange fails where values have more digits than their column.
func inRange(f table.Field, values *table.Segment) error {
	if f.Type.Kind == table.Decimal && values.NonNull() > 0 {
		for _, v := range []table.Value{values.Decode(0), values.Decode(values.Max)} {
			if v.Unscaled().CmpAbs(table.Pow10(f.Type.Precision)) >= 0 {
				return sqlstate.Errorf(sqlstate.NumericOutOfRange, "numeric field overflow: column %q is %s", f.Name, f.Type)
			}
		}
	}
	return nil
}

// newRows is what the rows that are looked for in a key are called; no statement can write it.
const newRows = sql.NewRows

// unique fails where one of rows, which the table has, is there with the same key once more.
func (m *mutation) unique(ctx context.Context, k storage.Key, rows, next *table.Table) error {
	return m.lacks(ctx, k, m.view(map[string]*table.Table{m.Table: next, newRows: rows}))
}

// lacks fails where the table, which has the new rows, has the key of one of these more than once.
func (m *mutation) lacks(ctx context.Context, k storage.Key, view *DB) error {
	var names, texts, on []string
	for _, col := range k.Columns {
		name := expr.Ident(m.def.Fields[col].Name)
		names, texts = append(names, "n."+name), append(texts, "n."+name+"::text")
		on = append(on, fmt.Sprintf("n.%s = t.%s", name, name))
	}
	text := fmt.Sprintf("SELECT %s FROM %s AS n JOIN %s AS t ON %s GROUP BY %s HAVING COUNT(*) > 1 LIMIT 1",
		strings.Join(texts, ", "), expr.Ident(newRows), expr.Ident(m.Table), strings.Join(on, " AND "), strings.Join(names, ", "))
	found, err := m.ask(ctx, view, text)
	if err == nil && len(found) > 0 {
		err = m.duplicate(k, found[0])
	}
	return err
}

// duplicate is the error of two rows that have the same values of a key.
func (m *mutation) duplicate(k storage.Key, values []table.Value) error {
	var columns, texts []string
	for i, col := range k.Columns {
		columns, texts = append(columns, m.def.Fields[col].Name), append(texts, values[i].S)
	}
	return sqlstate.Also(sqlstate.Errorf(sqlstate.UniqueViolation, "duplicate key value violates unique constraint %q: key (%s)=(%s) already exists", k.Name, strings.Join(columns, ", "), strings.Join(texts, ", ")), ErrDuplicateKey)
}

// repeated are the values, as texts, of a key that several rows of a table have; nil where there are none.
func (m *mutation) repeated(ctx context.Context, view *DB, name string, fields []table.Field, k storage.Key) ([]table.Value, error) {
	var names []string
	for _, col := range k.Columns {
		names = append(names, expr.Ident(fields[col].Name))
	}
	found, err := m.ask(ctx, view, fmt.Sprintf("SELECT %s FROM %s WHERE %s IS NOT NULL GROUP BY %s HAVING COUNT(*) > 1 LIMIT 1",
		strings.Join(names, "::text, ")+"::text", expr.Ident(name), strings.Join(names, " IS NOT NULL AND "), strings.Join(names, ", ")))
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return found[0], nil
}

// ask runs a statement of the engine's own over a view.
func (m *mutation) ask(ctx context.Context, view *DB, text string) ([][]table.Value, error) {
	st, err := parseOne(text)
	if err != nil {
		return nil, err
	}
	s, err := view.prepare(ctx, text, st)
	if err == nil {
		var r *Result
		if r, err = Collect(s.query(ctx, nil)); err == nil {
			return r.Rows, nil
		}
	}
	var of *StatementError
	if errors.As(err, &of) { // its place is in a text that nobody has seen
		err = of.err
	}
	return nil, err
}

// install makes the snapshots that changes have made those that statements read from now on, all at once; in a transaction,
// those of its statements.
func (db *DB) install(changes []storage.Change, list []newVersion) {
	db.snapshots.Lock()
	defer db.snapshots.Unlock()
	if db.tx == nil {
		db.commits.note(changes, db.tables)
		db.indexes.Follow(changes, db.tables)
	} else {
		db.tx.followIndexes(changes, db.tables)
	}
	for _, n := range list {
		old := db.tables.Entry(n.name)
		if n.pending != nil {
			next, err := n.pending.Take(n.table, db.snapshots.Free(n.table, db.inMemory())) // which is no longer the entry's where a statement has made room
			if err != nil {
				panic(err) // it fits
			}
			n.table = next
		}
		if db.tx != nil && n.table != nil {
			db.snapshots.Use(n.table)
		}
		switch {
		case n.filed && db.tx != nil:
			db.tables.Put(n.name, rowsEntry(n.name, n.def, n.after))
		case n.filed:
			saved := db.store.Saved(n.name)
			e := db.savedEntry(saved)
			if n.apart != nil {
				e.Source = n.apart.With(saved)
			}
			db.tables.Put(n.name, e)
		case n.table == nil:
			db.tables.Put(n.name, nil)
			if db.tx == nil {
				db.indexes.Drop(func(i *catalog.Index) bool { return i.Table == n.name })
			}
		case old != nil && old.Definition == n.def && old.Open == nil:
			db.forget(old.Table.Swap(n.table))
			continue
		default:
			e := catalog.NewEntry(n.name, nil)
			e.Definition, e.Private = n.def, db.tx != nil
			e.Table.Store(n.table)
			db.tables.Put(n.name, e)
		}
		if old != nil && (old.Open == nil || db.tx == nil) { // a transaction keeps no table of a file
			if t := old.Table.Load(); t != nil {
				db.forget(t)
			}
		}
		delete(db.tables.RowNumbers, n.name)
		if old != nil && n.filed {
			db.tables.Entry(n.name).OutOfMemory.Store(old.OutOfMemory.Load())
		}
	}
}
