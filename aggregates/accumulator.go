package aggregates

import (
	"math"
	"math/big"

	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan/partial"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/textures"
)

// Accumulator returns the exact sum of an integer or fixed-point column over the
// selection (paper, routine 4.6), and the number of values added.
//
// For each bit i of the codes one pass counts the records whose bit is set. The
// sum of the codes is the sum of count * 2^i. Each record adds the value of
// code 0 (frame of reference) once. Exact to any size.
func (s *Selection) Accumulator(col int) (sum partial.Sum, err error) {
	values, bits := make([]pass.Count, len(s.List)), make([][]pass.Count, len(s.List))
	for i, p := range s.List { // all in flight: no pass depends on another
		bits[i], values[i] = p.testBits(col), p.CountNotNull(col)
	}
	for i, p := range s.List {
		codes := new(big.Int)
		for bit, c := range bits[i] {
			k, err := c.Wait()
			if err != nil {
				return sum, err
			}
			codes.Add(codes, new(big.Int).Lsh(new(big.Int).SetUint64(k), uint(bit)))
		}
		n, err := values[i].Wait()
		if err != nil {
			return sum, err
		}
		sum.AddCodes(p.Segment(col), codes, n)
	}
	return sum, nil
}

// testBits starts a count for every bit of a chunk's codes.
func (p *part) testBits(col int) []pass.Count {
	s := p.selection()
	if s.None() {
		return nil
	}
	counts := make([]pass.Count, p.Segment(col).Bits)
	for i := range counts {
		counts[i] = p.testBit(col, i, s.Test())
	}
	return counts
}

// testBit counts the selected records whose code has bit i set (paper, TestBit).
// A NULL has no bit set.
func (p *part) testBit(col, i int, test pass.Stencil) pass.Count {
	limb, bit := i/textures.LimbBits, i%textures.LimbBits
	ref, channel := p.Texture(col, limb)
	return p.Draw(&pass.Pass{
		Op:       pass.TestBit{Attribute: p.Attribute(col, limb), Bit: i},
		Program:  shaders.Load("testbit.frag", "CHANNEL "+channel),
		Textures: []textures.Ref{ref},
		Uniforms: []shaders.Uniform{shaders.Float("scale", float32(math.Ldexp(1, -(bit+1))))},
		Stencil:  test,
		Count:    true,
	})
}
