package compute

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/textures"
)

// sweep is one look at every record of a chunk: the records that a tree selects,
// and what is gathered of them on the way, in numbers; nil for what is not.
type sweep struct {
	op       func(Result) pass.Op
	aggs     []int // that it serves
	tree     *node
	keep     *marks  // where to write the selection; nil: nowhere
	selected *number // of selected records
	col      int     // what follows is of this column's values that are not NULL
	values   *number // how many
	sum      *number // of their codes
	order    *order  // count them by its first digit
}

// halfBits is the width of the parts in which codes are summed up: a thread's sum
// of such a part of 128 records of 511 units stays below 2^32.
const halfBits = 16

// run writes the program and queues its passes. Chunks that have the program in common, and
// what is told of them, add their counts up in the same place; of each chunk there is a
// place of its own where nothing is told.
func (s *sweep) run(x *chunk, shared string) error {
	w := newWriter(x)
	m := &mainText{writer: w, wide: s.sum != nil, codes: s.tree.tests(coded)}
	m.write(s)
	k := &code{name: "sweep", files: []string{"units.glsl", "report.glsl"}, device: x.device.forScans(), perUnit: wideGroups, steps: w.steps,
		regional: x.regional, at: w.arg(0)}
	switch {
	case m.codes:
		k.evaluate(s.tree.leaf.function, x.device)
	case s.order != nil:
		k.device, k.perUnit = x.device, digitGroups
	case s.tree.tests(summed):
		k.device, k.perUnit = x.device.forSums(x.regional), sumGroups
	case s.tree.tests(within):
		k.perUnit = rangeGroups
	}
	m.program(k)
	k.slots = w.slots
	if n := len(k.slots) + 1; n > x.device.maxBlocks() {
		return &plan.Declined{Why: fmt.Sprintf("%v reads %d storage blocks, the device has %d in a compute program: use fewer attributes in one comparison",
			s.op(NoResult), n, x.device.maxBlocks())}
	}
	words, at := m.counters, 0
	if m.wide {
		words *= 2
	}
	switch {
	case s.order != nil:
		at = s.order.first
	case shared != "":
		at = x.place(fmt.Sprint(shared, s.col, k.text), words)
	default:
		at = x.alloc(words)
	}
	for _, n := range []*number{s.selected, s.values, s.sum} {
		for i := 0; n != nil && i < len(n.words); i++ {
			n.words[i].at += at
		}
	}
	list := w.kernels(k, s.op(s.result()))
	for _, l := range list {
		l.own[k.at-firstArg] = int32(at)
	}
	x.part.Aggs = s.aggs
	x.stage(list...)
	x.part.Aggs = nil
	return nil
}

// result says where the counts of records are.
func (s *sweep) result() Result {
	r := NoResult
	if s.selected != nil {
		r.Selected = s.selected.words[0].at
	}
	switch {
	case s.order != nil:
		r.Values = s.order.first
	case s.values != nil:
		r.Values = s.values.words[0].at
	}
	return r
}

// mainText writes the main function of a sweep: what stands before, in and after the
// loop over the units of a thread, whose mask m is what is left of the unit's records.
type mainText struct {
	*writer
	before, loop, after strings.Builder
	counters            int
	wide, codes         bool // sums; a function of codes
	defines             []string
}

// write writes main, and into the sweep's numbers which counters hold them.
func (t *mainText) write(s *sweep) {
	if s.tree.op != plan.True {
		fmt.Fprintf(&t.loop, "        m = %s(unit, m);\n", t.function(s.tree))
	}
	if s.keep != nil {
		block := t.block(source{marks: s.keep}, "uvec4", "writeonly")
		if t.codes {
			fmt.Fprintf(&t.loop, "        uvec4 all = joined(m);\n        if (PLACE == 0u)\n            %s[%s] = all;\n", block, s.keep.unit())
		} else {
			fmt.Fprintf(&t.loop, "        %s[%s] = m;\n", block, s.keep.unit())
		}
	}
	t.count(s.selected)
	if s.col >= 0 && t.x.segment(s.col).Nulls > 0 {
		fmt.Fprintf(&t.loop, "        m &= FETCH(%s, unit);\n", t.validity(s.col))
	}
	t.count(s.values)
	if s.sum != nil {
		t.sum(s.col, s.sum)
	}
	if s.order != nil {
		t.digit(s.order)
	}
}

// counter takes the next counter for a part of a number, in units of 2^shift.
func (t *mainText) counter(n *number, shift uint) (name string) {
	i := t.counters
	t.counters++
	if n.set = true; t.wide {
		n.words = append(n.words, word{2 * i, shift}, word{2*i + 1, shift + 32})
	} else {
		n.words = append(n.words, word{i, shift})
	}
	return fmt.Sprintf("counter[%d].%c", i/4, "xyzw"[i%4])
}

// count counts the records of m.
func (t *mainText) count(n *number) {
	if n != nil {
		fmt.Fprintf(&t.loop, "        %s += ones(m);\n", t.counter(n, 0))
	}
}

// sum adds up a column's codes over m, 16 bits at a time: 2^bit times the number of
// records that have the bit.
func (t *mainText) sum(col int, n *number) {
	s := storedOf(t.x.segment(col))
	n.set = true // of no bits, too
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
				fmt.Fprintf(&t.after, "    %s = %s >> %d & 65535u;\n", t.counter(n, uint(textures.PartBits*part+halfBits*i+16*j)), name, 16*j)
			}
		}
	}
}

// half writes the sum of the lower (0) or upper (1) 16 bits of a part, of which v
// are stored.
func (t *mainText) half(name, block string, v uint32, i int) {
	h := v >> (halfBits * i) & (1<<halfBits - 1)
	lowest := bits.OnesCount32(v & (1<<(halfBits*i) - 1))
	a := t.arg(bits.OnesCount32(v), lowest, lowest+bits.OnesCount32(h), bits.TrailingZeros32(h)-lowest)
	t.steps += bits.OnesCount32(h)
	weight := fmt.Sprintf("i + arg(%d)", a+3)
	if !contiguous(h) {
		weight = fmt.Sprintf("arg(%d + i)", len(t.args)+firstArg-lowest)
		for ; h != 0; h &= h - 1 {
			t.arg(bits.TrailingZeros32(h))
		}
	}
	fmt.Fprintf(&t.before, "    uint %s = 0u;\n", name)
	fmt.Fprintf(&t.loop, "        for (int i = arg(%d), at = int(first(unit, arg(%d))) + PLANE * i; i < arg(%d); i++, at += PLANE)\n", a+1, a, a+2)
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
	x, f := t.x, o.of(t.x)
	d := o.digits[0]
	a := len(t.args) + firstArg
	for _, v := range f.digit(d) {
		t.arg(int(v))
	}
	plane := "uvec4(0u)"
	if b := f.planes(x, o.col, d, 0); !b.None() {
		block := t.block(source{col: o.col, content: textures.Planes, part: b.Part, plus: b.Plus, marks: f.made}, "uvec4", "readonly")
		plane = fmt.Sprintf("(plane < 0 ? uvec4(0u) : FETCH(%s, at + uint(PLANE * plane)))", block)
	}
	t.before.WriteString("    uint total = 0u;\n")
	fmt.Fprintf(&t.loop, `        if (!some(m))
            continue;
        total += ones(m);
        uint at = first(unit, arg(%d));
        uvec4 p[DIGIT];
        for (int j = 0; j < DIGIT; j++) {
            int plane = arg(%d + 2 * j);
            p[j] = %s ^ uint(arg(%d + 2 * j));
        }
        countDigits(m, p, counter);
`, a, a+1, plane, a+2)
	t.after.WriteString("    counter[0].x = counter[0].x & ~65535u | total; // in the place of value 0\n")
}

// program puts the program together.
func (t *mainText) program(c *code) {
	t.defines = append(t.defines, fmt.Sprintf("COUNTERS %d", max(1, t.counters)))
	if t.wide {
		t.defines = append(t.defines, "WIDE")
	}
	if c.defines = t.x.defines(c.device, t.defines...); t.codes {
		c.defines = c.device.defines(t.defines...)
	}
	if t.counters > 0 {
		fmt.Fprintf(&t.after, "    report(uint(arg(%d)), counter);\n", c.at)
	}
	const head = `layout(local_size_x = LOCAL) in;
%s
void main() {
    claim(uint(args[1]));
`
	const zero = `    uvec4 counter[FOURS];
    for (int c = 0; c < FOURS; c++)
        counter[c] = uvec4(0u);
`
	const loop = `    for (%s) {
        uvec4 m = within(unit, ROWS);
%s    }
`
	units := "uint unit = firstUnit(UNITS, BEFORE, TOTAL), end = endUnit(UNITS, BEFORE, TOTAL); unit < end; unit += STEP"
	if t.codes {
		units = "UNITS_OF(UNITS, BEFORE, TOTAL)"
	}
	const pieces = "    for (piece = 0; piece < args[0]; piece++) {\n"
	before := zero + t.before.String()
	one := fmt.Sprintf(loop, units, t.loop.String())
	main := fmt.Sprintf(head, t.body.String())
	c.text = main + before + pieces + one + "    }\n    piece = 0;\n" + t.after.String() + "}\n"
	c.each = main + pieces + before + one + t.after.String() + "    }\n}\n"
}
