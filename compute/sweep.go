package compute

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/textures"
)

// sweep is one look at every record of a chunk: the records that a tree selects,
// and what is gathered of them on the way.
type sweep struct {
	op       func(Result) pass.Op
	aggs     []int // that it serves
	tree     *node
	keep     *marks // where to write the selection; nil: nowhere
	selected bool   // count the selected records
	col      int    // what follows is of this column's values that are not NULL
	values   bool   // count them
	sum      bool   // add their codes up
	order    *order // count them by its first digit
}

// gathered says where in the result a sweep's counts are.
type gathered struct {
	selected, values slot
	sums             []weighted
}

// slot is the place of a count: one word, or two when wide.
type slot struct {
	at   int
	wide bool
}

// read returns the count.
func (s slot) read(words []uint32) uint64 {
	n := uint64(words[s.at])
	if s.wide {
		n |= uint64(words[s.at+1]) << 32
	}
	return n
}

// weighted is a part of a sum, in units of 2^shift.
type weighted struct {
	slot
	shift uint
}

// halfBits is the width of the parts in which codes are summed up: a thread's sum
// of such a part of 128 records of 511 units stays below 2^32.
const halfBits = 16

// run queues the passes of a sweep, one a window.
func (s *sweep) run(c *compiler, e *evaluator) (gathered, error) {
	w := newWriter(e)
	m := &mainText{writer: w, wide: s.sum}
	g := m.write(s)
	words := m.counters
	if m.wide {
		words *= 2
	}
	at := 0
	if s.order != nil {
		at = s.order.first
	} else {
		at = c.alloc(words)
	}
	g.move(at)
	op := s.op(s.result(g))
	e.part.Aggs = s.aggs
	defer func() { e.part.Aggs = nil }()
	device, perUnit := e.device.forScans(), wideGroups
	if s.tree.tests(within) {
		perUnit = rangeGroups
	}
	if s.order != nil {
		device, perUnit = e.device, digitGroups
	}
	program := m.program(device, w.arg(at))
	if n := len(w.blocks) + 1; n > e.device.maxBlocks() {
		return g, fmt.Errorf("compute: %v takes %d storage blocks, a program of the device at most %d", op, n, e.device.maxBlocks())
	}
	for i, win := range e.windows {
		err := e.queue(win, &pass.Pass{Op: op, Program: program, Uniforms: w.uniforms(win.Rows, e.claims(c)),
			Dispatch: &pass.Dispatch{Groups: [2]int{e.groups(device, textures.Units(win.Rows), perUnit, w.steps)},
				Blocks: w.resolve(c.result, i), Beside: i > 0,
				Images: e.device.Software}})
		if err != nil {
			return g, err
		}
	}
	return g, nil
}

// result says where the counts of records are.
func (s *sweep) result(g gathered) Result {
	r := NoResult
	if s.selected {
		r.Selected = g.selected.at
	}
	switch {
	case s.order != nil:
		r.Values = s.order.first
	case s.values:
		r.Values = g.values.at
	}
	return r
}

// move adds the place of a sweep's counts in the result.
func (g *gathered) move(at int) {
	g.selected.at += at
	g.values.at += at
	for i := range g.sums {
		g.sums[i].at += at
	}
}

// mainText writes the main function of a sweep: what stands before, in and after the
// loop over the units of a thread, whose mask m is what is left of the unit's records.
type mainText struct {
	*writer
	before, loop, after strings.Builder
	counters            int
	wide                bool
	defines             []string
}

// write writes main and says which counter holds what.
func (t *mainText) write(s *sweep) (g gathered) {
	if s.tree.op != plan.True {
		fmt.Fprintf(&t.loop, "        m = %s(unit, m);\n", t.function(s.tree))
	}
	if s.keep != nil {
		fmt.Fprintf(&t.loop, "        %s[unit] = m;\n", t.block(source{marks: s.keep}, "writeonly"))
	}
	if s.selected {
		g.selected = t.count()
	}
	if s.col >= 0 && t.e.segment(s.col).Nulls > 0 {
		fmt.Fprintf(&t.loop, "        m &= FETCH(%s, unit);\n", t.validity(s.col))
	}
	if s.values {
		g.values = t.count()
	}
	if s.sum {
		g.sums = t.sum(s.col)
	}
	if s.order != nil {
		t.digit(s.order)
	}
	return g
}

// place takes the next counter.
func (t *mainText) place() (name string, at slot) {
	i := t.counters
	t.counters++
	if t.wide {
		at = slot{2 * i, true}
	} else {
		at = slot{i, false}
	}
	return fmt.Sprintf("counter[%d].%c", i/4, "xyzw"[i%4]), at
}

// count counts the records of m.
func (t *mainText) count() slot {
	name, at := t.place()
	fmt.Fprintf(&t.loop, "        %s += ones(m);\n", name)
	return at
}

// sum adds up a column's codes over m, 16 bits at a time: 2^bit times the number of
// records that have the bit.
func (t *mainText) sum(col int) []weighted {
	var sums []weighted
	s := storedOf(t.e.segment(col))
	t.loop.WriteString("        if (!some(m))\n            continue;\n")
	for part := range 2 {
		v := s.part(part)
		for i := range 2 {
			if v>>(halfBits*i)&(1<<halfBits-1) == 0 {
				continue
			}
			name := fmt.Sprintf("sum%d", 2*part+i)
			t.half(name, t.planes(col, part), v, i)
			for j := range 2 { // counters take 16 bits
				counter, at := t.place()
				fmt.Fprintf(&t.after, "    %s = %s >> %d & 65535u;\n", counter, name, 16*j)
				sums = append(sums, weighted{at, uint(textures.PartBits*part + halfBits*i + 16*j)})
			}
		}
	}
	return sums
}

// half writes the sum of the lower (0) or upper (1) 16 bits of a part, of which v
// are stored.
func (t *mainText) half(name, block string, v uint32, i int) {
	h := v >> (halfBits * i) & (1<<halfBits - 1)
	lowest := bits.OnesCount32(v & (1<<(halfBits*i) - 1))
	a := t.arg(bits.OnesCount32(v), lowest, lowest+bits.OnesCount32(h), bits.TrailingZeros32(h)-lowest)
	t.steps += bits.OnesCount32(h)
	weight := fmt.Sprintf("i + arg[%d]", a+3)
	if !contiguous(h) {
		weight = fmt.Sprintf("arg[%d + i]", len(t.args)-lowest)
		for ; h != 0; h &= h - 1 {
			t.arg(bits.TrailingZeros32(h))
		}
	}
	fmt.Fprintf(&t.before, "    uint %s = 0u;\n", name)
	fmt.Fprintf(&t.loop, "        for (int i = arg[%d], at = int(first(unit, arg[%d])) + PLANE * i; i < arg[%d]; i++, at += PLANE)\n", a+1, a, a+2)
	fmt.Fprintf(&t.loop, "            %s += ones(m & FETCH(%s, at)) << (%s);\n", name, block, weight)
}

// contiguous reports whether the bits of v are neighbours.
func contiguous(v uint32) bool {
	v >>= bits.TrailingZeros32(v)
	return v&(v+1) == 0
}

// digit counts m by the first digit of an order; in the place of value 0 is all of m.
func (t *mainText) digit(o *order) {
	t.counters = 1 << digitBits
	t.defines = append(t.defines, fmt.Sprintf("DIGIT %d", digitBits))
	f, part := o.frames[slices.IndexFunc(o.chunks, func(x *chunk) bool { return x.evaluator.index == t.e.index })], o.digits[0].part
	a := len(t.args)
	for _, v := range f.digit(o.digits[0]) {
		t.arg(int(v))
	}
	plane := "uvec4(uint(plane + 1))" // -1 is zeros, -2 ones
	if f.stored.part(part) != 0 {
		block := t.block(source{col: o.col, content: textures.Planes, part: part, marks: f.made[part]}, "readonly")
		plane = fmt.Sprintf("plane < 0 ? %s : FETCH(%s, at + uint(PLANE * plane))", plane, block)
	}
	t.before.WriteString("    uint total = 0u;\n")
	fmt.Fprintf(&t.loop, `        if (!some(m))
            continue;
        total += ones(m);
        uint at = first(unit, arg[%d]);
        uvec4 p[DIGIT];
        for (int j = 0; j < DIGIT; j++) {
            int plane = arg[%d + j];
            p[j] = %s;
        }
        countDigits(m, p, counter);
`, a, a+1, plane)
	t.after.WriteString("    counter[0].x = counter[0].x & ~65535u | total; // in the place of value 0\n")
}

// program puts the program together; arg at says where the result has its counts.
func (t *mainText) program(d Device, at int) shaders.Source {
	defines := append(t.e.defines(d, fmt.Sprintf("COUNTERS %d", max(1, t.counters))), t.defines...)
	if t.wide {
		defines = append(defines, "WIDE")
	}
	if t.counters > 0 {
		fmt.Fprintf(&t.after, "    report(uint(arg[%d]), counter);\n", at)
	}
	const round = 32 // so that the length is no matter of shape
	text := fmt.Sprintf(`layout(local_size_x = LOCAL) in;
%suniform int arg[%d];
%s
void main() {
    uint units = uint(arg[0]), rows = uint(arg[1]);
    claim(uint(arg[2]));
    uvec4 counter[FOURS];
    for (int c = 0; c < FOURS; c++)
        counter[c] = uvec4(0u);
%s    for (uint unit = firstUnit(units), end = endUnit(units); unit < end; unit += STEP) {
        uvec4 m = within(unit, rows);
%s    }
%s}
`, t.decl.String(), (len(t.args)+round-1)/round*round, t.body.String(), t.before.String(), t.loop.String(), t.after.String())
	return shaders.ComposeCompute("sweep", []string{"units.glsl", "report.glsl"}, defines, text)
}
