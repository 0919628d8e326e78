// Package glsl writes leaves of plans as GLSL. A [predicate.Computed] or [predicate.Members] becomes a
// function of one record ([Function]). It can also become a fragment program that discards the records that
// do not satisfy it ([Generate]). Constants are uniforms, never text, so that a shape is compiled once.
//
// It writes what a program needs: int where every intermediate value fits 32 bits, and pairs of words
// elsewhere. Doubles stay bits between operations.
package glsl

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/plan/lower"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/shaders"
)

// Generate writes the fragment program of a leaf. It discards a record if a column that it reads is NULL, or
// the record does not satisfy [Function], which is returned, too. Textures are bound to units 0..samplers-1,
// the lookup tables of the function after them; limbs has, by column, a GLSL expression for each limb
// ("t0.r").
func Generate(leaf predicate.Leaf, samplers int, limbs map[int][]string) (shaders.Source, *Func) {
	f := Function(leaf, 0, samplers)
	var b strings.Builder
	fmt.Fprintf(&b, "layout(binding = 0) uniform sampler2D attributes[%d];\n%s", samplers, f.Text)
	b.WriteString("\nvoid main() {\n    ivec2 at = ivec2(gl_FragCoord.xy);\n")
	for i := range samplers {
		fmt.Fprintf(&b, "    vec4 t%d = texelFetch(attributes[%d], at, 0);\n", i, i)
	}
	var codes []string
	for _, a := range f.Args {
		list := limbs[a.Column]
		fmt.Fprintf(&b, "    if (%s == 16777216.0) discard; // NULL\n", list[0])
		codes = append(codes, joinLimbs(list, a.Wide))
	}
	fmt.Fprintf(&b, "    if (!%s(%s)) discard;\n}\n", f.Name, strings.Join(codes, ", "))
	name := "members"
	if p, ok := leaf.(*predicate.Computed); ok {
		name = [...]string{predicate.Semilinear: "semilinear", predicate.Polynomial: "polynomial", predicate.Expression: "expression"}[p.Shape]
	}
	return shaders.Compose("generated "+name, f.Parts, b.String()), f
}

// joinLimbs writes the code that limbs of 24 bits (floats, lowest first) make up. It is a uint of its low
// word, or when wide a uvec2 of its low and high word.
func joinLimbs(limbs []string, wide bool) string {
	l := func(i int) string {
		if i < len(limbs) {
			return "uint(" + limbs[i] + ")"
		}
		return "0u"
	}
	low := l(0)
	if len(limbs) > 1 {
		low += " | " + l(1) + " << 24"
	}
	switch {
	case !wide:
		return low
	case len(limbs) == 1:
		return "uvec2(" + low + ", 0u)"
	}
	return fmt.Sprintf("uvec2(%s, %s >> 8 | %s << 16)", low, l(1), l(2))
}

// Arg is a parameter of a [Func]: the code of a column.
type Arg struct {
	Column int
	Wide   bool // a uvec2 of the low and the high word; else a uint
}

// Func is a leaf as a GLSL function of one record.
type Func struct {
	// Name is what to call: programN, for the n of [Function].
	Name string
	// Text declares the uniforms and lookup tables and defines
	// `bool programN(uint or uvec2 for each of Args)`. It needs Parts before it.
	Text string
	Args []Arg
	// Parts are the files of glsl/ that Text needs, in order: include each once a
	// shader, however many functions need it (see [shaders.Compose], [Parts]).
	Parts    []string
	Uniforms []shaders.Uniform // the constants; their names begin with programN
	// Lookups are the tables of predicate.Lookup nodes and of members: RGBA32UI buffer textures
	// of whole texels, four entries each, on the units from firstLookup on.
	Lookups [][]uint32
	// Turns is the most turns of loops that a call takes.
	Turns int
}

// Parts returns the files that several functions need, each once, in an order in
// which they compile.
func Parts(funcs ...*Func) (list []string) {
	for _, part := range parts {
		if slices.ContainsFunc(funcs, func(f *Func) bool { return slices.Contains(f.Parts, part) }) {
			list = append(list, part)
		}
	}
	return list
}

// parts are the files that functions need, of which the second and the third need the first.
var parts = []string{"int64.glsl", "float64.glsl", "members.glsl"}

// Function writes a function that reports whether a record, none of whose columns is
// NULL, satisfies a leaf. The text depends on the shape and on n, which tells the functions
// of a shader apart, only, and works in every kind of shader.
func Function(leaf predicate.Leaf, n, firstLookup int) *Func {
	f := &Func{Name: fmt.Sprintf("program%d", n)}
	g := &generator{f: f, firstLookup: firstLookup, columns: map[int]string{}}
	switch l := predicate.MatchAsMembers(leaf).(type) {
	case *predicate.Computed:
		g.computed(l)
	case *predicate.Members:
		g.members(l)
	default:
		f.Text = fmt.Sprintf("#error no function for %T\n", leaf)
	}
	return f
}

// Value writes a function that makes the code of a record none of whose columns is NULL: `uvec2` programN, its low and its high word.
// What is said of [Function] holds of it, too.
func Value(m *lower.ComputedCodes, n, firstLookup int) *Func {
	f := &Func{Name: fmt.Sprintf("program%d", n)}
	g := &generator{f: f, firstLookup: firstLookup, columns: map[int]string{}, narrow: fits32([]*predicate.Val{m.Val}) && m.Bits() <= 32}
	params := g.params([]*predicate.Val{m.Val}, m.Val.Columns())
	v := g.emit(m.Val)
	switch less := -m.Base; {
	case g.narrow:
		g.linef("return uvec2(uint(%s) + %s, 0u);", v, g.uniform("uint", shaders.Uint("", uint32(less))))
	case m.Val.Float:
		g.linef("return wrappingAdd(toOrdinal64(%s), %s);", v, g.pair(less))
	default: // an ordinal has the sign's bit inverted
		g.linef("return wrappingAdd(%s, %s);", v, g.pair(less+1<<63))
	}
	f.Text = fmt.Sprintf("%s\nuvec2 %s(%s) {\n%s}\n", g.declare.String(), f.Name, params, g.lines.String())
	return f
}

// setCodes is the largest number of codes for which members are looked up in a table with a bit for each
// code: 512 KiB. Beyond it the list of spans is searched.
const setCodes = 1 << 22

// members writes the membership of a code in spans.
func (g *generator) members(m *predicate.Members) {
	var table []uint32
	test := ""
	if last := m.Spans[len(m.Spans)-1].Hi; last < setCodes {
		table = make([]uint32, last/128*4+4)
		for _, s := range m.Spans {
			for at := s.Lo; at <= s.Hi; at = at/32*32 + 32 {
				table[at/32] |= uint32(uint64(1)<<(min(s.Hi, at|31)-at+1)-1) << (at % 32)
			}
		}
		most := g.uniform("uint", shaders.Uint("", uint32(last)))
		test = fmt.Sprintf("a0.y == 0u && a0.x <= %s && (texelFetch(%s, int(a0.x >> 7))[a0.x >> 5 & 3u] >> (a0.x & 31u) & 1u) != 0u", most, g.table(table))
	} else {
		for _, s := range m.Spans {
			table = append(table, uint32(s.Lo), uint32(s.Lo>>32), uint32(s.Hi), uint32(s.Hi>>32))
		}
		g.f.Parts, g.f.Turns = []string{parts[0], parts[2]}, bits.Len(uint(len(m.Spans)))+1
		test = fmt.Sprintf("member(%s, %s, a0)", g.table(table), g.uniform("int", shaders.Int("", int32(len(m.Spans)))))
	}
	g.f.Args = []Arg{{Column: m.Col, Wide: true}}
	g.f.Text = fmt.Sprintf("%s\nbool %s(uvec2 a0) { return %s; }\n", g.declare.String(), g.f.Name, test)
}

// computed writes a [predicate.Computed]: nothing fails, and L Op R holds (Fails: that operation fails,
// and none of its operands does).
func (g *generator) computed(p *predicate.Computed) {
	f, root := g.f, []*predicate.Val{p.L, p.R}
	if p.Fails != nil {
		root = p.Fails.Kids
	}
	g.narrow = p.Fails == nil && fits32(root)
	params := g.params([]*predicate.Val{p.L, p.R, p.Fails}, p.Columns())
	g.body(p, root)
	f.Text = fmt.Sprintf("%s\nbool %s(%s) {\n%s}\n", g.declare.String(), f.Name, params, g.lines.String())
}

// params are the parameters of a function that computes values of columns; it begins with what these need.
func (g *generator) params(values []*predicate.Val, cols []int) string {
	f := g.f
	switch {
	case anyNode(func(v *predicate.Val) bool { return v.Float }, values...):
		f.Parts = parts[:2:2]
		g.linef("failed = false;")
	case !g.narrow:
		f.Parts = parts[:1:1]
		g.linef("failed = false;")
	}
	var params []string
	for i, c := range cols {
		kind, name := "uint", fmt.Sprintf("a%d", i)
		if !g.narrow {
			kind = "uvec2"
		}
		f.Args = append(f.Args, Arg{Column: c, Wide: !g.narrow})
		g.columns[c] = name
		params = append(params, kind+" "+name)
	}
	return strings.Join(params, ", ")
}

// body writes the statements of the function.
func (g *generator) body(p *predicate.Computed, root []*predicate.Val) {
	values := xslices.Map(root, g.emit)
	switch {
	case p.Fails != nil:
		g.linef("if (failed) return false; // an operand failed: another check reports it")
		g.operate(p.Fails, values)
		g.linef("return failed;")
	default:
		if !g.narrow {
			g.linef("if (failed) return false;")
		}
		g.linef("return %s;", g.compare(p.Op, root[0].Float, values[0], values[1]))
	}
}

// anyNode reports whether a node of the trees satisfies f; nil trees have none.
func anyNode(f func(*predicate.Val) bool, trees ...*predicate.Val) bool {
	return slices.ContainsFunc(trees, func(v *predicate.Val) bool { return v != nil && (f(v) || anyNode(f, v.Kids...)) })
}

// fits32 reports whether every value is an integer of 32 bits that cannot fail.
func fits32(roots []*predicate.Val) bool {
	for _, v := range roots {
		if v.Float || v.CanFail {
			return false
		}
		if v.Op != predicate.Lookup && (v.Lo == nil || v.Hi == nil || !v.Lo.IsInt64() || !v.Hi.IsInt64() ||
			v.Lo.Int64() < math.MinInt32 || v.Hi.Int64() > math.MaxInt32) {
			return false
		}
		if v.Op == predicate.Lookup && v.Hi != nil && (!v.Hi.IsInt64() || v.Hi.Int64() > math.MaxInt32) {
			return false
		}
		if !fits32(v.Kids) {
			return false
		}
	}
	return true
}

type generator struct {
	f           *Func
	narrow      bool // int instead of uvec2
	firstLookup int
	declare     strings.Builder
	lines       strings.Builder
	columns     map[int]string // the parameter of a column
	vars        int
}

func (g *generator) linef(format string, args ...any) {
	fmt.Fprintf(&g.lines, "    "+format+"\n", args...)
}

// variable declares a fresh variable with a value.
func (g *generator) variable(kind, value string) string {
	g.vars++
	name := fmt.Sprintf("v%d", g.vars)
	g.linef("%s %s = %s;", kind, name, value)
	return name
}

func (g *generator) uniform(kind string, u shaders.Uniform) string {
	u.Name = fmt.Sprintf("%sc%d", g.f.Name, len(g.f.Uniforms))
	g.f.Uniforms = append(g.f.Uniforms, u)
	fmt.Fprintf(&g.declare, "uniform %s %s;\n", kind, u.Name)
	return u.Name
}

// constant makes a uniform of a 64-bit pattern, or of an int.
func (g *generator) constant(bits uint64) string {
	if g.narrow {
		return g.uniform("int", shaders.Uniform{I: []int32{int32(bits)}})
	}
	return g.pair(bits)
}

func (g *generator) pair(bits uint64) string {
	return g.uniform("uvec2", shaders.Uniform{U: []uint32{uint32(bits), uint32(bits >> 32)}})
}

// emit writes the computation of v and returns its variable: int (narrow), uvec2
// holding an int64, or uvec2 holding the bits of a double.
func (g *generator) emit(v *predicate.Val) string {
	kids := xslices.Map(v.Kids, g.emit)
	switch v.Op {
	case predicate.Col:
		code, offset := g.columns[v.Column], g.constant(uint64(v.Offset))
		if g.narrow {
			return g.variable("int", "int("+code+") + "+offset)
		}
		return g.variable("uvec2", "wrappingAdd("+code+", "+offset+")")
	case predicate.ColF:
		ordinal := fmt.Sprintf("wrappingAdd(%s, %s)", g.columns[v.Column], g.pair(v.Base))
		if v.Single {
			return g.variable("uvec2", "fromOrdinal32("+ordinal+".x)")
		}
		return g.variable("uvec2", "fromOrdinal64("+ordinal+")")
	case predicate.Const:
		if v.Float {
			return g.pair(math.Float64bits(v.F))
		}
		return g.constant(uint64(v.I))
	case predicate.Lookup:
		return g.lookup(v)
	}
	return g.operate(v, kids)
}

func (g *generator) lookup(v *predicate.Val) string {
	table := make([]uint32, (len(v.Table)+3)/4*4)
	copy(table, v.Table)
	code := g.columns[v.Column]
	if !g.narrow {
		code += ".x"
	}
	value := fmt.Sprintf("texelFetch(%s, int(%s >> 2))[%s & 3u]", g.table(table), code, code)
	if g.narrow {
		return g.variable("int", "int("+value+")")
	}
	return g.variable("uvec2", "uvec2("+value+", 0u)")
}

// table declares a lookup table.
func (g *generator) table(words []uint32) string {
	name := fmt.Sprintf("%sLookup%d", g.f.Name, len(g.f.Lookups))
	fmt.Fprintf(&g.declare, "layout(binding = %d) uniform usamplerBuffer %s;\n", g.firstLookup+len(g.f.Lookups), name)
	g.f.Lookups = append(g.f.Lookups, words)
	return name
}

var operators = map[predicate.ValOp]string{predicate.AddV: "add", predicate.SubV: "sub", predicate.MulV: "mul",
	predicate.DivV: "div", predicate.ModV: "mod", predicate.NegV: "neg"}

// operate writes one operation on operands that are already variables.
func (g *generator) operate(v *predicate.Val, kids []string) string {
	args := strings.Join(kids, ", ")
	switch {
	case v.Op == predicate.ToFloat:
		return g.variable("uvec2", "floatI64("+args+")")
	case v.Op == predicate.Round32:
		return g.variable("uvec2", "round32("+args+")")
	case v.Float:
		return g.variable("uvec2", operators[v.Op]+"F64("+args+")")
	case !g.narrow:
		return g.variable("uvec2", operators[v.Op]+"I64("+args+")")
	}
	switch v.Op {
	case predicate.AddV:
		return g.variable("int", kids[0]+" + "+kids[1])
	case predicate.SubV:
		return g.variable("int", kids[0]+" - "+kids[1])
	case predicate.MulV:
		return g.variable("int", kids[0]+" * "+kids[1])
	case predicate.NegV:
		return g.variable("int", "-"+kids[0])
	}
	// GLSL leaves / and % of negative numbers open: divide magnitudes.
	a, b := kids[0], kids[1]
	if v.Op == predicate.DivV {
		q := g.variable("int", fmt.Sprintf("int(uint(abs(%s)) / uint(abs(%s)))", a, b))
		return g.variable("int", fmt.Sprintf("(%s < 0) != (%s < 0) ? -%s : %s", a, b, q, q))
	}
	r := g.variable("int", fmt.Sprintf("int(uint(abs(%s)) %% uint(abs(%s)))", a, b))
	return g.variable("int", fmt.Sprintf("%s < 0 ? -%s : %s", a, r, r))
}

var ops = [...]string{expr.LT: "<", expr.LE: "<=", expr.EQ: "==", expr.NE: "!=", expr.GE: ">=", expr.GT: ">"}

// Op returns the GLSL operator of a comparison.
func Op(op expr.CmpOp) string { return ops[op] }

func (g *generator) compare(op expr.CmpOp, float bool, a, b string) string {
	switch {
	case g.narrow:
		return a + " " + ops[op] + " " + b
	case float:
		return fmt.Sprintf("compareF64(%s, %s) %s 0", a, b, ops[op])
	}
	return fmt.Sprintf("compareI64(%s, %s) %s 0", a, b, ops[op])
}
