package textures

import (
	"fmt"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/go-gl/gl/v4.5-core/gl"
)

// Scope is the working memory of one query: storage blocks, masks and lists, which it
// has until it is closed, and depth-stencil buffers, which it has until another scope
// is entered. Any number may be open; what they have is not evicted.
type Scope struct {
	store   *Store
	entered uint64 // the store's clock when it was entered last
	loans   []loan // in the order of taking
	targets []*entry
}

// loan is working memory that a scope has, and what gives it back.
type loan struct {
	*object
	back func()
}

// Open returns a new scope.
func (s *Store) Open() *Scope { return &Scope{store: s} }

// Enter makes a scope the one that what is asked for from now on belongs to, and
// returns the one before, which loses its depth-stencil buffers. A store begins in a
// scope of its own.
func (s *Store) Enter(c *Scope) (before *Scope) {
	before = s.scope
	before.leave()
	s.scope, s.pass, c.entered = c, s.clock, s.clock
	return before
}

// leave lets the depth-stencil buffers be evicted.
func (c *Scope) leave() {
	for _, e := range c.targets {
		e.held = false
	}
	c.targets = c.targets[:0]
}

// Close gives back what the scope has, for others to use: what it took last first, so that
// the next query takes the same in the same order. It may be used again.
func (c *Scope) Close() {
	c.leave()
	for _, l := range slices.Backward(c.loans) {
		l.held = false
		l.back()
	}
	c.loans = nil
	c.entered, c.store.pass = c.store.clock, c.store.clock
}

// Hand gives a block of working memory to another scope.
func (c *Scope) Hand(b Block, to *Scope) error {
	o := c.store.blocks[b.key()]
	i := slices.IndexFunc(c.loans, func(l loan) bool { return l.object == o })
	if i < 0 {
		return fmt.Errorf("textures: %s is not the scope's to hand on", b.describe(c.store.fields))
	}
	to.loans = append(to.loans, c.loans[i])
	c.loans = slices.Delete(c.loans, i, i+1)
	return nil
}

// draws notes that the scope draws into a depth-stencil buffer.
func (c *Scope) draws(e *entry) {
	if !e.held {
		e.held = true
		c.targets = append(c.targets, e)
	}
}

// poolKey says what makes working memory as good as other: its bytes, or the size of
// a mask.
type poolKey struct {
	bytes int64
	temp  Temp
}

// take returns working memory that no scope has, or lets create make some; made says
// which.
func (s *Store) take(k poolKey, what string, bytes int64, create func(*object)) (o *object, made bool, err error) {
	if list := s.idle[k]; len(list) > 0 {
		last := len(list) - 1
		o, s.idle[k] = list[last], list[:last]
		return o, false, nil
	}
	if err := s.reserve(what, nil, bytes); err != nil {
		return nil, false, err
	}
	o = &object{entry: entry{kind: WorkingMemory, bytes: bytes}}
	o.pool = k
	create(o)
	s.keep(&o.entry, func() {
		s.delete(o)
		s.idle[k] = slices.DeleteFunc(s.idle[k], func(x *object) bool { return x == o })
	})
	if err := s.ctx.Check("textures: allocate " + what); err != nil {
		o.free()
		return nil, false, err
	}
	return o, true, nil
}

// lend makes an object that was taken the scope's, under a name, until it is closed.
func lend[K comparable](s *Store, names map[K]*object, name K, o *object) {
	names[name] = o
	s.touch(&o.entry)
	o.held = true
	s.scope.loans = append(s.scope.loans, loan{o, func() {
		delete(names, name)
		s.idle[o.pool] = append(s.idle[o.pool], o)
	}})
}

// buffer takes a buffer of at least some bytes that begins with init, and where zero is
// asked for goes on with zeros.
func (s *Store) buffer(what string, bytes int64, init []uint32, zero bool) (*object, error) {
	size := poolSize(bytes)
	b, made, err := s.take(poolKey{bytes: size}, what, size, func(o *object) { o.buffer = s.makeBuffer(size, gl.DYNAMIC_STORAGE_BIT) })
	if err != nil {
		return nil, err
	}
	if !made && (zero || len(init) > 0) { // a program of an earlier query may have written it
		gl.MemoryBarrier(gl.BUFFER_UPDATE_BARRIER_BIT)
	}
	if zero && bytes > int64(4*len(init)) {
		gl.ClearNamedBufferSubData(b.buffer, gl.R32UI, 4*len(init), int(bytes)-4*len(init), gl.RED_INTEGER, gl.UNSIGNED_INT, nil)
	}
	if len(init) > 0 {
		gl.NamedBufferSubData(b.buffer, 0, 4*len(init), unsafe.Pointer(&init[0]))
	}
	return b, nil
}

// poolSize rounds the bytes of working memory up, so that it can be used again.
func poolSize(n int64) int64 {
	if n > 1<<24 {
		return (n + 1<<20 - 1) >> 20 << 20
	}
	return 1 << bits.Len64(uint64(max(64, n)-1))
}
