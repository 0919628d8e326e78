package pass

import (
	"context"

	"github.com/stencildb/stencildb/occlusion"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// Scope is what one query has on a device between its passes: working memory and
// counters. It ends with Close, after an error and a cancellation too. Several scopes are
// open at a time, of which one runs.
//
// What a scope has drawn into depth-stencil buffers is lost when another one runs. Keep
// a bitmap or row ids, never a depth-stencil buffer, from one Do to the next.
type Scope struct {
	gl       *GL
	cancel   context.Context
	memory   *textures.Scope
	counters *occlusion.Scope
}

// Open returns a new scope.
func (g *GL) Open() *Scope {
	return &Scope{gl: g, cancel: context.Background(), memory: g.store.Open(), counters: g.counters.Open()}
}

// Query runs f in a scope of its own: the passes that the runner is given meanwhile are a
// query's. They stop with ctx's error once it is done.
func (g *GL) Query(ctx context.Context, f func() error) error {
	s := g.Open()
	defer s.Close()
	err := s.Do(ctx, f)
	if err != nil { // nothing was read back
		g.store.Finish()
	}
	return err
}

// Do runs f in the scope, as a part of its query.
func (s *Scope) Do(ctx context.Context, f func() error) error {
	before, cancel := s.gl.scope, s.gl.scope.cancel
	s.gl.enter(s, ctx)
	defer s.gl.enter(before, cancel)
	return f()
}

// Apart implements Runner, in a scope of its own within that which runs. To the store both are one query. Of
// columns that it has no room for it keeps those that it read first.
func (g *GL) Apart(t *table.Table, f func() error) error {
	before := g.store.Name(t)
	defer g.store.Name(before)
	s := g.Open()
	defer s.Close()
	s.memory.Within(g.scope.memory)
	return s.Do(g.scope.cancel, f)
}

func (g *GL) enter(s *Scope, ctx context.Context) {
	s.cancel = ctx
	g.scope, g.last = s, nil
	g.store.Enter(s.memory)
}

// Hand gives a block of working memory to another scope.
func (s *Scope) Hand(b textures.Block, to *Scope) error { return s.memory.Hand(b, to.memory) }

// Hand gives a block of working memory of the scope that runs to another one.
func (g *GL) Hand(b textures.Block, to *Scope) error { return g.scope.Hand(b, to) }

// Close ends the query: what only it needed is for others to use, counters that nobody
// waited for are taken back.
func (s *Scope) Close() {
	s.memory.Close()
	s.counters.Close()
}
