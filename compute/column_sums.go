package compute

import (
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/textures"
)

// columnSum is the sum of the codes of a column, or of the products of codes of several columns. For one
// column it adds 2^i times the number of records that have bit i. For two it adds 2^(i+j) times the number of
// those that have bit i of the one and bit j of the other.
type columnSum struct {
	cols []int // up to lower.MaxFactors
	*number
}

func (s *columnSum) isProduct() bool { return len(s.cols) > 1 }

// sumBits is the width of the parts in which the codes of one column are summed up. A thread's sum of such a
// part, of 511 units of 128 records, stays below 2^32. Products take 64 bits.
const sumBits = 16

// mostInner is how many planes of a factor lie in registers. Software compiles slowly, so the program reads
// them again in a loop, and its text is the same for most widths. The sum of so many weights stays below
// 2^23, and a thread's sum of their products below 2^64.
const (
	mostInner         = 8
	mostInnerSoftware = 16
)

// mostPairs is the most pairs of planes by which a product is summed up. Beyond it, if no code is wider than 32 bits, a program multiplies
// packed codes, as for three columns. On llvmpipe both took as long with 24 x 4 planes.
const mostPairs = 128

// packed reports whether a sum is of products of packed codes.
func (x *ChunkWork) packed(s *columnSum) bool {
	if !s.isProduct() {
		return false
	}
	pairs := 1
	for _, col := range s.cols {
		seg := x.Segment(col)
		if textures.Parts(seg) > 1 {
			return false
		}
		pairs *= storedOf(seg).planes()
	}
	return len(s.cols) > 2 || pairs > mostPairs
}

// tooWide is a [plan.Declined] where a sum is of products of three codes, of which some is no packed one.
func (x *ChunkWork) tooWide(s *columnSum) error {
	if len(s.cols) < 3 || x.packed(s) {
		return nil
	}
	return &plan.Declined{Why: fmt.Sprintf("products of %d columns take codes of 32 bits, one of them has more", len(s.cols))}
}

// words is how many words of 32 bits a product of packed codes has.
func (x *ChunkWork) words(s *columnSum) int {
	width := 0
	for _, col := range s.cols {
		width += x.Segment(col).Bits
	}
	return (width + 31) / 32
}

// bitGroup is some neighbouring bits of a column's codes, of which some are stored. They lie
// in one part.
type bitGroup struct {
	col, part int
	low       int    // the lowest of them in the part
	bits      uint32 // that are stored, moved down by low
}

// shift is the place of the lowest bit in the code.
func (g bitGroup) shift() int { return textures.PartBits*g.part + g.low }

// bitGroups cuts the bits of a column into groups of a width.
func (x *ChunkWork) bitGroups(col, width int) (list []bitGroup) {
	s := storedOf(x.Segment(col))
	for part := range 2 {
		for low := 0; low < textures.PartBits; low += width {
			if b := s.part(part) >> low & (1<<width - 1); b != 0 {
				list = append(list, bitGroup{col, part, low, b})
			}
		}
	}
	return list
}

// factors cuts the columns of a sum into groups: inner is of the one with fewer planes, no
// group for one column.
func (x *ChunkWork) factors(s *columnSum) (outer, inner []bitGroup) {
	if !s.isProduct() {
		return x.bitGroups(s.cols[0], sumBits), nil
	}
	a, b := s.cols[0], s.cols[1]
	if storedOf(x.Segment(a)).planes() < storedOf(x.Segment(b)).planes() {
		a, b = b, a
	}
	if x.Device.Software {
		return x.bitGroups(a, textures.PartBits), x.bitGroups(b, mostInnerSoftware)
	}
	return x.bitGroups(a, textures.PartBits), x.bitGroups(b, mostInner)
}

// places are the weights of the counters of a sum. A thread's sum is cut into pieces of 16 bits, and pieces
// of the same weight are added up.
func (x *ChunkWork) places(s *columnSum) []int {
	at := map[int]bool{}
	if x.packed(s) {
		for k := range 2*x.words(s) + 1 {
			at[16*k] = true
		}
		return slices.Sorted(maps.Keys(at))
	}
	outer, inner := x.factors(s)
	for _, o := range outer {
		if !s.isProduct() {
			at[o.shift()], at[o.shift()+16] = true, true
		}
		for _, i := range inner {
			for k := range 4 {
				at[o.shift()+i.shift()+16*k] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(at))
}

// sum adds up the codes of a column, or products, over m.
func (t *mainText) sum(s *columnSum) {
	s.set = true // of no bits, too
	pieces := map[int][]string{}
	add := func(word string, shift int) {
		pieces[shift] = append(pieces[shift], word+" & 65535u")
		pieces[shift+16] = append(pieces[shift+16], word+" >> 16")
	}
	outer, inner := t.X.factors(s)
	if t.X.packed(s) {
		outer, inner = nil, nil
		for k, name := range t.multiply(s) {
			add(fmt.Sprintf("(%[1]s.x + %[1]s.y + %[1]s.z + %[1]s.w)", name), 16*k)
		}
	}
	if !s.isProduct() {
		for _, g := range outer {
			name := t.name("sum")
			fmt.Fprintf(&t.before, "    uint %s = 0u;\n", name)
			t.weigh(g, name+" += ones(m & plane) << weight;")
			add(name, g.shift())
		}
	}
	for _, i := range inner {
		worth := t.factor(i)
		for _, o := range outer {
			name := t.name("product")
			fmt.Fprintf(&t.before, "    uvec2 %s = uvec2(0u);\n", name)
			t.weigh(o, strings.ReplaceAll(worth, "SUM", name))
			add(name+".x", o.shift()+i.shift())
			add(name+".y", o.shift()+i.shift()+32)
			t.steps += bits.OnesCount32(o.bits) * bits.OnesCount32(i.bits)
		}
	}
	for _, at := range slices.Sorted(maps.Keys(pieces)) { // counters take 16 bits and the carries of a few pieces
		fmt.Fprintf(&t.after, "    %s = (%s);\n", t.counter(s.number, uint(at)), strings.Join(pieces[at], ") + ("))
	}
}

// multiply adds up the products of packed codes of m, four neighbouring records at a time. It returns the names
// of the sums: of bits 0 to 15 of the products, and so on.
func (t *mainText) multiply(s *columnSum) (names []string) {
	t.steps += 32
	t.loop.WriteString(`        for (uint i = 0u; i < 32u; i++) {
            uvec4 taken = m >> i & 1u;
            if (!some(taken))
                continue;
            uint quad = quadOf(unit, i);
`)
	factors := []factor{{"taken", 0}}
	for i, col := range s.cols {
		name := fmt.Sprintf("code%d", i)
		fmt.Fprintf(&t.loop, "            uvec4 %s = unpack(FETCH_%s(%s, quad));\n", name, strings.ToUpper(textures.CodeType(t.X.Segment(col))), t.Writer.Codes(col, 0))
		factors = append(factors, factor{name, t.X.Segment(col).Bits})
	}
	declare, words := product("product", factors)
	fmt.Fprintf(&t.loop, "            %s\n", declare)
	for _, word := range words {
		for _, piece := range []string{" & 65535u", " >> 16"} {
			name := t.name("product")
			fmt.Fprintf(&t.before, "    uvec4 %s = uvec4(0u);\n", name)
			fmt.Fprintf(&t.loop, "            %s += %s%s;\n", name, word, piece)
			names = append(names, name)
		}
	}
	t.loop.WriteString("        }\n")
	return names
}

// factor writes the text that counts, for a plane, the records of m that have its bit and bit j of a group.
// Each counts 2^j, and 2^weight in SUM.
func (t *mainText) factor(g bitGroup) string {
	if t.X.Device.Software {
		loop := t.loopOver(g)
		return fmt.Sprintf("plane &= m;\n            uint n = 0u;\n            %s\n                n += ones(plane & FETCH(%s, at)) << (%s);\n            addShifted(SUM, n, weight);",
			loop.head, t.planes(g.col, g.part), loop.weight)
	}
	block, stored := t.planes(g.col, g.part), storedOf(t.X.Segment(g.col)).part(g.part)
	a, at := t.Arg(bits.OnesCount32(stored), bits.OnesCount32(stored&(1<<g.low-1))), t.name("at")
	fmt.Fprintf(&t.loop, "        uint %s = first(unit, arg(%d)) + uint(PLANE * arg(%d));\n", at, a, a+1)
	var terms []string
	for b, n := g.bits, 0; b != 0; b, n = b&(b-1), n+1 {
		y := t.name("y")
		fmt.Fprintf(&t.loop, "        uvec4 %s = m & FETCH(%s, %s + uint(PLANE * %d));\n", y, block, at, n)
		terms = append(terms, fmt.Sprintf("(ones(plane & %s) << %d)", y, bits.TrailingZeros32(b)))
	}
	return "addShifted(SUM, " + strings.Join(terms, " + ") + ", weight);"
}

// groupLoop is a loop over the planes of a group: plane i is in place at, and its bit in the group
// is weight.
type groupLoop struct{ head, weight string }

func (t *mainText) loopOver(g bitGroup) groupLoop {
	stored := storedOf(t.X.Segment(g.col)).part(g.part)
	lowest, n := bits.OnesCount32(stored&(1<<g.low-1)), bits.OnesCount32(g.bits)
	a, ok := t.weights[g]
	if !ok {
		a = t.Arg(bits.OnesCount32(stored), lowest, lowest+n, bits.TrailingZeros32(g.bits)-lowest)
		for b := g.bits; b != 0 && !contiguous(g.bits); b &= b - 1 {
			t.Arg(bits.TrailingZeros32(b))
		}
		t.weights[g] = a
	}
	weight := fmt.Sprintf("i + arg(%d)", a+3)
	if !contiguous(g.bits) {
		weight = fmt.Sprintf("arg(%d + i - arg(%d))", a+4, a+1)
	}
	return groupLoop{fmt.Sprintf("for (int i = arg(%d), at = int(first(unit, arg(%d))) + PLANE * i; i < arg(%d); i++, at += PLANE)", a+1, a, a+2), weight}
}

// weigh goes over the planes of a group: a statement adds what each is worth times 2^weight.
func (t *mainText) weigh(g bitGroup, statement string) {
	t.steps += bits.OnesCount32(g.bits)
	loop := t.loopOver(g)
	fmt.Fprintf(&t.loop, "        %s {\n            uvec4 plane = FETCH(%s, at);\n            int weight = %s;\n            %s\n        }\n",
		loop.head, t.planes(g.col, g.part), loop.weight, statement)
}

// contiguous reports whether the bits of v are neighbours.
func contiguous(v uint32) bool {
	v >>= bits.TrailingZeros32(v)
	return v&(v+1) == 0
}
