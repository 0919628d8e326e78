package compute

import (
	"fmt"
	"math"

	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// ahead is how many bits' codes floatsum.comp reads before it adds them.
const ahead = 2

// sumLimbs is the number of limbs of floatsum.comp, which are those of
// [plan.FloatSum].
const sumLimbs = 67

// sumSteps bounds the iterations of loops of floatsum.comp for a unit: 32 times four
// records, with what is around them.
const sumSteps = 300

// The values that have no mantissa, as floatsum.comp marks them.
var specials = [...]float64{math.NaN(), math.Inf(1), math.Inf(-1)}

// floatSum queues the exact sum of a REAL or DOUBLE column over the records marked
// in sel, a bitmap for each window; see evaluator. A chunk has less than 2^31
// records, so that no limb overflows.
func (e *evaluator) floatSum(col int, sel []textures.Block) (floatPartial, error) {
	p := floatPartial{words: 1 + 2*sumLimbs, add: addFloatSum}
	p.block = textures.ScratchBlock(&textures.Scratch{Words: p.words, Zero: true})
	seg := e.segment(col)
	for i, w := range e.windows {
		codes := e.codes(col, w)
		blocks := []textures.Block{p.block, codes[0], {}, {}, {}}
		defines := e.device.defines(append(textures.CodeDefines(seg), fmt.Sprintf("AHEAD %du", ahead))...)
		if len(codes) > 1 {
			blocks[2] = codes[1]
			defines = append(defines, "HIGH")
		}
		if seg.Type.Kind == table.Real {
			defines = append(defines, "SINGLE")
		}
		if !sel[i].None() {
			blocks[3] = sel[i]
			defines = append(defines, "SELECTION")
		}
		if seg.Nulls > 0 {
			blocks[4] = e.validity(col, w)
			defines = append(defines, "NULLS")
		}
		units := textures.Units(w.Rows)
		program := shaders.Join([]string{"units.glsl", "floatsum.comp"}, defines...)
		uniforms := []shaders.Uniform{shaders.Uint("units", uint32(units)), shaders.Uint("rows", uint32(w.Rows)),
			{Name: "base", U: []uint32{uint32(seg.Base), uint32(seg.Base >> 32)}}}
		err := e.dispatch(FloatSum{e.attribute(col)}, w, program, e.device.valueGroups(units, sumSteps), blocks, uniforms)
		if err != nil {
			return p, err
		}
	}
	return p, nil
}

// addFloatSum adds what floatsum.comp has left.
func addFloatSum(words []uint32, into *plan.FloatSum) {
	for i, v := range specials {
		if words[0]>>i&1 != 0 {
			into.Add(v)
		}
	}
	var limb [sumLimbs]int64
	for i := range limb {
		limb[i] = int64(uint64(words[1+2*i]) | uint64(words[2+2*i])<<32)
	}
	into.AddLimbs(limb[:])
}

// codes names the blocks with the parts of a column's codes.
func (e *evaluator) codes(col int, w window) []textures.Block {
	var blocks []textures.Block
	for part := range textures.Parts(e.segment(col)) {
		blocks = append(blocks, textures.Block{Chunk: e.chunk, Col: col, Content: textures.Codes, Part: part, Window: w})
	}
	return blocks
}

// defines says for which kind of device a program is, beside what else it defines.
func (d Device) defines(others ...string) []string {
	list := append([]string{fmt.Sprintf("LOCAL %d", d.localSize())}, others...)
	if d.Software {
		list = append(list, "SOFTWARE")
	}
	return list
}
