package compute

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/textures"
)

// sweep is one pass over the records of a chunk that a tree selects. It computes the numbers that are not
// nil.
type sweep struct {
	op       func(Result) pass.Op
	aggs     []int // that it serves
	tree     *Node
	keep     *Marks  // where to write the selection; nil: nowhere
	selected *number // of selected records
	cols     []int   // what follows is of those of them in which none of these columns is NULL
	values   *number // how many
	sums     []*columnSum
	order    *order // count the column's values by its first digit
}

// run writes the program and queues its passes. Chunks with the same program and the same shared key add
// their counts up in the same place. If shared is empty, each chunk has a place of its own.
func (s *sweep) run(x *ChunkWork, shared string) error {
	w := NewWriter(x)
	m := &mainText{Writer: w, wide: len(s.sums) > 0, codes: s.tree.tests(coded), weights: map[bitGroup]int{}}
	m.write(s)
	k := &Code{Name: "sweep", Files: []string{"units.glsl", "report.glsl"}, Device: x.Device.forScans(), PerUnit: wideGroups, steps: w.steps,
		Regional: x.Regional, at: w.Arg(0)}
	switch {
	case m.codes:
		k.evaluate(s.tree.Leaf.function, x.Device)
	case s.order != nil:
		k.Device, k.PerUnit = x.Device, digitGroups
	case slices.ContainsFunc(s.sums, (*columnSum).isProduct):
		k.Device = x.Device
	case s.tree.tests(summed):
		k.Device, k.PerUnit = x.Device.forSums(x.Regional), sumGroups
	case s.tree.tests(within):
		k.PerUnit = rangeGroups
	}
	m.program(k)
	k.Slots = w.Slots
	if n := len(k.Slots) + 1; n > x.Device.BlockLimit() {
		return &plan.Declined{Why: fmt.Sprintf("%v reads %d storage blocks, the device has %d in a compute program: use fewer attributes in one comparison",
			s.op(NoResult), n, x.Device.BlockLimit())}
	}
	words, at := m.counters, 0
	if m.wide {
		words *= 2
	}
	var counted []*word
	numbers := []*number{s.selected, s.values}
	for _, sum := range s.sums {
		numbers = append(numbers, sum.number)
	}
	for _, n := range numbers {
		for i := 0; n != nil && i < len(n.words); i++ {
			counted = append(counted, &n.words[i])
		}
	}
	switch {
	case s.order != nil:
		at = s.order.first
	case shared != "": // bits 0 to 15 and 16 to 31 of a column are summed up by the same text: what a word is worth tells
		for _, w := range counted {
			shared += fmt.Sprint(w.shift, " ")
		}
		at = x.place(fmt.Sprint(shared, s.cols, s.of(), k.Text), words)
	default:
		at = x.Alloc(words)
	}
	for _, w := range counted {
		w.at += at
	}
	list := w.Kernels(k, s.op(s.result()))
	for _, l := range list {
		l.own[k.at-firstArg] = int32(at)
	}
	x.part.Aggs = s.aggs
	x.Stage(list...)
	x.part.Aggs = nil
	return nil
}

// of lists what the sweep adds up.
func (s *sweep) of() (list [][]int) {
	for _, sum := range s.sums {
		list = append(list, sum.cols)
	}
	return list
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

// mainText writes the main function of a sweep: the text before, in and after the loop over the units of a
// thread. The mask m has the remaining records of the unit.
type mainText struct {
	*Writer
	before, loop, after strings.Builder
	counters            int
	wide, codes         bool // sums; a function of codes
	defines             []string
	weights             map[bitGroup]int // where the arguments of each are
}

// write writes main, and into the sweep's numbers which counters hold them.
func (t *mainText) write(s *sweep) {
	if s.tree.Op != predicate.True {
		fmt.Fprintf(&t.loop, "        m = %s(unit, m);\n", t.function(s.tree))
	}
	if s.keep != nil {
		block := t.Block(Source{Marks: s.keep}, "uvec4", "writeonly")
		if t.codes {
			fmt.Fprintf(&t.loop, "        uvec4 all = joined(m);\n        if (PLACE == 0u)\n            %s[%s] = all;\n", block, s.keep.unit())
		} else {
			fmt.Fprintf(&t.loop, "        %s[%s] = m;\n", block, s.keep.unit())
		}
	}
	t.count(s.selected)
	for _, col := range s.cols {
		if t.X.Segment(col).Nulls > 0 {
			fmt.Fprintf(&t.loop, "        m &= FETCH(%s, unit);\n", t.Validity(col))
		}
	}
	t.count(s.values)
	if len(s.sums) > 0 {
		t.loop.WriteString("        if (!some(m))\n            continue;\n")
	}
	for _, sum := range s.sums {
		t.sum(sum)
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

// digit counts m by the first digit of an order; in the place of value 0 is all of m.
func (t *mainText) digit(o *order) {
	t.counters = 1 << digitBits
	t.defines = append(t.defines, fmt.Sprintf("DIGIT %d", digitBits))
	x, f := t.X, o.of(t.X)
	d := o.digits[0]
	a := len(t.args) + firstArg
	for _, v := range f.digit(d) {
		t.Arg(int(v))
	}
	plane := "uvec4(0u)"
	if b := f.planes(x, o.col, d, 0); !b.None() {
		block := t.Block(Source{col: o.col, content: textures.Planes, part: b.Part, plus: b.Plus, Marks: f.made}, "uvec4", "readonly")
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
func (t *mainText) program(c *Code) {
	t.defines = append(t.defines, fmt.Sprintf("COUNTERS %d", max(1, t.counters)))
	if t.wide {
		t.defines = append(t.defines, "WIDE")
	}
	if c.Defines = t.X.Defines(c.Device, t.defines...); t.codes {
		c.Defines = c.Device.defines(t.defines...)
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
	const pieces = "    for (int p = 0; p < args[0]; p++) {\n        PIECE(p);\n"
	before := zero + t.before.String()
	one := fmt.Sprintf(loop, units, t.loop.String())
	main := fmt.Sprintf(head, t.body.String())
	c.Text = main + before + pieces + one + "    }\n    PIECE(0);\n" + t.after.String() + "}\n"
	c.each = main + pieces + before + one + t.after.String() + "    }\n}\n"
}
