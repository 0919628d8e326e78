package debugger

import (
	"context"

	"github.com/stencildb/stencildb/engine"
	"github.com/stencildb/stencildb/trace"
)

// traced executes a statement to its end on any backend, and keeps the pictures of its passes.
func traced(ctx context.Context, db *engine.DB, m moment) (*scene, *engine.Stage, error) {
	t, err := trace.Run(ctx, db, m.text, trace.Options{MaxPasses: m.most})
	if err != nil {
		return nil, nil, err
	}
	return &scene{plan: t.Stage.Plan, passes: t.Ran, ended: true, answer: t.Watched, trace: t}, &t.Stage, nil
}

// found is what the searches and sums of a statement that has ended have found.
func (s *scene) found() *trace.Trace {
	if s.trace != nil {
		return s.trace
	}
	return trace.Found(s.plan, s.passes, s.answer.Values)
}

// turn goes to a step of a scene that has been traced. Constants that have changed since, and
// are still held, leave the passes without counts.
func (d *Demo) turn() {
	s, chunk := d.scene, max(0, d.chunk())
	s.pass, s.chunk = nil, nil
	if list := s.plan.Table.Chunks; chunk < len(list) {
		s.chunk = list[chunk]
	}
	if d.Step > 0 && !d.AtAnswer() {
		s.pass = d.Passes[d.Step-1].Pass
	}
	if d.Answer == "" {
		d.update(nil, nil, false)
	}
}

// stale reports whether the pictures are those of the statement before the constant moved.
func (d *Demo) stale() bool { return d.traced && d.Answer == "" }

// current is the pass at hand as it was traced, with its pictures: at the answer the selection,
// before the first pass none.
func (s *scene) current(m *Model) *trace.Pass {
	switch {
	case m.AtAnswer():
		return &trace.Pass{Chunk: max(0, m.chunk()), Fates: -1, Panels: []trace.Panel{s.trace.Selection(max(0, m.chunk()))}}
	case m.Step == 0:
		return &trace.Pass{Fates: -1}
	}
	return s.trace.Passes[m.Step-1]
}
