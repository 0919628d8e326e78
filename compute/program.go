package compute

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/glsl"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/textures"
)

// recordTest is a GLSL function that says of one record, none of whose columns it
// reads is NULL, whether a leaf is TRUE.
type recordTest struct {
	call     string   // its name
	parts    []string // files that text needs
	text     string   // what defines it, beside the files
	args     []glsl.Arg
	uniforms []shaders.Uniform
	lookups  []textures.Ref // textures, from unit 0
	data     textures.Block // at binding 1, when not none
}

// steps is how many iterations of loops the test of a unit may take: those over its
// records, and as many more as a thread may do where the test itself has loops.
func (t *recordTest) steps() int {
	if len(t.parts) > 0 {
		return glsl.MaxTurns
	}
	return 32
}

// recordTest makes the test of a leaf.
func (e *evaluator) recordTest(leaf plan.Leaf) (*recordTest, error) {
	switch l := leaf.(type) {
	case *plan.Members:
		seg := e.segment(l.Col)
		return membersTest(l, seg, seg.Bits <= setBits), nil
	case *plan.Program:
		return programTest(l), nil
	}
	return nil, fmt.Errorf("compute: no program for %T", leaf)
}

// programTest makes the test of a program.
func programTest(p *plan.Program) *recordTest {
	f := glsl.Function(p, 0, 0)
	t := &recordTest{call: f.Name, text: f.Text, parts: f.Parts, args: f.Args, uniforms: f.Uniforms}
	for _, table := range f.Lookups {
		t.lookups = append(t.lookups, textures.Buffer(table))
	}
	return t
}

// valueLeaf queues the pass that writes to out the bitmap of the records of a
// window for which leaf is TRUE; see evaluator.
func (e *evaluator) valueLeaf(leaf plan.Leaf, w piece, out textures.Block) error {
	return e.scanValues(leaf, w, out, false, 0)
}

// countValueLeaf queues the pass that adds the number of records of a window for
// which leaf is TRUE to a word of counts.
func (e *evaluator) countValueLeaf(leaf plan.Leaf, w piece, counts textures.Block, word int) error {
	return e.scanValues(leaf, w, counts, true, word)
}

// scanValues queues a pass that tests the records of a window: it writes their bitmap to
// out, or adds their number to a word of it.
func (e *evaluator) scanValues(leaf plan.Leaf, w piece, out textures.Block, count bool, word int) error {
	if p, ok := leaf.(*plan.Program); ok && !e.device.Software {
		if sum := e.planeSum(p); sum != nil {
			return e.scanPlanes(sum, w, out, count, word)
		}
	}
	t, err := e.recordTest(leaf)
	if err != nil {
		return err
	}
	return e.scan(t, leaf, w, out, count, word)
}

// scan is scanValues with the test of the leaf.
func (e *evaluator) scan(t *recordTest, leaf plan.Leaf, w piece, out textures.Block, count bool, word int) error {
	s := &valueScan{test: t, count: count, blocks: []textures.Block{out}}
	if err := e.inputs(s, leaf, w); err != nil {
		return err
	}
	groups := e.device.valueGroups(textures.Units(w.Rows), t.steps())
	p := &pass.Pass{Op: valuesOp(leaf, count, word), Program: s.source(e.device), Uniforms: t.uniforms, Textures: t.lookups,
		Dispatch: &pass.Dispatch{Groups: [2]int{groups}, Blocks: s.blocks, Images: e.device.Software}}
	e.queueTest(p, w, count, word)
	return nil
}

// queueTest queues a pass that tests the records of a window for a leaf.
func (e *evaluator) queueTest(p *pass.Pass, w piece, count bool, word int) {
	p.Uniforms = append(slices.Clip(p.Uniforms), shaders.Uint("units", uint32(textures.Units(w.Rows))), shaders.Uint("rows", uint32(w.Rows)))
	if count {
		p.Uniforms = append(p.Uniforms, shaders.Uint("word", uint32(word)))
	}
	e.queue(w, p)
}

// valuesOp is the Op of a pass that tests records for a leaf.
func valuesOp(leaf plan.Leaf, count bool, word int) Values {
	v := Values{NoResult, leaf.String()}
	if count {
		v.Selected = word
	}
	return v
}

// inputs adds the blocks that the scan of a window reads: what the test reads, a
// validity plane for each column that has NULLs, or, where the device binds fewer
// blocks, one bitmap of the records without NULL.
func (e *evaluator) inputs(s *valueScan, leaf plan.Leaf, w piece) error {
	if !s.test.data.None() {
		s.blocks = append(s.blocks, s.test.data)
	}
	var nullable []textures.Block
	for _, a := range s.test.args {
		seg := e.segment(a.Column)
		s.columns = append(s.columns, valueColumn{code: textures.CodeType(seg),
			binding: len(s.blocks), high: a.Wide && textures.Parts(seg) > 1, wide: a.Wide})
		codes := e.codes(a.Column, w.Window)
		s.blocks = append(s.blocks, codes[0])
		if s.columns[len(s.columns)-1].high {
			s.blocks = append(s.blocks, codes[1])
		}
		if seg.Nulls > 0 {
			nullable = append(nullable, e.validity(a.Column, w.Window))
		}
	}
	var err error
	s.blocks, s.masks, err = e.withMasks(s.blocks, nullable, leaf, w)
	return err
}

// withMasks adds the validity planes to the blocks of a pass and returns how many
// blocks that are: one that joins them where the device binds fewer.
func (e *evaluator) withMasks(blocks, nullable []textures.Block, leaf plan.Leaf, w piece) ([]textures.Block, int, error) {
	if len(blocks)+len(nullable) > e.device.maxBlocks() && len(nullable) > 1 {
		valid := bitmap(w.Rows)
		for i, v := range nullable {
			e.clearNulls(v, w, valid, i == 0)
		}
		nullable = []textures.Block{valid}
	}
	blocks = append(blocks, nullable...)
	if n := len(blocks); n > e.device.maxBlocks() {
		return nil, 0, &plan.Declined{Why: fmt.Sprintf("%s reads %d storage blocks, the device has %d in a compute program: use fewer attributes in one comparison",
			leaf, n, e.device.maxBlocks())}
	}
	return blocks, len(nullable), nil
}

// clearNulls queues the pass that takes a column's NULLs out of a bitmap.
func (e *evaluator) clearNulls(validity textures.Block, w piece, out textures.Block, first bool) {
	units := textures.Units(w.Rows)
	var defines []string
	if first {
		defines = []string{"FIRST"}
	}
	e.dispatch(NotNull{e.attribute(validity.Col)}, w,
		shaders.Join([]string{"units.glsl", "notnull.comp"}, e.device.defines(defines...)...), e.device.groups(units, 8),
		[]textures.Block{out, validity}, []shaders.Uniform{shaders.Uint("units", uint32(units))})
}

// valueScan writes the compute program that tests the records of a window: a
// work group takes 64 units, 8192 records in a row, and a thread of it some bits of a
// unit, four neighbouring records at a time.
type valueScan struct {
	test    *recordTest
	columns []valueColumn // one for each of the test's args
	masks   int           // bitmaps of the records that may be TRUE
	blocks  []textures.Block
	count   bool
}

// valueColumn is a column that a scan reads.
type valueColumn struct {
	code       string // four neighbouring codes in the block: uint, uvec2, uvec4
	binding    int
	high, wide bool // has a second part; becomes a uvec2
}

// source writes the program.
func (s *valueScan) source(d Device) shaders.Source {
	var b strings.Builder
	linef := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	b.WriteString(s.test.text)
	linef("layout(local_size_x = LOCAL) in;")
	if s.count {
		linef("uniform uint word; // of result, which takes the count")
	}
	for i, c := range s.columns {
		b.WriteString(slot{fmt.Sprintf("low%d", i), c.code, "readonly"}.declare(c.binding))
		if c.high {
			b.WriteString(slot{fmt.Sprintf("high%d", i), "uvec4", "readonly"}.declare(c.binding + 1))
		}
	}
	for i := range s.masks {
		b.WriteString(slot{fmt.Sprintf("mask%d", i), "uvec4", "readonly"}.declare(len(s.blocks) - s.masks + i))
	}
	linef("uniform uint units;\nuniform uint rows;\n")
	linef("void main() {")
	if s.count {
		linef("    uint n = 0u;")
	}
	if d.Software {
		linef("    const uint place = 0u, stride = 1u;")
		linef("    for (uint unit = firstUnit(units), end = endUnit(units); unit < end; unit += STEP) {")
	} else {
		linef("    uint me = gl_LocalInvocationIndex, place = me >> 6, stride = LOCAL / 64u;")
		linef("    for (uint first = gl_WorkGroupID.x * 64u; first < units; first += gl_NumWorkGroups.x * 64u) {")
		linef("        uint unit = first + (me & 63u);")
	}
	linef("        uvec4 some = within(unit, rows), bits = uvec4(0);")
	for i := range s.masks {
		linef("        some &= FETCH(mask%d, unit);", i)
	}
	linef("        for (uint i = place; i < 32u; i += stride) {\n            uint quad = quadOf(unit, i);")
	s.load(linef)
	s.call(linef)
	linef("        }\n        bits &= some;")
	if s.count {
		linef("        n += ones(bits);\n    }\n    report(word, uvec4[1](uvec4(n, 0u, 0u, 0u)));\n}")
	} else {
		linef("        store(unit, bits);\n    }\n}")
	}
	parts, defines := append([]string{"units.glsl"}, s.test.parts...), d.defines()
	if s.count {
		parts, defines = append(parts, "report.glsl"), append(defines, "COUNTERS 1")
	} else {
		parts = append(parts, "store.glsl")
	}
	return shaders.ComposeCompute("generated values", parts, defines, b.String())
}

// load writes the reading of four codes of each column.
func (s *valueScan) load(linef func(string, ...any)) {
	for i, c := range s.columns {
		masked := ""
		if len(s.test.lookups) > 0 || !s.test.data.None() { // the codes behind the rows are any
			masked = " * (some >> i & 1u)"
		}
		linef("            uvec4 l%d = unpack(FETCH_%s(low%d, quad))%s;", i, strings.ToUpper(c.code), i, masked)
		if c.high {
			linef("            uvec4 h%d = FETCH(high%d, quad);", i, i)
		}
	}
}

// call writes the test of four records. Large functions are called in a loop, small
// ones in a row.
func (s *valueScan) call(linef func(string, ...any)) {
	args := func(component string) string {
		var list []string
		for i, c := range s.columns {
			low, high := fmt.Sprintf("l%d%s", i, component), "0u"
			if c.high {
				high = fmt.Sprintf("h%d%s", i, component)
			}
			if c.wide {
				low = fmt.Sprintf("uvec2(%s, %s)", low, high)
			}
			list = append(list, low)
		}
		return s.test.call + "(" + strings.Join(list, ", ") + ")"
	}
	if len(s.test.parts) > 0 {
		linef("            for (int j = 0; j < 4; j++)\n                bits[j] |= uint(%s) << i;", args("[j]"))
		return
	}
	linef("            bits |= uvec4(%s, %s, %s, %s) << i;", args(".x"), args(".y"), args(".z"), args(".w"))
}
