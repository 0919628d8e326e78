package debugger

import "github.com/stencildb/stencildb/pass"

// stencilValues are the values that can be in a stencil buffer, by what passes do to it.
type stencilValues [256]bool

// apply notes what a pass does.
func (v *stencilValues) apply(p *pass.Pass) {
	if c := p.Clear; c != nil {
		if c.Mask == 255 {
			*v = stencilValues{true} // whatever there was becomes the value
		}
		cleared := stencilValues{}
		for x, there := range v {
			if there {
				cleared[uint8(x)&^c.Mask|c.Value&c.Mask] = true
			}
		}
		*v = cleared
	}
	s := p.Stencil
	if !s.Test || s.WriteMask == 0 {
		return
	}
	after := *v // a record may be outside of what is drawn, or discarded
	for x, there := range v {
		if !there {
			continue
		}
		ops := []pass.StencilOp{s.DepthFail, s.Pass}
		if !pass.Holds(s.Func, s.Ref&s.Mask, uint8(x)&s.Mask) {
			ops = []pass.StencilOp{s.Fail}
		}
		for _, op := range ops {
			after[uint8(x)&^s.WriteMask|result(op, s.Ref, uint8(x))&s.WriteMask] = true
		}
	}
	*v = after
}

// list returns the values, the smallest first.
func (v *stencilValues) list() (list []uint8) {
	for x, there := range v {
		if there {
			list = append(list, uint8(x))
		}
	}
	return list
}

// result is what a stencil operation makes of a value, before the write mask.
func result(op pass.StencilOp, ref, x uint8) uint8 {
	switch op {
	case pass.Zero:
		return 0
	case pass.Replace:
		return ref
	case pass.Incr:
		return max(x, x+1) // stays at 255
	case pass.Decr:
		return min(x, x-1)
	case pass.Invert:
		return ^x
	}
	return x
}
