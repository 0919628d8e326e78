package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"

	"github.com/stencildb/stencildb/internal/files"
	"github.com/stencildb/stencildb/sqlstate"
	"golang.org/x/sys/unix"
)

// Input is the data of a source. A file can be closed and opened again.
type Input struct {
	*io.SectionReader
	closer io.Closer   // of a file; nil: the data are in memory, or kept, or it stays open
	kept   Temporary   // of what came through a pipe; nil for none
	stays  bool        // it is open, and somebody else closes it
	Data   []byte      // in memory
	Path   string      // of a file
	Info   fs.FileInfo // when it was opened first
	over   int64       // the limit of memory, once a piece was larger; atomic
}

// InMemory is data as input.
func InMemory(data []byte) *Input {
	return &Input{SectionReader: io.NewSectionReader(bytes.NewReader(data), 0, int64(len(data))), Data: data}
}

// OpensNothing is a file that stays open as input.
func OpensNothing(f *os.File) (*Input, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return &Input{SectionReader: io.NewSectionReader(f, 0, info.Size()), stays: true}, nil
}

// OpenInput opens a file, or takes what comes through a pipe.
func OpenInput(ctx context.Context, path string, o Options) (*Input, error) {
	f, err := files.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	if info.Mode().IsRegular() {
		return &Input{SectionReader: io.NewSectionReader(f, 0, info.Size()), closer: f, Path: path, Info: info}, nil
	}
	// A pipe or the like can be read once only. Closing it ends a read that waits.
	defer f.Close()
	stop := context.AfterFunc(ctx, func() { _ = f.Close() })
	defer stop()
	o.TellWhole()
	in, err := piped(f, o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return in, nil
}

// piped is what comes through a pipe, in memory or, if it is much, in a temporary file.
func piped(from io.Reader, o Options) (*Input, error) {
	most := o.MemoryLimit
	if o.Temporary != nil {
		most = (most + 15) / 16 // so that the table of what stays in memory has room beside it
	}
	data, err := readAll(from, most)
	if o.Temporary == nil || !errors.As(err, new(*MemoryError)) {
		return InMemory(data), err
	}
	to, err := o.Temporary()
	if err != nil {
		return nil, err
	}
	n, err := io.Copy(io.NewOffsetWriter(to, 0), io.MultiReader(bytes.NewReader(data), from))
	if err != nil {
		return nil, errors.Join(err, to.Close())
	}
	return &Input{SectionReader: io.NewSectionReader(to, 0, n), kept: to}, nil
}

// Kept is what comes once only, to be read more often: in memory or, if it is much, in a temporary file.
type Kept struct{ in *Input }

// Close gives the temporary file back, if there is one.
func (k *Kept) Close() { k.in.Drop() }

// Input is the content as the input of one file; closing that closes nothing.
func (k *Kept) Input() *Input {
	if k.in.kept == nil {
		return InMemory(k.in.Data)
	}
	to := unclosed{k.in.kept}
	return &Input{SectionReader: io.NewSectionReader(to, 0, k.in.Size()), kept: to}
}

// Keep reads from to its end. It stays in memory up to a sixteenth of o.MemoryLimit; what is more goes to a file that o.Temporary makes.
func Keep(from io.Reader, o Options) (*Kept, error) {
	in, err := piped(from, o)
	if err != nil {
		return nil, err
	}
	return &Kept{in}, nil
}

// unclosed is a temporary file that somebody else closes.
type unclosed struct{ Temporary }

func (unclosed) Close() error { return nil }

// Once reports data that are there until they have been read.
func (in *Input) Once() bool { return in.closer == nil && in.kept == nil && !in.stays }

// Drop closes the temporary file.
func (in *Input) Drop() {
	if in.kept != nil {
		_ = in.kept.Close()
	}
}

// Content is all of the data, uncompressed; mapped reports that it takes no memory of its own.
func (l *Loader) Content() (data []byte, mapped bool, err error) {
	f, ok := l.Input.closer.(*os.File)
	switch {
	case l.Codec != "" || l.Input.kept != nil:
		in, err := l.Decompressed()
		if err != nil {
			return nil, false, err
		}
		defer in.Close()
		l.Options.TellWhole()
		data, err = readAll(in, l.Options.MemoryLimit)
		return data, false, err
	case !ok:
		return l.Input.Data, true, nil
	}
	if data, err = unix.Mmap(int(f.Fd()), 0, int(l.Input.Size()), unix.PROT_READ, unix.MAP_SHARED); err != nil {
		return nil, false, fmt.Errorf("cannot be mapped: %w", err)
	}
	runtime.AddCleanup(l.Input, func(data []byte) { _ = unix.Munmap(data) }, data)
	return data, true, nil
}

func (in *Input) Differs(now fs.FileInfo) bool {
	return !os.SameFile(now, in.Info) || now.Size() != in.Info.Size() || !now.ModTime().Equal(in.Info.ModTime())
}

// ErrChanged is that of reading more of a file which is no more what was opened.
var ErrChanged = sqlstate.Errorf(sqlstate.ObjectNotInPrerequisiteState, "the file has changed since it was opened: open it again")

// Reopen opens a file again.
func (in *Input) Reopen(ctx context.Context) error {
	if in.closer == nil {
		return nil
	}
	f, err := files.Open(ctx, in.Path)
	if err != nil {
		return err
	}
	now, err := f.Stat()
	if err == nil && in.Differs(now) {
		err = ErrChanged
	}
	if err != nil {
		f.Close()
		return err
	}
	in.SectionReader, in.closer = io.NewSectionReader(f, 0, now.Size()), f
	return nil
}

func (in *Input) Close() {
	if in.closer != nil {
		in.closer.Close()
	}
}

// readAll reads to the end, but no more than limit bytes and one (0: any number). If there are more it returns what it has read.
func readAll(r io.Reader, limit int64) ([]byte, error) {
	if limit <= 0 {
		return io.ReadAll(r)
	}
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = &MemoryError{limit}
	}
	return data, err
}
