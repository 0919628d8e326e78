// Package files writes files that appear under their names whole or not at all.
package files

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// File is a file on its way: it lies beside its place until Commit.
type File struct {
	*os.File
	path string
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
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return nil, fmt.Errorf("%s: cannot be written: %w", path, reason(err))
	}
	return &File{f, path}, nil
}

// Commit fills the file and gives it its name, in the place of one that had it.
func (f *File) Commit(content func(io.Writer) error) error {
	w := bufio.NewWriterSize(f, 1<<20)
	err := content(w)
	for _, step := range []func() error{w.Flush, func() error { return f.Chmod(0o644) }, f.Close,
		func() error { return os.Rename(f.Name(), f.path) }} {
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
