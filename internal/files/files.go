// Package files writes files that appear under their names whole or not at all, and
// opens what is read: files and pipes, no folders and devices.
package files

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// File is a file on its way: it lies beside its place until Commit.
type File struct {
	*os.File
	path  string // as it was given
	place string // the same, or where the symbolic links there lead to
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

// Create begins a file, so that a place that cannot be written to is found before any
// work. Discard has to follow, after Commit too.
func Create(path string) (*File, error) {
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

// CheckPlace reports a path at which no file can be made, before the work of
// making its content: its folder is missing, or it is a folder or a device itself.
func CheckPlace(path string) error {
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

// Commit fills the file and gives it its name, in the place of one that had it; a
// symbolic link of that name stays, and what it leads to is replaced.
func (f *File) Commit(content func(io.Writer) error) error {
	w := bufio.NewWriterSize(f, 1<<20)
	err := content(w)
	for _, step := range []func() error{w.Flush, func() error { return f.Chmod(0o644) }, f.Close,
		func() error { return os.Rename(f.Name(), f.place) }} {
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
	os.Remove(f.Name())
}

// Write makes a file of what content writes; where that fails, nothing changes.
func Write(path string, content func(io.Writer) error) error {
	f, err := Create(path)
	if err != nil {
		return err
	}
	defer f.Discard()
	return f.Commit(content)
}
