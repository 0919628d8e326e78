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
	scope   *Scope // of what is asked for
	fields  []table.Field

	images  map[imageKey]*object
	targets map[targetKey]*Target
	blocks  map[blockKey]*object
	idle    map[poolKey][]*object // working memory that no scope has

	ring       *ring
	builders   *shaders.Cache // programs that build blocks
	dispatched bool
	upload     time.Duration
}

// object is a texture, a buffer, or a buffer with a texture of uvec4 over it.
type object struct {
	entry
	texture, buffer uint32
	frame           uint32  // of a Temp: a framebuffer with it alone
	pool            poolKey // of working memory
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
	s := &Store{ctx: ctx, budget: budget, entries: map[*entry]struct{}{}, images: map[imageKey]*object{},
		targets: map[targetKey]*Target{}, blocks: map[blockKey]*object{}, idle: map[poolKey][]*object{}}
	s.scope = s.Open()
	return s
}

// Name tells the columns that passes read from now on, by whose names errors call
// them; without it they are numbered from 1.
func (s *Store) Name(fields []table.Field) { s.fields = fields }

// Begin starts the preparation of a pass: what is asked for from now on is not
// evicted for one another.
func (s *Store) Begin() { s.pass = s.clock }

// Uploaded returns the time spent in uploads so far.
func (s *Store) Uploaded() time.Duration { return s.upload }

// Used returns the bytes resident.
func (s *Store) Used() int64 { return s.used }

// Slots returns how many buffers like t fit in half of the budget, at least one
// and at most n: how many chunks can keep depth and stencil at the same time.
func (s *Store) Slots(t TargetRef, n int) int {
	return int(max(1, min(int64(n), s.budget/2/max(1, t.Bytes()))))
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

// view makes a buffer a texture of uvec4, too.
func (s *Store) view(o *object) {
	if o.texture == 0 {
		o.texture = s.makeTexture(gl.TEXTURE_BUFFER)
		gl.TextureBuffer(o.texture, gl.RGBA32UI, o.buffer)
	}
}

// delete deletes what an object has on the device.
func (s *Store) delete(o *object) {
	s.forget(&o.entry)
	if o.texture != 0 {
		s.deleteTexture(o.texture)
	}
	if o.buffer != 0 {
		s.deleteBuffer(o.buffer)
	}
	if o.frame != 0 {
		s.deleteFramebuffer(o.frame)
	}
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
