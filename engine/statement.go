package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stencildb/stencildb/engine/backends"
	"github.com/stencildb/stencildb/engine/catalog"
	"github.com/stencildb/stencildb/engine/joinorder"
	"github.com/stencildb/stencildb/engine/querystats"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/ingest/source"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/rules"
	"github.com/stencildb/stencildb/sql"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/storage"
	"github.com/stencildb/stencildb/table"
)

// Statement is a statement that has been parsed, and, where it has no parameters,
// bound and planned: running it again costs little beyond its execution. Each execution
// reads the snapshot that its table has when it begins. It may be used by several
// goroutines, until its DB is closed.
type Statement struct {
	db     *DB
	script string // that the positions of errors are in
	parsed *sql.Statement
	watch  func(Stage) pass.Runner    // the passes that find a join's pairs; nil for nobody
	*bound                            // nil where the statement has parameters, is an EXPLAIN or a look-up, or has no plan
	part   bool                       // bound is no more than a part of what parsed says: of a subquery, or the rows that a change reads
	looks  bool                       // it is explained, and would be a look-up where its tree is one
	again  atomic.Pointer[cachedPlan] // what was bound of one with parameters, for other values
	found  *bound                     // of a look-up without parameters; nil where what it means depends on when it is bound
}

// bound is a statement with the values of its parameters: a tree with at most one
// fragment.
type bound struct {
	lookup       *pointLookup                   // where it is one: it has nothing else then but the next, the version and the rules
	repeats      *sql.GenericPlan               // nil where others like it have to be bound
	tree         plan.Node                      // with the fragment cut out
	version      uint64                         // of the catalog that its names were resolved in
	off          rules.Off                      // the rules that it was planned without
	columns      []Column                       // of its answer
	fragment     *plan.Fragment                 // nil where no table is read, and with it the next two
	sources      []*read                        // the tables that it reads, each once
	scans        []*read                        // of the fragment's scans, from left to right
	scanPruning  *prunedScan                    // what it need not read of them; nil where that is nothing
	tablePruning map[*catalog.Entry]*prunedScan // of the tables that it joins: row groups without a record that meets the conditions of them alone
	apart        plan.Node                      // the tree with some or all of its tables joined apart; nil where the tree fits the host memory budget
	params       []table.Value
	arrays       []int   // how many columns of the tree each of the answer's is an array of, as [plan.Arrays] has it; nil for none
	once         bool    // what it means depends on when it is bound: a view reads the clock, or the texts of a column gave a type
	nested       *nested // where it has subplans or subqueries; the tree is then not cut, and there is no fragment
	latest       atomic.Pointer[planned]
	pushing      atomic.Pointer[pushing]
	assigned     atomic.Pointer[assigned]
	renewed      atomic.Pointer[Statement] // bound to the tables that its names have come to mean
}

// read is a table that a statement reads, and the columns that it needs.
type read struct {
	*catalog.Entry
	columns []int
}

// planned is a statement whose fragment is lowered for a snapshot of its table.
type planned struct {
	*Statement
	tables     []*table.Table        // the snapshots of the sources
	joined     []Step                // how its rows were joined; nil for those of a table
	before     *querystats.Collector // what that took where it was before a backend was chosen; else nil
	joinedOn   string                // who did that
	joinedRows map[plan.Node]int     // rows that parts of the join gave
	away       *joinorder.Away       // the rows of its joins, where their columns are on a device alone; else nil
	star       *joinorder.Star       // the plan is that of the largest of several tables, which a device may join the others to
	plan       *physical.Query       // nil where no table is read
	// otherwise is what a backend does that cannot add up the plan's expressions, and the plan, where
	// none can: the rows. Nil where no aggregate is of an expression.
	otherwise *physical.Query
	pruning   *prunedScan    // nil where the plan is for the snapshot of the table
	sides     []*table.Table // the snapshots of the sources, where some of those that are joined come in batches; else nil
	choice    choice         // of the fragment's backend
	starOnce  sync.Once
	bounded   *physical.Query // see query
}

// Prepare parses one statement. Where it has no parameters it also resolves its names and reads the files of
// its tables. Otherwise that is done when it runs, with the types of the values.
func (db *DB) Prepare(ctx context.Context, text string) (*Statement, error) {
	if err := db.usable(); err != nil {
		return nil, err
	}
	st, err := db.parseOne(text)
	if err != nil {
		return nil, err
	}
	db.noteOf(st)
	s, err := db.prepare(ctx, text, st)
	if err == nil && s.bound != nil {
		_, err = s.read(ctx, false)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// prepare prepares a statement of a script, whose columns are read when it runs. Its errors
// have their place in the script.
func (db *DB) prepare(ctx context.Context, script string, st *sql.Statement) (*Statement, error) {
	s := &Statement{db: db, script: script, parsed: st}
	if st.Params > 0 || st.Explain || st.Clock || st.Setting != nil || st.Index != nil || st.Transaction != nil || st.Prepared != nil || st.Upkeep != nil || st.Changes() {
		return s, nil
	}
	b, err := s.with(ctx, nil, true)
	switch {
	case err == nil && b.lookup != nil:
		if !b.once {
			s.found = b.bound
			s.keepBound(b.repeats, b.lookup.of, b.version, b.off)
		}
		return s, nil
	case err == nil && b.once:
		return s, nil
	}
	return b, err
}

// with is the statement with values for its parameters. Where it looksUp it is not planned if it is a look-up.
func (s *Statement) with(ctx context.Context, args []any, looksUp bool) (*Statement, error) {
	known := s.bound != nil && len(args) == 0
	if known {
		version := s.db.tables.Version()
		if s.version == version {
			return s, nil
		}
		if r := s.renewed.Load(); r != nil && r.version == version {
			return r, nil
		}
	}
	params, err := parameters(args)
	if err == nil {
		var b *bound
		if b, err = s.db.bind(ctx, s.parsed, params, looksUp && s.watch == nil && s.parsed.IsSelect() && s.db.usesPointLookups()); err == nil {
			r := &Statement{db: s.db, script: s.script, parsed: s.parsed, watch: s.watch, bound: b}
			if known && !b.once {
				s.renewed.Store(r)
			}
			return r, nil
		}
	}
	return nil, s.described(err)
}

// bind resolves the names of a statement: anew where tables came or went meanwhile.
func (db *DB) bind(ctx context.Context, st *sql.Statement, params []table.Value, looksUp bool) (*bound, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c := db.catalog(ctx)
		once, texts := false, c.Texts
		c.Clock = func() { once = true }
		c.Texts = func(name string, column int) ([][]string, bool, error) {
			once = true
			return texts(name, column)
		}
		b, err := db.bindTo(ctx, c, st, params, looksUp)
		if err == nil {
			b.once = once
		}
		if db.tables.Version() == c.Version {
			return b, err
		}
		ctx = context.WithValue(ctx, evictedOnce{}, true)
	}
}

// bindTo resolves the names of a statement in a catalog. A panic on the way is an error, as one of pull is.
func (db *DB) bindTo(ctx context.Context, c sql.Catalog, st *sql.Statement, params []table.Value, looksUp bool) (_ *bound, err error) {
	defer recovered(&err)
	if !looksUp {
		tree, err := st.Bind(c, params...)
		if err != nil {
			return nil, err
		}
		return db.planned(ctx, tree, c, params)
	}
	tree, again, err := st.BindRowsGeneric(c, params...)
	if err != nil {
		return nil, err
	}
	if l := db.pointLookupOf(tree); l != nil {
		return &bound{lookup: l, repeats: again, version: c.Version, off: c.Off}, nil
	}
	return db.planned(ctx, tree, c, params)
}

// planned is what a bound tree reads, after all rules.
func (db *DB) planned(ctx context.Context, tree plan.Node, c sql.Catalog, params []table.Value) (*bound, error) {
	if a, ok := tree.(*plan.Arrays); ok {
		b, err := db.planned(ctx, a.Input, c, params)
		if err == nil {
			b.arrays = a.Sizes
		}
		return b, err
	}
	if plan.HasSubplans(tree) {
		return db.bindNested(tree, c, params)
	}
	b, err := db.bound(ctx, rules.CutFragments(c.Off.Rewrite(tree)), db.catalogued)
	if err == nil {
		b.version, b.params, b.off = c.Version, params, c.Off
	}
	return b, err
}

// catalogued is the entry of a table that the catalog has.
func (db *DB) catalogued(s *plan.Scan) *catalog.Entry { return db.entry(s.Table) }

// bound is a tree that has been cut, with what it reads: of each scan the entry that from gives.
func (db *DB) bound(ctx context.Context, tree plan.Node, from func(*plan.Scan) *catalog.Entry) (_ *bound, err error) {
	b := &bound{tree: tree}
	top := b.tree
	if l, ok := top.(*plan.Limit); ok {
		top = l.Input
	}
	p, ok := top.(*plan.Project)
	ofTable := ok && selects(p.Input)
	for i, f := range b.tree.Fields() {
		c := Column{Name: f.Name, Type: f.Type}
		if ofTable && f.Type.Kind == table.Varchar {
			_, c.coded = p.Items[i].E.(*expr.Column)
		}
		b.columns = append(b.columns, c)
	}
	for _, f := range plan.Fragments(b.tree) { // one at most
		b.fragment = f
		b.readsOf(f, from)
		if f.Join != nil {
			if b.scanPruning, err = db.joinInBatches(ctx, b); err != nil {
				return nil, err
			}
			if b.scanPruning == nil {
				if b.tablePruning, err = db.pruneJoined(ctx, b); err != nil {
					return nil, err
				}
			}
			continue
		}
		if _, ok := b.sources[0].Source.(*spilled); ok {
			if b.scanPruning, err = db.inBatches(ctx, b.sources[0].Entry, b.tree, f); err != nil {
				return nil, err
			}
			continue
		}
		if plan.Scans(f.Tree)[0].Of != nil {
			continue
		}
		if ofTable && b.sources[0].Definition != nil {
			b.notNull(p, b.sources[0].Definition)
		}
		if b.scanPruning, err = db.pruneScan(ctx, b.sources[0].Entry, f); err == nil && b.scanPruning == nil {
			b.scanPruning, err = db.inBatches(ctx, b.sources[0].Entry, b.tree, f)
		}
		if err != nil {
			return nil, err
		}
	}
	return b, nil
}

// notNull marks the answer's columns that are those of a table which take no NULL.
func (b *bound) notNull(p *plan.Project, def *storage.Definition) {
	for i, item := range p.Items {
		if c, ok := item.E.(*expr.Column); ok {
			at := slices.IndexFunc(def.Fields, func(f table.Field) bool { return f.Name == c.Name })
			b.columns[i].NotNull = at >= 0 && def.Columns[at].NotNull
		}
	}
}

// readsOf notes the tables that a fragment reads.
func (b *bound) readsOf(f *plan.Fragment, from func(*plan.Scan) *catalog.Entry) {
	scans := plan.Scans(f.Tree)
	for i, columns := range f.Scanned() {
		e := from(scans[i])
		b.scans = append(b.scans, b.reads(e, columns))
	}
}

// reads notes columns of a table.
func (b *bound) reads(e *catalog.Entry, columns []int) *read {
	at := slices.IndexFunc(b.sources, func(r *read) bool { return r.Entry == e })
	if at < 0 {
		at, b.sources = len(b.sources), append(b.sources, &read{Entry: e})
	}
	r := b.sources[at]
	for _, c := range columns {
		if !slices.Contains(r.columns, c) {
			r.columns = append(r.columns, c)
		}
	}
	return r
}

// joins reports that the statement joins tables.
func (b *bound) joins() bool { return b != nil && b.fragment != nil && b.fragment.Join != nil }

// read reads the columns that the statement needs and the file's statistics do not spare it. If it is about
// to run on a device, the device is opened and the columns are uploaded meanwhile. rest is what was waited
// for after the columns were read.
func (s *Statement) read(ctx context.Context, runs bool) (rest Loading, err error) {
	if (s.nested != nil || s.apart != nil) && s.db.now().hostMemory > 0 { // its parts read what they need: they may go over files in batches
		return Loading{}, nil
	}
	if s.scanPruning != nil && s.scanPruning.batches != nil { // there was room for them when the statement was bound
		if left, err := s.db.hostBudget(); err != nil || left < s.scanPruning.batches.budget {
			s.db.evict(ctx)
		}
	}
	for _, r := range s.sources {
		t := r.Table.Load()
		if s.nested != nil && !t.Has(r.columns) && s.db.prunes(r.Entry) && s.db.inGroups(ctx, r.Entry) { // its parts may do with some row groups
			continue
		}
		if !t.Has(r.columns) && !s.partly(r.Entry) && (s.scanPruning == nil || s.scanPruning.batches == nil && !s.db.prunes(r.Entry) || s.scanPruning.large != nil && s.scanPruning.large[r.Entry] == nil) {
			var a *prefetch
			if runs && s.fragment != nil {
				a = s.prefetch(ctx)
			}
			t, err = s.db.readPrefetching(ctx, r.Entry, r.columns, a)
			if errors.As(err, new(*ingest.MemoryError)) && s.db.evict(ctx) {
				t, err = s.db.readPrefetching(ctx, r.Entry, r.columns, nil)
			}
			if err != nil {
				return rest, s.described(err)
			}
			if a != nil {
				rest = rest.Plus(a.wait())
			}
		}
		if slices.ContainsFunc(r.columns, func(col int) bool { return t.Fields[col].Unsupported != "" }) { // by a value of it
			_, err = s.db.bind(ctx, s.parsed, s.params, false) // which says so
			return rest, s.described(err)
		}
	}
	return rest, nil
}

// readable is the statement once its columns are read ([Statement.ReadBatch]). It runs in batches where they took more memory than their
// files told. It leaves out what it does not need where something else is damaged.
func (s *Statement) readable(ctx context.Context) (*Statement, Loading, error) {
	files, err := s.read(ctx, true)
	if source.IsDamaged(err) && !s.db.onCPU() && !s.part { // it may do without what is damaged
		if b, failed := s.db.bind(ctx, s.parsed, s.params, false); failed == nil {
			again := &Statement{db: s.db, script: s.script, parsed: s.parsed, watch: s.watch, bound: b}
			files, err = again.read(ctx, true)
			return again, files, err
		}
	}
	if !errors.As(err, new(*ingest.MemoryError)) || s.bound == nil || s.fragment == nil || s.scanPruning != nil || s.nested != nil {
		return s, files, err
	}
	again := s.batched(ctx)
	if again == nil {
		return s, files, err
	}
	files, err = again.read(ctx, true)
	return again, files, err
}

// batched is the statement in batches, by what is known now of the memory that these take. It is nil for a statement that
// does not run so.
func (s *Statement) batched(ctx context.Context) *Statement {
	b := &bound{tree: s.tree, version: s.version, off: s.off, columns: s.columns, fragment: s.fragment, sources: s.sources, scans: s.scans, params: s.params, arrays: s.arrays, once: s.once}
	var err error
	if b.fragment.Join != nil {
		b.scanPruning, err = s.db.joinInBatches(ctx, b)
	} else if plan.Scans(b.fragment.Tree)[0].Of == nil {
		b.scanPruning, err = s.db.inBatches(ctx, b.sources[0].Entry, b.tree, b.fragment)
	}
	if b.scanPruning == nil && b.apart == nil || err != nil {
		return nil
	}
	return &Statement{db: s.db, script: s.script, parsed: s.parsed, watch: s.watch, bound: b, part: s.part}
}

// partly reports that of a table that is joined no more is read than some row groups.
func (s *Statement) partly(e *catalog.Entry) bool { return s.tablePruning[e] != nil && s.db.prunes(e) }

// pinned is the statement for the snapshots that its tables have now, which stay in use
// until unpin is called.
func (s *Statement) pinned(ctx context.Context) (now *planned, unpin func(), err error) {
	if s.fragment == nil {
		return &planned{Statement: s}, func() {}, nil
	}
	now = &planned{Statement: s}
	var entries []*catalog.Entry
	for _, r := range s.sources {
		entries = append(entries, r.Entry)
	}
	tables, done := s.db.pinUnread(entries)
	if !s.onDevice() { // an UPDATE may have come since run has waited
		if err := settle(ctx, tables); err != nil {
			done()
			return nil, nil, err
		}
	}
	unpins := []func(){done}
	unpin = func() {
		for _, f := range unpins {
			f()
		}
	}
	apart := map[int]bool{}
	tables = slices.Clone(tables)
	for i, r := range s.sources {
		if !tables[i].Has(r.columns) {
			if s.partly(r.Entry) {
				tables[i], apart[i] = s.tablePruning[r.Entry].Table, true
				unpins = append(unpins, s.db.pinned(tables[i]))
				continue
			}
			if s.scanPruning == nil || s.scanPruning.large != nil && s.scanPruning.large[r.Entry] == nil {
				unpin()
				return nil, nil, sqlstate.Errorf(sqlstate.SerializationFailure, "engine: the table %s has changed while the statement began: run it again", r.Name)
			}
			if s.scanPruning.large != nil { // the others are joined as they are now
				now.pruning, now.sides, tables = s.scanPruning, tables, []*table.Table{s.scanPruning.Table}
				break
			}
			unpin()
			now.pruning, tables, unpins = s.scanPruning, []*table.Table{s.scanPruning.Table}, nil
			if s.scanPruning.batches == nil && s.scanPruning.Answer == nil {
				unpins = append(unpins, s.db.pinned(s.scanPruning.Table))
			}
			break
		}
	}
	now.tables = tables
	for i, t := range tables {
		if now.pruning == nil && !apart[i] {
			if err = s.db.indexes.Update(ctx, s.sources[i].Entry, t); err != nil {
				unpin()
				return nil, nil, err
			}
		}
	}
	if old := s.latest.Load(); old != nil && slices.Equal(old.tables, tables) && slices.Equal(old.sides, now.sides) {
		return old, unpin, nil
	}
	if s.joins() && now.sides == nil && !now.findStar() {
		before := &querystats.Collector{}
		joined, done, err := now.withJoin(ctx, nil, before)
		if err != nil {
			unpin()
			return nil, nil, err
		}
		unpins = append(unpins, done)
		joined.before = before
		return joined, unpin, nil
	}
	if now.star != nil && now.ofSubplans() {
		unpins = append(unpins, func() { s.db.dropArrays(now.star) })
	}
	if err = now.lower(now.table()); err != nil {
		unpin()
		return nil, nil, err
	}
	s.latest.Store(now)
	return now, unpin, nil
}

// table is the one that the plan is for: of a star the largest.
func (s *planned) table() *table.Table {
	if s.star != nil {
		return s.star.Fact
	}
	return s.tables[0]
}

// lower lowers the fragment for a snapshot of its table.
func (s *planned) lower(t *table.Table) (err error) {
	if s.star != nil {
		a := s.star.Aggregate
		f := &plan.Fragment{Table: t.Name, Where: s.star.Where, Groups: a}
		if s.plan, err = physical.NewQuery(t, f); err == nil {
			s.plan.Star = s.star.Dimensions
			s.plan.Columns = s.plan.GroupInputColumns()
		}
		return err
	}
	s.plan, err = s.db.lowered.Query(t, s.fragment)
	switch {
	case err != nil || s.fragment.Fallback == nil:
	case len(s.plan.Aggs) == 0:
		s.otherwise = s.plan
	default:
		s.otherwise, err = s.db.lowered.Query(t, s.fragment.FallbackFragment())
	}
	return err
}

func (s *Statement) described(err error) error { return described(s.script, s.parsed.Text, err) }

// Query runs the statement with values for its parameters $1, $2, ...: see [DB.Query].
func (s *Statement) Query(ctx context.Context, args ...any) (*Rows, error) {
	return s.db.limited(ctx, func(ctx context.Context) (*Rows, error) { return s.query(ctx, args) })
}

// QueryRow runs the statement for its first row: see [DB.QueryRow].
func (s *Statement) QueryRow(ctx context.Context, args ...any) *Row {
	return rowOf(s.Query(ctx, args...))
}

func (s *Statement) query(ctx context.Context, args []any) (*Rows, error) {
	if err := s.parsed.Err(); err != nil {
		return nil, s.described(err)
	}
	switch {
	case s.parsed.Transaction != nil:
		return nil, s.described(sqlstate.Errorf(sqlstate.FeatureNotSupported, "%s is for a session, whose statements are in the transaction: see DB.Session and DB.Begin", s.parsed.Transaction.Verb))
	case s.parsed.Prepared != nil:
		return nil, s.described(sqlstate.Errorf(sqlstate.FeatureNotSupported, "%s is for a session, which keeps the statement: see DB.Session, or DB.Prepare", s.parsed.Prepared.Verb))
	case s.parsed.Upkeep != nil:
		return s.maintain(ctx)
	case s.parsed.Explain:
		return s.reading(ctx, args, s.explained)
	case s.parsed.Setting != nil:
		return s.setting(ctx)
	case s.parsed.Index != nil:
		return s.index(ctx)
	case s.parsed.Changes():
		return s.change(ctx, args)
	}
	return s.reading(ctx, args, s.asked)
}

// reading is what do gives with values for the parameters. The files of the folder's tables stay until its rows are closed.
func (s *Statement) reading(ctx context.Context, args []any, do func(context.Context, []any) (*Rows, error)) (*Rows, error) {
	if s.db.store == nil {
		return do(ctx, args)
	}
	release := s.db.store.PinFiles()
	r, err := do(ctx, args)
	if err != nil {
		release()
		return nil, err
	}
	r.closing = append(r.closing, release)
	return r, nil
}

// asked runs a statement that changes nothing.
func (s *Statement) asked(ctx context.Context, args []any) (*Rows, error) {
	binding := ctx
	if s.bound == nil {
		binding = running(ctx, s.parsed)
	}
	if r := s.again.Load(); r != nil {
		if params, err := parameters(args); err == nil {
			if rows := s.answerCachedLookup(ctx, r, params); rows != nil {
				return rows, nil
			}
		}
	}
	now, fresh, err := s, false, error(nil)
	if s.found != nil && s.found.version == s.db.tables.Version() && len(args) == 0 && s.db.usesPointLookups() {
		now = &Statement{db: s.db, script: s.script, parsed: s.parsed, bound: s.found}
	} else {
		now, err = s.with(binding, args, s.bound == nil)
		fresh = true
	}
	if err == nil && now.lookup != nil {
		var r *Rows
		if r, err = now.answerLookup(ctx); r != nil || err != nil {
			if err == nil && fresh && !now.once {
				s.keepBound(now.repeats, now.lookup.of, now.version, now.off)
			}
			return r, err
		}
		now, err = s.with(binding, args, false)
	}
	switch s = now; {
	case err != nil:
		return nil, err
	case s.parsed.Copy != nil:
		return s.copyTo(ctx)
	}
	return s.run(ctx, nil)
}

// run runs a statement that is bound; change, if not nil, changes how.
func (s *Statement) run(ctx context.Context, change func(*execution)) (*Rows, error) {
	if err := ctx.Err(); err != nil {
		return nil, s.described(err)
	}
	s, files, err := s.readable(ctx)
	if err != nil {
		return nil, err
	}
	arrays := s.arrays
	if s.bound != nil {
		for _, of := range s.sources {
			files.Reading += time.Duration(of.Loading.Swap(0))
		}
	}
	start := time.Now()
	if err := s.settle(ctx); err != nil {
		return nil, s.described(err)
	}
	whole := s
	s, ran, err := s.settled(ctx, nil)
	if err == nil && s != whole {
		if s, _, err = s.readable(ctx); err != nil {
			ran.done()
		}
	}
	if err != nil {
		return nil, whole.described(err)
	}
	now, unpin, err := s.pinned(ctx)
	if err != nil {
		ran.done()
		return nil, s.described(err)
	}
	unpin = both(unpin, ran.done)
	r := &Rows{of: s, columns: s.columns, arrays: arrays, ctx: ctx, waited: time.Since(start), before: ran.before(now.before), files: files}
	x := &execution{planned: now, ctx: ctx, rows: r, atMost: -1, states: backends.InGroups}
	x.execute = func(b backends.Backend, took *querystats.Collector) ([]table.Value, error) {
		return now.answer(ctx, b, took)
	}
	x.order = func(b backends.Backend, took *querystats.Collector) (batch, error) {
		return inOrder(ctx, s.db, b, now.plan, took)
	}
	if now.pruning != nil && now.pruning.batches != nil {
		x.execute = func(b backends.Backend, took *querystats.Collector) ([]table.Value, error) {
			return now.pruning.batches.execute(ctx, s.db, s.fragment, now.plan, b, took)
		}
		if f := s.fragment; len(f.Aggs) == 0 || f.Fallback != nil || f.Join != nil || seeksTexts(f) {
			x.beyond = newBeyond(x)
			x.execute = func(backends.Backend, *querystats.Collector) ([]table.Value, error) { return x.beyond.aggregates() }
		}
	}
	if now.pruning != nil && now.pruning.Answer != nil {
		x.execute = func(backends.Backend, *querystats.Collector) ([]table.Value, error) { return now.pruning.Answer, nil }
	}
	if change != nil {
		change(x)
	}
	stream := func() stream {
		if x.beyond != nil {
			return x.beyond.whole(x.stream(s.tree))
		}
		return x.stream(s.tree)
	}
	if s.fragment == nil || len(s.fragment.Aggs) > 0 { // all is computed now
		defer unpin()
		r.next = stream().collected()
	} else {
		inner, cancel := context.WithCancel(ctx)
		x.ctx, r.ctx = inner, inner
		next, stop := iter.Pull2(iter.Seq2[batch, error](stream()))
		r.next, r.closing = next, []func(){cancel, unpin, stop}
	}
	opened := false
	defer func() {
		if !opened { // a panic, which is an error further out
			r.Close()
		}
	}()
	err, opened = r.open(), true
	if err != nil {
		if errors.As(err, new(*ingest.MemoryError)) && now.pruning != nil && now.pruning.batches != nil && now.pruning.batches.tookMore() {
			if again := s.batched(ctx); again != nil { // smaller ones
				return again.run(ctx, change)
			}
		}
		return nil, s.described(err)
	}
	return r, nil
}

// limit is ctx with the DB's statement timeout.
func (db *DB) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	t := db.now().timeout
	if t == 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, t, sqlstate.Also(fmt.Errorf("the statement took longer than the statement timeout of %v", t), context.DeadlineExceeded))
}

// limited runs a statement within the DB's statement timeout, which lasts until its rows
// are closed.
func (db *DB) limited(ctx context.Context, run func(context.Context) (*Rows, error)) (*Rows, error) {
	if err := db.usable(); err != nil {
		return nil, err
	}
	ctx, cancel := db.limit(ctx)
	guarded := func() (r *Rows, err error) {
		defer recovered(&err)
		return run(ctx)
	}
	r, err := guarded()
	if err != nil && db.adopts(err) {
		r, err = guarded()
	}
	if err != nil {
		defer cancel()
		err = ended(ctx, err)
		db.tx.fail(err)
		return nil, err
	}
	r.closing = append(r.closing, cancel)
	return r, nil
}

// empty is an answer without rows.
func (s *Statement) empty(ctx context.Context) *Rows {
	return &Rows{of: s, at: -1, ctx: ctx, next: func() (batch, error, bool) { return nil, nil, false }}
}

// ended is err, or why ctx ended where that is what err says; it is that one, too, for [errors.Is].
func ended(ctx context.Context, err error) error {
	over, cause := ctx.Err(), context.Cause(ctx)
	switch {
	case over == nil || !errors.Is(err, over):
		return err
	case errors.Is(cause, over):
		return cause
	}
	return sqlstate.Also(cause, over)
}
