package debugger

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
	"github.com/stencildb/stencildb/trace"
)

// scene is what the device holds at a step. Its textures are good until the next
// statement runs.
type scene struct {
	plan   *physical.Query
	passes []pass.Profile // those that happened, with the samples that they counted
	ahead  []*pass.Pass   // those that are still to come, where counts are what a plan takes them for
	ended  bool           // the statement has no further pass
	answer *engine.Watched

	pass      *pass.Pass // the last that happened; nil at step 0
	chunk     *table.Chunk
	targets   map[textures.TargetRef]*contents
	target    *contents    // that pass drew to; nil where none has been drawn to
	mask      uint32       // texture: 1 where a record passes; 0 for none
	passing   uint64       // how many do
	selection bool         // the mask has what the statement selects
	drew      bool         // a pass has drawn to a texture of this statement alone
	trace     *trace.Trace // with the pictures of all passes; nil where the device's own are drawn
	legend    []uint8      // the values in the stencil buffer, the smallest first; nil until they are shown
}

// contents is a depth-stencil buffer and what it holds.
type contents struct {
	*textures.Target
	chunk     *table.Chunk
	depth     bool // depths are defined
	stencil   bool // stencil values are
	col, limb int  // whose limb the depths are; col -1: not a plain limb
}

// errGone says that a buffer has been evicted since the scene before.
var errGone = errors.New("debugger: a depth-stencil buffer is gone")

// observer is a runner that takes a statement to a step. What the one before has
// executed already it answers from the counts; what comes behind the step it records.
type observer struct {
	pass.Runner
	gl     *pass.GL
	step   int // passes to let happen
	show   int // the one whose result is to be seen
	before *scene
	scene  *scene
	ahead  pass.Recorder
	mask   *textures.Temp
	union  bool  // the mask collects what the passes that count the selection let pass
	err    error // the first of Run, which a statement need not report where it waits for nothing after it
}

// moment is what to take a statement to.
type moment struct {
	text  string
	step  int    // passes to let happen
	end   bool   // all of them; step is then how many are expected
	most  int    // passes that the statement may have
	after *scene // of the same statement, before; nil for none
}

// observe executes a statement up to a moment. What has happened at the moment before
// is not executed again where that will do.
func observe(ctx context.Context, db *engine.DB, m moment) (*scene, *engine.Stage, error) {
	var o *observer
	var stage engine.Stage
	w, err := engine.Inspect(db).Watch(ctx, m.text, func(s engine.Stage) pass.Runner {
		if s.Pairs != nil {
			return s.Runner
		}
		stage = s
		o = newObserver(s, m)
		return o
	})
	if stage.Plan != nil && len(stage.Plan.Aggs) == 0 {
		return nil, nil, errors.New("the demo on backend classic takes a SELECT of aggregates; demo --backend compute and stencildb trace show groups and how rows are put in order")
	}
	if o != nil && o.behind() { // what comes of counts that are made up says nothing
		o.scene.ahead = o.ahead.Passes
		return o.scene, &stage, nil
	}
	if err == nil {
		err = o.err
	}
	if errors.Is(err, errGone) {
		m.after = nil
		return observe(ctx, db, m)
	}
	if err != nil {
		return nil, nil, err
	}
	o.scene.ended, o.scene.answer = true, w
	return o.scene, &stage, nil
}

func newObserver(s engine.Stage, m moment) *observer {
	o := &observer{Runner: trace.Limit(s.Runner, m.most), gl: s.Runner, step: m.step, show: m.step - 1,
		scene: &scene{plan: s.Plan, targets: map[textures.TargetRef]*contents{}}}
	o.union = m.end && len(s.Plan.Chunks) == 1 && len(s.Plan.Chunks[0].Checks) == 0
	o.scene.selection = o.union
	if b := m.after; b != nil && !b.drew {
		switch {
		case !m.end && len(b.passes) == m.step-1:
			o.before, o.scene.targets = b, b.targets
		case m.end && len(b.passes) == m.step && !o.union: // all is there but the answer
			o.before, o.scene.targets = b, b.targets
			o.scene.chunk, o.scene.target, o.scene.mask, o.scene.passing = b.chunk, b.target, b.mask, b.passing
		}
	}
	if m.end {
		o.step = math.MaxInt
	}
	if t := s.Plan.Table; o.scene.chunk == nil && len(t.Chunks) > 0 {
		o.scene.chunk = t.Chunks[0]
	}
	return o
}

// selects reports whether the records that a pass counts are selected. In a statement that only counts, all
// that are counted are. In others it is those that it marks in the stencil buffer, for passes that search and
// add up.
func selects(q *physical.Query, p *pass.Pass) bool {
	return p.Count && (addsUp(q) || p.Stencil.Test && p.Stencil.WriteMask != 0)
}

// addsUp reports whether the statement asks for nothing but how many records are
// selected, which is the sum of what its passes count.
func addsUp(q *physical.Query) bool {
	for _, a := range q.Aggs {
		if a.Kind != expr.CountAll && a.Kind != expr.Selectivity {
			return false
		}
	}
	return !slices.ContainsFunc(q.Chunks, func(c physical.ChunkPlan) bool { return len(c.Checks) > 0 })
}

// behind reports whether a pass behind the step has been asked for: nothing happens any more.
func (o *observer) behind() bool { return len(o.ahead.Passes) > 0 }

// Read implements pass.Runner.
func (o *observer) Read(b textures.Block, words []uint32) error {
	return o.reads().Read(b, words)
}

// ReadParts implements pass.Runner.
func (o *observer) ReadParts(b textures.Block, n int, take func(at int, words []uint32)) error {
	return o.reads().ReadParts(b, n, take)
}

// ReadTexels implements pass.Runner.
func (o *observer) ReadTexels(t *textures.Temp, words []uint32) error {
	return o.reads().ReadTexels(t, words)
}

func (o *observer) reads() pass.Runner {
	if o.behind() {
		return &o.ahead
	}
	return o.Runner
}

// Run implements pass.Runner.
func (o *observer) Run(p *pass.Pass) (c pass.Count, err error) {
	if o.err == nil {
		c, o.err = o.run(p)
	}
	return c, o.err
}

func (o *observer) run(p *pass.Pass) (pass.Count, error) {
	n := len(o.scene.passes)
	if n == o.step {
		return o.ahead.Run(p)
	}
	if o.before != nil && n < len(o.before.passes) {
		count := o.before.passes[n].Samples
		o.note(p, count)
		if p.Count {
			return pass.Known(count), nil
		}
		return nil, nil
	}
	if err := o.resume(n); err != nil {
		return nil, err
	}
	shown := n == o.show
	if o.union {
		shown = selects(o.scene.plan, p)
	}
	q := p
	if shown {
		q = o.marking(p)
	}
	c, err := o.Runner.Run(q)
	if err != nil {
		return nil, err
	}
	count := uint64(0)
	if c != nil {
		if count, err = c.Wait(); err != nil {
			return nil, err
		}
	}
	if shown {
		o.scene.passing += count
	}
	if !p.Count {
		c, count = nil, 0
	}
	o.note(p, count)
	return c, o.after(p)
}

// resume sees, before the first pass that is executed after a scene, that its
// buffers still hold what they held.
func (o *observer) resume(n int) error {
	if o.before == nil || n != len(o.before.passes) {
		return nil
	}
	for ref, c := range o.before.targets {
		t, err := o.gl.Store().Target(ref)
		if err != nil {
			return err
		}
		if t != c.Target {
			return errGone
		}
	}
	return nil
}

// marking returns a pass as it is executed where its result is to be seen. It has a colour buffer that takes a 1
// for every record that passes.
func (o *observer) marking(p *pass.Pass) *pass.Pass {
	if !tests(p) || p.Color != nil {
		return p
	}
	if o.mask == nil {
		o.mask = &textures.Temp{Width: p.Target.Shape.Width, Height: p.Target.Shape.Height}
	}
	return trace.Marking(p, o.mask)
}

// tests reports whether not every record need pass.
func tests(p *pass.Pass) bool {
	return p.Target.Shape.Rows > 0 && (p.Count || p.Stencil.Test || p.Bounds != nil || p.Depth.Test && !p.Depth.Write)
}

func (o *observer) note(p *pass.Pass, count uint64) {
	s := o.scene
	s.passes, s.pass = append(s.passes, pass.Profile{Pass: p, Samples: count}), p
}

// after notes what a pass has left behind.
func (o *observer) after(p *pass.Pass) error {
	s := o.scene
	s.drew = s.drew || p.Color != nil
	if p.Target.Shape.Rows == 0 {
		return nil
	}
	t, err := o.gl.Store().Target(p.Target)
	if err != nil {
		return err
	}
	c := s.targets[p.Target]
	if c == nil || c.Target != t {
		c = &contents{Target: t, chunk: s.chunk, col: -1}
		s.targets[p.Target] = c
	}
	c.wrote(p)
	s.target, s.chunk = c, c.chunk
	mask := o.mask
	if p.Color != nil && p.Color.Words == 0 { // which takes a 1 for every record that passes
		mask = p.Color
	}
	if mask != nil {
		s.mask, err = o.gl.Store().Texture(textures.Ref{Temp: mask})
	}
	return err
}

// wrote notes what a pass has written.
func (c *contents) wrote(p *pass.Pass) {
	if p.Clear != nil || p.Stencil.Test && p.Stencil.WriteMask != 0 {
		c.stencil = true
	}
	if !p.Depth.Test || !p.Depth.Write {
		return
	}
	c.depth, c.col = true, -1
	if copied, ok := p.Op.(pass.CopyToDepth); ok && copied.Col >= 0 {
		c.chunk = p.Textures[0].Chunk
		c.col, c.limb = copied.Col, copied.Limb
	}
}
