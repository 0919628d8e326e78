package cmd

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/ingest/arrays"
	"github.com/stencildb/stencildb/ingest/arrowipc"
	"github.com/stencildb/stencildb/ingest/csv"
	"github.com/stencildb/stencildb/ingest/parquet"
	"github.com/stencildb/stencildb/ingest/source"
	"github.com/stencildb/stencildb/sql"
)

// formats are the names that --format takes.
var formats = []string{"table", "markdown", "csv", "tsv", "json", "jsonlines", "arrow", "parquet"}

// formatOf is the format and the compression ("" for none) that a file's extension names; given is the format that is given, "" for
// none. A path without an extension is of the format table.
func formatOf(path, given string) (name, codec string, err error) {
	named, codec := source.FormatOf(path)
	switch ext := filepath.Ext(strings.TrimSuffix(strings.ToLower(filepath.Base(path)), "."+codec)); {
	case given != "":
		name = given
	case ext == ".txt" || ext == "" && codec == "":
		name = "table"
	case ext == ".md":
		name = "markdown"
	case ext == ".tsv":
		name = "tsv"
	case ext == ".arrows":
		name = ext[1:]
	case named == ingest.JSON: // json itself is the answer with what was asked
		name = "jsonlines"
	case named != "":
		name = string(named)
	default:
		return "", "", fmt.Errorf("the extension of %s names no format: there are .csv, .tsv, .json, .md, .arrow and .arrows (also with .gz and .zst), .parquet and .txt; --format of the command query names others", path)
	}
	if name == "parquet" && codec != "" {
		return "", "", fmt.Errorf("%s: a Parquet file is compressed inside: leave out .%s", path, codec)
	}
	return name, codec, nil
}

// packed is a format whose output goes through a compression.
func packed(w io.Writer, codec string, of func(io.Writer) format) (format, error) {
	z, err := source.Compressor(w, codec)
	if err != nil {
		return format{}, err
	}
	f := of(z)
	end := f.close
	f.close = func() error { return cmp.Or(end(), z.Close()) }
	return f, nil
}

// newFormat returns a format, one of formats or arrows, that writes to w, which is a file or not, as a view says. more says what to do
// about a second result set where the format holds one; "" is to write it all the same.
func newFormat(name string, w io.Writer, file bool, more string, v *view) format {
	out := newOut(w)
	switch name {
	case "csv", "tsv":
		form := csv.Form{Delim: map[string]byte{"csv": ',', "tsv": '\t'}[name]}
		return oneSet(name, more, out, func(w *bufio.Writer, r *engine.Rows) error { return r.WriteCSV(w, !v.headless, form) })
	case "json": // one line a statement; under --keep-going one that fails before its first row is {"sql", "error"}
		return format{
			rows:   func(r *engine.Rows) error { return r.WriteJSON(out, message) },
			failed: func(sql string, err error) error { return engine.WriteJSONError(out, sql, message(err)) },
			close:  out.Flush,
			out:    out,
		}
	case "jsonlines":
		return oneSet(name, more, out, func(w *bufio.Writer, r *engine.Rows) error { return r.WriteJSONLines(w) })
	case "arrow", "arrows":
		if file && name == "arrow" {
			return oneSet(name, more, out, columnar(arrowipc.NewFile))
		}
		return oneSet(name, more, out, columnar(arrowipc.NewStream))
	case "parquet":
		return oneSet(name, more, out, columnar(parquet.NewWriter))
	}
	return newTable(w, v, name == "markdown")
}

// checkSets refuses a script with more result sets than a format holds, before anything of it runs.
func checkSets(name, text, more string) error {
	if name == "table" || name == "markdown" || name == "json" {
		return nil
	}
	stmts, err := sql.Parse(text)
	if err != nil { // the run says so
		return nil
	}
	sets := 0
	for _, s := range stmts {
		if s.GivesRows() {
			sets++
		}
	}
	if sets > 1 {
		return fmt.Errorf("the format %s holds one result set, and %d statements give one: %s; nothing was run", name, sets, more)
	}
	return nil
}

// columnar writes record batches.
func columnar(open func(io.Writer, *arrow.Schema) (arrays.BatchWriter, error)) func(*bufio.Writer, *engine.Rows) error {
	return func(w *bufio.Writer, r *engine.Rows) error { return r.WriteBatches(w, open) }
}

// format writes answers while they come.
type format struct {
	// rows writes the rows of a statement. Its error is one of writing; what the
	// statement ends with, [engine.Rows.Err] tells the caller too.
	rows func(r *engine.Rows) error
	// failed, when set, is told of a statement that failed before its first row and
	// after which the run goes on.
	failed func(sql string, err error) error
	// close ends the output.
	close func() error
	out   *bufio.Writer // what the rows of COPY TO STDOUT are written to as they ask
}

func newOut(w io.Writer) *bufio.Writer { return bufio.NewWriterSize(w, 1<<16) }

// oneSet is a format whose output holds one result set.
func oneSet(name, more string, out *bufio.Writer, write func(*bufio.Writer, *engine.Rows) error) format {
	begun := false
	return format{close: out.Flush, out: out, rows: func(r *engine.Rows) error {
		switch {
		case len(r.Columns()) == 0:
			return nil
		case begun && more != "":
			return fmt.Errorf("the format %s holds one result set: %s", name, more)
		}
		begun = true
		return write(out, r)
	}}
}

func writeOnce(w io.Writer, b *bytes.Buffer) error {
	_, err := w.Write(b.Bytes())
	return err
}
