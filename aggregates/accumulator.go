package aggregates

import (
	"math"
	"math/big"

	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/textures"
)

// Accumulator returns the exact sum of an integer or fixed-point column over the
// selection (paper, routine 4.6), and the number of values added.
//
// For each bit i of the codes one pass counts the records whose bit is set; the
// sum of the codes is the sum of count * 2^i, and each record adds the value of
// code 0 (frame of reference) once. Exact to any size.
func (s *Selection) Accumulator(col int) (sum plan.Sum, err error) {
	for _, p := range s.parts {
		if err := p.accumulate(col, &sum); err != nil {
			return sum, err
		}
	}
	return sum, nil
}

// accumulate adds a chunk's values to a sum.
func (p *part) accumulate(col int, sum *plan.Sum) error {
	s, err := p.selection()
	if err != nil || s.None() {
		return err
	}
	seg := p.eval.Segment(col)
	counts := make([]pass.Count, seg.Bits)
	for i := range counts { // all in flight: no pass depends on another
		if counts[i], err = p.testBit(col, i, s.Test()); err != nil {
			return err
		}
	}
	values, err := p.countNotNull(col)
	if err != nil {
		return err
	}
	codes := new(big.Int)
	for i, c := range counts {
		k, err := c.Wait()
		if err != nil {
			return err
		}
		codes.Add(codes, new(big.Int).Lsh(new(big.Int).SetUint64(k), uint(i)))
	}
	n, err := values.Wait()
	sum.AddCodes(seg, codes, n)
	return err
}

// testBit counts the selected records whose code has bit i set (paper, TestBit).
// A NULL has no bit set.
func (p *part) testBit(col, i int, test pass.Stencil) (pass.Count, error) {
	limb, bit := i/textures.LimbBits, i%textures.LimbBits
	ref, channel := p.eval.Texture(col, limb)
	return p.eval.Draw(&pass.Pass{
		Op:       pass.TestBit{Attribute: p.eval.Attribute(col, limb), Bit: i},
		Program:  shaders.Load("testbit.frag", "CHANNEL "+channel),
		Textures: []textures.Ref{ref},
		Uniforms: []shaders.Uniform{shaders.Float("scale", float32(math.Ldexp(1, -(bit+1))))},
		Stencil:  test,
		Count:    true,
	})
}
