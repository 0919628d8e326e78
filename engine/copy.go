package engine

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/ingest/arrowipc"
	"github.com/stencildb/stencildb/ingest/csv"
	"github.com/stencildb/stencildb/ingest/parquet"
	"github.com/stencildb/stencildb/ingest/source"
	"github.com/stencildb/stencildb/internal/files"
	"github.com/stencildb/stencildb/sql"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// copyTo is COPY TO, bound: the file appears under its name when all rows are written, and a pipe gets them as they come.
func (s *Statement) copyTo(ctx context.Context) (*Rows, error) {
	c := s.parsed.Copy
	format, codec, err := copyFormat(c)
	switch {
	case err != nil:
		return nil, s.described(err)
	case c.Path == "": // the caller writes them
		return s.run(ctx, nil)
	}
	f, err := files.Create(ctx, c.Path)
	if err != nil {
		return nil, s.described(err)
	}
	defer f.Discard()
	rows, err := s.run(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	r := s.empty(ctx)
	rows.counted(&r.changed)
	err = f.Commit(func(w io.Writer) error {
		err := source.Compressed(w, codec, func(w io.Writer) error {
			out := bufio.NewWriterSize(w, 1<<16) // the Parquet library panics where its first bytes cannot be written
			if err := rows.writeAs(out, format, c); err != nil {
				return err
			}
			return out.Flush()
		})
		if err == nil {
			err = rows.Err()
		}
		return err
	})
	switch {
	case rows.Err() != nil:
		return nil, rows.Err()
	case err != nil:
		return nil, s.described(err)
	}
	r.collector, r.before, r.files, r.waited = rows.collector, rows.before, rows.files, rows.waited
	return r, nil
}

// counted counts the rows that come.
func (r *Rows) counted(n *int) {
	if r.now != nil { // the first are there
		*n = r.now.Len()
	}
	next := r.next
	r.next = func() (batch, error, bool) {
		b, err, ok := next()
		if ok && err == nil {
			*n += b.Len()
		}
		return b, err, ok
	}
}

// copyText is PostgreSQL's text format: values between tabs, with backslashes before what would be taken for something else.
const copyText ingest.Format = "text"

// Copied reports the rows of COPY TO STDOUT, which [Rows.WriteCopy] writes.
func (r *Rows) Copied() bool {
	return r.of.parsed.Copy != nil && !r.of.parsed.Copy.From && r.of.parsed.Copy.Path == ""
}

// WriteCopy writes the rows that Next has not come to as their COPY TO STDOUT asks. The error is one of writing; what the rows end
// with, [Rows.Err] tells.
func (r *Rows) WriteCopy(w *bufio.Writer) error {
	c := r.of.parsed.Copy
	format, _, err := copyFormat(c)
	if err != nil {
		return err
	}
	return r.writeAs(w, format, c)
}

// writeText writes the rows in PostgreSQL's text format.
func (r *Rows) writeText(w *bufio.Writer, c *sql.Copy) error {
	delim := copyForm(c, copyText).Delim
	escaped := strings.NewReplacer(`\`, `\\`, "\b", `\b`, "\f", `\f`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "\v", `\v`, string(delim), `\`+string(delim)) // of one that is there twice the first counts
	line := func(n int, value func(i int) string) error {
		for i := range n {
			if i > 0 {
				w.WriteByte(delim)
			}
			w.WriteString(value(i))
		}
		return w.WriteByte('\n') // which fails where one before it has
	}
	if c.Header {
		if err := line(len(r.Columns()), func(i int) string { return escaped.Replace(r.Columns()[i].Name) }); err != nil {
			return err
		}
	}
	for r.Next() {
		values := r.Values()
		if err := line(len(values), func(i int) string {
			if values[i].Null {
				return c.Null
			}
			return escaped.Replace(values[i].String())
		}); err != nil {
			return err
		}
	}
	return nil
}

// copyNull is NULL in what csvOfText makes.
const copyNull = `\N`

// csvOfText reads lines of PostgreSQL's text format as CSV whose values are quoted, and NULL is not. \. on a line of its own ends them.
type csvOfText struct {
	from  *bufio.Reader
	delim byte
	null  string
	out   []byte // that has been made, from at on
	at    int
	ended bool
}

// Read implements io.Reader.
func (c *csvOfText) Read(p []byte) (int, error) {
	for c.at == len(c.out) {
		if c.ended {
			return 0, io.EOF
		}
		line, err := c.from.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return 0, err
		}
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte{'\n'}), []byte{'\r'})
		c.ended = err == io.EOF && len(line) == 0 || string(line) == `\.`
		if c.out, c.at = c.out[:0], 0; !c.ended {
			c.add(line)
		}
	}
	n := copy(p, c.out[c.at:])
	c.at += n
	return n, nil
}

// add adds a line.
func (c *csvOfText) add(line []byte) {
	for at, first := 0, true; first || at <= len(line); first = false {
		end := at
		for ; end < len(line) && line[end] != c.delim; end++ {
			if line[end] == '\\' {
				end++
			}
		}
		end = min(end, len(line))
		if !first {
			c.out = append(c.out, ',')
		}
		if raw := string(line[at:end]); raw == c.null {
			c.out = append(c.out, copyNull...)
		} else {
			c.out = append(append(append(c.out, '"'), strings.ReplaceAll(unescaped(raw), `"`, `""`)...), '"')
		}
		at = end + 1
	}
	c.out = append(c.out, '\n')
}

// unescaped is a value of the text format.
func unescaped(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		number := func(digits string, base, most, from int) bool {
			n := from
			for n < len(s) && n < from+most && strings.IndexByte(digits, s[n]) >= 0 {
				n++
			}
			v, err := strconv.ParseUint(s[from:n], base, 32)
			if err != nil {
				return false
			}
			b.WriteByte(byte(v))
			i = n - 1
			return true
		}
		switch at := strings.IndexByte("bfnrtv", s[i]); {
		case at >= 0:
			b.WriteByte("\b\f\n\r\t\v"[at])
		case s[i] == 'x' && number("0123456789abcdefABCDEF", 16, 2, i+1), number("01234567", 8, 3, i):
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// input is what COPY FROM reads if it can be read only once, or has to be converted to CSV first. It is nil for another file. The statement
// keeps it.
func (m *mutation) input(ctx context.Context, name string, format ingest.Format, limit int64) (*ingest.Kept, error) {
	c := m.parsed.Copy
	info, err := os.Stat(c.Path)
	switch {
	case m.kept != nil:
		return m.kept, nil
	case c.Path != "" && format != copyText && (err != nil || info.Mode().IsRegular()):
		return nil, nil
	}
	var from io.Reader
	switch {
	case c.Data != nil:
		from = bytes.NewReader(c.Data)
	case c.Path != "":
		var f io.ReadCloser
		if format == copyText {
			f, err = source.Unpacked(ctx, c.Path)
		} else { // whose compression is undone where the values are read
			f, err = files.Open(ctx, c.Path)
		}
		if err != nil {
			return nil, err
		}
		defer f.Close()
		from = files.Until(ctx, f, name)
	case m.db.opts.Input == nil:
		return nil, sqlstate.Errorf(sqlstate.BadCopyFileFormat, `COPY FROM STDIN has no data: write them in the lines behind the semicolon, and \. in a line of its own behind them`)
	default:
		from = files.Until(ctx, m.db.opts.Input, name)
	}
	if format == copyText {
		from = &csvOfText{from: bufio.NewReaderSize(from, 1<<18), delim: copyForm(c, format).Delim, null: c.Null}
	}
	o := ingest.Options{MemoryLimit: limit}
	if m.mayAdd() { // else the rows have to stay in memory, too
		o.Temporary = m.db.newTemporary
	}
	if m.kept, err = source.Keep(from, o); errors.As(err, new(*ingest.MemoryError)) {
		err = sqlstate.Errorf(sqlstate.OutOfMemory, "%s: it has more than %s, which is what is left of the host memory budget: raise it (--host-memory), or copy to a table of a folder (--db), outside of a transaction", name, size(limit))
	}
	return m.kept, err
}

// copyFormat is the format of COPY's file, and the compression around it.
func copyFormat(c *sql.Copy) (format ingest.Format, codec string, err error) {
	named, codec := source.FormatOf(c.Path)
	if format = ingest.Format(c.Format); format == "" {
		format = named
	}
	switch {
	case format == "":
		return "", "", sqlstate.Errorf(sqlstate.InvalidParameterValue, "the extension of %s names no format: write COPY ... WITH (FORMAT csv), or parquet, arrow or json", c.Path)
	case c.Styled && format != ingest.CSV && format != ingest.TSV && format != copyText:
		return "", "", sqlstate.Errorf(sqlstate.FeatureNotSupported, "HEADER, DELIMITER, NULL, QUOTE and ESCAPE are for FORMAT csv and text; %s has none of them", format)
	case codec != "" && format == ingest.Parquet:
		return "", "", sqlstate.Errorf(sqlstate.FeatureNotSupported, "%s: a Parquet file is compressed inside: leave out .%s", c.Path, codec)
	case format == ingest.CSV && named == ingest.TSV:
		format = named
	}
	return format, codec, nil
}

// copyForm is how COPY writes lines of CSV.
func copyForm(c *sql.Copy, format ingest.Format) csv.Form {
	switch {
	case c.Delim != 0:
		return csv.Form{Delim: c.Delim, Null: c.Null}
	case format == ingest.TSV || format == copyText:
		return csv.Form{Delim: '\t', Null: c.Null}
	}
	return csv.Form{Delim: ',', Null: c.Null}
}

// writeAs writes the rows in a format.
func (r *Rows) writeAs(w *bufio.Writer, format ingest.Format, c *sql.Copy) error {
	switch {
	case format == copyText:
		return r.writeText(w, c)
	case format == ingest.JSON:
		return r.WriteJSONLines(w)
	case format == ingest.Parquet:
		return r.WriteBatches(w, parquet.NewWriter)
	case format == ingest.Arrow && strings.Contains(c.Path, ".arrows"):
		return r.WriteBatches(w, arrowipc.NewStream)
	case format == ingest.Arrow:
		return r.WriteBatches(w, arrowipc.NewFile)
	}
	return r.WriteCSV(w, c.Header, copyForm(c, format))
}

// copied is the rows of COPY FROM's file.
func (m *mutation) copied(ctx context.Context, catalog sql.Catalog) (*table.Table, error) {
	s, limit, err := m.copySource(ctx, catalog)
	if err != nil {
		return nil, err
	}
	t, err := ingest.Load(ctx, sql.CopiedRows, s, ingest.Options{ChunkRows: m.db.chunkRows(), MemoryLimit: limit, Temporary: m.db.newTemporary})
	if err != nil {
		return nil, err
	}
	return t, readable(s, t)
}

// copySource is COPY FROM's file, and how much host memory its rows may take. Text is read as values of the table's columns; other files have types of their own.
func (m *mutation) copySource(ctx context.Context, catalog sql.Catalog) (s ingest.Source, limit int64, err error) {
	c := m.parsed.Copy
	into, err := m.parsed.Into(catalog)
	if err != nil {
		return s, 0, err
	}
	format, codec, err := copyFormat(c)
	if err != nil {
		return s, 0, err
	}
	if m.db.halfFull() {
		m.db.evict(ctx)
	}
	if limit, err = m.db.hostBudget(); err != nil {
		return s, 0, err
	}
	limit = cmp.Or(limit, m.db.most())
	s = ingest.Source{Path: c.Path, Format: format}
	if c.Path == "" {
		s.Path = "standard input"
	}
	if s.Kept, err = m.input(ctx, s.Path, format, limit); err != nil {
		return s, 0, err
	}
	if format == copyText {
		s.Path, s.Format = strings.TrimSuffix(s.Path, "."+codec), ingest.CSV // as it has been unpacked
		format, c = ingest.CSV, &sql.Copy{Header: c.Header, Null: copyNull}
	}
	if s.Encoding = ingest.Encoding(m.parsed.Copy.Encoding); s.Encoding == ingest.UTF8 || format == ingest.CSV && m.parsed.Copy.Format == string(copyText) {
		s.Encoding = ""
	}
	if format == ingest.JSON {
		s.Nulls = []string{""}
		for _, f := range into {
			s.Columns = append(s.Columns, ingest.ColumnType{Name: f.Name, Type: f.Type})
		}
	}
	if format == ingest.CSV || format == ingest.TSV {
		s.Delim, s.Nulls, s.Header = copyForm(c, format).Delim, []string{c.Null}, ingest.HeaderNone
		if c.Header {
			s.Header = ingest.HeaderThere
		}
		for _, f := range into {
			s.Columns = append(s.Columns, ingest.ColumnType{Name: f.Name, Type: f.Type})
		}
	}
	return s, limit, nil
}
