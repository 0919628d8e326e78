package predicates

import (
	"fmt"
	"math/big"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/glsl"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/textures"
)

// Semilinear evaluates s . a op b over any number of attributes, four to a texture
// (paper, routine 4.2), and its extensions: polynomials, and any other arithmetic.
// The paper's float32 dot product runs where it is exact: integer coefficients and
// every partial sum below 2^24. Everything else runs a generated program in
// integers of 32 or 64 bits, or doubles.
func (e *Evaluator) Semilinear(p *plan.Program, h how) pass.Count {
	q := h.pass(pass.Semilinear{Shape: p.Shape, Check: p.Fails != nil, Text: p.Text, Outcome: h.outcome})
	if !e.dotProduct(p, q) {
		return e.generated(p, q)
	}
	return e.Draw(q)
}

var exactFloat = big.NewInt(1 << textures.LimbBits)

// dotProduct makes q the paper's SemilinearFP when float32 computes it exactly.
func (e *Evaluator) dotProduct(p *plan.Program, q *pass.Pass) bool {
	if p.Fails != nil || p.Shape != plan.Semilinear || textures.PackedBytes(e.chunk.Rows) > e.device.MaxTextureBytes {
		return false
	}
	cols, coef, rhs, bound, ok := p.Linear()
	if !ok || bound.Cmp(exactFloat) > 0 || new(big.Int).Abs(rhs).Cmp(exactFloat) > 0 || len(cols) > 4*e.device.Samplers {
		return false
	}
	nulls := false
	for _, c := range cols {
		if textures.Limbs(e.Segment(c).Bits) > 1 {
			return false
		}
		nulls = nulls || e.Segment(c).Nulls > 0
	}
	n := (len(cols) + 3) / 4
	s := make([]float32, 4*n)
	for i, c := range coef {
		s[i] = float32(c)
	}
	for i := range n {
		q.Textures = append(q.Textures, textures.Pack(e.chunk, cols[4*i:min(4*i+4, len(cols))]))
	}
	defines := []string{fmt.Sprintf("TEXTURES %d", n), "OP " + glsl.Op(p.Op)}
	if nulls {
		defines = append(defines, "NULLS")
	}
	q.Program = shaders.Load("semilinear.frag", defines...)
	b, _ := new(big.Float).SetInt(rhs).Float32()
	q.Uniforms = []shaders.Uniform{{Name: "s", F: s}, shaders.Float("b", b)}
	return true
}

// generated draws q with the discarding program that package glsl writes for a leaf.
func (e *Evaluator) generated(leaf plan.Leaf, q *pass.Pass) pass.Count {
	refs, limbs := e.inputs(leaf.Columns())
	source, f := glsl.Generate(leaf, len(refs), limbs)
	if n := len(refs) + len(f.Lookups); n > e.device.Samplers {
		return e.Fail(&plan.Declined{Why: fmt.Sprintf("%s reads %d textures, the device has %d in a fragment program: use fewer attributes in one comparison",
			leaf, n, e.device.Samplers)})
	}
	if n := len(f.Uniforms); n > e.device.Uniforms {
		return e.Fail(&plan.Declined{Why: fmt.Sprintf("a condition with %d constants, the device takes %d in a fragment program", n, e.device.Uniforms)})
	}
	q.Program, q.Uniforms, q.Textures = source, f.Uniforms, refs
	for _, table := range f.Lookups {
		q.Textures = append(q.Textures, textures.Buffer(table))
	}
	return e.Draw(q)
}

// inputs lays out the columns of a generated program: a texture each, or, when
// there are many, four narrow ones to a texture.
func (e *Evaluator) inputs(cols []int) (refs []textures.Ref, limbs map[int][]string) {
	const many = 8
	limbs = map[int][]string{}
	add := func(r textures.Ref) int {
		refs = append(refs, r)
		return len(refs) - 1
	}
	var narrow []int
	for _, c := range cols {
		n := textures.Limbs(e.Segment(c).Bits)
		if n == 1 && len(cols) > many && textures.PackedBytes(e.chunk.Rows) <= e.device.MaxTextureBytes {
			narrow = append(narrow, c)
			continue
		}
		t := add(textures.Attribute(e.chunk, c))
		list := []string{fmt.Sprintf("t%d.r", t)}
		if n > 1 {
			list = append(list, fmt.Sprintf("t%d.g", t))
		}
		if n > 2 {
			list = append(list, fmt.Sprintf("t%d.r", add(textures.AttributeHigh(e.chunk, c))))
		}
		limbs[c] = list
	}
	for i := 0; i < len(narrow); i += 4 {
		four := narrow[i:min(i+4, len(narrow))]
		t := add(textures.Pack(e.chunk, four))
		for j, c := range four {
			limbs[c] = []string{fmt.Sprintf("t%d.%c", t, "rgba"[j])}
		}
	}
	return refs, limbs
}

// mask evaluates "the record is set in a mask": a mask is an attribute of one bit.
func (e *Evaluator) mask(m *maskTest, h how) pass.Count {
	e.copyToDepth(m.Attribute, textures.Ref{Temp: m.mask}, "r", textures.NullLimb)
	return e.compare(h.pass(pass.Compare{Attribute: m.Attribute, Cmp: expr.GE, Code: 1, Text: m.Name, Outcome: h.outcome}), expr.GE, 1)
}
