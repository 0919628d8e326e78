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
	ctx     *glctx.Context
	budget  int64
	used    int64
	entries map[*entry]struct{}
	clock   uint64 // of uses
	pass    uint64 // the clock when the pass being prepared began
	query   uint64 // likewise the query
	fields  []table.Field

	images  map[imageKey]*image
	targets map[targetKey]*Target
	blocks  map[blockKey]*block

	held []func() // end the hold of this query on working memory
	// What queries before this one made and the next ones can use.
	idleBlocks idle[int64, *block] // working memory, by bytes
	idleMasks  idle[Temp, *image]  // by size
	idleLists  idle[int64, *image] // buffer textures, by bytes

	ring       *ring
	builders   *shaders.Cache // programs that build blocks
	dispatched bool
	upload     time.Duration
}

// image is a texture.
type image struct {
	entry
	id, buffer uint32 // buffer: of a buffer texture
	frame      uint32 // of a Temp: a framebuffer with it alone
}

// Target is a resident depth-stencil buffer with its framebuffer.
type Target struct {
	entry
	Framebuffer uint32
	Texture     uint32
	Ref         TargetRef // without its Chunk
}

// NewStore returns an empty store with a budget of bytes; 0 means the context's
// own budget. The budget is for what queries read and write; the upload ring, of 64
// MiB, comes on top.
func NewStore(ctx *glctx.Context, budget int64) *Store {
	if budget <= 0 {
		budget = ctx.Caps().Budget
	}
	return &Store{ctx: ctx, budget: budget, entries: map[*entry]struct{}{},
		images: map[imageKey]*image{}, targets: map[targetKey]*Target{}, blocks: map[blockKey]*block{},
		idleBlocks: idle[int64, *block]{}, idleMasks: idle[Temp, *image]{}, idleLists: idle[int64, *image]{}}
}

// Name tells the columns that passes read from now on, by whose names errors call
// them; without it they are numbered from 1.
func (s *Store) Name(fields []table.Field) { s.fields = fields }

// Begin starts the preparation of a pass: what is asked for from now on is not
// evicted for one another.
func (s *Store) Begin() { s.pass = s.clock }

// Uploaded returns the time spent in uploads so far.
func (s *Store) Uploaded() time.Duration { return s.upload }

// Used returns the bytes resident; Budget the most there may be.
func (s *Store) Used() int64 { return s.used }

// Budget returns the byte budget.
func (s *Store) Budget() int64 { return s.budget }

// Slots returns how many buffers like t fit in half of the budget, at least one
// and at most n: how many chunks can keep depth and stencil at the same time.
func (s *Store) Slots(t TargetRef, n int) int {
	return int(max(1, min(int64(n), s.budget/2/max(1, t.Bytes()))))
}

// Release ends a query: its buffer textures, masks and working memory are kept for
// the next ones, and its depth-stencil buffers may be evicted.
func (s *Store) Release() {
	for _, end := range s.held {
		end()
	}
	s.held = s.held[:0]
	s.query, s.pass = s.clock, s.clock
}

// hold keeps an entry until the query ends, and calls end then.
func (s *Store) hold(e *entry, end func()) {
	e.held = true
	s.held = append(s.held, func() {
		e.held = false
		end()
	})
}

// Close deletes everything.
func (s *Store) Close() {
	for _, e := range slices.Collect(maps.Keys(s.entries)) {
		e.free()
	}
	if s.builders != nil {
		s.builders.Close()
		s.builders = nil
	}
	if s.ring != nil {
		s.closeRing()
	}
}

// makeTexture creates a texture of a target (gl.TEXTURE_2D) and counts it.
func (s *Store) makeTexture(target uint32) (id uint32) {
	gl.CreateTextures(target, 1, &id)
	s.ctx.Track("texture", 1)
	return id
}

func (s *Store) deleteTexture(id uint32) {
	gl.DeleteTextures(1, &id)
	s.ctx.Track("texture", -1)
}

// makeBuffer creates a buffer of bytes of undefined contents.
func (s *Store) makeBuffer(bytes int64, flags uint32) (id uint32) {
	gl.CreateBuffers(1, &id)
	s.ctx.Track("buffer", 1)
	gl.NamedBufferStorage(id, int(bytes), nil, flags)
	return id
}

func (s *Store) deleteBuffer(id uint32) {
	gl.DeleteBuffers(1, &id)
	s.ctx.Track("buffer", -1)
}

func (s *Store) makeFramebuffer() (id uint32) {
	gl.CreateFramebuffers(1, &id)
	s.ctx.Track("framebuffer", 1)
	return id
}

func (s *Store) deleteFramebuffer(id uint32) {
	gl.DeleteFramebuffers(1, &id)
	s.ctx.Track("framebuffer", -1)
}
