package engine

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/table"
)

// temporary is a file of what the host memory budget has no room for. It has no name: the operating system takes it back
// when it is closed, and when the process ends in any way.
type temporary = ingest.Temporary

// namedFile is a temporary file where an open file cannot lose its name: that goes when it is closed.
type namedFile struct{ *os.File }

func (f namedFile) Close() error { return errors.Join(f.File.Close(), os.Remove(f.Name())) }

// openTemporary makes a temporary file in the folder for these ($TMPDIR).
func openTemporary() (temporary, error) {
	f, err := os.CreateTemp("", "stencildb-spill-*")
	if err != nil {
		return nil, err
	}
	if os.Remove(f.Name()) != nil {
		return namedFile{f}, nil
	}
	return f, nil
}

// told is a temporary file whose errors say what to do about them.
type told struct{ temporary }

func (f told) ReadAt(p []byte, at int64) (int, error) {
	n, err := f.temporary.ReadAt(p, at)
	if err != nil && err != io.EOF {
		err = temporaryError(err)
	}
	return n, err
}

func (f told) WriteAt(p []byte, at int64) (int, error) {
	n, err := f.temporary.WriteAt(p, at)
	if err != nil {
		err = temporaryError(err)
	}
	return n, err
}

// newTemporary makes a temporary file of the DB.
func (db *DB) newTemporary() (temporary, error) {
	if db.isClosed() {
		return nil, ErrClosed
	}
	f, err := db.temporary()
	if err != nil {
		return nil, temporaryError(err)
	}
	return told{f}, nil
}

// spill is the temporary file of a statement, or of a [converted] file: batches of rows in Arrow's IPC format, one behind the other. Several goroutines may
// read it, and one write.
type spill struct {
	open func() (temporary, error)

	mu    sync.Mutex
	file  temporary // nil before the first batch
	bytes int64
	ended error // what reading and writing are from now on; nil while they may go on
}

// extent is a batch in the file.
type extent struct {
	at, bytes int64
	rows      int
}

// write adds a batch that has been encoded.
func (s *spill) write(data []byte, rows int) (extent, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended != nil {
		return extent{}, s.ended
	}
	if s.file == nil {
		f, err := s.open()
		if err != nil {
			return extent{}, err
		}
		s.file = f
	}
	e := extent{s.bytes, int64(len(data)), rows}
	if _, err := s.file.WriteAt(data, e.at); err != nil {
		return extent{}, err
	}
	s.bytes += e.bytes
	return e, nil
}

// temporaryError says what to do about an error of a temporary file.
func temporaryError(err error) error {
	var of *os.PathError
	if errors.As(err, &of) { // its name is nobody's any more
		err = of.Err
	}
	return fmt.Errorf("a temporary file in %s, for what the host memory budget has no room for: %w: free space there, name another folder (TMPDIR=FOLDER), or raise the budget (--host-memory)",
		filepath.Clean(os.TempDir()), err)
}

// appended appends what the file has of an extent.
func (s *spill) appended(out []byte, e extent) ([]byte, error) {
	at := len(out)
	out = slices.Grow(out, int(e.bytes))[:at+int(e.bytes)]
	s.mu.Lock()
	f, ended := s.file, s.ended
	s.mu.Unlock()
	switch {
	case ended != nil:
		return nil, ended
	case f == nil: // the statement was cancelled and has given it back, and what it was reading goes on
		return nil, temporaryError(os.ErrClosed)
	}
	n, err := f.ReadAt(out[at:], e.at)
	if n == len(out)-at {
		return out, nil
	}
	if err == io.EOF {
		err = temporaryError(io.ErrUnexpectedEOF)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return nil, cmp.Or(s.ended, err)
}

// read is a batch of the file.
func (s *spill) read(e extent) (computed, error) {
	data, err := s.appended(nil, e)
	if err != nil {
		return nil, err
	}
	r, err := ipc.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, temporaryError(err)
	}
	defer r.Release()
	if !r.Next() {
		return nil, temporaryError(errors.Join(io.ErrUnexpectedEOF, r.Err()))
	}
	var out computed
	for _, c := range r.RecordBatch().Columns() {
		c.Retain()
		out = append(out, c)
	}
	return out, nil
}

// close gives the file back.
func (s *spill) close() { s.end(nil) }

// end is close, and unless err is nil whoever reads or writes from now on gets that.
func (s *spill) end(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = err
	s.cut(0)
}

// size is how many bytes have been written.
func (s *spill) size() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes
}

// backTo takes back what has been written from a place on.
func (s *spill) backTo(at int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cut(at)
}

func (s *spill) cut(at int64) {
	s.bytes = at
	if at == 0 && s.file != nil {
		s.file.Close() // nothing that was written is wanted
		s.file = nil
	}
}

// encoded is a batch as the file has it. It releases the columns.
func encoded(columns computed) ([]byte, error) {
	fields := make([]arrow.Field, len(columns))
	for i, c := range columns {
		fields[i] = arrow.Field{Name: fmt.Sprint(i), Type: c.DataType(), Nullable: true}
	}
	schema := arrow.NewSchema(fields, nil)
	r := array.NewRecordBatch(schema, columns, int64(columns.Len()))
	defer r.Release()
	for _, c := range columns {
		c.Release()
	}
	var out bytes.Buffer
	w := ipc.NewWriter(&out, ipc.WithSchema(schema))
	if err := w.Write(r); err != nil {
		return nil, err
	}
	err := w.Close()
	return out.Bytes(), err
}

// columnsOf are some columns of a block's rows, texts without a dictionary.
func columnsOf(c *table.Chunk, b table.Block, columns []int) (out computed) {
	var of ingest.Columns
	for _, i := range columns {
		if s := c.Segments[i]; s.Type.Kind == table.Varchar {
			out = append(out, texts(s, b))
		} else {
			out = append(out, of.Array(s, b))
		}
	}
	if len(columns) == 0 {
		out = computed{array.NewNull(b.Len())}
	}
	return out
}

// appendAll appends a batch to a table, in as many chunks as it takes.
func appendAll(b *table.Builder, rows batch, fields []table.Field) error {
	for i := 0; i < rows.Len(); {
		n := min(rows.Len()-i, b.Room())
		if err := appendRows(b, rows.cut(i, i+n), fields); err != nil {
			return err
		}
		i += n
	}
	return nil
}

// fieldsAt are those of fields at some places.
func fieldsAt(fields []table.Field, columns []int) (out []table.Field) {
	for _, i := range columns {
		out = append(out, fields[i])
	}
	return out
}

// widened is a table of some columns of fields as one of all, without segments for the others.
func widened(t *table.Table, fields []table.Field, columns []int) *table.Table {
	out := &table.Table{Name: t.Name, Fields: fields}
	for _, c := range t.Chunks {
		chunk := &table.Chunk{Rows: c.Rows, Segments: make([]*table.Segment, len(fields))}
		for k, i := range columns {
			chunk.Segments[i] = c.Segments[k]
		}
		out.Chunks = append(out.Chunks, chunk)
	}
	return out
}
