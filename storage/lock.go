package storage

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// lock is the right of one store to write to a folder.
type lock struct {
	unlock func()
	lost   func() error // nil as long as the store has the right
}

// errUnlocked is of a folder whose lock is no longer the one that its writer holds: another process may have one, and write.
var errUnlocked = errors.New("the file " + lockName + " was removed or replaced while this process held it, so that another one may write to the folder: " +
	"nothing more is written here, and what was committed before stays; open the folder again")

// lock is on the open file, so that it ends with the process.
func (d folder) lock() (reason string, of *lock, err error) {
	f, err := os.OpenFile(d.path(lockName), os.O_RDWR|os.O_CREATE, 0o666)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, unix.EROFS) {
		return unwritable, nil, nil
	}
	if err != nil {
		return "", nil, err
	}
	switch err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); {
	case errors.Is(err, unix.EWOULDBLOCK):
		text, _ := io.ReadAll(io.LimitReader(f, 32))
		reason := "another process writes to it"
		if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
			reason = fmt.Sprintf("process %d writes to it", pid)
		}
		return reason, nil, f.Close()
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
	return "", &lock{func() { f.Close() }, func() error {
		mine, err := f.Stat()
		if err != nil {
			return err
		}
		if there, err := os.Stat(d.path(lockName)); errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(mine, there) {
			return errUnlocked
		} else if err != nil {
			return err
		}
		return nil
	}}, nil
}

// unwritable is why a folder is only read that its process may not write to.
const unwritable = "the folder cannot be written to"
