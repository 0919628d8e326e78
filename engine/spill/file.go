package spill

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
)

// namedFile is a temporary file where an open file cannot lose its name: that goes when it is closed.
type namedFile struct{ *os.File }

func (f namedFile) Close() error { return errors.Join(f.File.Close(), os.Remove(f.Name())) }

// CreateTemporary makes a temporary file in the folder for these ($TMPDIR). It has no name: the operating system takes it back
// when it is closed, and when the process ends in any way.
func CreateTemporary() (ingest.Temporary, error) {
	f, err := os.CreateTemp("", "stencildb-spill-*")
	if err != nil {
		return nil, err
	}
	if os.Remove(f.Name()) != nil {
		return namedFile{f}, nil
	}
	return f, nil
}

// describedFile is a temporary file whose errors say what to do about them.
type describedFile struct{ ingest.Temporary }

func (f describedFile) ReadAt(p []byte, at int64) (int, error) {
	n, err := f.Temporary.ReadAt(p, at)
	if err != nil && err != io.EOF {
		err = temporaryError(err)
	}
	return n, err
}

func (f describedFile) WriteAt(p []byte, at int64) (int, error) {
	n, err := f.Temporary.WriteAt(p, at)
	if err != nil {
		err = temporaryError(err)
	}
	return n, err
}

// OpenTemporary makes a temporary file with a function. Its errors, and those of reading and writing it, say what to do.
func OpenTemporary(create func() (ingest.Temporary, error)) (ingest.Temporary, error) {
	f, err := create()
	if err != nil {
		return nil, temporaryError(err)
	}
	return describedFile{f}, nil
}

// NewFile makes its file with a function when something is written first.
func NewFile(open func() (ingest.Temporary, error)) *File { return &File{open: open} }

// File is a temporary file of a statement, or of a converted one: batches of rows in Arrow's IPC format, one behind the other. Several goroutines may
// read it, and one write.
type File struct {
	open func() (ingest.Temporary, error)

	mu    sync.Mutex
	File  ingest.Temporary // nil before the first batch
	bytes int64
	ended error // what reading and writing are from now on; nil while they may go on
}

// Extent is where a batch is in the file: its place and length in bytes, and its rows.
type Extent struct {
	at, Bytes int64
	Rows      int
}

// Write adds a batch that has been encoded.
func (s *File) Write(data []byte, rows int) (Extent, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended != nil {
		return Extent{}, s.ended
	}
	if s.File == nil {
		f, err := s.open()
		if err != nil {
			return Extent{}, err
		}
		s.File = f
	}
	e := Extent{s.bytes, int64(len(data)), rows}
	if _, err := s.File.WriteAt(data, e.at); err != nil {
		return Extent{}, err
	}
	s.bytes += e.Bytes
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

// AppendExtent appends what the file has of an extent.
func (s *File) AppendExtent(out []byte, e Extent) ([]byte, error) {
	at := len(out)
	out = slices.Grow(out, int(e.Bytes))[:at+int(e.Bytes)]
	s.mu.Lock()
	f, ended := s.File, s.ended
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

// ReadBatch is a batch of the file.
func (s *File) ReadBatch(e Extent) ([]arrow.Array, error) {
	data, err := s.AppendExtent(nil, e)
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
	var out []arrow.Array
	for _, c := range r.RecordBatch().Columns() {
		c.Retain()
		out = append(out, c)
	}
	return out, nil
}

// Close gives the file back.
func (s *File) Close() { s.CloseWith(nil) }

// CloseWith is close, and unless err is nil whoever reads or writes from now on gets that error.
func (s *File) CloseWith(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = err
	s.cut(0)
}

// Size is how many bytes have been written.
func (s *File) Size() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes
}

// Truncate takes back what has been written from a place on.
func (s *File) Truncate(at int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cut(at)
}

func (s *File) cut(at int64) {
	s.bytes = at
	if at == 0 && s.File != nil {
		s.File.Close() // nothing that was written is wanted
		s.File = nil
	}
}

// EncodeBatch is a batch as the file has it. It releases the columns.
func EncodeBatch(columns []arrow.Array) ([]byte, error) {
	fields := make([]arrow.Field, len(columns))
	for i, c := range columns {
		fields[i] = arrow.Field{Name: fmt.Sprint(i), Type: c.DataType(), Nullable: true}
	}
	schema := arrow.NewSchema(fields, nil)
	r := array.NewRecordBatch(schema, columns, int64(columns[0].Len()))
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

// WriteBatch writes a batch, which it releases.
func (s *File) WriteBatch(columns []arrow.Array) (Extent, error) {
	n := columns[0].Len()
	data, err := EncodeBatch(columns)
	if err != nil {
		return Extent{}, err
	}
	return s.Write(data, n)
}
