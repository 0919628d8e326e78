package compute

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/textures"
)

// writer writes the program of a sweep. The text depends on the shape only: which
// tests are combined how, and what is gathered; constants and numbers of planes go
// to the int array arg, whose first elements are the numbers of units and rows and the
// place of claims.
type writer struct {
	e      *evaluator
	blocks []source       // by binding, from 1 on
	at     map[source]int // the binding of each
	decl   strings.Builder
	body   strings.Builder
	args   []int32
	names  int
	steps  int // iterations of loops that a unit may take
}

// source says what a storage block holds, for any window.
type source struct {
	marks   *marks // scratch memory or, when nil, content of a column
	col     int
	content textures.Content
	part    int
}

const firstArg = 3 // after units, rows and the place of claims

func newWriter(e *evaluator) *writer {
	return &writer{e: e, at: map[source]int{}, args: make([]int32, firstArg)}
}

// block returns the name of a block's array, binding it at first use.
func (w *writer) block(s source, access string) string {
	i, ok := w.at[s]
	if !ok {
		w.blocks = append(w.blocks, s)
		i = len(w.blocks)
		w.at[s] = i
		if access == "readonly" {
			w.decl.WriteString(readonly("uvec4", fmt.Sprintf("block%d", i), i))
		} else {
			fmt.Fprintf(&w.decl, "layout(std430, binding = %d) %s buffer Block%d { uvec4 block%d[]; };\n", i, access, i, i)
		}
	}
	return fmt.Sprintf("block%d", i)
}

// readonly declares a block that a program only reads, with FETCH(name, i): as an
// image in software (see pass.Dispatch.Images).
func readonly(kind, name string, binding int) string {
	return fmt.Sprintf("READONLY(%d, %s, %s, %s);\n", binding, kind, strings.ToUpper(name[:1])+name[1:], name)
}

func (w *writer) planes(col, part int) string {
	return w.block(source{col: col, content: textures.Planes, part: part}, "readonly")
}

func (w *writer) validity(col int) string {
	return w.block(source{col: col, content: textures.Validity}, "readonly")
}

// arg adds arguments and returns the index of the first.
func (w *writer) arg(v ...int) int {
	at := len(w.args)
	for _, x := range v {
		w.args = append(w.args, int32(uint32(x)))
	}
	return at
}

// resolve names the blocks for a window; binding 0 is the result's.
func (w *writer) resolve(result textures.Block, window int) []textures.Block {
	list := []textures.Block{result}
	for _, s := range w.blocks {
		if s.marks != nil {
			list = append(list, s.marks.blocks[window])
			continue
		}
		list = append(list, textures.Block{Chunk: w.e.chunk, Col: s.col, Content: s.content, Part: s.part, Window: w.e.windows[window]})
	}
	return list
}

// uniforms are the arguments for a window; see evaluator.claims.
func (w *writer) uniforms(rows, claims int) []shaders.Uniform {
	args := append([]int32(nil), w.args...)
	args[0], args[1], args[2] = int32(textures.Units(rows)), int32(uint32(rows)), int32(claims)
	return []shaders.Uniform{{Name: "arg", I: args}}
}

// function writes the function of a node and returns its name. It takes a unit and
// the records of it that matter, and returns those of them that pass.
func (w *writer) function(n *node) string {
	if n.op == plan.IsLeaf {
		return w.leaf(n.leaf)
	}
	var calls []string
	for _, k := range n.kids {
		calls = append(calls, w.function(k))
	}
	name := w.name(map[plan.Op]string{plan.And: "and", plan.Or: "or"}[n.op])
	b := &w.body
	fmt.Fprintf(b, "\nuvec4 %s(uint unit, uvec4 among) {\n", name)
	last := len(calls) - 1
	if n.op == plan.And {
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

func (w *writer) name(kind string) string {
	w.names++
	return fmt.Sprintf("%s%d", kind, w.names)
}

func (w *writer) leaf(l *leaf) string {
	name := w.name([...]string{below: "below", within: "within", equals: "equals", present: "present", marked: "marked"}[l.test])
	head := fmt.Sprintf("\nuvec4 %s(uint unit, uvec4 among) {\n", name)
	switch l.test {
	case marked:
		block := w.block(source{marks: l.marks}, "readonly")
		w.body.WriteString(head + "    return among & FETCH(" + block + ", unit);\n}\n")
		return name
	case present:
		valid := w.validity(l.col)
		fmt.Fprintf(&w.body, "%s    return among & (FETCH(%s, unit) ^ %s);\n}\n", head, valid, w.mask(l.negate))
		return name
	}
	text := head
	if w.e.segment(l.col).Nulls > 0 {
		text += "    among &= FETCH(" + w.validity(l.col) + ", unit);\n"
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
func (w *writer) mask(set bool) string {
	v := 0
	if set {
		v = -1
	}
	return fmt.Sprintf("uint(arg[%d])", w.arg(v))
}

// walk goes over the planes of a column from the top and stops when every record
// is decided, or when the lower bits of the constants are 0.
func (w *writer) walk(l *leaf) string {
	s := storedOf(w.e.segment(l.col))
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
		a := w.arg(n, last, int(uint32(lo&mask)), int(uint32(hi&mask)))
		block := w.planes(l.col, part)
		undecided := "some(same)"
		if l.test == within {
			undecided = "some(same | edge)"
		}
		fmt.Fprintf(&text, "    for (int i = arg[%d] - 1, at = int(first(unit, arg[%d])) + PLANE * i; i >= arg[%d] && %s; i--, at -= PLANE) {\n", a, a, a+1, undecided)
		fmt.Fprintf(&text, "        uvec4 plane = FETCH(%s, at);\n", block)
		switch l.test {
		case below:
			text.WriteString(step("less", "same", a+3))
		case within:
			text.WriteString(step("less", "same", a+2))
			fmt.Fprintf(&text, "        bit = uint(-(arg[%d] >> i & 1));\n        over &= ~(edge & ~plane & bit);\n        edge &= ~(plane ^ bit);\n", a+3)
		case equals:
			fmt.Fprintf(&text, "        same &= ~(plane ^ uint(-(arg[%d] >> i & 1)));\n", a+2)
		}
		text.WriteString("    }\n")
	}
	return text.String()
}

// step compares a plane with the bit of a constant.
func step(less, same string, arg int) string {
	return fmt.Sprintf("        uint bit = uint(-(arg[%d] >> i & 1));\n        %s |= %s & ~plane & bit;\n        %s &= ~(plane ^ bit);\n",
		arg, less, same, same)
}
