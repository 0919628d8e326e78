package lesson

import "github.com/stencildb/stencildb/pass"

// Step is a pass, and what it left behind.
type Step struct {
	Pass    *pass.Pass
	Depth   []float32
	Stencil []uint8 // nil before the first pass that clears it
	Count   uint64  // when the pass counts
}

// Steps is a runner that lets another run each draw and keeps what it did.
type Steps struct {
	*pass.GL
	List []Step
}

// Run implements pass.Runner.
func (r *Steps) Run(p *pass.Pass) (pass.Count, error) {
	c, err := r.GL.Run(p)
	if err != nil {
		return nil, err
	}
	target, err := r.Store().Target(p.Target)
	if err != nil {
		return nil, err
	}
	s := Step{Pass: p, Depth: target.Depth()}
	if p.Clear != nil || len(r.List) > 0 && r.List[len(r.List)-1].Stencil != nil {
		s.Stencil = target.Stencil()
	}
	if c != nil {
		if s.Count, err = c.Wait(); err != nil {
			return nil, err
		}
	}
	r.List = append(r.List, s)
	return c, nil
}

// Passes is the depth test of a pass for a depth that was read back: the quad's depth
// against it, both as codes.
func Passes(p *pass.Pass, depth float32) bool {
	return pass.Holds(p.Depth.Func, CodeOf(p.Quad), CodeOf(depth))
}
