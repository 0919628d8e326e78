package storage

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/stencildb/stencildb/ingest"
)

var (
	errStopped = errors.New("the disk has stopped")
	errFull    = errors.New("no space left on device")
	errSync    = errors.New("input/output error")
)

// modelled is a disk in memory. It knows what has been synced, file contents and names apart. It can stop at a step (a
// write, a cut, a sync, a change of names), fail a sync, or be full.
type modelled struct {
	mu     sync.Mutex
	names  map[string]*inode
	synced map[string]*inode
	moves  []func(map[string]*inode) // since the names were synced

	steps    int
	stopAt   int // the step that tears, and after which nothing goes; 0 for none
	failSync int // the step, a sync, that fails; 0 for none
	room     int // bytes that files may have yet; negative: any number
	stopped  bool
	syncs    int    // of files
	syncing  func() // called once, when a file's next sync begins; nil for nothing
}

// inode is a file's content: what was synced, and what was done since.
type inode struct {
	now    []byte
	synced []byte
	since  []func([]byte) []byte
}

func newModelled() *modelled {
	return &modelled{names: map[string]*inode{}, synced: map[string]*inode{}, room: -1}
}

// step counts a step; torn reports that it is the one at which the disk stops. With d.mu.
func (d *modelled) step() (torn bool, err error) {
	if d.stopped {
		return false, errStopped
	}
	d.steps++
	d.stopped = d.steps == d.stopAt
	return d.stopped, nil
}

// after is the disk after its power was lost: of what was not synced some is there, writes in part.
func (d *modelled) after(r *rand.Rand) *modelled {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := newModelled()
	out.synced = maps.Clone(d.synced)
	for _, move := range d.moves[:r.IntN(len(d.moves)+1)] {
		move(out.synced)
	}
	for name, f := range out.synced {
		data := slices.Clone(f.synced)
		for _, change := range f.since {
			switch r.IntN(3) {
			case 0: // all of it
				data = change(data)
			case 1: // a part
				whole := change(slices.Clone(data))
				cut := r.IntN(len(whole) + 1)
				if len(whole) > len(data) {
					whole = append(slices.Clone(data), whole[len(data):max(len(data), cut)]...)
				} else if cut < len(data) {
					whole = append(slices.Clone(whole[:cut]), data[cut:]...)
				}
				data = whole
			}
		}
		out.synced[name] = &inode{now: slices.Clone(data), synced: data}
	}
	out.names = maps.Clone(out.synced)
	return out
}

func (d *modelled) open(name string) (file, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f, ok := d.names[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return &modelledFile{d, f}, nil
}

// move changes the names.
func (d *modelled) move(change func(map[string]*inode)) error {
	if _, err := d.step(); err != nil {
		return err
	}
	change(d.names)
	d.moves = append(d.moves, change)
	if d.stopped {
		return errStopped
	}
	return nil
}

func (d *modelled) create(name string) (file, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f := &inode{}
	return &modelledFile{d, f}, d.move(func(names map[string]*inode) { names[name] = f })
}

func (d *modelled) rename(from, to string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.move(func(names map[string]*inode) { names[to] = names[from]; delete(names, from) })
}

func (d *modelled) remove(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.move(func(names map[string]*inode) { delete(names, name) })
}

func (d *modelled) list() ([]string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Collect(maps.Keys(d.names)), nil
}

// begin is the start of a sync.
func (d *modelled) begin() error {
	torn, err := d.step()
	switch {
	case err != nil:
		return err
	case torn:
		return errStopped
	case d.steps == d.failSync:
		return errSync
	}
	return nil
}

func (d *modelled) sync() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.begin(); err != nil {
		return err
	}
	d.synced, d.moves = maps.Clone(d.names), nil
	return nil
}

func (d *modelled) lock() (string, *lock, error) {
	return "", &lock{func() {}, func() error { return nil }}, nil
}

func (d *modelled) source(name string) ingest.Source {
	d.mu.Lock()
	defer d.mu.Unlock()
	return ingest.Source{Path: name, Data: slices.Clone(d.names[name].now)}
}

func (d *modelled) keep([]string) (disk, func(), error) { return d, func() {}, nil }

type modelledFile struct {
	d *modelled
	f *inode
}

func (m *modelledFile) ReadAt(p []byte, at int64) (int, error) {
	m.d.mu.Lock()
	defer m.d.mu.Unlock()
	if at >= int64(len(m.f.now)) {
		return 0, io.EOF
	}
	n := copy(p, m.f.now[at:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (m *modelledFile) do(change func([]byte) []byte) {
	m.f.now = change(m.f.now)
	m.f.since = append(m.f.since, change)
}

func (m *modelledFile) WriteAt(p []byte, at int64) (int, error) {
	m.d.mu.Lock()
	defer m.d.mu.Unlock()
	torn, err := m.d.step()
	if err != nil {
		return 0, err
	}
	p = slices.Clone(p)
	if torn {
		p, err = p[:len(p)*2/3], errStopped
	}
	if more := int(at) + len(p) - len(m.f.now); m.d.room >= 0 && more > m.d.room {
		p, err = p[:max(0, len(p)-(more-m.d.room))], errFull
	}
	if m.d.room >= 0 {
		m.d.room -= max(0, int(at)+len(p)-len(m.f.now))
	}
	m.do(func(data []byte) []byte {
		if need := int(at) + len(p); need > len(data) {
			data = append(slices.Clone(data), make([]byte, need-len(data))...)
		}
		copy(data[at:], p)
		return data
	})
	return len(p), err
}

func (m *modelledFile) Truncate(size int64) error {
	m.d.mu.Lock()
	defer m.d.mu.Unlock()
	if _, err := m.d.step(); err != nil {
		return err
	}
	if m.d.room >= 0 {
		m.d.room += max(0, len(m.f.now)-int(size))
	}
	m.do(func(data []byte) []byte { return slices.Clone(data[:min(int(size), len(data))]) })
	return nil
}

func (m *modelledFile) size() (int64, error) {
	m.d.mu.Lock()
	defer m.d.mu.Unlock()
	return int64(len(m.f.now)), nil
}

// stop calls syncing, if it is to be.
func (d *modelled) stop() {
	d.mu.Lock()
	hold := d.syncing
	d.syncing = nil
	d.mu.Unlock()
	if hold != nil {
		hold()
	}
}

func (m *modelledFile) sync() error {
	m.d.stop()
	m.d.mu.Lock()
	defer m.d.mu.Unlock()
	m.d.syncs++
	if err := m.d.begin(); err != nil {
		return err
	}
	m.f.synced, m.f.since = slices.Clone(m.f.now), nil
	return nil
}

// writeBlocks syncs what it writes, and nothing else.
func (m *modelledFile) writeBlocks(p []byte, at int64) error {
	m.d.stop()
	m.d.mu.Lock()
	defer m.d.mu.Unlock()
	m.d.syncs++
	switch {
	case at%logBlock != 0 || int64(len(p))%logBlock != 0 || len(p) == 0 || at == 0:
		return errors.New("no whole blocks")
	case at+int64(len(p)) > int64(len(m.f.synced)):
		return errors.New("the file is not so long on the disk")
	}
	torn, err := m.d.step()
	if err != nil {
		return err
	}
	p = slices.Clone(p)
	if torn {
		p, err = p[:len(p)*2/3], errStopped
	}
	if m.d.steps == m.d.failSync {
		p, err = nil, errSync
	}
	write := func(data []byte) []byte {
		data = slices.Clone(data)
		copy(data[at:], p)
		return data
	}
	m.f.now = write(m.f.now)
	if err != nil {
		m.f.since = append(m.f.since, write)
		return err
	}
	m.f.synced = write(m.f.synced)
	return nil
}

func (m *modelledFile) Close() error { return nil }
