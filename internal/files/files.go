// Package files writes files that appear under their names whole or not at all, and writes to pipes. It opens
// files and pipes for reading, but no folders and devices.
package files

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// File is a file on its way: it lies beside its place until Commit. A pipe, a device or what
// is open already gets what is written as it comes.
type File struct {
	*os.File
	path  string // as it was given
	place string // the same, or where the symbolic links there lead to; "" of a pipe, a device and what is open already
}

// MakeFolder makes a folder where there is none, and sees that files can be made in it.
func MakeFolder(path string) error {
	if err := os.MkdirAll(path, 0o777); err != nil {
		return fmt.Errorf("%s: the folder cannot be made: %w", path, reason(err))
	}
	f, err := os.CreateTemp(path, ".*")
	if err != nil {
		return fmt.Errorf("%s: nothing can be written there: %w", path, reason(err))
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// reason is what is wrong, without the name of a file that nobody has given.
func reason(err error) error {
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		return e.Err
	}
	if e := (*os.LinkError)(nil); errors.As(err, &e) {
		return e.Err
	}
	return err
}

// ErrNotPlain is what [Read] says of a pipe, a device and a folder.
var ErrNotPlain = errors.New("it is no plain file")

// Read reads a plain file. Others are an error: a pipe would be waited for.
func Read(path string) ([]byte, error) {
	switch st, err := os.Stat(path); {
	case err != nil:
		return nil, err
	case !st.Mode().IsRegular():
		return nil, ErrNotPlain
	}
	return os.ReadFile(path)
}

// Create begins a file, so that a place that cannot be written to is found before any
// work. It opens a pipe or a device that is there; where nobody reads the pipe it waits until
// somebody does, or ctx ends. What the program has open, as /dev/stdout, gets what is written where it is, also
// where that is a file. Discard has to follow, after Commit too.
func Create(ctx context.Context, path string) (*File, error) {
	if n, ok := descriptor(path); ok {
		fd, err := unix.FcntlInt(n, unix.F_DUPFD_CLOEXEC, 0)
		if err != nil {
			return nil, fmt.Errorf("%s: cannot be written: %w", path, err)
		}
		return &File{File: os.NewFile(uintptr(fd), path), path: path}, nil
	}
	st, err := os.Stat(path)
	if err != nil || st.IsDir() || st.Mode().IsRegular() {
		return create(path)
	}
	f, err := open(ctx, path, unix.O_WRONLY, unix.O_RDONLY)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("%s: cannot be written: %w", path, reason(err))
	}
	return &File{File: f, path: path}, nil
}

// descriptor is the number of what the program has open that a path names.
func descriptor(path string) (n uintptr, ok bool) {
	switch path {
	case "/dev/stdout":
		return 1, true
	case "/dev/stderr":
		return 2, true
	}
	dir, name := filepath.Split(path)
	at, err := strconv.ParseUint(name, 10, 31)
	return uintptr(at), err == nil && (dir == "/dev/fd/" || dir == "/proc/self/fd/")
}

// create begins a file.
func create(path string) (*File, error) {
	if err := CheckPlace(path); err != nil {
		return nil, err
	}
	place, err := follow(path)
	if err != nil {
		return nil, fmt.Errorf("%s: cannot be written: %w", path, reason(err))
	}
	f, err := os.CreateTemp(filepath.Dir(place), "."+filepath.Base(place)+".*")
	if err != nil {
		return nil, fmt.Errorf("%s: cannot be written: %w", path, reason(err))
	}
	return &File{f, path, place}, nil
}

// follow returns where symbolic links lead to, whether or not something is there.
func follow(path string) (string, error) {
	for range 40 { // as many as Linux follows
		target, err := os.Readlink(path)
		if err != nil { // no link
			return path, nil
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
	}
	return "", unix.ELOOP
}

// CheckPlace reports a path at which no file can be made, before the work of making its content. Its folder is
// missing, or it is a folder, a pipe, a device or a file that the program has open.
func CheckPlace(path string) error {
	if _, ok := descriptor(path); ok {
		return fmt.Errorf("%s is open already: name a file", path)
	}
	switch st, err := os.Stat(path); {
	case err != nil:
	case st.IsDir():
		return fmt.Errorf("%s is a directory: name a file", path)
	case !st.Mode().IsRegular():
		return fmt.Errorf("%s is no plain file: name one", path)
	}
	dir := filepath.Dir(path)
	switch st, err := os.Stat(dir); {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: cannot be written: there is no folder %s", path, dir)
	case err != nil:
		return fmt.Errorf("%s: cannot be written: %w", path, reason(err))
	case !st.IsDir():
		return fmt.Errorf("%s: cannot be written: %s is not a folder", path, dir)
	}
	return nil
}

// Commit fills the file and gives it its name, in place of an earlier file of that name. A symbolic link of
// that name stays, and its target is replaced.
func (f *File) Commit(content func(io.Writer) error) error {
	w := bufio.NewWriterSize(f, 1<<20)
	err := content(w)
	steps := []func() error{w.Flush, func() error { return f.Chmod(0o644) }, f.Close, func() error { return os.Rename(f.Name(), f.place) }}
	if f.place == "" {
		steps = []func() error{w.Flush, f.Close}
	}
	for _, step := range steps {
		if err == nil {
			err = step()
		}
	}
	if other := (*fs.PathError)(nil); !errors.As(err, &other) || other.Path == f.Name() { // else content names a file of its own
		err = reason(err)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", f.path, err)
	}
	return nil
}

// Discard removes what was not committed.
func (f *File) Discard() {
	f.Close()
	if f.place != "" {
		os.Remove(f.Name())
	}
}

// Write makes a file of what content writes; where that fails, nothing changes. A pipe or
// a device at its place is an error, and so is what the program has open.
func Write(path string, content func(io.Writer) error) error {
	f, err := create(path)
	if err != nil {
		return err
	}
	defer f.Discard()
	return f.Commit(content)
}
