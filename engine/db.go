package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/semaphore"

	"github.com/stencildb/stencildb/cost"
	"github.com/stencildb/stencildb/cpu"
	"github.com/stencildb/stencildb/engine/backends"
	"github.com/stencildb/stencildb/engine/catalog"
	"github.com/stencildb/stencildb/engine/spill"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/ingest/source"
	"github.com/stencildb/stencildb/internal/parallel"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/sql"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/storage"
	"github.com/stencildb/stencildb/table"
)

// Options says how a [DB] computes. The zero value is the backend "auto" with
// the default device and budgets.
type Options struct {
	// Backend is one of [Backends]; "" is "auto".
	Backend string
	// Device picks the OpenGL device: a number or a kind as listed by `stencildb info`. Several, "0,1" or "all", share the chunks of each
	// table. "" takes STENCILDB_DEVICE, else the first hardware device, else software.
	Device string
	// GPUMemory is the budget in bytes for columns and buffers on each device; 0
	// takes a share of what is free.
	GPUMemory int64
	// HostMemory is the budget in bytes for the tables that the DB reads from files. Each ORDER BY without
	// LIMIT has what these leave. 0 means no budget; then the first statement that needs more than half of
	// free memory sets that half as the budget.
	HostMemory int64
	// Note, when set, gets a line for each thing that may not be what was meant. It is called for files that
	// are read (see [ingest.Options]), and for a calibration that auto cannot use.
	Note func(text string)
	// Strict makes numbers among text in a column of a CSV or JSON file an error: see [ingest.Source].
	Strict bool
	// Progress, when set, is told how far the reading of a table's file is. It is called
	// from the reading goroutine. The last call has Done = Total, also where the reading
	// failed.
	Progress func(table string, p ingest.Progress)
	// StatementTimeout ends a statement that takes longer, explained and watched ones and its
	// tables' reading included, with an error that is [context.DeadlineExceeded]; 0 ends none.
	StatementTimeout time.Duration
	// Calibrations is the folder of what `stencildb info --calibrate` measured, which auto uses, and of the
	// programs that devices have compiled. "" is the folder of [cost.Folder].
	Calibrations string
	// Folder, when set, keeps the tables that CREATE TABLE makes: see package storage. It is made where it is not there. The
	// first DB that opens it writes; others read what it held when they opened it, and statements that change tables are
	// errors there.
	Folder string
	// Input is what COPY FROM STDIN reads where no lines follow the statement; nil for nothing.
	Input io.Reader
	// ChunkRows is the number of rows at which a table read from a file starts a new chunk. 0 means
	// [table.MaxChunkRows], and a quarter of that for several devices.
	ChunkRows int
}

// Backends lists the names that [Options.Backend] takes.
func Backends() []string { return []string{"auto", "classic", "fused", "compute", "cpu", "both"} }

// DB is a set of tables and the backends opened to query them.
type DB struct {
	*core
	tables     *catalog.Catalog
	plans      *planCache  // of statements over these
	statements *statements // those used last, by their text
	config     *atomic.Pointer[configuration]
	tx         *Tx // whose tables it has; nil for those that all see
}

// statements are kept by their text.
type statements = lru.Cache[string, *Statement]

func keptStatements() *statements {
	kept, _ := lru.New[string, *Statement](maxStatements) // only a size below 1 is an error
	return kept
}

// core is what a DB has besides its tables and its settings. The DB of a transaction has the same core, and tables of its own. That of
// a session after a SET has the same core and tables.
type core struct {
	opts      Options
	shared    atomic.Pointer[configuration]    // of the DB that was opened
	kept      map[*statements]bool             // of that and of sessions with settings of their own; with the lock of snapshots
	temporary func() (ingest.Temporary, error) // makes a file for what host memory has no room for
	freeBytes func() int64                     // bytes of host memory that may be used, at a time

	committed *catalog.Catalog // the tables as all see them
	files     *catalog.Catalog // that statements have named
	texts     *lru.Cache[string, *sql.Statement]
	forms     *sql.ParseCache
	commits   commits
	drawn     atomic.Bool         // numbers of counters have been taken
	pushes    atomic.Bool         // of tests: rows are grouped before joins wherever that can be
	updates   atomic.Bool         // of tests: a device in software does UPDATEs, too
	store     *storage.Store      // nil without [Options.Folder]
	pointing  *semaphore.Weighted // of 1: checkpoints come one after the other; it is taken before tables.one
	later     atomic.Bool         // a checkpoint is on its way
	writing   parallel.Group      // for it
	life      context.Context     // ends when the DB is closed
	end       func()
	failed    atomic.Pointer[error] // of the last one that a commit had made
	stars     *stars
	lowered   physical.PredicateCache
	snapshots catalog.Snapshots
	released  <-chan struct{} // closed when the last of them is done; nil for none; with the lock of snapshots
	following chan struct{}   // has one for each UPDATE that the host's codes are behind
	indexes   catalog.Indexes
	backends  *backends.Set
}

func (db *DB) sourceEntry(name string, s ingest.Source) *catalog.Entry {
	e := catalog.NewEntry(name, nil)
	e.Open = func(ctx context.Context, o ingest.Options) (catalog.Source, error) {
		f, err := ingest.Open(ctx, name, s, o)
		if err != nil {
			return nil, err
		}
		if e.File.Store(f); db.backends.IsClosed() {
			f.Close()
			return nil, ErrClosed
		}
		return db.sourceOf(e, f), nil
	}
	return e
}

func (c *core) endAllTemporary() {
	for _, of := range []*catalog.Catalog{c.committed, c.files} {
		entries, _ := of.Entries()
		for _, e := range entries {
			e.Close(ErrClosed)
		}
	}
}

// Open returns a DB without tables. It opens no device: the first query that
// needs one does.
func Open(o Options) (*DB, error) {
	if o.GPUMemory < 0 || o.HostMemory < 0 || o.ChunkRows < 0 || o.StatementTimeout < 0 {
		return nil, sqlstate.Errorf(sqlstate.InvalidParameterValue, "engine: budgets, chunk sizes and the statement timeout are not negative")
	}
	if o.Calibrations == "" {
		// Without a home there is no folder, and the built-in costs do.
		o.Calibrations, _ = cost.Folder()
	}
	texts, _ := lru.New[string, *sql.Statement](maxStatements) // only a size below 1 is an error
	c := catalog.New(sql.InformationNames())
	db := &DB{core: &core{opts: o, temporary: spill.CreateTemporary, freeBytes: glctx.FreeHostMemory, committed: c, files: catalog.New(sql.InformationNames()), texts: texts, forms: sql.NewParseCache(maxStatements), following: make(chan struct{}, mostFollowing), pointing: semaphore.NewWeighted(1), backends: &backends.Set{Options: o.deviceOptions(), Opener: backends.Open, Wanted: o.deviceWanted, Costs: backends.Costs{Folder: o.Calibrations, Note: o.Note}}}, tables: c, plans: &planCache{}, statements: keptStatements()}
	db.life, db.end = context.WithCancel(context.Background())
	db.kept = map[*statements]bool{db.statements: true}
	db.config = &db.shared
	db.shared.Store(db.asked())
	db.backends.Note = db.note
	db.backends.Opened = db.packsColumns
	db.backends.CPU = backends.NewCPU(cpu.WithIndexes(db.indexes.Of))
	db.stars = db.newStars()
	if err := db.SetBackend(db.Backend()); err != nil {
		return nil, err
	}
	if o.Folder != "" {
		if err := db.openFolder(context.Background()); err != nil {
			return nil, err
		}
	}
	return db, nil
}

// Backend returns the backend that was asked for: "auto" or another one.
func (db *DB) Backend() string { return db.now().backend }

// SetBackend takes another one of [Backends] for the statements that begin from now on, as SET backend does.
func (db *DB) SetBackend(name string) error {
	if db.backends.IsClosed() {
		return ErrClosed
	}
	if !slices.Contains(Backends(), name) {
		return sqlstate.Errorf(sqlstate.InvalidParameterValue, "engine: no backend %q: take one of %s", name, strings.Join(Backends(), ", "))
	}
	db.change(false, func(c *configuration) { c.backend = name })
	return nil
}

// Add makes a table known under its name. The table must not change afterwards;
// several DBs may share it.
func (db *DB) Add(t *table.Table) error {
	e := catalog.NewEntry(t.Name, nil)
	e.Table.Store(t)
	return db.register(e)
}

// Load reads a source as the table of a name, now. The next statement that uses the
// table accounts for the time it took.
func (db *DB) Load(ctx context.Context, name string, s ingest.Source) error {
	if db.backends.IsClosed() {
		return ErrClosed
	}
	e := db.sourceEntry(name, s)
	t, err := db.read(ctx, e, nil)
	if err == nil {
		_, err = db.read(ctx, e, t.All())
	}
	if err == nil {
		err = db.register(e)
	}
	return err
}

// OpenFile opens a source as the table of a name, now; a column is read when a statement needs it, where the
// format allows that. It replaces a table of that name if that is of a source, too, which may have changed.
// Running statements go on with what they began with.
func (db *DB) OpenFile(ctx context.Context, name string, s ingest.Source) error {
	if db.backends.IsClosed() {
		return ErrClosed
	}
	e := db.sourceEntry(name, s)
	if _, err := db.read(ctx, e, nil); err != nil {
		return err
	}
	if db.backends.IsClosed() {
		return ErrClosed
	}
	db.snapshots.Lock()
	defer db.snapshots.Unlock()
	old := db.tables.Entry(name)
	if old == nil || old.Open == nil {
		return db.tables.Add(e)
	}
	db.tables.Put(name, e)
	if t := old.Table.Load(); t != nil {
		db.forget(t)
	}
	return nil
}

// Attach is [DB.OpenFile] put off: the source is opened when a statement first names the
// table. What is wrong with it is that statement's error.
func (db *DB) Attach(name string, s ingest.Source) error { return db.register(db.sourceEntry(name, s)) }

func (db *DB) register(e *catalog.Entry) error {
	if db.backends.IsClosed() {
		return ErrClosed
	}
	return db.tables.Add(e)
}

// entry is that of a table's name; nil where there is none.
func (db *DB) entry(name string) *catalog.Entry {
	if e := db.tables.Entry(name); e != nil {
		return e
	}
	return db.files.Entry(name)
}

// inMemory are the tables read so far, as they are now.
func (c *core) inMemory() []*table.Table { return append(c.committed.Tables(), c.files.Tables()...) }

// usable says why the DB takes no statements: it is closed, or its transaction takes none.
func (db *DB) usable() error {
	if db.backends.IsClosed() {
		return ErrClosed
	}
	return db.tx.usable()
}

// ErrClosed is the error of each call on a [DB] that is closed, on its [Session]s, transactions, [Statement]s and [Appender]s.
// It is also that of statements that ran when the DB was closed. [DB.Close], [Session.Close] and [Tx.Rollback] do not fail for
// it.
var ErrClosed = backends.ErrClosed

// read returns the entry's table with columns, by their numbers; it reads them from its file
// where that has not been done.
func (db *DB) read(ctx context.Context, e *catalog.Entry, columns []int) (*table.Table, error) {
	t, err := db.readPrefetching(ctx, e, columns, nil)
	if err == nil {
		err = t.AwaitCodes(ctx, columns)
	}
	return t, err
}

// readPrefetching is read, and unless a is nil it is told of what is read.
func (db *DB) readPrefetching(ctx context.Context, e *catalog.Entry, columns []int, a *prefetch) (*table.Table, error) {
	if t := e.Table.Load(); t != nil && t.Has(columns) {
		return t, nil
	}
	err := db.reading(ctx, e, func(o ingest.Options) (err error) {
		if e.Source == nil {
			if e.Open == nil { // what has no file has all that there is of it
				return fmt.Errorf("engine: the table %q lacks columns that the statement reads", e.Name)
			}
			f, err := e.Open(ctx, o)
			if err != nil {
				return err
			}
			e.Source = f
		}
		var t *table.Table
		if a != nil {
			o.Coming = a.begin
			defer func() { a.end(t) }()
		}
		if t, err = e.Source.Read(ctx, columns, o); err == nil {
			e.Table.Store(t)
		}
		if source.IsDamaged(err) {
			e.Damaged.Store(true)
		}
		return err
	})
	return e.Table.Load(), err
}

// reading calls do, which reads of the entry's file. It returns when ctx ends, though the
// reading may go on for a while: opening a pipe that nobody writes to cannot be ended.
func (db *DB) reading(ctx context.Context, e *catalog.Entry, do func(ingest.Options) error) error {
	if err := e.Lock.Acquire(ctx, 1); err != nil {
		return err
	}
	limit, err := db.hostBudget()
	if err != nil && db.evict(ctx) {
		limit, err = db.hostBudget()
	}
	if err != nil {
		e.Lock.Release(1)
		return err
	}
	o := ingest.Options{ChunkRows: db.chunkRows(), MemoryLimit: cmp.Or(limit, db.most()), Note: db.opts.Note, Strict: db.opts.Strict, Whole: func() { db.readsWhole(ctx) }, Temporary: db.newTemporary}
	progress := func(p ingest.Progress) {
		if db.opts.Progress != nil {
			db.opts.Progress(e.Name, p)
		}
	}
	o.Progress = func(p ingest.Progress) {
		if ctx.Err() == nil {
			progress(p)
		}
	}
	read := make(chan error, 1)
	parallel.Go(func() {
		defer e.Lock.Release(1)
		start := time.Now()
		err := parallel.Call(func() error { return do(o) })
		if errors.As(err, new(*ingest.MemoryError)) {
			e.OutOfMemory.Store(true)
		}
		e.Loading.Add(int64(time.Since(start)))
		if err != nil && db.backends.IsClosed() { // which closes temporary files
			err = ErrClosed
		}
		read <- err
	}, func(*parallel.Panic) {})
	select {
	case err = <-read:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		progress(ingest.Progress{Done: 1, Total: 1})
	}
	return err
}

// whatIsRead is what do makes of the entry's file in [DB.reading]: nothing where ctx ends, since do may go on.
func whatIsRead[T any](ctx context.Context, db *DB, e *catalog.Entry, do func(ingest.Options) (*T, error)) (*T, error) {
	var out *T
	err := db.reading(ctx, e, func(o ingest.Options) (err error) {
		out, err = do(o)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// chunkRows is the size of chunks of tables that are read.
func (db *DB) chunkRows() int {
	wish := cmp.Or(db.opts.Device, os.Getenv("STENCILDB_DEVICE"))
	if db.opts.ChunkRows == 0 && (strings.Contains(wish, ",") || wish == "all") {
		return table.MaxChunkRows / 4
	}
	return db.opts.ChunkRows
}

// hostBudget is what is left of the host memory budget; 0 when no budget was given.
func (db *DB) hostBudget() (int64, error) {
	left := db.now().hostMemory
	if left == 0 {
		return 0, nil
	}
	tables := db.inMemory()
	for _, t := range tables {
		left -= t.Bytes()
	}
	left -= db.indexes.Bytes(tables)
	entries, _ := db.committed.Entries()
	for _, e := range entries {
		left -= e.UnreadDeltaBytes()
	}
	read, apart := db.transactionBytes(nil)
	left -= read + apart
	if left < db.now().hostMemory/4 { // copies make room
		for _, t := range tables {
			left += t.DropRowOrder()
		}
	}
	if left <= 0 {
		return 0, sqlstate.Also(sqlstate.Errorf(sqlstate.OutOfMemory, "engine: the tables read so far and their indexes fill the host memory budget: raise it (--host-memory)"), errNoRoom)
	}
	return left, nil
}

// most is how many bytes of host memory what is read may take where no budget was given: not all, for others use it, too.
func (c *core) most() int64 { return c.freeBytes() / 2 }

// adopts gives the DB a budget of host memory where it has none and err says that there was no room. From then on statements read files in
// parts, and may spill.
func (db *DB) adopts(err error) bool {
	if db.now().hostMemory > 0 || !hasNoRoom(err) {
		return false
	}
	budget := db.most()
	if of := (*ingest.MemoryError)(nil); errors.As(err, &of) {
		budget = of.Limit
	}
	if budget <= 0 {
		return false
	}
	db.adopt(budget)
	return true
}

// adopt makes so many bytes of host memory, besides what tables have of it by now, the budget.
func (db *DB) adopt(budget int64) {
	for _, t := range db.inMemory() {
		budget += t.Bytes()
	}
	db.change(false, func(c *configuration) { c.hostMemory = budget })
	db.note(fmt.Sprintf("what statements read takes more than the host memory that is free: from now on they go over files in parts, and take %s at most (SET host_memory, or --host-memory, says it otherwise)", size(budget)))
}

// Close releases the backends. It may be called twice. [Rows] that are open keep what they hold until they are closed themselves.
func (db *DB) Close() error {
	err := db.closeFolder()
	defer db.endAllTemporary()  // which takes locks under which db.mu is taken
	before := db.backends.End() // not under the lock of db.snapshots, which is taken before that of the backends
	db.backends.Release()
	db.snapshots.Lock()
	for kept := range db.kept {
		kept.Purge()
	}
	db.snapshots.Unlock()
	if before {
		return err
	}
	return errors.Join(err, db.backends.Close())
}

// newTemporary makes a temporary file of the DB.
func (db *DB) newTemporary() (ingest.Temporary, error) {
	if db.backends.IsClosed() {
		return nil, ErrClosed
	}
	return spill.OpenTemporary(db.temporary)
}
