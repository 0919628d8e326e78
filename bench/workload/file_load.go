package workload

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/stencildb/stencildb/bench/answer"
	"github.com/stencildb/stencildb/bench/meter"
	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/ingest/source"
	"github.com/stencildb/stencildb/table"
)

// FileLoad is how a table of the user's is made of its file: of CSV all columns, else those
// that the statements read.
type FileLoad struct {
	Name    string
	From    ingest.Source
	Fields  []table.Field
	Columns []int
	Options ingest.Options
}

// Format is that of the file, as its name has it; "" for another one. TSV is a CSV.
func (l *FileLoad) Format() ingest.Format {
	named, _ := source.FormatOf(l.From.Path)
	if f := cmp.Or(l.From.Format, named); f != ingest.TSV {
		return f
	}
	return ingest.CSV
}

// FirstRows writes the first rows to a file of the same format in a folder, as COPY does; the result reads that.
func (l *FileLoad) FirstRows(ctx context.Context, rows int, folder string) (*FileLoad, error) {
	whole, fields, err := l.read(ctx)
	if err != nil {
		return nil, err
	}
	part, err := FirstRows(Project(whole, fields), rows)
	if err != nil {
		return nil, err
	}
	format := l.Format()
	out := &FileLoad{Name: l.Name, From: ingest.Source{Path: filepath.Join(folder, "table."+string(format))}, Fields: part.Fields, Columns: part.All(), Options: l.Options}
	if format == ingest.CSV {
		out.From.Header, out.From.Types = ingest.HeaderThere, l.From.Types
	}
	return out, ingest.WriteFile(ctx, out.From.Path, part)
}

// Run reads the file into columns of codes.
func (l *FileLoad) Run(ctx context.Context) (out meter.Outcome, err error) {
	start := time.Now()
	t, _, err := l.read(ctx)
	if err != nil {
		return out, fmt.Errorf("%s: %w", l.From.Path, err)
	}
	return meter.Outcome{Answer: answer.Answer{{table.Int(int64(t.Rows()))}}, Wall: max(1, time.Since(start))}, nil
}

// read is the file's table with the columns that are read of it.
func (l *FileLoad) read(ctx context.Context) (t *table.Table, columns []int, err error) {
	file, err := ingest.Open(ctx, l.Name, l.From, l.Options)
	if err != nil {
		return nil, nil, err
	}
	if t, err = file.Read(ctx, nil, l.Options); err != nil {
		return nil, nil, err
	}
	if columns = l.Columns; l.Format() == ingest.CSV {
		columns = t.All()
	}
	t, err = file.Read(ctx, columns, l.Options)
	return t, columns, err
}
