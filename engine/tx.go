package engine

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/stencildb/stencildb/engine/catalog"
	"github.com/stencildb/stencildb/sql"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/storage"
	"github.com/stencildb/stencildb/table"
)

// ErrConflict is the error of a commit that fails: a transaction that committed after this one began has changed the
// same. That is the same rows, the same keys, or the definition of the same table. Begun anew it may succeed.
var ErrConflict = sqlstate.Errorf(sqlstate.SerializationFailure, "the transaction conflicts with another one")

// Tx is a transaction with snapshot isolation. Its statements read all tables as they were when it began, with its own
// changes. Others see these from [Tx.Commit] on, all at once. Of two transactions that change the same row the first that
// commits wins, and the other one's commit is an [ErrConflict]. Changes of other rows of the same table are merged. After
// a statement that failed, the transaction takes no other ones, and is rolled back, or back to a savepoint
// ([Tx.Savepoint]).
//
// Files that statements name are outside of transactions. An index that CREATE INDEX makes serves statements from the commit on. What SET changes is the transaction's; in one of a [Session] the
// session's, once it is committed. A Tx may be used by several goroutines; its statements that change tables wait for one another.
type Tx struct {
	db       *DB // has the tables as the transaction sees them
	of       *DB // that it began on
	readOnly bool
	began    uint64 // how many commits there were
	files    func() // lets go of those of the folder; nil without one

	mu     sync.Mutex
	failed error // of the first statement that failed
	over   bool
	stays  *configuration // what is left of SET once it is committed: not that of SET LOCAL

	made    catalog.Indexes // of CREATE INDEX, with no parts
	without []string        // the names of indexes that DROP INDEX and DROP TABLE drop; with mu

	// With db.tables.one:
	changes    []storage.Change
	savepoints []*savepoint
	base       map[string]int // how many rows the tables that were changed had before that, deleted ones included; of those that were made -1
}

// TxOptions are for [DB.Begin].
type TxOptions struct {
	ReadOnly bool // statements that change tables are errors
}

// Begin starts a transaction, which [Tx.Commit] or [Tx.Rollback] ends. Until then it keeps the snapshots of tables that it
// may read.
func (db *DB) Begin(ctx context.Context, o TxOptions) (*Tx, error) {
	switch {
	case db.backends.IsClosed():
		return nil, ErrClosed
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case db.tx != nil:
		return nil, sqlstate.Errorf(sqlstate.InvalidTransactionState, "a transaction begins no other one: end it first")
	}
	tx := &Tx{of: db, readOnly: o.ReadOnly, base: map[string]int{}, stays: db.now()}
	tx.db = &DB{core: db.core, tables: catalog.New(sql.InformationNames()), plans: &planCache{}, statements: keptStatements(), config: &atomic.Pointer[configuration]{}, tx: tx}
	tx.db.config.Store(tx.stays)
	db.snapshots.Lock()
	defer db.snapshots.Unlock()
	if db.store != nil {
		tx.files = db.store.PinFiles()
	}
	entries, version := db.committed.Entries()
	entries = slices.Clone(entries)
	for i, e := range entries {
		if e.Open != nil { // what it reads does not change
			continue
		}
		own := catalog.NewEntry(e.Name, nil)
		own.Definition, own.Private = e.Definition, true
		own.Table.Store(e.Table.Load())
		db.snapshots.Use(own.Table.Load())
		entries[i] = own
	}
	tx.db.tables.Reset(entries, version)
	tx.began = db.commits.begin(tx)
	return tx, nil
}

// Query runs one statement in the transaction: see [DB.Query].
func (tx *Tx) Query(ctx context.Context, text string, args ...any) (*Rows, error) {
	return tx.db.Query(ctx, text, args...)
}

// QueryRow runs one statement in the transaction for its first row: see [DB.QueryRow].
func (tx *Tx) QueryRow(ctx context.Context, text string, args ...any) *Row {
	return tx.db.QueryRow(ctx, text, args...)
}

// Prepare parses one statement, which runs in the transaction: see [DB.Prepare]. It is an error once the transaction is over.
func (tx *Tx) Prepare(ctx context.Context, text string) (*Statement, error) {
	s, err := tx.db.Prepare(ctx, text)
	if err != nil {
		tx.fail(err)
	}
	return s, err
}

// Exec runs one statement in the transaction: see [DB.Exec].
func (tx *Tx) Exec(ctx context.Context, text string, args ...any) (Stats, error) {
	return tx.db.Exec(ctx, text, args...)
}

// Commit makes what the transaction has changed what others see, and keeps it in the DB's folder. After an error all of
// it is undone, but after one of the folder's sync, when that is not known. An [ErrConflict] is worth another try.
func (tx *Tx) Commit(ctx context.Context) error {
	wait, err := tx.commit(ctx)
	if err == nil {
		err = wait()
	}
	return err
}

func (tx *Tx) commit(ctx context.Context) (wait func() error, err error) {
	failed, err := tx.end()
	if err != nil {
		return nil, err
	}
	defer tx.release()
	switch {
	case tx.of.backends.IsClosed():
		return nil, ErrClosed
	case failed != nil:
		return nil, fmt.Errorf("the transaction is rolled back, for a statement of it failed: %w", failed)
	}
	if err := tx.db.tables.Writer.Acquire(ctx, 1); err != nil { // a statement that changes tables is under way
		return nil, err
	}
	defer tx.db.tables.Writer.Release(1)
	made, err := tx.indexesOf()
	if err != nil {
		return nil, err
	}
	defer func() {
		if err == nil && len(made)+len(tx.without) > 0 {
			tx.commitIndexes(made)
		}
	}()
	if len(tx.changes) == 0 {
		return func() error { return nil }, nil
	}
	if err := tx.of.tables.Writer.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer tx.of.tables.Writer.Release(1)
	changes, next, err := tx.merged(ctx)
	if err != nil {
		return nil, err
	}
	return tx.of.commit(ctx, changes, next)
}

// left are the settings that are left of the transaction.
func (tx *Tx) left() *configuration {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	return tx.stays
}

// Rollback undoes what the transaction has changed. After [Tx.Commit] it does nothing, so that it can be deferred.
func (tx *Tx) Rollback() error {
	if _, err := tx.end(); err == nil {
		tx.release()
	}
	return nil
}

// end ends the transaction, whose first failure it returns, if any.
func (tx *Tx) end() (failed, err error) {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	if tx.over {
		return nil, errTxOver
	}
	tx.over = true
	return tx.failed, nil
}

var errTxOver = sqlstate.Errorf(sqlstate.InvalidTransactionState, "the transaction is over: begin another one")

// usable reports why the transaction takes no statements. A DB outside of transactions has none.
func (tx *Tx) usable() error {
	if tx == nil {
		return nil
	}
	tx.mu.Lock()
	defer tx.mu.Unlock()
	switch {
	case tx.over:
		return errTxOver
	case tx.failed != nil:
		return sqlstate.Errorf(sqlstate.FailedTransaction, "current transaction is aborted, commands ignored until end of transaction block: roll it back, or back to a savepoint")
	}
	return nil
}

// fail notes that a statement failed.
func (tx *Tx) fail(err error) {
	if tx == nil {
		return
	}
	tx.mu.Lock()
	defer tx.mu.Unlock()
	if tx.failed == nil {
		tx.failed = err
	}
}

// keep makes what a statement has changed what those after it in the transaction read; with tx.db.tables.one.
func (tx *Tx) keep(ctx context.Context, changes []storage.Change, next []newVersion) error {
	if err := tx.usable(); err != nil { // it ended meanwhile
		return err
	}
	for _, c := range changes {
		if _, known := tx.base[c.Table]; !known {
			tx.base[c.Table] = -1
			if e := tx.db.tables.Entry(c.Table); e != nil {
				t := e.Table.Load()
				if t == nil && c.Keeps() { // another session's statement has made room since this one has read the table: see evict
					var err error
					if t, err = tx.db.read(ctx, e, nil); err != nil {
						return err
					}
				}
				tx.base[c.Table] = total(t)
			}
		}
		if c.Define != nil { // under a new name, perhaps
			if _, known := tx.base[c.Define.Name]; !known {
				tx.base[c.Define.Name] = -1
			}
		}
	}
	tx.changes = append(tx.changes, changes...)
	tx.db.install(changes, next)
	return nil
}

// release lets go of the snapshots that the transaction kept, and of what others note for it.
func (tx *Tx) release() {
	db := tx.of
	if tx.files != nil {
		tx.files()
	}
	db.snapshots.Lock()
	defer db.snapshots.Unlock()
	db.commits.end(tx)
	tx.forgetSavepoints(0)
	entries, _ := tx.db.tables.Entries()
	for _, e := range entries {
		if e.Open == nil {
			db.unused(e.Name, e.Table.Load())
		}
	}
	for _, e := range tx.db.tables.Information {
		if t := e.Table.Load(); t != nil {
			db.release(t)
		}
	}
	if len(tx.changes) > 0 { // stars may be of tables that nobody else has seen
		db.stars.Purge()
	}
}

// total is how many rows a table has, deleted ones included.
func total(t *table.Table) (n int) {
	if t == nil { // it has not been read
		return 0
	}
	for _, c := range t.Chunks {
		n += c.Rows
	}
	return n
}
