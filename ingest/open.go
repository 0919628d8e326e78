package ingest

import (
	"cmp"
	"context"
	"errors"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/ingest/arrowipc"
	"github.com/stencildb/stencildb/ingest/columnar"
	"github.com/stencildb/stencildb/ingest/csv"
	"github.com/stencildb/stencildb/ingest/json"
	"github.com/stencildb/stencildb/ingest/parquet"
	"github.com/stencildb/stencildb/ingest/record"
	"github.com/stencildb/stencildb/ingest/source"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

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
	var list []*source.Loader
	defer func() {
		for _, l := range list {
			if l.Input.Close(); err != nil {
				l.Input.Drop()
			}
		}
	}()
	for _, s := range sources {
		l := &source.Loader{Ctx: ctx, Name: name, Source: s, Input: source.InMemory(s.Data), Options: o}
		l.Source.Path = cmp.Or(s.Path, name)
		switch {
		case s.Kept != nil:
			l.Input = s.Kept.Input()
		case s.File != nil:
			l.Input, err = source.OpensNothing(s.File)
		case s.Data == nil:
			l.Input, err = source.OpenInput(ctx, s.Path, o)
		}
		if err != nil {
			return nil, err
		}
		list = append(list, l)
	}
	if f, err = opened(list, path); err == nil && !f.once && f.from.Options.MemoryLimit > 0 {
		f.groups = f.groups.InPieces(f.table, f.from.Options.MemoryLimit)
	}
	return f, err
}

// opened is the inputs that a path stands for as one file.
func opened(list []*source.Loader, path string) (*File, error) {
	var byColumns []*File
	objects := 0
	for _, l := range list {
		f, format, err := openOne(l)
		if err != nil {
			return nil, err
		}
		if f != nil {
			byColumns = append(byColumns, f)
		}
		if format == JSON {
			objects++
		}
	}
	switch {
	case len(byColumns) == 0 && objects > 0 && objects < len(list):
		return nil, sqlstate.Errorf(sqlstate.BadCopyFileFormat, "%s: some of the files are JSON and some are not", path)
	case len(byColumns) == 0 && objects > 0:
		return openText(list, path, json.Open)
	case len(byColumns) == 0:
		return openText(list, path, csv.Open)
	case len(byColumns) < len(list):
		return nil, sqlstate.Errorf(sqlstate.BadCopyFileFormat, "%s: some of the files are text and some are not", path)
	case len(byColumns) > 1:
		return merged(byColumns, path)
	}
	return byColumns[0], nil
}

// openOne begins to read an input, by its format; CSV and JSON give nil.
func openOne(l *source.Loader) (f *File, format Format, err error) {
	s := &l.Source
	defer l.Input.Explain(s.Path, &err)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // of a mapped file that is cut
	format, known, err := l.Detect()
	if err != nil {
		return nil, "", err
	}
	if l.Input.Size() == 0 && s.Columns == nil {
		without := map[Format]string{JSON: "an object, whose members would be the columns", Parquet: "the first bytes of a Parquet file", Arrow: "the first bytes of an Arrow file"}
		return nil, "", sqlstate.Errorf(sqlstate.BadCopyFileFormat, "%s is empty: not even %s", s.Path, cmp.Or(without[format], "a header"))
	}
	l.Optioned = s.Optioned()
	switch {
	case format == CSV || format == TSV:
	case format == JSON && s.Columns == nil && (s.Header != HeaderSniffed || s.Delim != 0 || s.Nulls != nil):
		return nil, "", source.OptionErrorf("header, delim and null are for CSV; of a json file there are types, strict and encoding")
	case format != JSON && l.Optioned:
		return nil, "", source.OptionErrorf("header, delim, null, types, strict and encoding are for CSV; a %s file says these itself", format)
	}
	if (format == Parquet || format == Arrow) && l.Codec == "" && l.IsText() {
		return nil, "", source.OptionErrorf("it is text, as of CSV, and no %s file; FROM read_csv('%s') reads it, whatever its name", format, strings.ReplaceAll(s.Path, "'", "''"))
	}
	if !known {
		l.Note("the extension names no format: read as %s", strings.TrimSpace(string(format)+" "+l.Codec))
	}
	switch format {
	case JSON, CSV, TSV:
		if s.Delim == 0 && format == TSV {
			s.Delim = '\t'
		}
		return nil, format, nil
	case Parquet:
		fields, list, err := parquet.Open(l)
		if err != nil {
			return nil, "", err
		}
		f, err = rowGroupFile(l, fields, list)
		return f, format, err
	case Arrow:
		fields, list, once, err := arrowipc.Open(l)
		if err != nil {
			return nil, "", err
		}
		if f, err = rowGroupFile(l, fields, list); err == nil {
			f.once = once
		}
		return f, format, err
	}
	return nil, "", sqlstate.Errorf(sqlstate.InvalidParameterValue, "unknown format %q: want csv, tsv, json, parquet or arrow", format)
}

// openText opens files of CSV or JSON, of the path that they were named by.
func openText(list []*source.Loader, path string, open func([]*source.Loader) (*record.Reader, error)) (f *File, err error) {
	l := *list[0]
	l.Source.Path = path
	defer l.Input.Explain(path, &err)
	r, err := open(list)
	switch s := &list[0].Source; {
	case errors.Is(err, record.ErrEmpty) && s.Columns != nil && s.Header == HeaderNone:
		return newFile(&l, record.Without(s.Columns), 0), nil
	case err != nil:
		return nil, err
	}
	f = newFile(&l, r.Fields, r.Rows)
	f.text, f.inputs = r, nil
	for _, l := range list {
		f.inputs = append(f.inputs, l.Input)
	}
	f.once = slices.ContainsFunc(f.inputs, (*source.Input).Once)
	return f, nil
}

// rowGroupFile begins a file that has its rows in groups, column by column.
func rowGroupFile(l *source.Loader, fields []table.Field, groups columnar.Groups) (*File, error) {
	if err := l.DistinctNames(fields); err != nil {
		return nil, err
	}
	rows := xslices.Sum(groups, func(g columnar.Group) int { return g.Rows })
	f := newFile(l, fields, rows)
	f.groups = groups
	return f, nil
}

// newFile is a file of which no column has been read.
func newFile(l *source.Loader, fields []table.Field, rows int) *File {
	f := &File{from: l, fields: fields, rows: rows, chunkRows: l.Options.ChunkRows, inputs: []*source.Input{l.Input}}
	if f.chunkRows <= 0 {
		f.chunkRows = table.MaxChunkRows
	}
	f.table = &table.Table{Name: l.Name, Fields: fields}
	for at := 0; at < f.rows; at += f.chunkRows {
		f.table.Chunks = append(f.table.Chunks, &table.Chunk{Rows: min(f.chunkRows, f.rows-at), Segments: make([]*table.Segment, len(fields))})
	}
	return f
}
