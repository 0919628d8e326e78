package cmd

import (
	"bufio"
	"io"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/ingest"
)

// columnarFormat writes one result set as record batches.
type columnarFormat struct {
	oneSet
	name string
	w    io.Writer
	open func(io.Writer, *arrow.Schema) (ingest.BatchWriter, error)
}

func (f *columnarFormat) rows(r *engine.Rows) (err error) {
	if len(r.Columns()) == 0 {
		return nil
	}
	if err := f.begin(f.name); err != nil {
		return err
	}
	buffer := bufio.NewWriterSize(f.w, 1<<16)
	out, err := f.open(buffer, r.Schema())
	if err != nil {
		return err
	}
	for b, failed := range r.Batches() {
		if failed != nil { // the caller asks for it
			return nil
		}
		err := out.Write(b)
		b.Release()
		if err != nil {
			return err
		}
	}
	if err := out.Close(); err != nil {
		return err
	}
	return buffer.Flush()
}

func (f *columnarFormat) failed(string, error) error { return nil }
func (f *columnarFormat) close() error               { return nil }
