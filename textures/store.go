package textures

import (
	"fmt"
	"sort"
	"time"

	"github.com/go-gl/gl/v4.5-core/gl"

	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/shaders"
)

// Store keeps textures and depth-stencil buffers on one device within a byte
// budget. It belongs to one context; call it on the GL thread.
type Store struct {
	ctx     *glctx.Context
	budget  int64
	used    int64
	tick    uint64 // of the pass being prepared
	images  map[Ref]*image
	targets map[TargetRef]*Target
	blocks  map[Block]*block
	pool    map[int64][]*block // working memory not in use, by bytes
	ring    *ring
	upload  time.Duration

	builders   *shaders.Cache // programs that build blocks
	dispatched bool
}

type image struct {
	id, buffer uint32
	frame      uint32 // of a Temp: a framebuffer with it alone
	kind       uint32 // gl.TEXTURE_2D or gl.TEXTURE_BUFFER
	bytes      int64
	tick       uint64
}

// Target is a resident depth-stencil buffer with its framebuffer.
type Target struct {
	Framebuffer uint32
	Texture     uint32
	Ref         TargetRef
	tick        uint64
	pinned      bool // for the query that runs
}

// NewStore returns an empty store with a budget of bytes; 0 means the context's
// own budget.
func NewStore(ctx *glctx.Context, budget int64) *Store {
	if budget <= 0 {
		budget = ctx.Caps().Budget
	}
	return &Store{ctx: ctx, budget: budget, images: map[Ref]*image{}, targets: map[TargetRef]*Target{},
		blocks: map[Block]*block{}, pool: map[int64][]*block{}}
}

// BudgetError says that something does not fit the byte budget; nothing was
// allocated.
type BudgetError struct {
	What               string
	Need, Free, Budget int64
}

func (e *BudgetError) Error() string {
	return fmt.Sprintf("%s needs %s of GPU memory, but of the budget of %s only %s can be freed: "+
		"raise --gpu-memory, or use --backend cpu", e.What, size(e.Need), size(e.Budget), size(e.Free))
}

func size(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
}

// Begin starts the preparation of a pass: what is asked for from now on is not
// evicted for one another.
func (s *Store) Begin() { s.tick++ }

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

// reserve makes room for n bytes, evicting what the current pass does not use,
// least recently used first.
func (s *Store) reserve(what string, n int64) error {
	if s.used+n <= s.budget {
		return nil
	}
	type victim struct {
		tick  uint64
		bytes int64
		free  func()
	}
	var victims []victim
	var free int64
	for ref, im := range s.images {
		if im.tick != s.tick && ref.Temp == nil {
			victims = append(victims, victim{im.tick, im.bytes, func() { s.dropImage(ref) }})
			free += im.bytes
		}
	}
	for ref, t := range s.targets {
		if t.tick != s.tick && !t.pinned {
			victims = append(victims, victim{t.tick, ref.Bytes(), func() { s.dropTarget(ref) }})
			free += ref.Bytes()
		}
	}
	for ref, b := range s.blocks {
		if b.tick != s.tick && ref.Scratch == nil {
			victims = append(victims, victim{b.tick, b.bytes, func() { s.dropBlock(ref) }})
			free += b.bytes
		}
	}
	for size, list := range s.pool {
		for range list {
			victims = append(victims, victim{0, size, func() {
				list := s.pool[size]
				s.drop(list[len(list)-1])
				s.pool[size] = list[:len(list)-1]
			}})
			free += size
		}
	}
	if s.used-free+n > s.budget {
		return &BudgetError{What: what, Need: n, Free: max(0, s.budget-s.used+free), Budget: s.budget}
	}
	sort.Slice(victims, func(i, j int) bool { return victims[i].tick < victims[j].tick })
	for _, v := range victims {
		if s.used+n <= s.budget {
			break
		}
		v.free()
	}
	return nil
}

func (s *Store) dropImage(ref Ref) {
	im := s.images[ref]
	gl.DeleteTextures(1, &im.id)
	s.ctx.Track("texture", -1)
	if im.buffer != 0 {
		gl.DeleteBuffers(1, &im.buffer)
		s.ctx.Track("buffer", -1)
	}
	if im.frame != 0 {
		gl.DeleteFramebuffers(1, &im.frame)
		s.ctx.Track("framebuffer", -1)
	}
	s.used -= im.bytes
	delete(s.images, ref)
}

func (s *Store) dropTarget(ref TargetRef) {
	t := s.targets[ref]
	gl.DeleteFramebuffers(1, &t.Framebuffer)
	gl.DeleteTextures(1, &t.Texture)
	s.ctx.Track("framebuffer", -1)
	s.ctx.Track("texture", -1)
	s.used -= ref.Bytes()
	delete(s.targets, ref)
}

// Release ends a query: its buffer textures and masks go, and its depth-stencil buffers may
// be evicted.
func (s *Store) Release() {
	for ref := range s.images {
		if ref.Words != nil || ref.Temp != nil {
			s.dropImage(ref)
		}
	}
	for _, t := range s.targets {
		t.pinned = false
	}
	s.releaseScratch()
}

// Close deletes everything.
func (s *Store) Close() {
	for ref := range s.images {
		s.dropImage(ref)
	}
	for ref := range s.targets {
		s.dropTarget(ref)
	}
	for ref := range s.blocks {
		s.dropBlock(ref)
	}
	for _, list := range s.pool {
		for _, b := range list {
			s.drop(b)
		}
	}
	clear(s.pool)
	if s.builders != nil {
		s.builders.Close()
		s.builders = nil
	}
	if s.ring != nil {
		s.ring.close(s.ctx)
		s.ring = nil
	}
}
