package compute

import (
	"fmt"
	"strings"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan/glsl"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/textures"
)

// values makes the leaf of what needs the values of records: a sum of planes, or a function
// of the codes.
func (x *ChunkWork) values(l predicate.Leaf) (*Node, error) {
	if n, ok := x.valued[l]; ok {
		return n, nil
	}
	made := leaf{test: coded, text: l.String()}
	blocks := 2 // the result, and the bitmap
	if p, ok := l.(*predicate.Computed); ok && !x.Device.Software {
		made.sum = x.planeSum(p)
	}
	if m, ok := l.(*predicate.Match); ok {
		made.codes = x.match(m)
	}
	switch {
	case made.codes != nil:
		made.function = &glsl.Func{Name: "listed", Args: []glsl.Arg{{Column: l.Columns()[0]}}}
		blocks += 2
	case made.sum != nil:
		made.test, blocks = summed, reserved+len(made.sum.terms)
	default:
		made.function = glsl.Function(l, 0, 0)
		for _, a := range made.function.Args {
			blocks += textures.Parts(x.Segment(a.Column))
		}
	}
	var err error
	made.valid, err = x.notNulls(l.Columns(), blocks)
	n := leafNode(made)
	x.valued[l] = n
	return n, err
}

// notNulls lists the validity planes of columns. Where the device binds too few blocks besides those of a
// program, it returns a bitmap of the records that are NULL in none.
func (x *ChunkWork) notNulls(cols []int, blocks int) (list []Source, err error) {
	var tests []*Node
	for _, c := range cols {
		if x.Segment(c).Nulls > 0 {
			list = append(list, Source{col: c, content: textures.Validity})
			tests = append(tests, x.notNull(c, expr.Ident(x.Q.Table.Field(c).Name)+" IS NOT NULL"))
		}
	}
	if len(list) > 1 && blocks+len(list) > x.Device.BlockLimit() {
		n, err := x.Mark(junction(predicate.And, tests))
		if err != nil {
			return nil, err
		}
		list = []Source{{Marks: n.Leaf.Marks}}
	}
	return list, nil
}

// coded writes the test of a unit's records by the function of a leaf, four neighbouring records at a time. A
// thread tests its bits of the unit (codes.glsl).
func (w *Writer) coded(l *leaf) {
	f, b := l.function, &w.body
	w.among(l.valid)
	b.WriteString("    uvec4 bits = uvec4(0u);\n    for (uint i = PLACE; i < 32u; i += STRIDE) {\n        uint quad = quadOf(unit, i);\n")
	masked := ""
	if len(f.Lookups) > 0 || l.codes != nil { // the codes behind the rows are any
		masked = " * (among >> i & 1u)"
	}
	high := make([]bool, len(f.Args))
	for i, a := range f.Args {
		seg := w.X.Segment(a.Column)
		fmt.Fprintf(b, "        uvec4 l%d = unpack(FETCH_%s(%s, quad))%s;\n", i, strings.ToUpper(textures.CodeType(seg)), w.Codes(a.Column, 0), masked)
		if high[i] = a.Wide && textures.Parts(seg) > 1; high[i] {
			fmt.Fprintf(b, "        uvec4 h%d = FETCH(%s, quad);\n", i, w.Codes(a.Column, 1))
		}
	}
	call := func(component string) string {
		var list []string
		for i, a := range f.Args {
			arg := fmt.Sprintf("l%d%s", i, component)
			switch {
			case high[i]:
				arg = fmt.Sprintf("uvec2(%s, h%d%s)", arg, i, component)
			case a.Wide:
				arg = fmt.Sprintf("uvec2(%s, 0u)", arg)
			}
			list = append(list, arg)
		}
		return f.Name + "(" + strings.Join(list, ", ") + ")"
	}
	if len(f.Parts) > 0 { // large functions are called in a loop, small ones in a row
		fmt.Fprintf(b, "        for (int j = 0; j < 4; j++)\n            bits[j] |= uint(%s) << i;\n", call("[j]"))
	} else {
		fmt.Fprintf(b, "        bits |= uvec4(%s, %s, %s, %s) << i;\n", call(".x"), call(".y"), call(".z"), call(".w"))
	}
	b.WriteString("    }\n    return bits & among;\n}\n")
}

// among writes that only the records of bitmaps matter.
func (w *Writer) among(bitmaps []Source) {
	for _, s := range bitmaps {
		at := "unit"
		if s.Marks != nil {
			at = s.Marks.unit()
		}
		fmt.Fprintf(&w.body, "    among &= FETCH(%s, %s);\n", w.Block(s, "uvec4", "readonly"), at)
	}
}

// evaluate makes c the program of a function of codes.
func (c *Code) evaluate(f *glsl.Func, d Profile) {
	c.Device, c.Regional, c.values, c.steps = d, false, true, 32
	if len(f.Parts) > 0 { // with loops of its own
		c.steps = shaders.MaxTurns
	}
	c.Files = append(append(c.Files, "codes.glsl"), f.Parts...)
	c.Uniforms = f.Uniforms
	for _, table := range f.Lookups {
		c.textures = append(c.textures, textures.Buffer(table))
	}
}

// listed writes the function that looks a code up in a bitmap.
func (w *Writer) listed(l *leaf) {
	fmt.Fprintf(&w.body, "\nbool %s(uint code) { return (FETCH_UINT(%s, code >> 5) >> (code & 31u) & 1u) != 0u; }\n",
		l.function.Name, w.Block(Source{Marks: l.codes}, "uint", "readonly"))
}
