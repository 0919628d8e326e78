package engine

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/internal/files"
	"github.com/stencildb/stencildb/sql"
	"github.com/stencildb/stencildb/table"
)

// copyTo is COPY TO, bound: the file appears under its name when all rows are written.
func (s *Statement) copyTo(ctx context.Context) (*Rows, error) {
	c := s.parsed.Copy
	format, codec, err := copyFormat(c)
	if err != nil {
		return nil, s.described(err)
	}
	f, err := files.Create(c.Path)
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
	case c.Styled && format != ingest.CSV && format != ingest.TSV:
		return "", "", fmt.Errorf("HEADER, DELIMITER, NULL, QUOTE and ESCAPE are for FORMAT csv; %s has none of them", format)
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
	case format == ingest.TSV:
		return ingest.CSVForm{Delim: '\t', Null: c.Null}
	}
	return ingest.CSVForm{Delim: ',', Null: c.Null}
}

// writeAs writes the rows in a format.
func (r *Rows) writeAs(w *bufio.Writer, format ingest.Format, c *sql.Copy) error {
	switch {
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
	format, _, err := copyFormat(c)
	if err != nil {
		return nil, err
	}
	s := ingest.Source{Path: c.Path, Format: format}
	if format == ingest.CSV || format == ingest.TSV {
		s.Delim, s.Nulls, s.Header = copyForm(c, format).Delim, []string{c.Null}, ingest.HeaderNone
		if c.Header {
			s.Header = ingest.HeaderThere
		}
		for _, f := range into {
			s.Columns = append(s.Columns, ingest.ColumnType{Name: f.Name, Type: f.Type})
		}
	}
	limit, err := m.db.hostBudget()
	if err != nil {
		return nil, err
	}
	t, err := ingest.Load(ctx, sql.CopiedRows, s, ingest.Options{ChunkRows: m.db.chunkRows(), MemoryLimit: limit})
	if err != nil {
		return nil, err
	}
	for _, f := range t.Fields {
		if f.Unsupported != "" {
			return nil, fmt.Errorf("%s: column %s cannot be read: %s", c.Path, f.Name, f.Unsupported)
		}
	}
	return t, nil
}
