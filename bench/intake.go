package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/table"
)

// intake is how a table of the user's is made of its file: of CSV all columns, else those
// that the statements read.
type intake struct {
	name    string
	from    ingest.Source
	fields  []table.Field
	columns []int
	options ingest.Options
}

// format is that of the file, as its name has it; "" for another one. TSV is a CSV.
func (l *intake) format() ingest.Format {
	named, _ := ingest.FormatOf(l.from.Path)
	if f := cmp.Or(l.from.Format, named); f != ingest.TSV {
		return f
	}
	return ingest.CSV
}

// cut writes the first rows to a file of the same format in a folder, as COPY does; the result reads that.
func (l *intake) cut(ctx context.Context, rows int, folder string) (*intake, error) {
	whole, fields, err := l.read(ctx)
	if err != nil {
		return nil, err
	}
	part, err := first(only(whole, fields), rows)
	if err != nil {
		return nil, err
	}
	format := l.format()
	out := &intake{name: l.name, from: ingest.Source{Path: filepath.Join(folder, "table."+string(format))}, fields: part.Fields, columns: part.All(), options: l.options}
	if format == ingest.CSV {
		out.from.Header, out.from.Types = ingest.HeaderThere, l.from.Types
	}
	return out, ingest.WriteFile(ctx, out.from.Path, part)
}

// loadTrial is the loading as a case: of stencildb, whose backends share the codes in host memory,
// under cpu, or else the first backend; and of the peers that read files.
func (f *field) loadTrial(ctx context.Context, op Operation, _ *facts) (t Trial, err error) {
	l := f.Source.intake
	if f.rows < f.Source.Rows {
		if l.format() == "" {
			f.skip(op, allSystems, "the name of "+l.from.Path+" says no format that its first rows could be written in")
			return t, nil
		}
		if f.folder == "" {
			if f.folder, err = os.MkdirTemp("", "stencildb-load-"); err != nil {
				return t, err
			}
		}
		if l, err = l.cut(ctx, f.rows, f.folder); err != nil {
			return t, err
		}
	}
	t = Trial{Case: Case{op.Name, f.rows}, SQL: "load " + f.Source.intake.from.Path, Expected: Answer{{table.Int(int64(f.rows))}}}
	system := f.Backends[0]
	if slices.Contains(f.Backends, "cpu") {
		system = "cpu"
	}
	t.Contenders = append(t.Contenders, Contender{System: system, Run: l.run})
	for _, s := range f.systems {
		p, ok := peers[s.Name]
		switch {
		case !ok:
		case p.read == nil:
			f.skip(op, s.Name, "it reads no files")
		default:
			c, err := p.read(l)
			if errors.Is(err, ErrCannot) {
				f.skip(op, s.Name, err.Error())
				continue
			}
			if err != nil {
				return t, err
			}
			c.System = s.Name
			t.Contenders = append(t.Contenders, c)
		}
	}
	return t, nil
}

// run reads the file into columns of codes.
func (l *intake) run(ctx context.Context) (out Outcome, err error) {
	start := time.Now()
	t, _, err := l.read(ctx)
	if err != nil {
		return out, fmt.Errorf("%s: %w", l.from.Path, err)
	}
	return Outcome{Answer: Answer{{table.Int(int64(t.Rows()))}}, Wall: max(1, time.Since(start))}, nil
}

// read is the file's table with the columns that are read of it.
func (l *intake) read(ctx context.Context) (t *table.Table, columns []int, err error) {
	file, err := ingest.Open(ctx, l.name, l.from, l.options)
	if err != nil {
		return nil, nil, err
	}
	if t, err = file.Read(ctx, nil, l.options); err != nil {
		return nil, nil, err
	}
	if columns = l.columns; l.format() == ingest.CSV {
		columns = t.All()
	}
	t, err = file.Read(ctx, columns, l.options)
	return t, columns, err
}
