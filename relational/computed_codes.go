package relational

import (
	"errors"
	"fmt"
	"strings"

	"github.com/stencildb/stencildb/compute"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/glsl"
	"github.com/stencildb/stencildb/plan/lower"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/primitives"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// computedCodes are the codes of an expression in the marked records of a window, a word each.
type computedCodes struct {
	low, high primitives.Vector // high is none where 32 bits are enough
	valid     primitives.Vector // 1, or 0 where the expression is NULL and the code is 0; none where it is nowhere
}

// canCompute finds out whether the codes of an expression can be made for the records that a query selects: a [plan.Declined] where not.
func canCompute(run pass.Runner, d compute.Profile, q *physical.Query, e expr.Expr) error {
	mayFail := false
	for _, c := range q.Table.Chunks {
		m, err := lower.ComputeCodes(e, q.Table, c)
		if err != nil {
			return err
		}
		mayFail = mayFail || m.MayFail
	}
	if !mayFail {
		return nil
	}
	known := expr.Expr(&expr.IsNull{X: e, Not: true, P: -1})
	if q.Where != nil {
		known = &expr.And{Kids: []expr.Expr{q.Where, known}, P: -1}
	}
	of, err := physical.NewQuery(q.Table, &plan.Fragment{Table: q.Table.Name, Where: known})
	if err == nil {
		err = compute.RunChecks(run, d, of)
	}
	if failed := (*physical.CheckError)(nil); errors.As(err, &failed) {
		return &plan.Declined{Why: fmt.Sprintf("a row raises an error in %s: %v", e, failed)}
	}
	return err
}

// computedCodesOf is how a chunk makes the codes of an expression.
func computedCodesOf(x *compute.ChunkWork, e expr.Expr) (*lower.ComputedCodes, error) {
	m, err := lower.ComputeCodes(e, x.Q.Table, x.Chunk)
	if err != nil || m.Val == nil {
		return m, err
	}
	blocks := 2 // what it writes
	for _, a := range glsl.Value(m, 0, 0).Args {
		blocks += textures.Parts(x.Segment(a.Column))
	}
	if blocks > x.Device.BlockLimit() {
		return nil, &plan.Declined{Why: fmt.Sprintf("%s reads more columns than the device binds", e)}
	}
	return m, nil
}

// keptCodes is what becomes of the records to which an assignment gives no value.
type keptCodes struct {
	col  int
	bits primitives.Vector // one a record, in their order: those that get one; none for all
	to   *table.Segment    // whose codes are made: the others have their values in this one's code space
}

// compute makes the codes of an expression; where keep is not nil those of a column with it assigned, as [textures.Source] has them.
func (s *sorting) compute(e expr.Expr, m *lower.ComputedCodes, keep *keptCodes) (out computedCodes, err error) {
	d := s.Device.Primitives
	f := glsl.Value(m, 0, 0)
	high := m.Bits() > textures.PartBits
	words := func() primitives.Vector { return primitives.New(s.n) }
	if keep != nil {
		high = textures.Parts(keep.to) > 1
		words = func() primitives.Vector { return sourceWords(s.n) }
	}
	out.low = words()
	if high {
		out.high = words()
	}
	p := &pass.Pass{Op: primitives.Op{Verb: "Make(" + e.String() + ")", Over: fmt.Sprintf("%d codes", s.n)},
		Uniforms: append(f.Uniforms, shaders.Uint("n", uint32(s.n)))}
	each, local := 1024, s.Device.LocalSize() // records of a thread, threads of a work group
	if len(f.Parts) > 0 {                     // with loops of its own
		each = 32
	}
	groups := max((s.n+each*local-1)/(each*local), min(4*d.Groups, (s.n+local-1)/local))
	var b, call strings.Builder
	blocks := []textures.Block{out.low.Block}
	fmt.Fprintf(&b, "layout(local_size_x = %d) in;\nuniform uint n;\nlayout(std430, binding = 0) writeonly buffer Low { uint low[]; };\n", local)
	word := func(name, access string, of textures.Block) {
		fmt.Fprintf(&b, "layout(std430, binding = %d) %s buffer %s { uint %s[]; };\n", len(blocks), access, strings.ToUpper(name), name)
		blocks = append(blocks, of)
	}
	if !out.high.None() {
		word("high", "writeonly", out.high.Block)
	}
	keeps, low, above := "", "code.x", "code.y"
	if keep != nil && !keep.bits.None() {
		seg := s.Segment(keep.col)
		codes := [2]string{"0u", "0u"}
		for part := range textures.Parts(seg) {
			of, err := s.part(keep.col, part)
			if err != nil {
				return out, err
			}
			word(fmt.Sprintf("kept%d", part), "readonly", of.Block)
			codes[part] = fmt.Sprintf("kept%d[i]", part)
		}
		word("taken", "readonly", keep.bits.Block)
		plus := seg.Base - keep.to.Base
		p.Uniforms = append(p.Uniforms, shaders.Uniform{Name: "plus", U: []uint32{uint32(plus), uint32(plus >> textures.PartBits)}})
		b.WriteString("uniform uvec2 plus;\n")
		keeps = fmt.Sprintf("        bool takes = (taken[i >> 5] >> (i & 31u) & 1u) != 0u;\n        uint kept = %s + plus.x;\n", codes[0])
		low, above = "takes ? code.x : kept", fmt.Sprintf("takes ? code.y : %s + plus.y + uint(kept < plus.x)", codes[1])
	}
	for i, a := range f.Args {
		codes, err := s.part(a.Column, 0)
		if err != nil {
			return out, err
		}
		low, high := fmt.Sprintf("l%d", i), "0u"
		word(low, "readonly", codes.Block)
		if a.Wide && textures.Parts(s.Segment(a.Column)) > 1 {
			if codes, err = s.part(a.Column, 1); err != nil {
				return out, err
			}
			high = fmt.Sprintf("h%d", i)
			word(high, "readonly", codes.Block)
			high += "[i]"
		}
		if i > 0 {
			call.WriteString(", ")
		}
		if a.Wide {
			fmt.Fprintf(&call, "uvec2(%s[i], %s)", low, high)
		} else {
			fmt.Fprintf(&call, "%s[i]", low)
		}
	}
	fmt.Fprintf(&b, "%s\nvoid main() {\n    for (uint i = gl_GlobalInvocationID.x; i < n; i += gl_NumWorkGroups.x * gl_WorkGroupSize.x) {\n        uvec2 code = %s(%s);\n%s        low[i] = %s;\n", f.Text, f.Name, call.String(), keeps, low)
	if !out.high.None() {
		fmt.Fprintf(&b, "        high[i] = %s;\n", above)
	}
	b.WriteString("    }\n}\n")
	if len(blocks) > s.Device.BlockLimit() {
		return out, &plan.Declined{Why: fmt.Sprintf("%s reads more columns than the device binds", e)}
	}
	p.Program = shaders.ComposeCompute("generated code", f.Parts, nil, b.String())
	p.Dispatch = &pass.Dispatch{Groups: [2]int{min(groups, d.MaxGroups)}, Blocks: blocks}
	for _, list := range f.Lookups {
		p.Textures = append(p.Textures, textures.Buffer(list))
	}
	if _, err := s.run.Run(p); err != nil {
		return out, err
	}
	return out, s.unknown(&out, m)
}

// unknown finds where an expression is NULL, and makes its codes 0 there.
func (s *sorting) unknown(of *computedCodes, m *lower.ComputedCodes) error {
	d := s.Device.Primitives
	mapped := func(to *primitives.Vector, text string, in ...primitives.Vector) error {
		*to = primitives.New(s.n)
		return primitives.Map(s.run, d, primitives.Expr(text), *to, in...)
	}
	for _, col := range m.Cols {
		if s.Segment(col).Nulls == 0 {
			continue
		}
		known := primitives.New(s.n)
		if err := s.codes(s.Block(col, textures.Validity, 0, s.Window), 1, known); err != nil {
			return err
		}
		if of.valid.None() {
			of.valid = known
		} else if err := mapped(&of.valid, "x & y", of.valid, known); err != nil {
			return err
		}
	}
	if !of.valid.None() {
		if err := mapped(&of.low, "x * y", of.low, of.valid); err != nil {
			return err
		}
		if !of.high.None() {
			if err := mapped(&of.high, "x * y", of.high, of.valid); err != nil {
				return err
			}
		}
	}
	if m.Nulls { // its code is 0 there already
		return mapped(&of.valid, "min(x, 1u)", of.low)
	}
	return nil
}

// part is a part of the codes of a column in the marked records of a window. Where all records are marked and each
// code is a word, it is the block of the device itself.
func (s *sorting) part(col, part int) (primitives.Vector, error) {
	d, seg := s.Device.Primitives, s.Segment(col)
	if part < textures.Parts(seg) {
		if s.all && textures.CodeBytes(seg) == 4 {
			return primitives.Vector{Block: s.Block(col, textures.Codes, part, s.Window), N: s.n}, nil
		}
		if planes := s.Block(col, textures.Planes, part, s.Window); planes.Stored() != 0 {
			codes := primitives.New(s.n)
			return codes, s.codes(planes, planes.Stored(), codes)
		}
	}
	zeros := primitives.New(s.n)
	return zeros, primitives.Map(s.run, d, primitives.Expr("0u"), zeros)
}
