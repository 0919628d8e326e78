package engine

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/stencildb/stencildb/cpu"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/storage"
	"github.com/stencildb/stencildb/table"
)

// indexes are those that CREATE INDEX has made. Each is over the segments of a column: of one that has changed the
// next statement over the table makes a new one.
type indexes struct {
	making sync.Mutex // held while one is made

	mu   sync.RWMutex
	list []*index
	of   map[*table.Segment][]*cpu.Index
}

// index finds rows by the first of its columns.
type index struct {
	name, kind string
	table      string
	columns    []indexColumn
	parts      map[*table.Segment]*cpu.Index // of the snapshot that the table had last
}

// indexColumn is a column of an index, and the order that was written behind its name.
type indexColumn struct{ name, order string }

func (c indexColumn) String() string { return strings.TrimSpace(c.name + " " + c.order) }

// of is its first column in a snapshot; negative where there is none, as in a file that has changed.
func (i *index) of(t *table.Table) int {
	return slices.IndexFunc(t.Fields, func(f table.Field) bool { return f.Name == i.columns[0].name })
}

// spelled are its columns as SHOW INDEXES has them.
func (i *index) spelled() string {
	var list []string
	for _, c := range i.columns {
		list = append(list, c.String())
	}
	return strings.Join(list, ", ")
}

// at are the indexes of a segment, that of a key which nobody has asked for among them.
func (x *indexes) at(s *table.Segment) []*cpu.Index {
	x.mu.RLock()
	list := x.of[s]
	x.mu.RUnlock()
	if own := keyIndex(s); own != nil {
		list = append(slices.Clip(list), own)
	}
	return list
}

// bytes is the memory that all of tables take.
func (x *indexes) bytes(tables []*table.Table) (n int64) {
	x.mu.RLock()
	for _, list := range x.of {
		for _, i := range list {
			n += int64(i.Bytes())
		}
	}
	x.mu.RUnlock()
	for _, t := range tables {
		for _, c := range t.Chunks {
			for _, s := range c.Segments {
				if s == nil { // not read
					continue
				}
				if own := keyIndex(s); own != nil {
					n += int64(own.Bytes())
				}
			}
		}
	}
	return n
}

// update makes the indexes of a table for the segments of a snapshot that have none, and forgets those of others.
func (x *indexes) update(ctx context.Context, e *entry, t *table.Table) error {
	for _, i := range x.all() {
		if i.table != e.name || e.apart {
			continue
		}
		if col := i.of(t); col < 0 || t.Fields[col].Unsupported != "" || !t.Has([]int{col}) || x.covers(i, t, col) {
			continue
		}
		if err := x.make(ctx, i, t); err != nil {
			return err
		}
	}
	return nil
}

func (x *indexes) all() []*index {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return slices.Clone(x.list)
}

// covers reports whether an index has all segments of a snapshot.
func (x *indexes) covers(i *index, t *table.Table, col int) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return i.parts != nil && !slices.ContainsFunc(t.Chunks, func(c *table.Chunk) bool { return i.parts[c.Segments[col]] == nil })
}

// make makes an index for a snapshot: of the segments that it does not have yet.
func (x *indexes) make(ctx context.Context, i *index, t *table.Table) error {
	x.making.Lock()
	defer x.making.Unlock()
	parts, col := map[*table.Segment]*cpu.Index{}, i.of(t)
	for _, c := range t.Chunks {
		s := c.Segments[col]
		if parts[s] = i.parts[s]; parts[s] == nil {
			var err error
			if parts[s], err = cpu.NewIndex(ctx, i.name, i.kind, s); err != nil {
				return err
			}
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	switch known := slices.Contains(x.list, i); {
	case known:
	case i.parts != nil: // it was dropped meanwhile
		return nil
	case slices.ContainsFunc(x.list, func(o *index) bool { return o.name == i.name }):
		return sqlstate.Errorf(sqlstate.DuplicateTable, "index %q already exists", i.name)
	default:
		x.list = append(x.list, i)
	}
	i.parts = parts
	x.arrange()
	return nil
}

// arrange lists the indexes of each segment; with mu.
func (x *indexes) arrange() {
	x.of = map[*table.Segment][]*cpu.Index{}
	slices.SortFunc(x.list, func(a, b *index) int { return strings.Compare(a.name, b.name) })
	for _, i := range x.list {
		for s, part := range i.parts {
			x.of[s] = append(x.of[s], part)
		}
	}
}

// has reports that there is an index that finds rows by a column of a table.
func (x *indexes) has(table, column string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.ContainsFunc(x.list, func(i *index) bool { return i.table == table && i.columns[0].name == column })
}

// add adds indexes of which nothing is made yet: the next statement over their tables does.
func (x *indexes) add(list ...*index) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, i := range list {
		if !slices.ContainsFunc(x.list, func(o *index) bool { return o.name == i.name }) {
			i.parts = map[*table.Segment]*cpu.Index{}
			x.list = append(x.list, i)
		}
	}
	x.arrange()
}

// named is the place of an index; negative for none.
func (x *indexes) named(name string) int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return slices.IndexFunc(x.list, func(i *index) bool { return i.name == name })
}

// index executes CREATE INDEX, DROP INDEX or SHOW INDEXES.
func (s *Statement) index(ctx context.Context) (*Rows, error) {
	r := s.empty(ctx)
	var err error
	start := time.Now()
	switch s.parsed.Index.Verb {
	case "SHOW":
		r.columns = append(textColumns("index_name", "table_name", "column_name", "kind"),
			Column{Name: "records", Type: table.Type{Kind: table.BigInt}}, Column{Name: "bytes", Type: table.Type{Kind: table.BigInt}})
		r.now = append(s.db.indexRows(), s.db.uniqueIndexes()...)
	case "CREATE":
		err = s.createIndex(ctx)
	case "DROP":
		if def, k := s.db.keyed(s.parsed.Index.Name); k != nil && !s.db.hasIndex(k.Name) {
			return s.dropKey(ctx, def, k)
		}
		err = s.dropIndex()
	}
	if err != nil {
		return nil, s.described(err)
	}
	r.waited = time.Since(start)
	return r, nil
}

// names are those of all.
func (x *indexes) names() (list []string) {
	for _, i := range x.all() {
		list = append(list, i.name)
	}
	return list
}

func (x *indexes) rows() valueRows {
	x.mu.RLock()
	defer x.mu.RUnlock()
	rows := valueRows{}
	for _, i := range x.list {
		records, bytes := 0, 0
		for _, part := range i.parts {
			records, bytes = records+part.Rows(), bytes+part.Bytes()
		}
		rows = append(rows, []table.Value{table.Str(i.name), table.Str(i.table), table.Str(i.spelled()), table.Str(i.kind), table.Int(int64(records)), table.Int(int64(bytes))})
	}
	return rows
}

// uniqueIndexes are the keys that CREATE UNIQUE INDEX has made, as SHOW INDEXES has them. They take no memory of their own.
func (db *DB) uniqueIndexes() (rows valueRows) {
	entries, _ := db.tables.known()
	for _, e := range entries {
		if e.of == nil {
			continue
		}
		for _, k := range e.of.Keys {
			var names []string
			for _, col := range k.Columns {
				names = append(names, e.of.Fields[col].Name)
			}
			if k.Index {
				rows = append(rows, []table.Value{table.Str(k.Name), table.Str(e.name), table.Str(strings.Join(names, ", ")), table.Str("unique"), table.Null(table.Type{Kind: table.BigInt}), table.Int(0)})
			}
		}
	}
	return rows
}

// keyed is the key of a name, and its table; nil where there is none.
func (db *DB) keyed(name string) (*storage.Definition, *storage.Key) {
	entries, _ := db.tables.known()
	for _, e := range entries {
		for i := range e.definedKeys() {
			if k := &e.of.Keys[i]; k.Name == name {
				return e.of, k
			}
		}
	}
	return nil, nil
}

func (e *entry) definedKeys() []storage.Key {
	if e.of == nil {
		return nil
	}
	return e.of.Keys
}

// dropKey is DROP INDEX of a unique one.
func (s *Statement) dropKey(ctx context.Context, def *storage.Definition, k *storage.Key) (*Rows, error) {
	drop := fmt.Sprintf("ALTER TABLE %s DROP CONSTRAINT %s", expr.Ident(def.Name), expr.Ident(k.Name))
	if !k.Index {
		return nil, s.described(expr.Coded(sqlstate.DependentObjects, s.parsed.Index.Pos, "cannot drop index %s because constraint %s on table %s requires it; %s drops both", k.Name, k.Name, def.Name, drop))
	}
	st, err := parseOne(drop)
	if err != nil {
		return nil, s.described(err)
	}
	return (&Statement{db: s.db, script: drop, parsed: st}).change(ctx, nil)
}

func (s *Statement) createIndex(ctx context.Context) error {
	of, db := s.parsed.Index, s.db
	t, columns, err := s.parsed.BindIndex(db.catalog(ctx))
	if err != nil {
		return err
	}
	col := columns[0].Field
	e := db.entry(t.Name)
	i, plain := &index{name: of.Name, kind: of.Kind, table: e.name}, t.Name
	for _, c := range columns {
		i.columns = append(i.columns, indexColumn{t.Fields[c.Field].Name, c.Order})
		plain += "_" + t.Fields[c.Field].Name
	}
	if i.kind == "" {
		i.kind = cpu.IndexKinds[0]
	}
	if !slices.Contains(cpu.IndexKinds, i.kind) {
		return expr.Coded(sqlstate.UndefinedObject, of.Pos, "no index of kind %q: USING takes sorted or hash", i.kind)
	}
	for n := 1; of.Name == "" && (i.name == "" || db.hasIndex(i.name)); n++ { // as PostgreSQL has it
		if i.name = plain + "_idx"; n > 1 {
			i.name += strconv.Itoa(n - 1)
		}
	}
	if _, k := db.keyed(i.name); k != nil || db.hasIndex(i.name) {
		if of.Lax {
			return nil
		}
		return expr.Coded(sqlstate.DuplicateTable, of.Pos, "index %q already exists", i.name)
	}
	if err = db.indexFits(ctx, e, i.name, col); err != nil {
		return err
	}
	if db.tx != nil {
		db.tx.made.add(i)
		return nil
	}
	if _, err = db.read(ctx, e, []int{col}); err != nil {
		return err
	}
	now, unpin := db.pin(e)
	defer unpin()
	if err = db.indexes.make(ctx, i, now); err != nil && !(of.Lax && db.hasIndex(i.name)) { // of another session, meanwhile
		return err
	}
	db.indexesChanged()
	return nil
}

// indexFits fails where the host memory budget has no room for an index of a column, and for the column.
func (db *DB) indexFits(ctx context.Context, e *entry, name string, col int) error {
	if db.now().hostMemory == 0 {
		return nil
	}
	t := e.table.Load()
	need := int64(indexBytes * total(t))
	if columns := []int{col}; !t.Has(columns) {
		b, _, takes, err := db.batchesOf(ctx, e, columns, decided{}, 0, 0)
		if err != nil {
			return err
		}
		if b != nil {
			need += takes
		}
	}
	left, err := db.hostBudget()
	if (err != nil || need > left) && db.makeRoom(ctx) {
		left, err = db.hostBudget()
	}
	if err == nil && need > left {
		err = sqlstate.Errorf(sqlstate.OutOfMemory, "index %q takes about %s with its column while it is made, and %s of the host memory budget are left: raise it (--host-memory)", name, size(need), size(left))
	}
	return err
}

func (s *Statement) dropIndex() error {
	of, x := s.parsed.Index, &s.db.indexes
	if !s.db.hasIndex(of.Name) {
		if of.Lax {
			return nil
		}
		return expr.Coded(sqlstate.UndefinedObject, of.Pos, "index %q does not exist; SHOW INDEXES lists those there are", of.Name)
	}
	if tx := s.db.tx; tx != nil {
		tx.dropIndexes(func(i *index) bool { return i.name == of.Name })
		return nil
	}
	x.drop(func(i *index) bool { return i.name == of.Name })
	s.db.indexesChanged()
	return nil
}

// hasIndex reports an index of a name, as a transaction's statements have it.
func (db *DB) hasIndex(name string) bool {
	if db.tx != nil && db.tx.made.named(name) >= 0 {
		return true
	}
	return db.indexes.named(name) >= 0 && !db.tx.dropped(name)
}

// indexRows are the indexes as SHOW INDEXES has them.
func (db *DB) indexRows() valueRows {
	rows := slices.DeleteFunc(db.indexes.rows(), func(row []table.Value) bool { return db.tx.dropped(row[0].S) })
	if db.tx != nil {
		rows = append(rows, db.tx.made.rows()...)
		slices.SortFunc(rows, func(a, b []table.Value) int { return strings.Compare(a[0].S, b[0].S) })
	}
	return rows
}

// dropped reports that the transaction has dropped an index that was there before it.
func (tx *Tx) dropped(name string) bool {
	if tx == nil {
		return false
	}
	tx.mu.Lock()
	defer tx.mu.Unlock()
	return slices.Contains(tx.without, name)
}

// dropIndexes drops indexes in the transaction.
func (tx *Tx) dropIndexes(which func(*index) bool) {
	tx.made.drop(which)
	var gone []string
	for _, i := range tx.of.indexes.all() {
		if which(i) {
			gone = append(gone, i.name)
		}
	}
	tx.mu.Lock()
	defer tx.mu.Unlock()
	tx.without = append(tx.without, gone...)
}

// followIndexes has the transaction's indexes follow what a statement changes of tables, which are there as they were before.
func (tx *Tx) followIndexes(changes []storage.Change, tables *catalog) {
	tx.made.follow(changes, tables)
	before := tx.of.indexes.all()
	left := &indexes{list: before}
	left.follow(changes, tables)
	var gone []string
	for _, i := range before {
		if left.named(i.name) < 0 {
			gone = append(gone, i.name)
		}
	}
	tx.mu.Lock()
	tx.without = append(tx.without, gone...)
	tx.mu.Unlock()
	for _, c := range changes {
		if c.Drop && !slices.ContainsFunc(changes, func(o storage.Change) bool { return o.Define != nil && o.Define.Name == c.Table }) { // TRUNCATE defines it again
			tx.dropIndexes(func(i *index) bool { return i.table == c.Table })
		}
	}
}

// indexesOf are the indexes that the transaction has made; an [ErrConflict] where another one has made one of such a name.
func (tx *Tx) indexesOf() ([]*index, error) {
	made := tx.made.all()
	for _, i := range made {
		if tx.of.indexes.named(i.name) >= 0 && !tx.dropped(i.name) {
			return nil, conflict("another transaction has created index %q", i.name)
		}
	}
	return made, nil
}

// commitIndexes makes the indexes those that others see.
func (tx *Tx) commitIndexes(made []*index) {
	x := &tx.of.indexes
	x.drop(func(i *index) bool { return slices.Contains(tx.without, i.name) })
	x.add(slices.DeleteFunc(made, func(i *index) bool { return tx.of.entry(i.table) == nil })...)
	tx.of.indexesChanged()
}

// drop drops indexes.
func (x *indexes) drop(which func(*index) bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.list = slices.DeleteFunc(slices.Clone(x.list), which)
	x.arrange()
}

// indexesChanged has auto choose anew.
func (db *DB) indexesChanged() { db.epoch.Add(1) }

// What a query by indexes takes: as a whole, and for each row that they find, in seconds.
const (
	indexStart = 30e-6
	indexRow   = 30e-9
)

// byIndex predicts what cpu takes for a query where indexes find its rows; ok is false where they do not.
func (db *DB) byIndex(q *physical.Query) (seconds float64, ok bool) {
	b, isCPU := db.cpu.(cpuBackend)
	if !isCPU {
		return 0, false
	}
	uses := b.IndexesOf(q)
	if uses == nil {
		return 0, false
	}
	seconds = indexStart
	for i, use := range uses {
		switch {
		case use != nil && use.Counted:
		case use != nil:
			seconds += indexRow * float64(use.Found)
		case q.Chunks[i].Pred.Op != predicate.False:
			return 0, false
		}
	}
	return seconds, true
}

// indexSteps are what the indexes do for a query, and the query without that.
func (b cpuBackend) indexSteps(q *physical.Query) (steps []Step, rest *physical.Query) {
	uses := b.IndexesOf(q)
	if uses == nil {
		return nil, q
	}
	out := *q
	out.Chunks = slices.Clone(q.Chunks)
	at, found := map[string]int{}, map[string]int{}
	for i, use := range uses {
		if use == nil {
			continue
		}
		out.Chunks[i].Pred = use.Rest
		if _, seen := at[use.Name]; !seen {
			at[use.Name] = len(steps)
			steps = append(steps, Step{Pass: "Index(" + expr.Ident(use.Name) + ": " + use.By.String() + ")"})
		}
		found[use.Name] += use.Found
	}
	for name, i := range at {
		steps[i].Counts = fmt.Sprintf("finds %d of %d records", found[name], q.Table.Rows())
	}
	return steps, &out
}
