package ingest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/stencildb/stencildb/internal/files"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// FormatOf is the format ("" for none) and the compression ("", "gz" or "zst") that a path's
// extensions name.
func FormatOf(path string) (format Format, codec string) {
	base := strings.ToLower(filepath.Base(path))
	ext := filepath.Ext(base)
	if ext == ".gz" || ext == ".zst" {
		codec = ext[1:]
		ext = filepath.Ext(strings.TrimSuffix(base, ext))
	}
	return map[string]Format{".csv": CSV, ".tsv": TSV, ".tab": TSV, ".parquet": Parquet,
		".json": JSON, ".ndjson": JSON, ".jsonl": JSON, ".jsonlines": JSON, ".arrow": Arrow, ".feather": Arrow, ".ipc": Arrow, ".arrows": Arrow}[ext], codec
}

// detect finds the format and the compression, and reports whether the extension or the
// source named the format.
func (l *loader) detect() (format Format, known bool, err error) {
	format, l.codec = FormatOf(l.src.Path)
	format = cmp.Or(l.src.Format, format)
	if format == Parquet && l.codec != "" {
		return "", true, sqlstate.Errorf(sqlstate.FeatureNotSupported, "a Parquet file is compressed inside: unpack the .%s first", l.codec)
	}
	if l.codec != "" {
		return cmp.Or(format, CSV), format != "", nil
	}
	first := make([]byte, 512)
	n, err := l.file.ReadAt(first, 0)
	if err != nil && err != io.EOF {
		return "", false, err
	}
	first = first[:n]
	text := format == CSV || format == TSV || format == JSON
	for _, m := range magics {
		switch {
		case !bytes.HasPrefix(first, []byte(m.bytes)):
		case format == "":
			l.codec = m.codec
			return m.format, false, nil
		case text && m.codec != "":
			l.codec = m.codec
			l.note("packed as .%s, which its name does not say", m.codec)
			return format, true, nil
		case m.codec == "" && format != m.format && (!text || slices.Contains(first, 0)):
			return "", true, &OptionError{fmt.Errorf("by its first bytes it is of the format %s, and no %s file; FROM read_%s('%s') reads it, whatever its name",
				m.format, format, m.format, strings.ReplaceAll(l.src.Path, "'", "''"))}
		}
	}
	return cmp.Or(format, CSV), format != "", nil
}

// isText reports a file that begins with lines of text.
func (l *loader) isText() bool {
	first := make([]byte, 512)
	n, err := l.file.ReadAt(first, 0)
	if err != nil && err != io.EOF {
		return false
	}
	for _, m := range magics {
		if bytes.HasPrefix(first[:n], []byte(m.bytes)) {
			return false
		}
	}
	lines := false
	for _, c := range first[:n] {
		switch {
		case c == '\n':
			lines = true
		case c < ' ' && c != '\t' && c != '\r':
			return false
		}
	}
	return lines
}

// magics are how files begin.
var magics = []struct {
	bytes  string
	format Format
	codec  string
}{{"PAR1", Parquet, ""}, {"ARROW1", Arrow, ""}, {"\xff\xff\xff\xff", Arrow, ""}, {"\x1f\x8b", CSV, "gz"}, {"\x28\xb5\x2f\xfd", CSV, "zst"}}

// loader is one source under way.
type loader struct {
	ctx   context.Context
	name  string // of the table
	src   Source
	file  *input
	codec string // "", "gz" or "zst"
	opts  Options

	optioned  bool // the source came with options
	json      bool // it has objects of JSON
	skipBlank bool // blank lines before the first record do not count
}

// option is how one writes an option of the source, with a value or without.
func (l *loader) option(name, value string) string {
	switch {
	case l.src.Call && value == "":
		return name
	case l.src.Call:
		return name + " => '" + strings.ReplaceAll(value, "'", "''") + "'"
	case l.optioned:
		return name + "=" + value
	}
	return "?" + name + "=" + value
}

// where is the place of options.
func (l *loader) where() string {
	switch {
	case l.src.Call:
		return "among the arguments"
	case l.optioned:
		return "among the options behind the path"
	}
	return "behind the path"
}

// typed is how one writes the option types where a column gets a type; others keep the one that they are declared with.
func (l *loader) typed(column, kind string) string {
	list := ""
	for _, c := range l.src.Types {
		switch {
		case c.Name == column:
			continue
		case c.Type.Kind == table.Varchar:
			list += escaped(c.Name) + ":text,"
		default:
			list += escaped(c.Name) + ":" + c.Type.String() + ","
		}
	}
	return l.option("types", list+escaped(column)+":"+kind)
}

// note tells [Options.Note] something about the file.
func (l *loader) note(format string, args ...any) {
	if l.opts.Note != nil {
		l.opts.Note(l.src.Path + ": " + fmt.Sprintf(format, args...))
	}
}

// distinctNames names columns of one name apart: name, name_1, name_2.
func (l *loader) distinctNames(fields []table.Field) error {
	var names []string
	for i, f := range fields {
		if !utf8.ValidString(f.Name) {
			return sqlstate.Errorf(sqlstate.CharacterNotInRepertoire, "the name of column %d is not valid UTF-8", i+1)
		}
		names = append(names, f.Name)
	}
	for i, other := range DistinctNames(names) {
		if name := fields[i].Name; other != name {
			fields[i].Name = other
			l.note("column %d is named %s as one before it: it is %s here", i+1, show(name), show(other))
		}
	}
	return nil
}

// DistinctNames are names of which those that are one before them have _1 and so on behind them.
func DistinctNames(names []string) []string {
	taken, at := map[string]bool{}, map[string]int{}
	for _, name := range names {
		taken[name] = true
	}
	out := slices.Clone(names)
	for i, name := range names {
		if at[name]++; at[name] == 1 {
			continue
		}
		other := name
		for n := at[name] - 1; taken[other]; n++ {
			other = fmt.Sprintf("%s_%d", name, n)
		}
		taken[other], out[i] = true, other
	}
	return out
}

// start returns the uncompressed data from the start.
func (l *loader) start() (io.ReadCloser, error) {
	if _, err := l.file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	in, err := decompressor(l.file, l.codec)
	if err == nil {
		in = inUTF8(in, l.src.Encoding)
	}
	return in, err
}

// decompressor reads what has been compressed.
func decompressor(from io.Reader, codec string) (io.ReadCloser, error) {
	switch codec {
	case "gz":
		z, err := gzip.NewReader(from)
		if err != nil {
			return nil, unpackError("gzip", err)
		}
		return unpacker{z, "gzip"}, nil
	case "zst":
		z, err := zstd.NewReader(from, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(1<<30))
		if err != nil {
			return nil, unpackError("zstd", err)
		}
		return unpacker{z.IOReadCloser(), "zstd"}, nil
	}
	return io.NopCloser(from), nil
}

// Unpacked opens a file to read it from its beginning to its end, without the compression that its extension names.
func Unpacked(ctx context.Context, path string) (io.ReadCloser, error) {
	f, err := files.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	_, codec := FormatOf(path)
	in, err := decompressor(f, codec)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	return twoClosers{in, f}, nil
}

// twoClosers is a reader with what it reads from.
type twoClosers struct {
	io.ReadCloser
	from io.Closer
}

func (t twoClosers) Close() error { return errors.Join(t.ReadCloser.Close(), t.from.Close()) }

// unpacker turns the errors of a decompressor into words.
type unpacker struct {
	io.ReadCloser
	what string
}

func (u unpacker) Read(p []byte) (int, error) {
	n, err := u.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		err = unpackError(u.what, err)
	}
	return n, err
}

func unpackError(what string, err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return sqlstate.Errorf(sqlstate.BadCopyFileFormat, "the %s data ends too early: the file is truncated", what)
	}
	if system := (*fs.PathError)(nil); errors.As(err, &system) {
		return err
	}
	return damagef("not valid %s data", what)
}

// step is called between batches: it looks for cancellation and at the memory
// that the builder takes.
func (l *loader) step(b *table.Builder, done, total int64) error {
	if err := l.ctx.Err(); err != nil {
		return err
	}
	if l.opts.Progress != nil {
		p := Progress{Done: min(done, total), Total: total}
		if b != nil {
			p.Rows = int64(b.Rows())
		}
		l.opts.Progress(p)
	}
	if b != nil && l.opts.MemoryLimit > 0 && int64(b.Bytes()) > l.opts.MemoryLimit {
		return &MemoryError{l.opts.MemoryLimit}
	}
	return nil
}

// MemoryError is that of a table which takes more memory than the options allow.
type MemoryError struct{ Limit int64 }

func (e *MemoryError) Error() string {
	return fmt.Sprintf("the table takes more than the %s of host memory allowed: raise --host-memory, or host_memory by SET, or load less", size(e.Limit))
}

// SQLState is the code of memory that is used up.
func (e *MemoryError) SQLState() string { return string(sqlstate.OutOfMemory) }

// size prints a number of bytes for people.
func size(n int64) string {
	if n == 1 {
		return "1 byte"
	}
	f, unit := float64(n), 0
	for f >= 1024 && unit < 4 {
		f /= 1024
		unit++
	}
	return fmt.Sprintf("%.4g %s", f, [...]string{"bytes", "KiB", "MiB", "GiB", "TiB"}[unit])
}

// readAll reads to the end, but no more than limit bytes and one (0: any number); where there are more it returns what it has read.
func readAll(r io.Reader, limit int64) ([]byte, error) {
	if limit <= 0 {
		return io.ReadAll(r)
	}
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = &MemoryError{limit}
	}
	return data, err
}
