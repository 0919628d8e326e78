package compute

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// Writer writes the functions of a sweep's program. The text depends on the shape only: which
// tests are combined how, and what is gathered; constants and numbers of planes are arguments.
type Writer struct {
	X     *ChunkWork
	Slots []slot
	reads []Source       // what each slot holds
	at    map[Source]int // the slot of each
	body  strings.Builder
	args  []int32 // from firstArg on
	names int
	steps int // iterations of loops that a unit may take
}

// Source says what a storage block holds, for any window.
type Source struct {
	Marks   *Marks // working memory or, when nil, content of a column
	col     int
	content textures.Content
	part    int
	plus    uint64
	array   *table.Chunk      // of a dimension, for all windows
	scratch *textures.Scratch // working memory, for all windows
}

func NewWriter(x *ChunkWork) *Writer { return &Writer{X: x, at: map[Source]int{}} }

// Block returns the name of a block's array, with a slot from its first use on.
func (w *Writer) Block(s Source, kind, access string) string {
	i, ok := w.at[s]
	if !ok {
		i = len(w.Slots)
		w.Slots, w.reads = append(w.Slots, slot{fmt.Sprintf("block%d", i), kind, access}), append(w.reads, s)
		w.at[s] = i
	}
	return w.Slots[i].name
}

func (w *Writer) planes(col, part int) string {
	return w.Block(Source{col: col, content: textures.Planes, part: part}, "uvec4", "readonly")
}

func (w *Writer) Validity(col int) string {
	return w.Block(Source{col: col, content: textures.Validity}, "uvec4", "readonly")
}

// Codes is the block of a part of a column's codes.
func (w *Writer) Codes(col, part int) string {
	kind := "uvec4"
	if part == 0 {
		kind = textures.CodeType(w.X.Segment(col))
	}
	return w.Block(Source{col: col, content: textures.Codes, part: part}, kind, "readonly")
}

// Marks reads a unit of a bitmap.
func (w *Writer) marks(m *Marks) string {
	return "FETCH(" + w.Block(Source{Marks: m}, "uvec4", "readonly") + ", " + m.unit() + ")"
}

// Arg adds arguments and returns the number of the first.
func (w *Writer) Arg(v ...int) int {
	at := firstArg + len(w.args)
	for _, x := range v {
		w.args = append(w.args, int32(uint32(x)))
	}
	return at
}

// Kernels are those of the windows.
func (w *Writer) Kernels(c *Code, op pass.Op) (list []*kernel) {
	for i, p := range w.X.Pieces {
		k := &kernel{Code: c, piece: p, op: op, own: slices.Clone(w.args)}
		for _, s := range w.reads {
			if s.Marks != nil {
				k.blocks = append(k.blocks, s.Marks.Blocks[i])
				continue
			}
			if s.scratch != nil {
				k.blocks = append(k.blocks, textures.ScratchBlock(s.scratch))
				continue
			}
			if a := s.array; a != nil {
				k.blocks = append(k.blocks, textures.Block{Chunk: a, Content: s.content, Window: textures.Window{Rows: a.Rows}})
				continue
			}
			k.blocks = append(k.blocks, textures.Block{Chunk: w.X.Chunk, Col: s.col, Content: s.content, Part: s.part, Plus: s.plus, Window: p.Window})
		}
		list = append(list, k)
	}
	return list
}

// function writes the function of a node and returns its name. It takes a unit and
// the records of it that matter, and returns those of them that pass.
func (w *Writer) function(n *Node) string {
	if n.Op == predicate.Simple {
		return w.leaf(n.Leaf)
	}
	var calls []string
	for _, k := range n.kids {
		calls = append(calls, w.function(k))
	}
	name := w.name(map[predicate.Op]string{predicate.And: "and", predicate.Or: "or"}[n.Op])
	b := &w.body
	fmt.Fprintf(b, "\nuvec4 %s(uint unit, uvec4 among) {\n", name)
	last := len(calls) - 1
	if n.Op == predicate.And {
		for _, c := range calls[:last] {
			fmt.Fprintf(b, "    among = %s(unit, among);\n    if (!some(among))\n        return among;\n", c)
		}
		fmt.Fprintf(b, "    return %s(unit, among);\n}\n", calls[last])
		return name
	}
	b.WriteString("    uvec4 found = uvec4(0u);\n")
	for _, c := range calls[:last] {
		fmt.Fprintf(b, "    found |= %s(unit, among & ~found);\n    if (found == among)\n        return found;\n", c)
	}
	fmt.Fprintf(b, "    return found | %s(unit, among & ~found);\n}\n", calls[last])
	return name
}

func (w *Writer) name(kind string) string {
	w.names++
	return fmt.Sprintf("%s%d", kind, w.names)
}

func (w *Writer) leaf(l *leaf) string {
	name := w.name([...]string{below: "below", within: "within", equals: "equals", present: "present", marked: "marked", summed: "summed", coded: "coded"}[l.test])
	head := fmt.Sprintf("\nuvec4 %s(uint unit, uvec4 among) {\n", name)
	switch l.test {
	case marked:
		w.body.WriteString(head + "    return among & " + w.marks(l.Marks) + ";\n}\n")
		return name
	case summed:
		w.body.WriteString(head)
		w.sum(l)
		return name
	case coded:
		w.body.WriteString(l.function.Text)
		if l.codes != nil {
			w.listed(l)
		}
		w.body.WriteString(head)
		w.coded(l)
		return name
	case present:
		valid := w.Validity(l.col)
		fmt.Fprintf(&w.body, "%s    return among & (FETCH(%s, unit) ^ %s);\n}\n", head, valid, w.mask(l.negate))
		return name
	}
	text := head
	if w.X.Segment(l.col).Nulls > 0 {
		text += "    among &= FETCH(" + w.Validity(l.col) + ", unit);\n"
	}
	text += [...]string{
		below:  "    uvec4 less = uvec4(0u), same = among;\n",
		within: "    uvec4 less = uvec4(0u), same = among, over = among, edge = among; // over: not below the upper bound\n",
		equals: "    uvec4 same = among;\n",
	}[l.test]
	text += w.walk(l)
	switch l.test {
	case below:
		text += "    return less ^ (among & " + w.mask(l.negate) + ");\n}\n"
	case within:
		text += "    return among & ~less & ~over;\n}\n"
	case equals:
		text += "    return same ^ (among & " + w.mask(l.negate) + ");\n}\n"
	}
	w.body.WriteString(text)
	return name
}

// mask is an argument of all ones or none.
func (w *Writer) mask(set bool) string {
	v := 0
	if set {
		v = -1
	}
	return fmt.Sprintf("uint(arg(%d))", w.Arg(v))
}

// walk goes over the planes of a column from the top. It stops when every record is decided, or when the
// lower bits of the constants are 0.
func (w *Writer) walk(l *leaf) string {
	s := storedOf(w.X.Segment(l.col))
	var text strings.Builder
	shift := s.planes()
	for part := 1; part >= 0; part-- {
		n := bits.OnesCount32(s.part(part))
		if n == 0 {
			continue
		}
		shift -= n
		lo, hi := l.lo>>shift, l.hi>>shift
		mask := uint64(1)<<n - 1
		bound := l.hi
		if l.test == within {
			bound |= l.lo
		}
		last := 0
		if l.test != equals {
			// The lowest bit set in a constant: below it nothing changes.
			last = min(n, max(0, bits.TrailingZeros64(bound)-shift))
		}
		w.steps += n
		a := w.Arg(n, last, int(uint32(lo&mask)), int(uint32(hi&mask)))
		block := w.planes(l.col, part)
		undecided := "some(same)"
		if l.test == within {
			undecided = "some(same | edge)"
		}
		fmt.Fprintf(&text, "    for (int i = arg(%d) - 1, at = int(first(unit, arg(%d))) + PLANE * i; i >= arg(%d) && %s; i--, at -= PLANE) {\n", a, a, a+1, undecided)
		fmt.Fprintf(&text, "        uvec4 plane = FETCH(%s, at);\n", block)
		switch l.test {
		case below:
			text.WriteString(step("less", "same", a+3))
		case within:
			text.WriteString(step("less", "same", a+2))
			fmt.Fprintf(&text, "        bit = uint(-(arg(%d) >> i & 1));\n        over &= ~(edge & ~plane & bit);\n        edge &= ~(plane ^ bit);\n", a+3)
		case equals:
			fmt.Fprintf(&text, "        same &= ~(plane ^ uint(-(arg(%d) >> i & 1)));\n", a+2)
		}
		text.WriteString("    }\n")
	}
	return text.String()
}

// step compares a plane with the bit of a constant.
func step(less, same string, arg int) string {
	return fmt.Sprintf("        uint bit = uint(-(arg(%d) >> i & 1));\n        %s |= %s & ~plane & bit;\n        %s &= ~(plane ^ bit);\n",
		arg, less, same, same)
}
