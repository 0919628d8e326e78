package compute

import (
	"fmt"
	"strings"

	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/partial"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/textures"
)

// digitHistogramBits is how many bits of a code a visit decides: a histogram of 256 KiB, which is read back.
const digitHistogramBits = 16

// VisitBits implements partial.Selection.
func (x *execution) VisitBits() int { return digitHistogramBits }

// Histogram counts the selected values of a column by a digit of the codes that the chunks share.
type Histogram struct {
	Result
	pass.Attribute
	Bits Bits
}

// String implements pass.Op.
func (h Histogram) String() string { return fmt.Sprintf("Histogram(%s, %v)", h.Name, h.Bits) }

// Counts implements pass.Op.
func (h Histogram) Counts() string {
	return fmt.Sprintf("selected records by their %v, where those above are decided", h.Bits)
}

// countDigit counts a digit by itself, of the selected values of which the bits above are decided, and those greater.
func (x *execution) countDigit(col int, space *physical.CodeSpace, d partial.Digit) ([]uint64, error) {
	c, err := NewCompiler(x.Device, x.Q)
	if err != nil {
		return nil, err
	}
	n := 1<<d.Bits + 1
	at := c.Alloc(n)
	for _, of := range newOrder(col, space, x.Chunks).chunks {
		if err := c.Chunks[of.Index].histogram(of, col, space, d, at); err != nil {
			return nil, err
		}
	}
	c.Flush()
	c.SideBySide()
	counts := make([]uint64, n)
	err = x.run.Apart(x.Q.Table, func() error { // the next column's takes its memory
		done, err := c.Execute(x.run)
		for i := range counts {
			counts[i] = uint64(done.Words[at+i])
		}
		return err
	})
	return d.Reach(space, counts), err
}

// histogram queues the histogram of a chunk, whose selection is that of another one.
func (x *ChunkWork) histogram(of *ChunkWork, col int, space *physical.CodeSpace, d partial.Digit, at int) error {
	seg := x.Segment(col)
	delta, ranks := space.Translation(seg)
	w := NewWriter(x)
	least := uint64(0) // the first code that is not below lo
	if d.Lo > delta {
		least = d.Lo - delta
	}
	add := delta - d.Lo // modulo 2^64
	w.Arg(at)
	for _, v := range []uint64{add, least} {
		w.Arg(int(int32(uint32(v))), int(int32(uint32(v>>32))))
	}
	w.Arg(d.Shift, 1<<d.Bits)
	var tests []string
	if of.keep != nil {
		tests = append(tests, w.marks(of.keep))
	}
	if seg.Nulls > 0 {
		tests = append(tests, "FETCH("+w.Validity(col)+", unit)")
	}
	if tests == nil {
		tests = []string{"uvec4(0xffffffffu)"}
	}
	fmt.Fprintf(&w.body, "uvec4 counted(uint unit) { return %s; }\nvoid codesOf(uint quad, uvec4 taken, out uvec4 low, out uvec4 high) {\n    low = high = uvec4(0u);\n", strings.Join(tests, " & "))
	if d.Shift < textures.PartBits || uint32(add) != 0 || uint32(least) != 0 { // else the lower words decide nothing
		fmt.Fprintf(&w.body, "    low = unpack(FETCH_%s(%s, quad));\n", strings.ToUpper(textures.CodeType(seg)), w.Codes(col, 0))
	}
	if textures.Parts(seg) > 1 {
		fmt.Fprintf(&w.body, "    high = FETCH(%s, quad);\n", w.Codes(col, 1))
	}
	if ranks != nil { // the codes behind the rows are any
		ranks = append(ranks, make([]uint32, -len(ranks)&3)...)
		table := textures.ScratchBlock(&textures.Scratch{Words: len(ranks), Init: ranks})
		m := &Marks{}
		for range x.Pieces {
			m.Blocks = append(m.Blocks, table)
		}
		fmt.Fprintf(&w.body, "    low *= taken;\n    for (int j = 0; j < 4; j++)\n        low[j] = FETCH_UINT(%s, low[j]);\n", w.Block(Source{Marks: m}, "uint", "readonly"))
	}
	w.body.WriteString("}\n")
	c := &Code{Name: "histogram.comp", Files: []string{"units.glsl", "codes.glsl"}, after: []string{"histogram.comp"}, Device: x.Device, values: true,
		steps: 32 * 5, Slots: w.Slots, Text: w.body.String()}
	c.Defines, c.each = c.Device.defines(), c.Text
	if n := len(c.Slots) + 1; n > c.Device.BlockLimit() {
		return &plan.Declined{Why: fmt.Sprintf("a histogram reads %d storage blocks, the device has %d in a compute program", n, c.Device.BlockLimit())}
	}
	op := Histogram{Result{-1, at}, x.attribute(col), Bits{d.Shift + d.Bits - 1, d.Shift}}
	x.Stage(w.Kernels(c, op)...)
	return nil
}
