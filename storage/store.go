package storage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// Store is a folder that keeps tables: as Parquet files, and the commits since these were written in a log. One process
// writes to a folder; others read what it held when they opened it.
type Store struct {
	// DueBytes is the length of the log at which [Store.Due] asks for a checkpoint; 0 for 64 MiB.
	DueBytes int64

	dir    string
	d      disk
	reader string // why this store only reads; "" where it writes
	lock   *lock  // of who writes
	files  func() // closes those of the tables, which who reads has open; nil for none

	mu       sync.Mutex
	manifest *manifest
	log      *log
	tables   []*kept // in the order in which they were made
	records  int     // of the log, when it was read
	over     int64   // the end of what the log has of the one before
	sound    sync.Map
	limit    int64 // of the memory for tables; 0 for none
	err      error // nothing more is written
	held     filePins
	beside   *OnlineCheckpoint // a checkpoint that commits do not wait for; nil where none is under way
}

// kept is a table of a store.
type kept struct {
	def   *Definition
	files []part
	rows  int // of the files and of what was appended since, at most

	table   *table.Table // as the log left it; nil where the files, with what amends them, are the table
	amended *delta       // of the files by the log; nil for none, where the table is here, and where it has been changed since the store was opened
	batch   *batch       // of changes that the log has yet; nil for none
	large   bool         // the table has been found to be too large for the memory
	changed bool         // since the files were written
	rewrite bool         // not only by rows behind those of the files
}

// inFiles is the number of rows of the files.
func (k *kept) inFiles() int { return xslices.Sum(k.files, func(p part) int { return p.Rows }) }

// Saved is a table as a store had it when it was opened.
type Saved struct {
	Definition *Definition
	// Table is the table; nil where it is in files: then [Saved.Open] opens these.
	Table *table.Table

	d       disk
	dir     string
	files   []part
	amended *delta
	sound   *sync.Map // of the store: names of files whose bytes were as they had been written
}

// checkpointBytes is the length of a log at which [Store.Due] asks for a checkpoint, where DueBytes is 0.
const checkpointBytes = 64 << 20

// Open opens a folder, or makes one. A process that does not get the folder to write to gets a store that cannot be
// written to: see [Store.ReadOnly]. Damage of the manifest, of the log, or of a file of a table that the log changes is
// an error that names the file. o is for the tables that are read.
func Open(ctx context.Context, dir string, o ingest.Options) (*Store, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("storage: the folder cannot be made: %w", err)
	}
	if name := others(folder(dir)); name != "" {
		return nil, sqlstate.Errorf(sqlstate.WrongObjectType, "storage: %s holds no database but other files, such as %s: take a new folder, or an empty one", dir, name)
	}
	s, err := open(ctx, folder(dir), dir, o)
	if err == nil && s.reader == "" {
		err = folder(filepath.Dir(filepath.Clean(dir))).sync() // the folder's name
	}
	return s, err
}

// Holds reports whether a folder holds a database.
func Holds(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, manifestName))
	return err == nil
}

// others is a file of a folder without a manifest that no store has made; "" for none.
func others(d folder) string {
	names, err := d.list()
	if err != nil || slices.Contains(names, manifestName) {
		return "" // what is wrong opening it says
	}
	for _, name := range names {
		ours := name == lockName || name == manifestNew || strings.HasPrefix(name, "log-") || strings.HasSuffix(name, partSuffix)
		if !ours && !strings.HasPrefix(name, ".") && name != "lost+found" { // which a new disk has
			return name
		}
	}
	return ""
}

func open(ctx context.Context, d disk, dir string, o ingest.Options) (*Store, error) {
	reader, lock, err := d.lock()
	if err != nil {
		return nil, fmt.Errorf("storage: %w", err)
	}
	s := &Store{dir: dir, d: d, reader: reader, lock: lock, limit: o.MemoryLimit}
	err = s.open(ctx, o)
	if err == nil && s.reader == "" && s.manifest.Format < formatVersion {
		err = s.upgrade(ctx)
	}
	if err != nil {
		s.release()
		return nil, s.explain(err)
	}
	return s, nil
}

// upgrade makes the folder one of this version.
func (s *Store) upgrade(ctx context.Context) error {
	var tables []*table.Table
	for _, k := range s.tables {
		if k.table != nil {
			tables = append(tables, k.table)
		}
	}
	_, err := s.Checkpoint(ctx, tables)
	return err
}

// explain is an error that names the folder.
func (s *Store) explain(err error) error {
	var known *damage
	if errors.As(err, &known) {
		return sqlstate.Errorf(sqlstate.DataCorrupted, "storage: %s", filepath.Join(s.dir, known.Error()))
	}
	return fmt.Errorf("storage: %s: %w", s.dir, err)
}

func (s *Store) open(ctx context.Context, o ingest.Options) (err error) {
	for range 5 { // a writer may take away the files of the manifest that was read
		err = s.load(ctx, o)
		if s.reader == "" || !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return err
}

// load reads the manifest and the log.
func (s *Store) load(ctx context.Context, o ingest.Options) error {
	text, err := readAll(s.d, manifestName)
	if errors.Is(err, fs.ErrNotExist) {
		return s.create()
	}
	if err != nil {
		return err
	}
	if s.manifest, err = decodeManifest(text); err != nil {
		return &damage{manifestName, -1, err.Error()}
	}
	s.held.begin(s.manifest.Log)
	if s.reader == "" {
		if err := s.tidy(); err != nil {
			return err
		}
	} else if err := s.openFiles(); err != nil { // before another process takes them away
		return err
	}
	s.tables, s.records = nil, 0
	for _, t := range s.manifest.Tables {
		def, err := t.definition()
		if err != nil {
			return &damage{manifestName, -1, err.Error()}
		}
		k := &kept{def: def, files: t.Files}
		k.rows = k.inFiles()
		s.tables = append(s.tables, k)
	}
	s.log, err = openLog(s.d, s.manifest.Log, func(offset int64, data []byte) error {
		if err := s.replay(ctx, data, o); err != nil {
			var known *damage
			if errors.As(err, &known) || ctx.Err() != nil {
				return err
			}
			return &damage{logName(s.manifest.Log), offset, err.Error()}
		}
		s.records++
		return nil
	})
	if err == nil {
		err = s.flush()
	}
	switch {
	case errors.Is(err, fs.ErrNotExist) && s.reader == "":
		return &damage{logName(s.manifest.Log), -1, "the log is missing"}
	case err != nil:
		return err
	case s.reader != "":
		return s.log.file.Close()
	}
	return s.log.cut()
}

// openFiles has the files of the manifest open, and no others.
func (s *Store) openFiles() error {
	s.closeFiles()
	d, release, err := s.d.keep(s.manifest.files())
	if err == nil {
		s.d, s.files = d, release
	}
	return err
}

// closeFiles closes those that [Store.openFiles] has opened.
func (s *Store) closeFiles() {
	if s.files != nil {
		s.files()
		s.files = nil
	}
}

// create makes a folder that has no manifest a store, unless it had one.
func (s *Store) create() error {
	names, err := s.d.list()
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // what reads makes no folder
		return err
	}
	for _, name := range names {
		lost := strings.HasSuffix(name, partSuffix)
		if strings.HasPrefix(name, "log-") {
			data, err := readAll(s.d, name)
			if err != nil {
				return err
			}
			lost = len(data) > headerSize
		}
		if lost {
			return &damage{manifestName, -1, "the manifest is missing, and " + name + " is there"}
		}
	}
	if s.reader != "" {
		return sqlstate.Errorf(sqlstate.UndefinedFile, "there is no database in the folder: it has no file %s", manifestName)
	}
	return s.install(&manifest{Format: formatVersion, Log: 1, Next: 1}, nil, nil)
}

// install makes a manifest and its log, of these records, those of the folder.
func (s *Store) install(m *manifest, tables []*kept, records [][][]byte) error {
	text, err := m.encode()
	if err != nil {
		return err
	}
	next, err := newLog(s.d, m.Log)
	if err != nil {
		return err
	}
	for _, r := range records {
		if err == nil {
			_, err = next.append(r...)
		}
	}
	if err == nil {
		err = next.wait(next.end)
	}
	if err != nil {
		return errors.Join(err, next.file.Close())
	}
	err = writeFile(s.d, manifestNew, func(w io.Writer) error { _, err := w.Write(text); return err })
	if err == nil {
		err = s.d.sync() // the names of the log and of the parts
	}
	if err == nil {
		err = s.d.rename(manifestNew, manifestName)
	}
	if err != nil {
		return errors.Join(err, next.file.Close())
	}
	if err := s.d.sync(); err != nil { // either manifest may be there after a crash
		s.err = fmt.Errorf("storage: %s: the manifest cannot be synced, and nothing more is written: %w", s.dir, err)
		return errors.Join(s.err, next.file.Close())
	}
	if s.manifest != nil {
		s.held.follow(s.manifest)
	}
	s.manifest, s.log, s.tables, s.over = m, next, tables, next.end
	s.held.begin(m.Log)
	return nil
}

// tidy removes the files of stores that no manifest has.
func (s *Store) tidy() error {
	names, err := s.d.list()
	if err != nil {
		return err
	}
	wanted := append(s.manifest.names(), s.manifest.Before...)
	for _, m := range s.held.past {
		wanted = append(wanted, m.files()...)
	}
	for _, name := range names {
		if (strings.HasSuffix(name, partSuffix) || strings.HasPrefix(name, "log-") || name == manifestNew) && !slices.Contains(wanted, name) {
			if err := s.d.remove(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// names are the files that a manifest has.
func (m *manifest) names() []string {
	return append(m.files(), logName(m.Log))
}

// files are those of its tables.
func (m *manifest) files() (list []string) {
	for _, t := range m.Tables {
		for _, p := range t.Files {
			list = append(list, p.Name)
		}
	}
	return list
}

// find is the table of a name; nil where there is none.
func find(tables []*kept, name string) *kept {
	for _, k := range tables {
		if k.def.Name == name {
			return k
		}
	}
	return nil
}

// noted are the tables after a change, as far as they are known without their rows.
func noted(tables []*kept, c *Change) ([]*kept, error) {
	old := find(tables, c.Table)
	k := &kept{}
	if old != nil {
		*k = *old
	}
	without := slices.DeleteFunc(slices.Clone(tables), func(k *kept) bool { return k == old })
	switch {
	case old == nil && (c.Define == nil || c.Drop):
		return nil, fmt.Errorf("storage: there is no table %s to change", c.Table)
	case c.Drop:
		return without, nil
	case c.Define != nil:
		if c.Define.Name != c.Table && find(without, c.Define.Name) != nil {
			return nil, fmt.Errorf("storage: there are two tables named %s", c.Define.Name)
		}
		k.rewrite = k.rewrite || old == nil || !c.keepsColumns(old.def.Fields)
		k.def = c.Define
	}
	k.changed = true
	base := k.inFiles()
	early := func(rows []int) bool { return len(rows) > 0 && rows[0] < base }
	k.rewrite = k.rewrite || early(c.Delete)
	for _, u := range c.Update {
		k.rewrite = k.rewrite || early(u.Rows)
	}
	for _, ch := range c.Append {
		k.rows += ch.Rows
	}
	if old == nil {
		return append(without, k), nil
	}
	out := slices.Clone(tables)
	out[slices.Index(out, old)] = k
	return out, nil
}

func (s *Store) saved(k *kept) *Saved {
	return &Saved{Definition: k.def, Table: k.table, d: s.d, dir: s.dir, files: k.files, amended: k.amended, sound: &s.sound}
}

// Tables are the tables as they were when the store was opened. The store keeps none of their rows after this.
func (s *Store) Tables() (list []*Saved) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.tables {
		list = append(list, s.saved(k))
		k.table = nil
	}
	return list
}

// Saved is a table of which the rows are in files, with what the log changes of them by now; nil for another one.
func (s *Store) Saved(name string) *Saved {
	s.mu.Lock()
	defer s.mu.Unlock()
	if k := find(s.tables, name); k != nil && len(k.files) > 0 && (k.amended != nil || !k.changed) {
		return s.saved(k)
	}
	return nil
}

// Empty reports that no file has rows of the table.
func (t *Saved) Empty() bool { return len(t.files) == 0 }

// DeltaBytes is what the memory takes that keeps the log's changes of the files apart from these; 0 for none.
func (t *Saved) DeltaBytes() int64 { return t.amended.bytes() }

// Open opens the files of a table, after it has seen that their bytes are those that were written. It is nil for a table
// without rows.
func (t *Saved) Open(ctx context.Context, o ingest.Options) (*Rows, error) {
	var list []ingest.Source
	for _, p := range t.files {
		if _, is := t.sound.Load(p.Name); !is {
			if err := verify(ctx, t.d, p); err != nil {
				return nil, fmt.Errorf("storage: %s: %w", t.dir, err)
			}
			t.sound.Store(p.Name, true)
		}
		list = append(list, t.d.source(p.Name))
	}
	if len(list) == 0 {
		return nil, nil
	}
	o.Trusted = true
	f, err := ingest.OpenAll(ctx, t.Definition.Name, list, o)
	if err != nil {
		return nil, err
	}
	r, rows := newRows(f, &sync.Mutex{}, t.amended), 0
	for _, p := range t.files {
		rows += p.Rows
	}
	if got := r.starts[f.Groups()]; got != rows {
		return nil, &damage{t.files[0].Name, -1, fmt.Sprintf("table %s has %d rows in its files, and the manifest says %d", t.Definition.Name, got, rows)}
	}
	return r, nil
}

// Load is the whole table.
func (t *Saved) Load(ctx context.Context, o ingest.Options) (*table.Table, error) {
	if t.Table != nil {
		return t.Table, nil
	}
	r, err := t.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	none := &table.Table{Name: t.Definition.Name, Fields: t.Definition.Fields}
	if r == nil {
		return none, nil
	}
	got, err := r.Read(ctx, none.All(), o)
	if err != nil {
		return nil, err
	}
	if !slices.Equal(got.Fields, t.Definition.Fields) {
		return nil, &damage{t.files[0].Name, -1, fmt.Sprintf("its columns are not those of table %s", t.Definition.Name)}
	}
	return got, nil
}

// ErrClosed is of a store that is closed.
var ErrClosed = sqlstate.Errorf(sqlstate.AdminShutdown, "storage: the store is closed")

// ReadOnly says why the folder is only read: who else writes to it, or that nobody can; "" where this store writes.
func (s *Store) ReadOnly() string { return s.reader }

// Pending is a commit that has been written.
type Pending struct {
	log *log
	end int64
}

// Wait returns when the commit is synced: it will be there after a crash. Where that fails, whether it will is not known,
// and the store takes no more commits. No context ends it: the commit would be there all the same.
func (p Pending) Wait() error {
	if p.log == nil {
		return nil
	}
	return p.log.wait(p.end)
}

// writable reports why nothing can be written; with s.mu.
func (s *Store) writable() error {
	if s.reader != "" {
		return sqlstate.Errorf(sqlstate.ReadOnlyTransaction, "storage: %s is read only here: %s", s.dir, s.reader)
	}
	if s.err == nil && s.lock != nil {
		if err := s.lock.lost(); err != nil {
			s.err = fmt.Errorf("storage: %s: %w", s.dir, err)
		}
	}
	return s.err
}

// Append writes a commit, which its caller has applied to the tables, behind those before it. Tables that are named apart are not in its
// caller's memory, and what changes their rows is kept apart from their files ([Store.Saved]). After an error, of a full
// disk too, nothing has happened.
func (s *Store) Append(commit []Change, apart ...string) (Pending, error) {
	record, err := record(commit)
	if err != nil {
		return Pending{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.writable(); err != nil {
		return Pending{}, err
	}
	tables := s.tables
	for i := range commit {
		c, old := &commit[i], find(tables, commit[i].Table)
		if tables, err = noted(tables, c); err != nil {
			return Pending{}, err
		}
		name := c.Table
		if c.Define != nil {
			name = c.Define.Name
		}
		k := find(tables, name)
		switch {
		case k == nil:
		case old != nil && slices.Contains(apart, name):
			if k.amended, err = k.amended.with(old.def.Fields, k.inFiles(), c); err != nil {
				return Pending{}, err
			}
		default:
			k.amended = nil
		}
	}
	end, err := s.log.append(record...)
	if err != nil {
		return Pending{}, err
	}
	s.tables = tables
	s.beside.note(commit, len(apart) > 0)
	return Pending{s.log, end}, nil
}

// Due reports that the log is long enough for a [Store.Checkpoint].
func (s *Store) Due() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.writable() != nil {
		return false
	}
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	return s.log.end-s.over > cmp.Or(s.DueBytes, checkpointBytes)
}

// Full reports that changes in the log of tables that are not in memory take much of this. A [Store.Checkpoint] should come before
// more does.
func (s *Store) Full() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.writable() == nil && slices.ContainsFunc(s.tables, s.fills)
}

// Close ends the store; everything written is synced. It may be called twice.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	switch {
	case s.reader != "" || s.log == nil:
	case errors.Is(s.writable(), errUnlocked): // the log may be another process's
		err = s.log.file.Close()
	default:
		err = s.log.close()
	}
	s.log, s.err = nil, cmp.Or(s.err, ErrClosed)
	s.release()
	return err
}

func (s *Store) release() {
	s.closeFiles()
	if s.lock != nil {
		s.lock.unlock()
		s.lock = nil
	}
}
