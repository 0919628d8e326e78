package textures

import (
	"maps"
	"slices"
	"time"

	"github.com/go-gl/gl/v4.5-core/gl"

	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/table"
)

// Store keeps textures, depth-stencil buffers and storage blocks on one device
// within a byte budget. It belongs to one context; call it on the GL thread.
type Store struct {
	// Lend calls draw with all tests and writes off, when an upload has to draw or to
	// dispatch. Whoever keeps draw state between passes sets it.
	Lend func(draw func() error) error
	// Pack reports that host memory has room for so many bytes of columns that are packed for upload. Nil: no column is
	// packed.
	Pack func(bytes int64) bool

	ctx       *glctx.Context
	budget    int64
	used      int64
	clock     uint64       // of uses
	completed uint64       // the clock when the device had last done all that it was given
	pass      uint64       // the clock when the pass being prepared began
	scope     *Scope       // of what is asked for
	table     *table.Table // whose columns errors name; nil numbers them

	entries map[*object]struct{}
	objects map[key]*object
	sources map[*table.Segment]Source
	idle    map[poolKey][]*object // working memory that no scope has

	slot     int                        // bytes of a ring's slot
	ring     *ring                      // of uploads
	down     *ring                      // of large read-backs
	visit    *visit                     // of the query that runs; nil for none
	visited  *visit                     // its last one, of which as much is expected of the next
	packs    map[*table.Segment]*packed // of segments that visits have sent; nil for those that are sent as they are
	builders *shaders.Cache             // programs that build what is resident
	upload   time.Duration
	listed   int64 // bytes of [Store.Sent] that did not go through the ring
}

// key is what an object is known by: segments and their form, or working memory.
type key struct {
	segments     [4]*table.Segment
	packed, high bool
	form         Form
	content      Content
	part         int
	plus         uint64
	window       Window
	temp         *Temp
	scratch      *Scratch
	target       TargetRef // without its Chunk
}

// object is a texture, a buffer, a buffer with a texture of uvec4 over it, or a depth-stencil texture with
// its framebuffer. It counts against the budget.
type object struct {
	key      key
	kind     Kind
	segments []*table.Segment // none for working memory
	bytes    int64
	used     uint64 // the store's clock at the last use
	// held says that a scope has the object: its contents exist nowhere else, so that it
	// stays.
	held bool
	pool poolKey // of working memory that is kept
	made shape   // of what may hold another column; zero for nothing

	late  changes        // what it does not hold yet of what its segments have
	grows *table.Segment // whose next use copies it, with rows behind; nil for none

	texture, buffer uint32
	address         uint64 // of the buffer, once it has been asked for
	frame           uint32 // of a Temp or a target: a framebuffer with it alone
	target          *Target
}

// NewStore returns an empty store with a budget of bytes; 0 means the context's
// own budget. The budget is for what queries read and write; the upload ring, of 64
// MiB (4 where the CPU renders), comes on top.
func NewStore(ctx *glctx.Context, budget int64) *Store {
	if budget <= 0 {
		budget = ctx.Caps().Budget
	}
	s := &Store{ctx: ctx, budget: budget, entries: map[*object]struct{}{}, objects: map[key]*object{}, sources: map[*table.Segment]Source{}, packs: map[*table.Segment]*packed{}, idle: map[poolKey][]*object{}}
	s.builders, s.Lend = shaders.NewCache(ctx), func(draw func() error) error { return draw() }
	s.slot, s.scope = slotBytes(ctx), s.Open()
	return s
}

// Name tells the table that passes read from now on, and returns the one before. Errors call its columns by their
// names; without it they are numbered from 1.
func (s *Store) Name(t *table.Table) (before *table.Table) {
	before, s.table = s.table, t
	return before
}

// Begin starts the preparation of a pass: what is asked for from now on is not
// evicted for one another.
func (s *Store) Begin() {
	s.pass = s.clock
	if s.ring != nil {
		_ = s.ring.fill(nil) // which waits for nothing
	}
}

// Uploaded returns the time spent in uploads so far.
func (s *Store) Uploaded() time.Duration { return s.upload }

// Sent returns the bytes of columns that have been uploaded so far, those of rows that have changed included.
func (s *Store) Sent() int64 {
	if s.ring == nil {
		return s.listed
	}
	return s.listed + s.ring.sent
}

// Used returns the bytes resident.
func (s *Store) Used() int64 { return s.used }

// Slots returns how many buffers like t fit in half of the budget, at least one
// and at most n. That is how many chunks can keep depth and stencil at the same time.
func (s *Store) Slots(t TargetRef, n int) int {
	return int(max(1, min(int64(n), s.budget/2/max(1, t.Bytes()))))
}

// Source is where the codes of a segment are that is away: working memory of 128 words a unit of its rows, a word each.
type Source struct {
	Codes [2]Block // the lower and the upper words, which there are of codes of more than [PartBits] bits; 0 for NULL
	Valid Block    // 1 where a row is not NULL; none where none is
}

// From tells where the codes of a segment are, until it is dropped.
func (s *Store) From(seg *table.Segment, of Source) { s.sources[seg] = of }

// Sources is of how many segments that are away the codes are there.
func (s *Store) Sources() int { return len(s.sources) }

// Remake makes what is resident of a segment as blocks of all its rows resident of another one, from where its codes are. That one is of
// a column of a chunk.
func (s *Store) Remake(old *table.Segment, c *table.Chunk, col int, of Source) error {
	seg := c.Segments[col]
	var codes, planes []Block
	for o := range s.entries {
		k := o.key
		if k.segments[0] != old || k.window != (Window{0, old.Rows()}) || k.plus != 0 {
			continue
		}
		switch b := (Block{Chunk: c, Col: col, Content: k.content, Part: k.part, Window: k.window}); {
		case k.content == Planes:
			planes = append(planes, b)
		case k.content == Codes && CodeBytes(seg) == 4:
			codes = append(codes, b)
		}
	}
	s.From(seg, of)
	for _, b := range planes {
		if err := s.Reside(b); err != nil {
			delete(s.sources, seg)
			return err
		}
	}
	delete(s.sources, seg)
	for _, b := range codes {
		o, err := s.block(of.Codes[b.Part])
		if err != nil {
			return err
		}
		s.scope.lend(o, b.key(), seg)
	}
	return nil
}

// Drop frees what is resident of segments, and of what is made of them: their next use uploads them again.
func (s *Store) Drop(segments ...*table.Segment) {
	for _, seg := range segments {
		delete(s.sources, seg)
		delete(s.packs, seg)
		segments = append(segments, seg.Made()...)
	}
	for o := range maps.Clone(s.entries) {
		if o.grows == nil && slices.ContainsFunc(o.segments, func(seg *table.Segment) bool { return slices.Contains(segments, seg) }) || slices.Contains(segments, o.grows) {
			if o.pool != (poolKey{}) {
				s.regain(o)
			} else {
				s.free(o)
			}
		}
	}
}

// Close deletes everything.
func (s *Store) Close() {
	for o := range maps.Clone(s.entries) {
		s.free(o)
	}
	s.builders.Close()
	s.closeRing(s.ring)
	s.closeRing(s.down)
	s.ring, s.down = nil, nil
}

// find returns the object of a key, nil where there is none, and notes the use.
func (s *Store) find(k key) *object {
	o := s.objects[k]
	if o != nil {
		s.touch(o)
	}
	return o
}

// touch notes a use.
func (s *Store) touch(o *object) {
	s.clock++
	o.used = s.clock
}

// reside makes an object resident under a key: create makes what it is, and fill, unless it is
// nil, what it holds.
func (s *Store) reside(k key, o *object, chunk *table.Chunk, what string, create, fill func() error) (*object, error) {
	start := time.Now()
	alike, err := s.reserve(what, chunk, o)
	if err != nil {
		return nil, err
	}
	s.count(o, k)
	if alike != nil { // passes may read what it held yet
		o.buffer, o.texture, o.address = alike.buffer, alike.texture, alike.address
		gl.MemoryBarrier(gl.ALL_BARRIER_BITS)
	} else {
		err = create()
	}
	if e := s.ctx.Check("textures: allocate " + what); err == nil {
		err = e
	}
	if err == nil && fill != nil {
		err = fill()
		if e := s.ctx.Check("textures: upload " + what); err == nil {
			err = e
		}
		s.upload += time.Since(start)
	}
	if err != nil {
		s.free(o)
		return nil, err
	}
	return o, nil
}

// count takes an object up.
func (s *Store) count(o *object, k key) {
	o.key = k
	s.objects[k] = o
	s.entries[o] = struct{}{}
	s.used += o.bytes
	s.touch(o)
}

// free deletes an object and forgets it.
func (s *Store) free(o *object) {
	delete(s.entries, o)
	s.used -= o.bytes
	if s.objects[o.key] == o {
		delete(s.objects, o.key)
	}
	if list := s.idle[o.pool]; len(list) > 0 {
		s.idle[o.pool] = slices.DeleteFunc(list, func(x *object) bool { return x == o })
	}
	s.delete(o)
}

// delete deletes what an object has on the device.
func (s *Store) delete(o *object) {
	if o.texture != 0 {
		gl.DeleteTextures(1, &o.texture)
		s.ctx.Track("texture", -1)
	}
	if o.buffer != 0 {
		gl.DeleteBuffers(1, &o.buffer) // unmaps
		s.ctx.Track("buffer", -1)
	}
	if o.frame != 0 {
		gl.DeleteFramebuffers(1, &o.frame)
		s.ctx.Track("framebuffer", -1)
	}
}

// makeTexture gives an object a texture of a target (gl.TEXTURE_2D).
func (s *Store) makeTexture(o *object, target uint32) {
	gl.CreateTextures(target, 1, &o.texture)
	s.ctx.Track("texture", 1)
}

// makeImage gives an object a texture with storage, read without filtering.
func (s *Store) makeImage(o *object, internal uint32, width, height int) {
	s.makeTexture(o, gl.TEXTURE_2D)
	gl.TextureStorage2D(o.texture, 1, internal, int32(width), int32(height))
	gl.TextureParameteri(o.texture, gl.TEXTURE_MIN_FILTER, gl.NEAREST)
	gl.TextureParameteri(o.texture, gl.TEXTURE_MAG_FILTER, gl.NEAREST)
}

// makeBuffer gives an object a buffer of bytes of undefined contents.
func (s *Store) makeBuffer(o *object, bytes int64, flags uint32) {
	gl.CreateBuffers(1, &o.buffer)
	s.ctx.Track("buffer", 1)
	gl.NamedBufferStorage(o.buffer, int(bytes), nil, flags)
}

// makeFrame gives an object a framebuffer with its texture.
func (s *Store) makeFrame(o *object, attachment uint32) {
	gl.CreateFramebuffers(1, &o.frame)
	s.ctx.Track("framebuffer", 1)
	gl.NamedFramebufferTexture(o.frame, attachment, o.texture, 0)
}

// view makes a buffer a texture of uvec4, too.
func (s *Store) view(o *object) {
	if o.texture == 0 {
		s.makeTexture(o, gl.TEXTURE_BUFFER)
		gl.TextureBuffer(o.texture, gl.RGBA32UI, o.buffer)
	}
}
