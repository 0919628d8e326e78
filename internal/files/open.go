package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
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
	type opened struct {
		f   *os.File
		err error
	}
	done := make(chan opened, 1)
	go func() {
		f, err := os.Open(path)
		done <- opened{f, err}
	}()
	select {
	case o := <-done:
		if o.err != nil {
			return nil, openError(path, o.err)
		}
		return o.f, nil
	case <-ctx.Done():
		// A writer that comes and goes ends the waiting.
		if fd, err := unix.Open(path, unix.O_WRONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0); err == nil {
			_ = unix.Close(fd)
		}
		go func() {
			if o := <-done; o.err == nil {
				o.f.Close()
			}
		}()
		return nil, ctx.Err()
	}
}

// ReadAll reads to the end of r, but no more than limit bytes, or until ctx ends: a pipe
// or a terminal may keep it waiting for ever. name is what r is, in errors.
func ReadAll(ctx context.Context, r io.Reader, name string, limit int64) ([]byte, error) {
	type read struct {
		data []byte
		err  error
	}
	done := make(chan read, 1)
	go func() {
		data, err := io.ReadAll(io.LimitReader(r, limit+1))
		done <- read{data, err}
	}()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case got := <-done:
		switch {
		case got.err != nil:
			return nil, fmt.Errorf("%s: cannot be read: %w", name, reason(got.err))
		case int64(len(got.data)) > limit:
			return nil, fmt.Errorf("%s: more than the %d MiB that are read of it", name, limit>>20)
		}
		return got.data, nil
	}
}

func openError(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: no such file", path)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s: permission denied", path)
	}
	return fmt.Errorf("%s: %w", path, reason(err))
}
