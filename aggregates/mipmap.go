package aggregates

import (
	"fmt"
	"math/bits"

	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/predicates"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/textures"
)

// Mipmap draws the floating-point mipmap that the paper discusses as another way
// to sum (section 4.3.3). Level 0 holds a column's codes, each level the means of
// four texels of the one below, the top the mean of all. It returns the top (a
// texture of one texel) and the number of texels of level 0. The sum of the codes
// is about mean * texels, in float32, hence for comparison only. The column's codes
// must have at most 24 bits; the whole chunk is summed, NULLs as 0.
func Mipmap(run pass.Runner, e *predicates.Evaluator, col int) (top *textures.Temp, texels float64, err error) {
	if textures.Limbs(e.Segment(col).Bits) > 1 {
		return nil, 0, fmt.Errorf("aggregates: the mipmap sum takes codes of at most %d bits, %s has %d", textures.LimbBits, e.Attribute(col, 0).Name, e.Segment(col).Bits)
	}
	shape := e.Target().Shape
	side := 1 << bits.Len(uint(max(shape.Width, shape.Height)-1))
	level := &textures.Temp{Width: side, Height: side}
	op := pass.Mipmap{Attribute: e.Attribute(col, 0)}
	codes, _ := e.Texture(col, 0)
	e.Draw(&pass.Pass{Op: op, Color: level, Program: shaders.Load("value.frag"), Textures: []textures.Ref{codes}})
	for err = e.Err(); err == nil && level.Width > 1; {
		op.Level++
		next := &textures.Temp{Width: level.Width / 2, Height: level.Height / 2}
		_, err = run.Run(&pass.Pass{Op: op, Color: next,
			Program: shaders.Load("average.frag"), Textures: []textures.Ref{{Temp: level}}})
		level = next
	}
	return level, float64(side) * float64(side), err
}
