package record

import (
	"bytes"
	"context"
	"runtime"
	"slices"

	"github.com/stencildb/stencildb/ingest/arrays"
	"github.com/stencildb/stencildb/ingest/inference"
	"github.com/stencildb/stencildb/ingest/source"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/table"
)

// converted is the values of a block.
type converted struct {
	columns []arrays.Cells
	fault   *Fault
	read    int64
}

// Convert is a later pass: the text of some columns becomes a table of these, of which o.Coming is told.
func (r *Reader) Convert(ctx context.Context, columns []int, o source.Options) (*table.Table, error) {
	l := *r.Loader
	l.Ctx, l.Options = ctx, o
	t := table.NewBuilder(r.Name, r.some(columns), r.Options.ChunkRows)
	of := func(b Block) converted { return r.converted(b, columns) }
	then := func(c converted) error {
		if err := c.appendTo(t); err != nil {
			return err
		}
		return l.Step(t, c.read, r.size)
	}
	if err := Pass(r, runtime.GOMAXPROCS(0), of, then); err != nil {
		return nil, err
	}
	if err := l.Step(t, r.size, r.size); err != nil {
		return nil, err
	}
	if t.Rows() != r.Rows {
		return nil, source.ErrChanged
	}
	return t.TableAhead(o.Coming), nil
}

// some are the fields of some columns.
func (r *Reader) some(columns []int) []table.Field {
	return xslices.Map(columns, func(col int) table.Field { return r.Fields[col] })
}

// converted is the values of some columns, at least one, of a block.
func (r *Reader) converted(b Block, columns []int) converted {
	c := converted{columns: make([]arrays.Cells, len(columns)), read: b.read}
	records := bytes.Count(b.Text, []byte{'\n'}) + 1 // about
	for col := range c.columns {
		c.columns[col].Ordinals = make([]uint64, 0, records)
	}
	c.fault, _ = r.each(b, slices.Max(columns)+1, &BlankLines{}, func(there []inference.Field, step int) (first *Fault) {
		for k, col := range columns {
			if col >= step {
				break
			}
			to, t := &c.columns[k], r.Fields[col].Type
			for i := col; i < len(there); i += step {
				f := there[i].In(b.Text)
				if r.IsNull(col, f) {
					to.Push(0, false)
					continue
				}
				o, err := parseValue(&to.Words, t, f.Text)
				if err != nil {
					line := there[i].Line
					if bad := (&Fault{line, col, r.place(line, col, err, wider(t, f.Text)...)}); bad.before(first) {
						first = bad
					}
					break
				}
				to.Push(o, true)
			}
		}
		return first
	})
	return c
}

// appendTo appends the rows to a table of these columns.
func (c *converted) appendTo(t *table.Builder) error {
	if c.fault != nil {
		return c.fault.Err
	}
	for at, rows := 0, len(c.columns[0].Ordinals); at < rows; {
		n := min(t.Room(), rows-at)
		for col := range c.columns {
			c.columns[col].Append(t.Column(col), at, n)
		}
		if err := t.EndRows(n); err != nil {
			return err
		}
		at += n
	}
	return nil
}
