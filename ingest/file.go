package ingest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/stencildb/stencildb/internal/files"
	"github.com/stencildb/stencildb/internal/parallel"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// File is a source whose columns are known. They are read when they are asked for. What can be read once
// only, and compressed Arrow, is kept in memory until some are asked for, and then all of them are read.
type File struct {
	*loader
	fields    []table.Field
	groups    []group
	csv       *csvReader // of CSV, which has no groups
	once      bool       // all columns are read at once
	rows      int
	chunkRows int
	table     *table.Table // what has been read
	inputs    []*input     // that it is read from
}

// Load reads a source into a table of a name: [Open], and [File.Read] of all columns. It
// returns the whole table or an error.
func Load(ctx context.Context, name string, s Source, o Options) (*table.Table, error) {
	f, err := Open(ctx, name, s, o)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Read(ctx, f.table.All(), o)
}

// Open looks at a source, which becomes a table of a name. Errors are one line that names
// the file. A path may be a pattern of several files: see [Files].
//
// The format is s.Format, else what the extension says (.csv, .tsv, .parquet,
// .arrow, .feather, .ipc; all but .parquet also with .gz or .zst). Else it is
// what the first bytes say.
func Open(ctx context.Context, name string, s Source, o Options) (*File, error) {
	if s.Data != nil || s.Kept != nil {
		return OpenAll(ctx, name, []Source{s}, o)
	}
	paths, err := Files(s.Path)
	if err != nil {
		return nil, err
	}
	var list []Source
	for _, path := range paths {
		one := s
		one.Path = path
		list = append(list, one)
	}
	return openAll(ctx, name, list, s.Path, o)
}

// OpenAll is [Open] of several files, at least one, as one: their rows lie one behind the other. Paths are no patterns.
func OpenAll(ctx context.Context, name string, list []Source, o Options) (*File, error) {
	return openAll(ctx, name, list, cmp.Or(list[0].Path, name), o)
}

func openAll(ctx context.Context, name string, sources []Source, path string, o Options) (f *File, err error) {
	var list []*loader
	defer func() {
		for _, l := range list {
			if l.file.close(); err != nil {
				l.file.drop()
			}
		}
	}()
	for _, s := range sources {
		l := &loader{ctx: ctx, name: name, src: s, file: inMemory(s.Data), opts: o}
		l.src.Path = cmp.Or(s.Path, name)
		switch {
		case s.Kept != nil:
			l.file = s.Kept.input()
		case s.File != nil:
			l.file, err = opensNothing(s.File)
		case s.Data == nil:
			l.file, err = openInput(ctx, s.Path, o)
		}
		if err != nil {
			return nil, err
		}
		list = append(list, l)
	}
	if f, err = opened(list, path); err == nil && !f.once && f.opts.MemoryLimit > 0 {
		f.groups = f.inPieces(f.opts.MemoryLimit)
	}
	return f, err
}

// opened is the inputs that a path stands for as one file.
func opened(list []*loader, path string) (*File, error) {
	var columnar []*File
	for _, l := range list {
		f, err := l.open()
		if err != nil {
			return nil, err
		}
		if f != nil {
			columnar = append(columnar, f)
		}
	}
	switch {
	case len(columnar) == 0 && slices.ContainsFunc(list, func(l *loader) bool { return l.json != list[0].json }):
		return nil, sqlstate.Errorf(sqlstate.BadCopyFileFormat, "%s: some of the files are JSON and some are not", path)
	case len(columnar) == 0:
		return openCSV(list, path)
	case len(columnar) < len(list):
		return nil, sqlstate.Errorf(sqlstate.BadCopyFileFormat, "%s: some of the files are text and some are not", path)
	case len(columnar) > 1:
		return merged(columnar, path)
	}
	return columnar[0], nil
}

// Read reads columns, by their numbers, as far as that has not been done, and returns the
// table with them. A column with a value that its type cannot hold is an unsupported field
// from then on. A file that is not what it was when it was opened is an error.
func (f *File) Read(ctx context.Context, columns []int, o Options) (t *table.Table, err error) {
	read := func(i int) bool { return f.table.Fields[i].Unsupported != "" || f.table.Has([]int{i}) }
	left := slices.DeleteFunc(slices.Clone(columns), read)
	if len(left) == 0 {
		return f.table, ctx.Err()
	}
	if f.once {
		left = slices.DeleteFunc(f.table.All(), read)
	}
	slices.Sort(left)
	defer f.file.explain(f.src.Path, &err)
	defer f.close()
	if err := f.reopen(ctx); err != nil {
		return nil, err
	}
	if err := f.add(ctx, left, o); err != nil {
		return nil, err
	}
	if f.once {
		f.letGo()
	}
	return f.table, nil
}

// reopen opens the inputs again, which close closes.
func (f *File) reopen(ctx context.Context) error {
	for _, in := range f.inputs {
		if err := in.reopen(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (f *File) close() {
	for _, in := range f.inputs {
		in.close()
	}
}

// Close closes the temporary files of what came through pipes: nothing more is read then. It may be called while something is, and twice.
func (f *File) Close() {
	for _, in := range f.inputs {
		in.drop()
	}
}

// letGo gives the data of a source back of which all has been read.
func (f *File) letGo() {
	f.groups, f.csv, f.once, f.src.Data = nil, nil, false, nil
	for _, in := range f.inputs {
		if in.once() {
			*in = *inMemory(nil)
		}
	}
}

// Groups is how many row groups there are that [File.ReadGroups] reads alone; 0 where the file is read as a whole.
func (f *File) Groups() int {
	if f.once {
		return 0
	}
	return len(f.groups)
}

// Fields is how many columns the file has.
func (f *File) Fields() int { return len(f.fields) }

// Path is that of the source, without options.
func (f *File) Path() string { return f.src.Path }

// GroupRows is how many rows a row group has.
func (f *File) GroupRows(group int) int { return f.groups[group].rows }

// Outline is the table as the file's statistics tell of some columns. It has a chunk for each of its
// row groups, and segments. The segments' numbers (Base, Max, Bits, Nulls) are right as far as [table.Inexact] says, their codes are
// not. ok is false where the file states no bounds, or is no longer needed.
func (f *File) Outline(columns []int) (t *table.Table, ok bool) {
	t = &table.Table{Name: f.name, Fields: f.table.Fields}
	most := 0
	for _, g := range f.groups {
		most = max(most, g.rows)
	}
	none := make([]uint8, most)
	for _, g := range f.groups {
		c := &table.Chunk{Rows: g.rows, Segments: make([]*table.Segment, len(f.fields))}
		for _, i := range columns {
			if c.Segments[i] = f.outline(g, i, none); c.Segments[i] == nil {
				return nil, false
			}
		}
		t.Chunks = append(t.Chunks, c)
	}
	return t, len(f.groups) > 0
}

// Shape is [File.Outline] of columns of which the file may not say anything: then their numbers leave room for all. It
// is nil where the file has no row groups, is read as a whole, or is no longer needed.
func (f *File) Shape(columns []int) *table.Table {
	if len(f.groups) == 0 || f.once {
		return nil
	}
	t := &table.Table{Name: f.name, Fields: f.table.Fields}
	for _, g := range f.groups {
		c := &table.Chunk{Rows: g.rows, Segments: make([]*table.Segment, len(f.fields))}
		none := make([]uint8, g.rows)
		for _, i := range columns {
			if c.Segments[i] = f.outline(g, i, none); c.Segments[i] != nil {
				continue
			}
			c.Segments[i] = Unknown(f.fields[i].Type, none)
		}
		t.Chunks = append(t.Chunks, c)
	}
	return t
}

// Unknown is a column of rows of which nothing is known, as in [File.Shape], with a code for each, which is not looked at.
func Unknown(t table.Type, codes []uint8) *table.Segment {
	s := &table.Segment{Type: t, Codes: table.Codes{U8: codes}, Max: math.MaxUint64, Bits: 64, Nulls: 1, Inexact: table.InexactRange | table.InexactNulls}
	if t.Kind == table.Varchar {
		s.Max, s.Bits, s.Dict = 0, 0, []string{""}
	}
	return s
}

// outline is a column of a row group as the file's statistics tell of it, with codes that are not right; nil where they do not.
func (f *File) outline(g group, i int, codes []uint8) *table.Segment {
	if f.table.Fields[i].Unsupported != "" {
		return nil
	}
	return g.stated(i).outline(f.fields[i].Type, codes[:g.rows])
}

// GroupBytes estimates what columns of a row group take in memory.
func (f *File) GroupBytes(group int, columns []int) (n int64) {
	g := f.groups[group]
	for _, i := range columns {
		width := 8
		if lo, hi, ok := g.stated(i).bounds(); ok {
			width = table.CodeWidth(hi - lo)
		}
		if f.fields[i].Type.Kind == table.Varchar {
			width = 4
			n += 3 * g.bytes(i)
		}
		n += int64(width*g.rows) + int64(g.rows/8)
	}
	return n
}

// ReadGroups reads columns of some row groups, as numbered in [File.Outline], into a table of
// these alone.
func (f *File) ReadGroups(ctx context.Context, groups, columns []int, o Options) (*table.Table, error) {
	var list []group
	for _, i := range groups {
		list = append(list, f.groups[i])
	}
	part, err := f.part(list)
	if err != nil {
		return nil, err
	}
	return part.Read(ctx, columns, o)
}

// Unread is f as if nothing had been read of it; nil where that cannot be read again, as what is read as a whole. The two must not be read at
// the same time.
func (f *File) Unread() *File {
	if f.rows > 0 && len(f.groups) == 0 && f.csv == nil {
		return nil
	}
	out := *f
	out.table = f.next()
	for _, c := range out.table.Chunks {
		clear(c.Segments)
	}
	return &out
}

// part is a file of some row groups alone.
func (f *File) part(groups []group) (*File, error) {
	part, err := f.columnar(slices.Clone(f.fields), groups)
	if err == nil {
		part.inputs = f.inputs
	}
	return part, err
}

// add puts columns into the table.
func (f *File) add(ctx context.Context, columns []int, o Options) error {
	if f.csv != nil {
		if coming := o.Coming; coming != nil {
			o.Coming = func(t *table.Table) func(chunk, col int, s *table.Segment) {
				there := coming(f.with(t, columns))
				return func(chunk, col int, s *table.Segment) { there(chunk, columns[col], s) }
			}
		}
		t, err := f.csv.convert(ctx, columns, o)
		if err == nil {
			f.table = f.with(t, columns)
		}
		return err
	}
	next := f.next()
	read, err := f.read(ctx, columns, o)
	if err != nil {
		return err
	}
	for _, col := range read {
		if why := col.useless.Load(); why != nil {
			next.Fields[col.index].Unsupported = string(*why)
			continue
		}
		for i, c := range next.Chunks {
			c.Segments[col.index] = col.done[i]
		}
	}
	f.table = next
	return nil
}

// with is the table's next snapshot with a table of some of its columns.
func (f *File) with(t *table.Table, columns []int) *table.Table {
	next := f.next()
	for i, c := range t.Chunks {
		for k, col := range columns {
			next.Chunks[i].Segments[col] = c.Segments[k]
		}
	}
	return next
}

// next is the table's next snapshot, to which columns are added.
func (f *File) next() *table.Table {
	next := &table.Table{Name: f.name, Fields: slices.Clone(f.table.Fields), Version: f.table.Version + 1}
	for _, c := range f.table.Chunks {
		next.Chunks = append(next.Chunks, &table.Chunk{Rows: c.Rows, Segments: slices.Clone(c.Segments)})
	}
	return next
}

// columnar begins a file that has its rows in groups, column by column.
func (l *loader) columnar(fields []table.Field, groups []group) (*File, error) {
	if err := l.distinctNames(fields); err != nil {
		return nil, err
	}
	rows := 0
	for _, g := range groups {
		rows += g.rows
	}
	f := l.newFile(fields, rows)
	f.groups = groups
	return f, nil
}

// newFile is a file of which no column has been read.
func (l *loader) newFile(fields []table.Field, rows int) *File {
	f := &File{loader: l, fields: fields, rows: rows, chunkRows: l.opts.ChunkRows, inputs: []*input{l.file}}
	if f.chunkRows <= 0 {
		f.chunkRows = table.MaxChunkRows
	}
	f.table = &table.Table{Name: l.name, Fields: fields}
	for at := 0; at < f.rows; at += f.chunkRows {
		f.table.Chunks = append(f.table.Chunks, &table.Chunk{Rows: min(f.chunkRows, f.rows-at), Segments: make([]*table.Segment, len(fields))})
	}
	return f
}

// open begins to read the input, by its format; CSV gives nil.
func (l *loader) open() (f *File, err error) {
	s := &l.src
	defer l.file.explain(s.Path, &err)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // of a mapped file that is cut
	format, known, err := l.detect()
	if err != nil {
		return nil, err
	}
	if l.file.Size() == 0 && s.Columns == nil {
		without := map[Format]string{JSON: "an object, whose members would be the columns", Parquet: "the first bytes of a Parquet file", Arrow: "the first bytes of an Arrow file"}
		return nil, sqlstate.Errorf(sqlstate.BadCopyFileFormat, "%s is empty: not even %s", s.Path, cmp.Or(without[format], "a header"))
	}
	l.optioned = s.optioned()
	switch {
	case format == CSV || format == TSV:
	case format == JSON && s.Columns == nil && (s.Header != HeaderSniffed || s.Delim != 0 || s.Nulls != nil):
		return nil, &OptionError{errors.New("header, delim and null are for CSV; of a json file there are types, strict and encoding")}
	case format != JSON && l.optioned:
		return nil, &OptionError{fmt.Errorf("header, delim, null, types, strict and encoding are for CSV; a %s file says these itself", format)}
	}
	if (format == Parquet || format == Arrow) && l.codec == "" && l.isText() {
		return nil, &OptionError{fmt.Errorf("it is text, as of CSV, and no %s file; FROM read_csv('%s') reads it, whatever its name", format, strings.ReplaceAll(s.Path, "'", "''"))}
	}
	if !known {
		l.note("the extension names no format: read as %s", strings.TrimSpace(string(format)+" "+l.codec))
	}
	switch format {
	case JSON:
		l.json = true
		return nil, nil
	case CSV, TSV:
		if s.Delim == 0 && format == TSV {
			s.Delim = '\t'
		}
		return nil, nil
	case Parquet:
		return l.parquet()
	case Arrow:
		return l.arrow()
	}
	return nil, sqlstate.Errorf(sqlstate.InvalidParameterValue, "unknown format %q: want csv, tsv, json, parquet or arrow", format)
}

// input is the data of a source. A file can be closed and opened again.
type input struct {
	*io.SectionReader
	closer io.Closer   // of a file; nil: the data are in memory, or kept, or it stays open
	kept   Temporary   // of what came through a pipe; nil for none
	stays  bool        // it is open, and somebody else closes it
	data   []byte      // in memory
	path   string      // of a file
	info   fs.FileInfo // when it was opened first
	over   int64       // the limit of memory, once a piece was larger; atomic
}

// inMemory is data as input.
func inMemory(data []byte) *input {
	return &input{SectionReader: io.NewSectionReader(bytes.NewReader(data), 0, int64(len(data))), data: data}
}

// opensNothing is a file that stays open as input.
func opensNothing(f *os.File) (*input, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return &input{SectionReader: io.NewSectionReader(f, 0, info.Size()), stays: true}, nil
}

// openInput opens a file, or takes what comes through a pipe.
func openInput(ctx context.Context, path string, o Options) (*input, error) {
	f, err := files.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	if info.Mode().IsRegular() {
		return &input{SectionReader: io.NewSectionReader(f, 0, info.Size()), closer: f, path: path, info: info}, nil
	}
	// A pipe or the like can be read once only. Closing it ends a read that waits.
	defer f.Close()
	stop := context.AfterFunc(ctx, func() { _ = f.Close() })
	defer stop()
	o.whole()
	in, err := piped(f, o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return in, nil
}

// piped is what comes through a pipe, in memory or, if it is much, in a temporary file.
func piped(from io.Reader, o Options) (*input, error) {
	most := o.MemoryLimit
	if o.Temporary != nil {
		most = (most + 15) / 16 // so that the table of what stays in memory has room beside it
	}
	data, err := readAll(from, most)
	if o.Temporary == nil || !errors.As(err, new(*MemoryError)) {
		return inMemory(data), err
	}
	to, err := o.Temporary()
	if err != nil {
		return nil, err
	}
	n, err := io.Copy(io.NewOffsetWriter(to, 0), io.MultiReader(bytes.NewReader(data), from))
	if err != nil {
		return nil, errors.Join(err, to.Close())
	}
	return &input{SectionReader: io.NewSectionReader(to, 0, n), kept: to}, nil
}

// Kept is what comes once only, to be read more often: in memory or, if it is much, in a temporary file.
type Kept struct{ in *input }

// Keep reads from to its end. It stays in memory up to a sixteenth of o.MemoryLimit; what is more goes to a file that o.Temporary makes.
func Keep(from io.Reader, o Options) (*Kept, error) {
	in, err := piped(from, o)
	if err != nil {
		return nil, err
	}
	return &Kept{in}, nil
}

// Close gives the temporary file back, if there is one.
func (k *Kept) Close() { k.in.drop() }

// input is the content as the input of one file; closing that closes nothing.
func (k *Kept) input() *input {
	if k.in.kept == nil {
		return inMemory(k.in.data)
	}
	to := unclosed{k.in.kept}
	return &input{SectionReader: io.NewSectionReader(to, 0, k.in.Size()), kept: to}
}

// unclosed is a temporary file that somebody else closes.
type unclosed struct{ Temporary }

func (unclosed) Close() error { return nil }

// once reports data that are there until they have been read.
func (in *input) once() bool { return in.closer == nil && in.kept == nil && !in.stays }

// drop closes the temporary file.
func (in *input) drop() {
	if in.kept != nil {
		_ = in.kept.Close()
	}
}

// text is all of the data, uncompressed; mapped reports that it takes no memory of its own.
func (l *loader) text() (data []byte, mapped bool, err error) {
	f, ok := l.file.closer.(*os.File)
	switch {
	case l.codec != "" || l.file.kept != nil:
		in, err := l.start()
		if err != nil {
			return nil, false, err
		}
		defer in.Close()
		l.opts.whole()
		data, err = readAll(in, l.opts.MemoryLimit)
		return data, false, err
	case !ok:
		return l.file.data, true, nil
	}
	if data, err = unix.Mmap(int(f.Fd()), 0, int(l.file.Size()), unix.PROT_READ, unix.MAP_SHARED); err != nil {
		return nil, false, fmt.Errorf("cannot be mapped: %w", err)
	}
	runtime.AddCleanup(l.file, func(data []byte) { _ = unix.Munmap(data) }, data)
	return data, true, nil
}

// Changed reports that the path is no more what it was when the file was opened.
func (f *File) Changed() bool {
	return slices.ContainsFunc(f.inputs, func(in *input) bool {
		if in.info == nil { // of no file
			return false
		}
		now, err := os.Stat(in.path)
		return err != nil || in.differs(now)
	})
}

func (in *input) differs(now fs.FileInfo) bool {
	return !os.SameFile(now, in.info) || now.Size() != in.info.Size() || !now.ModTime().Equal(in.info.ModTime())
}

// ErrChanged is that of reading more of a file which is no more what was opened.
var ErrChanged = sqlstate.Errorf(sqlstate.ObjectNotInPrerequisiteState, "the file has changed since it was opened: open it again")

// reopen opens a file again.
func (in *input) reopen(ctx context.Context) error {
	if in.closer == nil {
		return nil
	}
	f, err := files.Open(ctx, in.path)
	if err != nil {
		return err
	}
	now, err := f.Stat()
	if err == nil && in.differs(now) {
		err = ErrChanged
	}
	if err != nil {
		f.Close()
		return err
	}
	in.SectionReader, in.closer = io.NewSectionReader(f, 0, now.Size()), f
	return nil
}

func (in *input) close() {
	if in.closer != nil {
		in.closer.Close()
	}
}

// explain makes the error of reading one line that names the file. It is deferred: arrow-go
// panics on some corrupt files, which must end the reading and not the program.
func (in *input) explain(path string, err *error) {
	if r := recover(); r != nil {
		if p, ok := r.(*parallel.Panic); ok {
			r = p.Value
		}
		known, ok := r.(damage)
		if !ok {
			known = "its parts do not fit together"
		}
		*err = known
	}
	if limit := atomic.SwapInt64(&in.over, 0); *err != nil && limit > 0 {
		*err = &MemoryError{limit}
	}
	var known damage
	switch {
	case errors.As(*err, &known):
		*err = fmt.Errorf("%s: %w; %s", path, known, advice)
	case *err != nil && strings.HasPrefix((*err).Error(), path+": "): // that of opening it again
	case *err != nil && in.Size() > 0:
		code := sqlstate.Of(*err)
		if code == sqlstate.InternalError { // of its content, which nothing else is said of
			code = sqlstate.BadCopyFileFormat
		}
		*err = sqlstate.Errorf(code, "%s: %w", path, *err)
	}
}
