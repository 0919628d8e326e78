package storage

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/stencildb/stencildb/ingest"
)

// disk is a folder of files by their names. Tests have one that loses what was not synced.
type disk interface {
	open(name string) (file, error)   // an error is fs.ErrNotExist where there is none
	create(name string) (file, error) // an empty one, in the place of one that there is
	rename(from, to string) error
	remove(name string) error
	list() ([]string, error)
	sync() error // the names
	// lock reports who holds the folder to write to it, "" where that is this store from now on, until unlock.
	lock() (holder string, unlock func(), err error)
	source(name string) ingest.Source // of a Parquet file
}

// file is one on a disk. What is written is there after a crash when sync has returned.
type file interface {
	io.ReaderAt
	io.WriterAt
	Truncate(size int64) error
	size() (int64, error)
	sync() error
	Close() error
}

// folder is a disk of the operating system.
type folder string

func (d folder) path(name string) string { return filepath.Join(string(d), name) }

type osFile struct{ *os.File }

func (f osFile) size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func (f osFile) sync() error { return unix.Fdatasync(int(f.Fd())) }

func (d folder) open(name string) (file, error) {
	f, err := os.OpenFile(d.path(name), os.O_RDWR, 0)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, unix.EROFS) {
		f, err = os.Open(d.path(name)) // who may only read
	}
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

func (d folder) create(name string) (file, error) {
	f, err := os.OpenFile(d.path(name), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

func (d folder) rename(from, to string) error { return os.Rename(d.path(from), d.path(to)) }
func (d folder) remove(name string) error     { return os.Remove(d.path(name)) }

func (d folder) list() (names []string, err error) {
	entries, err := os.ReadDir(string(d))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
}

func (d folder) sync() error {
	f, err := os.Open(string(d))
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// lock is on the open file, so that it ends with the process.
func (d folder) lock() (holder string, unlock func(), err error) {
	f, err := os.OpenFile(d.path(lockName), os.O_RDWR|os.O_CREATE, 0o666)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, unix.EROFS) {
		return "nobody: the folder cannot be written to", nil, nil
	}
	if err != nil {
		return "", nil, err
	}
	switch err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); {
	case errors.Is(err, unix.EWOULDBLOCK):
		text, _ := io.ReadAll(io.LimitReader(f, 32))
		holder := "another process"
		if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
			holder = fmt.Sprintf("process %d", pid)
		}
		return holder, nil, f.Close()
	case err != nil:
		f.Close()
		return "", nil, fmt.Errorf("%s: cannot be locked: %w", d.path(lockName), err)
	}
	if err := f.Truncate(0); err == nil {
		_, err = fmt.Fprintln(f, os.Getpid())
		if err != nil {
			f.Close()
			return "", nil, err
		}
	}
	return "", func() { f.Close() }, nil
}

func (d folder) source(name string) ingest.Source { return ingest.Source{Path: d.path(name)} }

// readAll is the content of a file of a disk.
func readAll(d disk, name string) ([]byte, error) {
	f, err := d.open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	n, err := f.size()
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.NewSectionReader(f, 0, n))
}

// writeFile makes a file, which is synced.
func writeFile(d disk, name string, content func(io.Writer) error) error {
	f, err := d.create(name)
	if err != nil {
		return err
	}
	if err = content(io.NewOffsetWriter(f, 0)); err == nil {
		err = f.sync()
	}
	return errors.Join(err, f.Close())
}
