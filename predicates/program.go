package predicates

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/glsl"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/textures"
)

// Semilinear evaluates s . a op b over any number of attributes, four to a texture
// (paper, routine 4.2), and its extensions: polynomials, and any other arithmetic.
// The paper's float32 dot product runs where it is exact: integer coefficients and
// every partial sum below 2^24. Everything else runs a generated program in
// integers of 32 or 64 bits, or doubles.
func (e *Evaluator) Semilinear(p *predicate.Computed, h how) pass.Count {
	q := h.pass(pass.Semilinear{Shape: p.Shape, Check: p.Fails != nil, Text: p.Text, Outcome: h.outcome})
	if !e.dotProduct(p, q) {
		return e.generated(p, q)
	}
	return e.Draw(q)
}

var exactFloat = big.NewInt(1 << textures.LimbBits)

// dotProduct makes q the paper's SemilinearFP when float32 computes it exactly.
func (e *Evaluator) dotProduct(p *predicate.Computed, q *pass.Pass) bool {
	if p.Fails != nil || p.Shape != predicate.Semilinear || textures.PackedBytes(e.chunk.Rows) > e.device.MaxTextureBytes {
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
	f := LinearFP{Columns: cols, Op: p.Op}
	for _, c := range coef {
		f.S = append(f.S, float32(c))
	}
	f.B, _ = new(big.Float).SetInt(rhs).Float32()
	e.linear(f, q, nulls, "EXACT")
	return true
}

// linear makes q a dot product.
func (e *Evaluator) linear(f LinearFP, q *pass.Pass, nulls bool, defines ...string) {
	n := (len(f.Columns) + 3) / 4
	s := append(slices.Clip(f.S), make([]float32, 4*n-len(f.S))...)
	for i := range n {
		q.Textures = append(q.Textures, textures.Pack(e.chunk, f.Columns[4*i:min(4*i+4, len(f.Columns))]))
	}
	defines = append(defines, fmt.Sprintf("TEXTURES %d", n), "OP "+glsl.Op(f.Op))
	if nulls {
		defines = append(defines, "NULLS")
	}
	q.Program = shaders.Load("semilinear.frag", defines...)
	q.Uniforms = []shaders.Uniform{{Name: "s", F: s}, shaders.Float("b", f.B)}
}

// LinearFP is a comparison S . codes Op B in float32, over columns whose codes have at most 24 bits.
type LinearFP struct {
	Columns []int
	S       []float32
	Op      expr.CmpOp
	B       float32
	Text    string
}

// SemilinearFP counts the records that pass a stencil test and satisfy f as the paper publishes it
// (routine 4.2). The coefficients are any, and sums are rounded, so that records near B may fall on the wrong
// side. SQL's answers do not use it.
func (e *Evaluator) SemilinearFP(f LinearFP, test pass.Stencil) pass.Count {
	if n := textures.PackedBytes(e.chunk.Rows); n > e.device.MaxTextureBytes {
		return e.Fail(&plan.Declined{Why: fmt.Sprintf("four attributes in a texture take %d bytes, the device takes %d", n, e.device.MaxTextureBytes)})
	}
	q := &pass.Pass{Op: pass.Semilinear{Shape: predicate.Semilinear, Text: f.Text, Outcome: pass.CountedOf}, Stencil: test, Count: true}
	e.linear(f, q, slices.ContainsFunc(f.Columns, func(c int) bool { return e.Segment(c).Nulls > 0 }))
	return e.Draw(q)
}

// generated draws q with the discarding program that package glsl writes for a leaf.
func (e *Evaluator) generated(leaf predicate.Leaf, q *pass.Pass) pass.Count {
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
