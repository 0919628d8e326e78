package files

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"

	"golang.org/x/sys/unix"

	"github.com/stencildb/stencildb/internal/parallel"
)

// Readable reports in words a path that [Open] cannot open: one where nothing is, a
// folder, a device.
func Readable(path string) error {
	st, err := os.Stat(path)
	switch {
	case err != nil:
		return openError(path, err)
	case st.IsDir():
		return fmt.Errorf("%s is a directory: name a file", path)
	case st.Mode()&(fs.ModeDevice|fs.ModeSocket) != 0:
		return fmt.Errorf("%s is a device: name a file", path)
	}
	return nil
}

// Open opens a file or a pipe for reading. Where nobody writes to the pipe it waits
// until somebody does, or ctx ends.
func Open(ctx context.Context, path string) (*os.File, error) {
	if err := Readable(path); err != nil {
		return nil, err
	}
	f, err := open(ctx, path, unix.O_RDONLY, unix.O_WRONLY)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, err
	case err != nil:
		return nil, openError(path, err)
	}
	return f, nil
}

// open opens a file, or a pipe that others open the other way: it waits for them, or for
// the end of ctx.
func open(ctx context.Context, path string, way, other int) (*os.File, error) {
	f, err := until(ctx, func() (*os.File, error) { return os.OpenFile(path, way, 0) }, func(f *os.File) { f.Close() })
	if err != nil && ctx.Err() != nil {
		// Who comes and goes at the other end ends the waiting.
		if fd, err := unix.Open(path, other|unix.O_NONBLOCK|unix.O_CLOEXEC, 0); err == nil {
			_ = unix.Close(fd)
		}
		return nil, ctx.Err()
	}
	return f, err
}

// until is what f returns, or the end of ctx; what comes later goes to late.
func until[T any](ctx context.Context, f func() (T, error), late func(T)) (T, error) {
	type result struct {
		v   T
		err error
	}
	done := make(chan result, 1)
	parallel.Go(func() {
		v, err := f()
		done <- result{v, err}
	}, func(p *parallel.Panic) { done <- result{err: p} })
	select {
	case r := <-done:
		return r.v, r.err
	case <-ctx.Done():
		parallel.Go(func() {
			if r := <-done; r.err == nil {
				late(r.v)
			}
		}, func(*parallel.Panic) {})
		return *new(T), ctx.Err()
	}
}

// ReadAll reads to the end of r, but no more than limit bytes, as [Until] does.
func ReadAll(ctx context.Context, r io.Reader, name string, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(Until(ctx, r, name), limit+1))
	switch {
	case err != nil:
		return nil, err
	case int64(len(data)) > limit:
		return nil, fmt.Errorf("%s: more than the %d MiB that are read of it", name, limit>>20)
	}
	return data, nil
}

// Until reads r until ctx ends: a pipe or a terminal may keep it waiting for ever. name is what r is, in errors.
func Until(ctx context.Context, r io.Reader, name string) io.Reader {
	return &ending{ctx: ctx, from: r, name: name}
}

type ending struct {
	ctx  context.Context
	from io.Reader
	name string
	left []byte // that has been read
}

// Read implements io.Reader.
func (e *ending) Read(p []byte) (int, error) {
	if len(e.left) == 0 {
		data, err := until(e.ctx, func() ([]byte, error) {
			data := make([]byte, 1<<18) // of its own, for it may come too late
			n, err := e.from.Read(data)
			if n > 0 && err == io.EOF {
				err = nil // the next time
			}
			return data[:n], err
		}, func([]byte) {})
		switch {
		case e.ctx.Err() != nil:
			return 0, e.ctx.Err()
		case err == io.EOF:
			return 0, err
		case err != nil:
			return 0, fmt.Errorf("%s: cannot be read: %w", e.name, reason(err))
		}
		e.left = data
	}
	n := copy(p, e.left)
	e.left = e.left[n:]
	return n, nil
}

// Lines are the lines of r, without their ends, each as it comes, until ctx ends. A line of limit bytes is an error.
func Lines(ctx context.Context, r io.Reader, name string, limit int) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		lines := bufio.NewScanner(r)
		lines.Buffer(nil, limit)
		for {
			line, err := until(ctx, func() (string, error) {
				if lines.Scan() {
					return lines.Text(), nil
				}
				return "", cmp.Or(lines.Err(), io.EOF)
			}, func(string) {})
			switch {
			case err == io.EOF:
				return
			case ctx.Err() != nil:
				err = ctx.Err()
			case errors.Is(err, bufio.ErrTooLong):
				err = fmt.Errorf("%s: a line of more than %d MiB", name, limit>>20)
			case err != nil:
				err = fmt.Errorf("%s: cannot be read: %w", name, reason(err))
			}
			if !yield(line, err) || err != nil {
				return
			}
		}
	}
}

// missing is [fs.ErrNotExist] in words.
type missing struct{ path string }

func (m *missing) Error() string {
	if m.path == "-" {
		return "-: no such file; standard input is /dev/stdin"
	}
	return m.path + ": no such file"
}
func (m *missing) Unwrap() error { return fs.ErrNotExist }

func openError(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &missing{path}
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s: permission denied", path)
	}
	return fmt.Errorf("%s: %w", path, reason(err))
}
