package fused

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/glsl"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/predicates"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// A program has at most maxConstants constants as uniforms, for the compiler's sake. It has fewer where
// uniforms of other kinds need the device's room.
const (
	maxConstants  = 1000
	otherUniforms = 16
)

// attribute is a column as a program reads it. In GLSL attribute i of a record is xi, its code (a uint, or
// when wide a uvec2, low word first). vi says whether it is not NULL. Four records in a texel are lowi, highi
// and bitsi.
type attribute struct {
	col   int
	code  bool // the code is read, not only whether there is one
	wide  bool
	nulls bool
}

// kind is the type of its codes in GLSL.
func (a attribute) kind() string {
	if a.wide {
		return "uvec2"
	}
	return "uint"
}

// program is the text that evaluates a condition over the records of a chunk, or over those that a bitmap drawn before selects.
// It also has what the text reads. The text depends on the condition's shape only: attributes are numbered in the order of
// their first use, constants are uniforms.
type program struct {
	chunk     *table.Chunk
	attrs     []attribute
	refs      []textures.Ref // texture units, in order
	uniforms  []shaders.Uniform
	funcs     []*glsl.Func
	turns     int // of loops over lists, for one record
	declare   strings.Builder
	condition string // GLSL, over xi and vi; "" for TRUE
	bitmap    bool   // the records are those of a bitmap
}

// newProgram writes a condition over all records, or those of a bitmap if there is
// one, which are measured by the codes of other columns.
func newProgram(c *table.Chunk, bitmap *textures.Temp, p *predicate.Pred, measured ...int) *program {
	w := &program{chunk: c, bitmap: bitmap != nil}
	if w.bitmap {
		w.declare.WriteString("layout(binding = 0) uniform usampler2D bitmap; // 32 records a texel, four of each of eight stretches of the line\n" +
			"uniform uvec2 stretch; // texels of a stretch, a power of two, as a mask and as a shift\n" +
			"uniform int bitmapLine; // the first that is the chunk's\n")
		w.refs = append(w.refs, textures.Ref{Temp: bitmap})
		w.uniforms = append(w.uniforms, pair("stretch", bitmap.Width-1, bits.Len(uint(bitmap.Width-1))), shaders.Uniform{Name: "bitmapLine", I: []int32{int32(bitmap.Line)}})
	}
	w.collect(p)
	for _, col := range measured {
		w.read(col)
	}
	w.bind()
	if p.Op != predicate.True {
		w.condition = w.pred(p, "        ")
	}
	return w
}

// collect notes the attributes of a predicate.
func (w *program) collect(p *predicate.Pred) {
	for _, k := range p.Kids {
		w.collect(k)
	}
	switch l := p.Leaf.(type) {
	case nil:
	case *predicate.NullTest:
		w.attribute(l.Col)
	default:
		for _, c := range l.Columns() {
			w.read(c)
		}
	}
}

// attribute returns the number of a column, a new one at first.
func (w *program) attribute(col int) int {
	for i := range w.attrs {
		if w.attrs[i].col == col {
			return i
		}
	}
	seg := w.chunk.Segments[col]
	w.attrs = append(w.attrs, attribute{col: col, wide: textures.Parts(seg) == 2, nulls: seg.Nulls > 0})
	return len(w.attrs) - 1
}

// read returns the number of a column whose code is read.
func (w *program) read(col int) int {
	i := w.attribute(col)
	w.attrs[i].code = true
	return i
}

// bind declares the textures of the attributes.
func (w *program) bind() {
	texture := func(name string, i int, form textures.Form, holds string) {
		fmt.Fprintf(&w.declare, "layout(binding = %d) uniform usampler2D %s%d; // %s\n", len(w.refs), name, i, holds)
		w.refs = append(w.refs, textures.Integers(w.chunk, w.attrs[i].col, form))
	}
	for i, a := range w.attrs {
		if a.code {
			texture("codes", i, textures.LowWords, "four records a texel")
		}
		if a.code && a.wide {
			texture("upper", i, textures.HighWords, "the high words of their codes")
		}
		if a.nulls {
			texture("valid", i, textures.ValidBits, "a bit a record, 32 a texel")
		}
	}
}

// constant makes a uniform for a code that attribute i is compared with.
func (w *program) constant(i int, code uint64) string {
	u := shaders.Uniform{Name: fmt.Sprintf("c%d", len(w.uniforms)), U: []uint32{uint32(code)}}
	if w.attrs[i].wide {
		u.U = append(u.U, uint32(code>>32))
	}
	w.uniforms = append(w.uniforms, u)
	fmt.Fprintf(&w.declare, "uniform %s %s;\n", w.attrs[i].kind(), u.Name)
	return u.Name
}

// pred writes a predicate; its lines after the first begin with indent.
func (w *program) pred(p *predicate.Pred, indent string) string {
	switch p.Op {
	case predicate.True:
		return "true"
	case predicate.False:
		return "false"
	case predicate.Simple:
		return w.leaf(p.Leaf)
	}
	sep := "\n" + indent + "&& "
	if p.Op == predicate.Or {
		sep = "\n" + indent + "|| "
	}
	kids := xslices.Map(p.Kids, func(k *predicate.Pred) string { return w.pred(k, indent+"    ") })
	return "(" + strings.Join(kids, sep) + ")"
}

// leaf writes a simple predicate.
func (w *program) leaf(leaf predicate.Leaf) string {
	switch l := leaf.(type) {
	case *predicate.NullTest:
		i := w.attribute(l.Col)
		switch {
		case !w.attrs[i].nulls: // though some were possible when it was planned
			return fmt.Sprint(l.Not)
		case l.Not:
			return fmt.Sprintf("v%d", i)
		}
		return fmt.Sprintf("!v%d", i)
	case *predicate.Compare:
		i := w.attribute(l.Col)
		return w.notNull(l, w.compare(i, l.Op, w.constant(i, l.Code)))
	case *predicate.Range:
		return w.notNull(l, w.between(w.attribute(l.Col), l.Lo, l.Hi))
	}
	return w.call(leaf)
}

// notNull writes that a predicate holds and no attribute it reads is NULL.
func (w *program) notNull(l predicate.Leaf, holds string) string {
	valid := ""
	for _, c := range l.Columns() {
		if i := w.attribute(c); w.attrs[i].nulls {
			valid += fmt.Sprintf("v%d && ", i)
		}
	}
	if valid == "" {
		return holds
	}
	return "(" + valid + holds + ")"
}

// compare writes attribute i op a constant.
func (w *program) compare(i int, op expr.CmpOp, c string) string {
	x := fmt.Sprintf("x%d", i)
	if !w.attrs[i].wide || op == expr.EQ || op == expr.NE {
		return x + " " + glsl.Op(op) + " " + c
	}
	switch op {
	case expr.LT:
		return "belowU64(" + x + ", " + c + ")"
	case expr.GT:
		return "belowU64(" + c + ", " + x + ")"
	case expr.LE:
		return "!belowU64(" + c + ", " + x + ")"
	}
	return "!belowU64(" + x + ", " + c + ")"
}

// between writes lo <= attribute i <= hi.
func (w *program) between(i int, lo, hi uint64) string {
	if w.attrs[i].wide {
		return w.compare(i, expr.GE, w.constant(i, lo)) + " && " + w.compare(i, expr.LE, w.constant(i, hi))
	}
	return fmt.Sprintf("x%d - %s <= %s", i, w.constant(i, lo), w.constant(i, hi-lo)) // below lo it wraps around
}

// code writes the code of attribute i as a uvec2, or as its low word.
func (w *program) code(i int, wide bool) string {
	switch {
	case wide == w.attrs[i].wide:
		return fmt.Sprintf("x%d", i)
	case wide:
		return fmt.Sprintf("uvec2(x%d, 0u)", i)
	}
	return fmt.Sprintf("x%d.x", i)
}

// call calls the function of a leaf.
func (w *program) call(leaf predicate.Leaf) string {
	f := glsl.Function(leaf, len(w.funcs), len(w.refs))
	w.funcs, w.turns = append(w.funcs, f), w.turns+f.Turns
	w.uniforms = append(w.uniforms, f.Uniforms...)
	for _, t := range f.Lookups {
		w.refs = append(w.refs, textures.Buffer(t))
	}
	w.declare.WriteString(f.Text)
	args := xslices.Map(f.Args, func(a glsl.Arg) string { return w.code(w.attribute(a.Column), a.Wide) })
	return w.notNull(leaf, f.Name+"("+strings.Join(args, ", ")+")")
}

// parts are the files of glsl/ that the text needs.
func (w *program) parts() []string {
	parts := glsl.Parts(w.funcs...)
	if len(parts) == 0 && slices.ContainsFunc(w.attrs, func(a attribute) bool { return a.wide }) {
		parts = []string{"int64.glsl"}
	}
	return parts
}

// compose makes a program of a main function, after what it needs.
func (w *program) compose(name, main string, others ...string) shaders.Source {
	text := w.declare.String()
	if w.condition != "" {
		params, _ := w.parameters()
		text += fmt.Sprintf("\nbool selected(%s) {\n    return %s;\n}\n", strings.Join(params, ", "), w.condition)
	}
	parts := w.parts()
	for _, f := range others {
		if !slices.Contains(parts, f) {
			parts = append(parts, f)
		}
	}
	return shaders.Compose("generated "+name, parts, text+main)
}

// parameters are those of selected, the condition for one record: xi and vi, and what they
// are for record k of a texel.
func (w *program) parameters() (params, args []string) {
	for i, a := range w.attrs {
		if a.code {
			params, args = append(params, fmt.Sprintf("%s x%d", a.kind(), i)), append(args, w.x(i))
		}
		if a.nulls {
			params, args = append(params, fmt.Sprintf("bool v%d", i)), append(args, w.v(i))
		}
	}
	return params, args
}

// fetch writes the reading of a texel: of four records of each attribute.
func (w *program) fetch(indent string) string {
	var b strings.Builder
	if w.bitmap {
		b.WriteString(indent + "uint chosen = texelFetch(bitmap, ivec2(uint(at.x) & stretch.x, at.y + bitmapLine), 0).r >> (4u * (uint(at.x) >> stretch.y));\n")
	}
	for i, a := range w.attrs {
		if a.code {
			fmt.Fprintf(&b, "%suvec4 low%d = texelFetch(codes%d, at, 0);\n", indent, i, i)
		}
		if a.code && a.wide {
			fmt.Fprintf(&b, "%suvec4 high%d = texelFetch(upper%d, at, 0);\n", indent, i, i)
		}
		if a.nulls {
			fmt.Fprintf(&b, "%suint bits%d = texelFetch(valid%d, ivec2(at.x >> 3, at.y), 0).r >> (4 * (at.x & 7));\n", indent, i, i)
		}
	}
	return b.String()
}

// x writes the code of record k of attribute i.
func (w *program) x(i int) string {
	if w.attrs[i].wide {
		return fmt.Sprintf("uvec2(low%d[k], high%d[k])", i, i)
	}
	return fmt.Sprintf("low%d[k]", i)
}

// v writes whether record k of attribute i is not NULL.
func (w *program) v(i int) string { return fmt.Sprintf("(bits%d >> k & 1u) != 0u", i) }

// holds writes whether record k is selected; "" for TRUE.
func (w *program) holds() string {
	var both []string
	if w.bitmap {
		both = append(both, "(chosen >> k & 1u) != 0u")
	}
	if w.condition != "" {
		_, args := w.parameters()
		both = append(both, "selected("+strings.Join(args, ", ")+")")
	}
	return strings.Join(both, " && ")
}

// discarding returns the program that keeps the fragments of selected records.
func (w *program) discarding() shaders.Source {
	return w.compose("selection", "\nvoid main() {\n    ivec2 at = ivec2(gl_FragCoord.xy);\n"+
		"    int k = at.x & 3;\n    at.x >>= 2;\n"+w.fetch("    ")+"    if (!("+w.holds()+"))\n        discard;\n}\n")
}

// drawing returns the program that draws the bitmap of the selected records. A
// fragment takes texels at distances of the bitmap's width, as fragments of a
// reduction do. Bits behind the last record of a line mean nothing.
func (w *program) drawing() shaders.Source {
	return w.compose("bitmap", `
uniform uvec2 extent; // texels in a line, lines
uniform uint apart;   // from one texel of a fragment to its next
uniform uint above;   // lines of the target, which are other chunks'
layout(location = 0) out uint bits;

void main() {
    bits = 0u;
    for (uint i = 0u; i < 8u; i++) {
        ivec2 at = ivec2(uint(gl_FragCoord.x) + i * apart, uint(gl_FragCoord.y) - above);
        if (at.x >= int(extent.x))
            break;
`+w.fetch("        ")+`        for (int k = 0; k < 4; k++)
            bits |= uint(`+w.holds()+`) << (4u * i + uint(k));
    }
}
`)
}

// fits returns a [plan.Declined] when a program has too many textures or constants for the device. It also
// does when a fragment that reads that many texels loops too often.
func (w *program) fits(d predicates.Limits, texels int) error {
	switch {
	case len(w.refs) > d.Samplers:
		return &plan.Declined{Why: fmt.Sprintf("the condition reads %d textures, the device has %d in a fragment program", len(w.refs), d.Samplers)}
	case d.Software && texels*(2+4*(1+w.turns)) > shaders.MaxTurns:
		return &plan.Declined{Why: fmt.Sprintf("the condition searches lists so often that a fragment over %d records takes more than %d turns of loops, "+
			"which the software rasteriser does not", 4*texels, shaders.MaxTurns)}
	}
	if most := min(maxConstants, d.Uniforms-otherUniforms); len(w.uniforms) > most {
		return &plan.Declined{Why: fmt.Sprintf("the condition has %d constants, a fragment program takes %d on this device", len(w.uniforms), most)}
	}
	return nil
}
