package textures

import (
	"fmt"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/go-gl/gl/v4.5-core/gl"

	"github.com/stencildb/stencildb/table"
)

// Scope is the working memory of one query. It has storage blocks, masks and lists
// until it is closed, and depth-stencil buffers which it has until another scope
// is entered. Any number may be open; what they have is not evicted.
type Scope struct {
	store   *Store
	within  *Scope    // a part of whose query its own is; nil for none
	entered uint64    // the store's clock when it was entered last
	loans   []*object // the working memory that it has, in the order of taking
	targets []*object
}

// Open returns a new scope.
func (s *Store) Open() *Scope { return &Scope{store: s} }

// Enter makes a scope the one to which all belongs that is asked for from now on.
// It returns the one before, which loses its depth-stencil buffers. A store begins in a
// scope of its own.
func (s *Store) Enter(c *Scope) (before *Scope) {
	before = s.scope
	before.leave()
	s.scope, s.pass = c, s.clock
	switch {
	case c.within != nil:
		c.entered = c.within.entered
	case before.within != c:
		c.entered = s.clock
	}
	return before
}

// Within makes the scope that of a part of another one's query: what that has used counts as used by both.
func (c *Scope) Within(of *Scope) { c.within = of }

// leave lets the depth-stencil buffers be evicted.
func (c *Scope) leave() {
	for _, o := range c.targets {
		o.held = false
	}
	c.targets = c.targets[:0]
}

// Close gives back what the scope has, for others to use. What it took last goes first, so that
// the next query takes the same in the same order. It may be used again.
func (c *Scope) Close() {
	c.leave()
	s := c.store
	if c.within == nil { // what is expected may change after the query
		s.forget()
	}
	for _, o := range slices.Backward(c.loans) {
		delete(s.objects, o.key)
		o.held = false
		s.idle[o.pool] = append(s.idle[o.pool], o)
	}
	c.loans = c.loans[:0]
	c.entered, s.pass = s.clock, s.clock
}

// Hand gives a block of working memory to another scope.
func (c *Scope) Hand(b Block, to *Scope) error {
	i := slices.Index(c.loans, c.store.objects[b.key()])
	if i < 0 {
		return fmt.Errorf("textures: %s is not the scope's to hand on", b.describe(c.store.table))
	}
	to.loans = append(to.loans, c.loans[i])
	c.loans = slices.Delete(c.loans, i, i+1)
	return nil
}

// lend makes working memory that the scope has what is resident of a segment under a key. A copy would take ten times as long as the passes that
// made it (2.6 ms for 268 MB on an H200).
func (c *Scope) lend(o *object, k key, seg *table.Segment) {
	s := c.store
	c.loans = slices.DeleteFunc(c.loans, func(x *object) bool { return x == o })
	delete(s.objects, o.key)
	o.key, o.kind, o.segments, o.held, s.objects[k] = k, CodeBlock, []*table.Segment{seg}, false, o
}

// regain makes what a scope has lent working memory again.
func (s *Store) regain(o *object) {
	delete(s.objects, o.key)
	o.key, o.kind, o.segments, o.late = key{}, WorkingMemory, nil, changes{}
	s.idle[o.pool] = append(s.idle[o.pool], o)
}

// draws notes that the scope draws into a depth-stencil buffer.
func (c *Scope) draws(o *object) {
	if !o.held {
		o.held = true
		c.targets = append(c.targets, o)
	}
}

// poolKey says what makes working memory as good as other: its bytes, or the size of
// a mask.
type poolKey struct {
	bytes int64
	temp  Temp
}

// take lends the scope working memory under a key, until the scope is closed. The memory belongs to no scope, or create makes it; made
// says which. With begun, no dispatch may still use the memory. NVIDIA's driver (580) wrote its contents before an earlier dispatch had
// read what was there, whatever barrier stood between.
func (s *Store) take(k key, pool poolKey, what string, bytes int64, begun bool, create func(*object)) (o *object, made bool, err error) {
	list := s.idle[pool]
	at := len(list) - 1
	for begun && at >= 0 && list[at].used > s.completed {
		at--
	}
	if at < 0 && len(list) >= mostPending {
		s.Finish()
		at = len(list) - 1
	}
	if at >= 0 {
		o = list[at]
		s.idle[pool] = slices.Delete(list, at, at+1)
		o.key, s.objects[k] = k, o
		s.touch(o)
	} else {
		made, o = true, &object{kind: WorkingMemory, bytes: bytes, pool: pool}
		if _, err := s.reside(k, o, nil, what, func() error { create(o); return nil }, nil); err != nil {
			return nil, false, err
		}
	}
	o.held = true
	s.scope.loans = append(s.scope.loans, o)
	return o, made, nil
}

// Finish waits until the device has done what it was given: any working memory that no scope has can be used again.
func (s *Store) Finish() {
	gl.Finish()
	s.completed = s.clock
}

// buffer takes a buffer of at least the words of s, which it begins as that says.
func (s *Store) buffer(k key, what string, m *Scratch) (*object, error) {
	bytes, first := 4*m.Words, 4*len(m.Init)
	size := poolSize(int64(bytes))
	o, made, err := s.take(k, poolKey{bytes: size}, what, size, m.Zero || first > 0, func(o *object) { s.makeBuffer(o, size, gl.DYNAMIC_STORAGE_BIT) })
	if err != nil {
		return nil, err
	}
	if !made && (m.Zero || first > 0) { // a program of an earlier query may have written it
		gl.MemoryBarrier(gl.BUFFER_UPDATE_BARRIER_BIT)
	}
	init := m.Init
	if m.Zero && bytes <= smallZero { // a clear forgets how addresses are translated (H200)
		init = append(slices.Clip(init), make([]uint32, m.Words-len(init))...)
		first = bytes
	}
	if m.Zero && bytes > first {
		gl.ClearNamedBufferSubData(o.buffer, gl.R32UI, first, bytes-first, gl.RED_INTEGER, gl.UNSIGNED_INT, nil)
	}
	if first > 0 {
		gl.NamedBufferSubData(o.buffer, 0, first, unsafe.Pointer(&init[0]))
	}
	return o, s.ctx.Check("textures: " + what)
}

// mostPending is how many buffers of a size wait for the device before the host does.
const mostPending = 8

// smallZero is the number of bytes up to which zeros are copied to the device, not made there.
const smallZero = 32 << 10

// poolSize rounds the bytes of working memory up, so that it can be used again.
func poolSize(n int64) int64 {
	if n > 1<<24 {
		return (n + 1<<20 - 1) >> 20 << 20
	}
	return 1 << bits.Len64(uint64(max(64, n)-1))
}
