package aggregates

import (
	"fmt"
	"math"
	"math/big"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// Accumulator returns the exact sum of an integer or fixed-point column over the
// selection (paper, routine 4.6), unscaled, and the number of values added.
//
// For each bit i of the codes one pass counts the records whose bit is set; the
// sum of the codes is the sum of count * 2^i, and each record adds the value of
// code 0 (frame of reference) once. Exact to any size.
func (g *Group) Accumulator(col int) (*big.Int, uint64, error) {
	sum := new(big.Int)
	var n uint64
	for _, p := range g.parts {
		s, k, err := p.accumulate(g, col)
		if err != nil {
			return nil, 0, err
		}
		sum.Add(sum, s)
		n += k
	}
	return sum, n, nil
}

func (p *part) accumulate(g *Group, col int) (*big.Int, uint64, error) {
	sum := new(big.Int)
	s, err := p.selection()
	if err != nil || s.None() {
		return sum, 0, err
	}
	seg := p.eval.Segment(col)
	counts := make([]pass.Count, seg.Bits)
	for i := range counts { // all in flight: no pass depends on another
		if counts[i], err = p.testBit(expr.Ident(g.table.Fields[col].Name), col, i, s.Test()); err != nil {
			return nil, 0, err
		}
	}
	n, err := p.countNotNull(col)
	if err != nil {
		return nil, 0, err
	}
	for i, c := range counts {
		k, err := c.Wait()
		if err != nil {
			return nil, 0, err
		}
		sum.Add(sum, new(big.Int).Lsh(new(big.Int).SetUint64(k), uint(i)))
	}
	base := big.NewInt(table.IntFromOrdinal(seg.Base))
	return sum.Add(sum, base.Mul(base, new(big.Int).SetUint64(n))), n, nil
}

// testBit counts the selected records whose code has bit i set (paper, TestBit).
// A NULL has no bit set.
func (p *part) testBit(name string, col, i int, test pass.Stencil) (pass.Count, error) {
	limb, bit := i/textures.LimbBits, i%textures.LimbBits
	ref, channel := textures.Attribute(p.eval.Chunk(), col), "r"
	switch limb {
	case 1:
		channel = "g"
	case 2:
		ref = textures.AttributeHigh(p.eval.Chunk(), col)
	}
	return p.eval.Runner().Run(&pass.Pass{
		Name:     fmt.Sprintf("TestBit(%s, %d)", name, i),
		Counts:   fmt.Sprintf("selected records whose code has bit %d set", i),
		Target:   p.eval.Target(),
		Program:  shaders.Load("testbit.frag", "CHANNEL "+channel),
		Textures: []textures.Ref{ref},
		Uniforms: []shaders.Uniform{shaders.Float("scale", float32(math.Ldexp(1, -(bit+1))))},
		Stencil:  test,
		Count:    true,
	})
}
