package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/internal/files"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/table"
)

// file is what of a table a process reads, an extension.
type file string

// The kinds of files. Parquet is not compressed.
const (
	ofParquet file = ".parquet"
	ofCSV     file = ".csv"
)

// mostOfCSV is the rows up to which a table is written as CSV, too.
const mostOfCSV = 4_000_000

// loadOperations are those of the suite load: a statement that needs four columns of integers,
// of CSV all, for which a peer makes a table of them first, and one over one column, which a peer
// answers from the file.
var loadOperations = []Operation{
	{Name: "parquet_load", Attributes: 1, Integers: true, query: loading(ofParquet)},
	{Name: "parquet_first_answer", Attributes: 1, query: reading(ofParquet)},
	{Name: "csv_load", Attributes: 1, Integers: true, query: loading(ofCSV)},
	{Name: "csv_first_answer", Attributes: 1, query: reading(ofCSV)},
}

func loading(of file) func(*facts) Query {
	return func(f *facts) Query {
		q := Query{File: of}
		var sums []string
		n := f.integers
		if of == ofParquet { // the columns of which lie apart
			n = min(n, attributes)
		}
		for i := range n {
			q.Columns = append(q.Columns, f.integer(i))
			sums = append(sums, "SUM("+f.integer(i)+")")
		}
		q.SQL = "SELECT " + strings.Join(sums, ", ") + " FROM " + f.table
		return q
	}
}

func reading(of file) func(*facts) Query {
	return func(f *facts) Query {
		q := f.countWhere(below60(f))
		q.File = of
		return q
	}
}

// writeFiles writes the table for the systems, into a folder of its own.
func (f *field) writeFiles(ctx context.Context) (err error) {
	if f.folder, err = os.MkdirTemp("", "stencildb-load-"); err != nil {
		return err
	}
	f.tell("writing files", 0)
	err = files.Write(f.path(ofParquet), func(w io.Writer) error {
		buf := bufio.NewWriterSize(w, 1<<20)
		return errors.Join(ingest.WritePlainParquet(buf, f.table), buf.Flush())
	})
	if err == nil && f.rows <= mostOfCSV {
		err = ingest.WriteFile(ctx, f.path(ofCSV), f.table)
	}
	return err
}

func (f *field) path(of file) string { return filepath.Join(f.folder, "table"+string(of)) }

// process is a system whose runs are processes.
func (f *field) process(name string) System {
	return System{Prepare: func(_ context.Context, q Query) (Contender, error) {
		path, args := f.path(q.File), []string(nil)
		if q.File == ofCSV && f.rows > mostOfCSV {
			return Contender{}, fmt.Errorf("%w: CSV is written up to %s rows", ErrCannot, numbers.Grouped(mostOfCSV))
		}
		if p, ok := peers[name]; ok {
			if p.script == nil {
				return Contender{}, fmt.Errorf("%w: it reads no files", ErrCannot)
			}
			args = append([]string{"bench", "peer", name}, fromFile(q, f.table, path)...)
		} else {
			args = []string{"query", "--backend", name, "--format", "csv", "--load", f.table.Name + "=" + path}
			if f.Engine.Device != "" {
				args = append(args, "--device", f.Engine.Device)
			}
			for flag, bytes := range map[string]int64{"--gpu-memory": f.Engine.GPUMemory, "--host-memory": f.Engine.HostMemory} {
				if bytes > 0 {
					args = append(args, flag, strconv.FormatInt(bytes, 10))
				}
			}
			args = append(args, q.SQL)
		}
		return Contender{Run: func(ctx context.Context) (Outcome, error) {
			out, err := exec.CommandContext(ctx, f.Program, args...).Output()
			if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
				err = fmt.Errorf("%w: %s", ErrCannot, strings.TrimSpace(string(exit.Stderr)))
			}
			lines := strings.Split(strings.TrimSpace(string(out)), "\n")
			return Outcome{Answer: oneText(strings.Split(strings.TrimSpace(lines[len(lines)-1]), ",")...)}, err
		}}, nil
	}}
}

// fromFile is a query as a peer runs it over a file.
func fromFile(q Query, t *table.Table, path string) []string {
	from := " FROM " + quoted(t.Name)
	in := " FROM " + expr.Quote(path)
	if q.Columns == nil {
		return []string{strings.Replace(q.SQL, from, in, 1)}
	}
	return slices.Concat([]string{"CREATE TABLE " + quoted(t.Name) + " AS SELECT " + strings.Join(q.Columns, ", ") + in}, []string{q.SQL})
}
