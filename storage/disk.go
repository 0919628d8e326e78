package storage

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/internal/xslices"
)

// disk is a folder of files by their names. Tests have one that loses what was not synced.
type disk interface {
	open(name string) (file, error)   // an error is fs.ErrNotExist where there is none
	create(name string) (file, error) // an empty one, in the place of one that there is
	rename(from, to string) error
	remove(name string) error
	list() ([]string, error)
	sync() error // the names
	// lock reports why the folder is only read; "" where this store writes to it from now on, until it unlocks the lock.
	lock() (reason string, of *lock, err error)
	source(name string) ingest.Source // of a Parquet file
	// keep is the disk with these files open until release: they can be read when another process has removed them.
	keep(names []string) (d disk, release func(), err error)
}

// file is one on a disk. What is written is there after a crash when sync has returned.
type file interface {
	io.ReaderAt
	io.WriterAt
	Truncate(size int64) error
	size() (int64, error)
	sync() error
	// writeBlocks writes blocks of [logBlock] bytes, made by [aligned], over bytes that the file has and that have been synced. It returns
	// when they are on the disk; no sync has to follow.
	writeBlocks(p []byte, at int64) error
	Close() error
}

// folder is a disk of the operating system.
type folder string

func (d folder) path(name string) string { return filepath.Join(string(d), name) }

type osFile struct {
	*os.File
	direct *os.File // the file past the page cache, if it can be opened so; nil before the first use
}

func (f *osFile) size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func (f *osFile) sync() error { return unix.Fdatasync(int(f.Fd())) }

func (f *osFile) writeBlocks(p []byte, at int64) error {
	if f.direct == nil {
		f.direct = f.past()
	}
	if f.direct != f.File {
		if _, err := f.direct.WriteAt(p, at); err == nil {
			return nil
		}
		_ = f.direct.Close() // whose blocks are larger, perhaps
		f.direct = f.File
	}
	if _, err := f.WriteAt(p, at); err != nil {
		return err
	}
	return f.sync()
}

// past opens the file past the page cache; each write includes a sync. It is the file itself where the file system cannot do that.
func (f *osFile) past() *os.File {
	d, err := os.OpenFile(f.Name(), os.O_WRONLY|unix.O_DIRECT|unix.O_DSYNC, 0)
	if err != nil {
		return f.File
	}
	a, errA := f.Stat()
	b, errB := d.Stat()
	if errA != nil || errB != nil || !os.SameFile(a, b) {
		_ = d.Close() // the working folder is another one
		return f.File
	}
	return d
}

func (f *osFile) Close() error {
	if f.direct != nil && f.direct != f.File {
		_ = f.direct.Close() // each write was synced
	}
	return f.File.Close()
}

// aligned makes memory that a disk writes blocks from.
func aligned(n int) []byte {
	b := make([]byte, n+int(logBlock))
	return b[int(-uintptr(unsafe.Pointer(unsafe.SliceData(b)))%uintptr(logBlock)):][:n:n]
}

func (d folder) open(name string) (file, error) {
	f, err := os.OpenFile(d.path(name), os.O_RDWR, 0)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, unix.EROFS) {
		f, err = os.Open(d.path(name)) // who may only read
	}
	if err != nil {
		return nil, err
	}
	return &osFile{File: f}, nil
}

func (d folder) create(name string) (file, error) {
	f, err := os.OpenFile(d.path(name), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return nil, err
	}
	return &osFile{File: f}, nil
}

func (d folder) rename(from, to string) error { return os.Rename(d.path(from), d.path(to)) }
func (d folder) remove(name string) error     { return os.Remove(d.path(name)) }

func (d folder) list() (names []string, err error) {
	entries, err := os.ReadDir(string(d))
	return xslices.Map(entries, os.DirEntry.Name), err
}

func (d folder) sync() error {
	f, err := os.Open(string(d))
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

func (d folder) source(name string) ingest.Source { return ingest.Source{Path: d.path(name)} }

// reading is a folder of which some files are open.
type reading struct {
	folder
	files map[string]*os.File
}

// left is a file that stays open.
type left struct{ *osFile }

func (left) Close() error { return nil }

func (d folder) keep(names []string) (disk, func(), error) {
	r := reading{d, map[string]*os.File{}}
	release := func() {
		for _, f := range r.files {
			f.Close()
		}
	}
	for _, name := range names {
		f, err := os.Open(d.path(name))
		if err != nil {
			release()
			if errors.Is(err, unix.EMFILE) {
				err = fmt.Errorf("who reads has all %d files of the tables open, more than a process may have (ulimit -n): %w", len(names), err)
			}
			return nil, nil, err
		}
		r.files[name] = f
	}
	return r, release, nil
}

func (d reading) open(name string) (file, error) {
	if f := d.files[name]; f != nil {
		return left{&osFile{File: f}}, nil
	}
	return d.folder.open(name)
}

func (d reading) source(name string) ingest.Source {
	return ingest.Source{Path: d.path(name), File: d.files[name]}
}

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
