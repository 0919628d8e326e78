package engine

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/internal/files"
	"github.com/stencildb/stencildb/sql"
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
		err := ingest.Compressed(w, codec, func(w io.Writer) error {
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
	r.took, r.before, r.files, r.waited = rows.took, rows.before, rows.files, rows.waited
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

// copyJSON is the format that COPY TO writes and no file is read in.
const copyJSON ingest.Format = "json"

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

// csvOfText is lines of PostgreSQL's text format as CSV whose values are quoted, and NULL is not. \. on a line of its own ends them.
func csvOfText(data []byte, delim byte, null string) []byte {
	out := []byte{}
	for len(data) > 0 {
		line, rest, _ := bytes.Cut(data, []byte{'\n'})
		if data = rest; string(bytes.TrimSuffix(line, []byte{'\r'})) == `\.` {
			break
		}
		line = bytes.TrimSuffix(line, []byte{'\r'})
		for at, first := 0, true; first || at <= len(line); first = false {
			end := at
			for ; end < len(line) && line[end] != delim; end++ {
				if line[end] == '\\' {
					end++
				}
			}
			end = min(end, len(line))
			if !first {
				out = append(out, ',')
			}
			if raw := string(line[at:end]); raw == null {
				out = append(out, copyNull...)
			} else {
				out = append(append(append(out, '"'), strings.ReplaceAll(unescaped(raw), `"`, `""`)...), '"')
			}
			at = end + 1
		}
		out = append(out, '\n')
	}
	return out
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

// input is the data of COPY FROM STDIN, or of a file in the text format.
func (m *modifying) input(ctx context.Context, c *sql.Copy, name string, limit int64) ([]byte, error) {
	switch {
	case c.Data != nil:
		return c.Data, nil
	case c.Path != "":
		return ingest.Unpacked(ctx, c.Path, limit)
	case m.db.opts.Input == nil:
		return nil, errors.New(`COPY FROM STDIN has no data: write them in the lines behind the semicolon, and \. in a line of its own behind them`)
	}
	if limit <= 0 {
		limit = math.MaxInt64 - 1
	}
	return files.ReadAll(ctx, m.db.opts.Input, name, limit)
}

// copyFormat is the format of COPY's file, and the compression around it.
func copyFormat(c *sql.Copy) (format ingest.Format, codec string, err error) {
	named, codec := ingest.FormatOf(c.Path)
	if format = ingest.Format(c.Format); format == "" {
		format = named
	}
	if format == "" && strings.HasSuffix(strings.ToLower(strings.TrimSuffix(c.Path, "."+codec)), ".json") {
		format = copyJSON
	}
	switch {
	case format == "":
		return "", "", fmt.Errorf("the extension of %s names no format: write COPY ... WITH (FORMAT csv), or parquet, arrow or json", c.Path)
	case format == copyJSON && c.From:
		return "", "", fmt.Errorf("COPY FROM of JSON is not supported; there are csv, parquet and arrow")
	case c.Styled && format != ingest.CSV && format != ingest.TSV && format != copyText:
		return "", "", fmt.Errorf("HEADER, DELIMITER, NULL, QUOTE and ESCAPE are for FORMAT csv and text; %s has none of them", format)
	case codec != "" && format == ingest.Parquet:
		return "", "", fmt.Errorf("%s: a Parquet file is compressed inside: leave out .%s", c.Path, codec)
	case format == ingest.CSV && named == ingest.TSV:
		format = named
	}
	return format, codec, nil
}

// copyForm is how COPY writes lines of CSV.
func copyForm(c *sql.Copy, format ingest.Format) ingest.CSVForm {
	switch {
	case c.Delim != 0:
		return ingest.CSVForm{Delim: c.Delim, Null: c.Null}
	case format == ingest.TSV || format == copyText:
		return ingest.CSVForm{Delim: '\t', Null: c.Null}
	}
	return ingest.CSVForm{Delim: ',', Null: c.Null}
}

// writeAs writes the rows in a format.
func (r *Rows) writeAs(w *bufio.Writer, format ingest.Format, c *sql.Copy) error {
	switch {
	case format == copyText:
		return r.writeText(w, c)
	case format == copyJSON:
		return r.WriteJSON(w, error.Error)
	case format == ingest.Parquet:
		return r.WriteBatches(w, ingest.NewParquetFile)
	case format == ingest.Arrow && strings.Contains(c.Path, ".arrows"):
		return r.WriteBatches(w, ingest.NewArrowStream)
	case format == ingest.Arrow:
		return r.WriteBatches(w, ingest.NewArrowFile)
	}
	return r.WriteCSV(w, c.Header, copyForm(c, format))
}

// copied is the rows of COPY FROM's file. Text is read as values of the table's columns; other files have types of their own.
func (m *modifying) copied(ctx context.Context, catalog sql.Catalog) (*table.Table, error) {
	c := m.parsed.Copy
	into, err := m.parsed.Into(catalog)
	if err != nil {
		return nil, err
	}
	format, codec, err := copyFormat(c)
	if err != nil {
		return nil, err
	}
	if m.db.halfFull() {
		m.db.makeRoom(ctx)
	}
	limit, err := m.db.hostBudget()
	if err != nil {
		return nil, err
	}
	s := ingest.Source{Path: c.Path, Format: format}
	if c.Path == "" {
		s.Path = "standard input"
	}
	if c.Path == "" || format == copyText {
		if s.Data, err = m.input(ctx, c, s.Path, limit); err != nil {
			return nil, err
		}
	}
	if format == copyText {
		s.Path = strings.TrimSuffix(s.Path, "."+codec) // as it has been unpacked
		s.Data, s.Format = csvOfText(s.Data, copyForm(c, format).Delim, c.Null), ingest.CSV
		format, c = ingest.CSV, &sql.Copy{Header: c.Header, Null: copyNull}
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
	t, err := ingest.Load(ctx, sql.CopiedRows, s, ingest.Options{ChunkRows: m.db.chunkRows(), MemoryLimit: limit, Temporary: m.db.newTemporary})
	if err != nil {
		return nil, err
	}
	for _, f := range t.Fields {
		if f.Unsupported != "" {
			return nil, fmt.Errorf("%s: column %s cannot be read: %s", s.Path, f.Name, f.Unsupported)
		}
	}
	return t, nil
}
