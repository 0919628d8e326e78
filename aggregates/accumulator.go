package aggregates

import (
	"fmt"
	"math"
	"math/big"

	"github.com/stencildb/stencildb/expr"
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
func (g *Group) Accumulator(col int) (sum plan.Sum, err error) {
	for _, p := range g.parts {
		if err := p.accumulate(g, col, &sum); err != nil {
			return sum, err
		}
	}
	return sum, nil
}

// Sum implements plan.Selection.
func (g *Group) Sum(col int) (plan.Sum, error) { return g.Accumulator(col) }

func (p *part) accumulate(g *Group, col int, sum *plan.Sum) error {
	s, err := p.selection()
	if err != nil || s.None() {
		return err
	}
	seg := p.eval.Segment(col)
	counts := make([]pass.Count, seg.Bits)
	for i := range counts { // all in flight: no pass depends on another
		if counts[i], err = p.testBit(expr.Ident(g.table.Fields[col].Name), col, i, s.Test()); err != nil {
			return err
		}
	}
	n, err := p.countNotNull(col)
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
	sum.AddCodes(seg, codes, n)
	return nil
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
