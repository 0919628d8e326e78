package compute

import (
	"fmt"
	"math"

	"github.com/stencildb/stencildb/plan/partial"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// ahead is how many bits' codes floatsum.comp reads before it adds them. A CPU gains nothing by it
// and compiles the program in half the time.
func (d Profile) ahead() int {
	if d.Software {
		return 1
	}
	return 2
}

// sumLimbs is the number of limbs of floatsum.comp, which are those of
// [partial.FloatSum].
const sumLimbs = 67

// sumSteps bounds the iterations of loops of floatsum.comp for a unit: 32 times four
// records, with what is around them.
const sumSteps = 300

// The values that have no mantissa, as floatsum.comp marks them.
var specials = [...]float64{math.NaN(), math.Inf(1), math.Inf(-1)}

// floatWords are those that the sum takes in the result.
const floatWords = 1 + 2*sumLimbs

// floatSum queues the exact sum of a REAL or DOUBLE column over the records of a bitmap, nil for all. The sum
// goes to the words of the result from at on. NULLs among them add nothing. A section of pieces has less than
// 2^31 records, so that no limb overflows.
func (x *ChunkWork) floatSum(col int, sel *Marks, at int) {
	seg := x.Segment(col)
	w := NewWriter(x)
	c := &Code{Name: "floatsum.comp", Files: []string{"units.glsl", "codes.glsl"}, after: []string{"floatsum.comp"}, Device: x.Device}
	defines := append(textures.CodeDefines(seg), fmt.Sprintf("AHEAD %du", x.Device.ahead()))
	w.Arg(at, int(uint32(seg.Base)), int(seg.Base>>32))
	w.Codes(col, 0)
	if textures.Parts(seg) > 1 {
		defines = append(defines, "HIGH "+w.Codes(col, 1))
	}
	if seg.Type.Kind == table.Real {
		defines = append(defines, "SINGLE")
	}
	if sel != nil {
		defines = append(defines, "SELECTION "+w.marks(sel))
	}
	if seg.Nulls > 0 {
		defines = append(defines, "VALID FETCH("+w.Validity(col)+", unit)")
	}
	c.Slots, c.Defines = w.Slots, x.Device.defines(defines...)
	c.values, c.steps = true, sumSteps
	x.Stage(w.Kernels(c, FloatSum{x.attribute(col)})...)
}

// addFloatSum adds what floatsum.comp has left in floatWords words.
func addFloatSum(words []uint32, into *partial.FloatSum) {
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

// defines says for which kind of device a program is, beside what else it defines.
func (d Profile) defines(others ...string) []string {
	list := append([]string{fmt.Sprintf("LOCAL %d", d.LocalSize())}, others...)
	if d.Software {
		list = append(list, "SOFTWARE")
	}
	return list
}
