package shaders

import (
	"fmt"
	"math"
	"strings"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
)

// Inputs says how a generated program reads its columns.
type Inputs struct {
	Samplers int              // textures bound to units 0..Samplers-1
	Limbs    map[int][]string // by column: a GLSL expression for each limb, "t0.r"
	// Lookups are the tables of plan.Lookup nodes, in order: buffer textures on the
	// units after the samplers, four entries to a texel.
	Lookups [][]uint32
}

// Mode is what a generated program is asked for.
type Mode uint8

const (
	// Keep records that satisfy the program.
	Keep Mode = iota
	// Hazards keeps records in which a subnormal double takes part: these the
	// graphics pipeline cannot be trusted with.
	Hazards
)

// Generate writes the fragment program of a plan.Program: it discards a record
// unless no column it reads is NULL, nothing fails, and L Op R holds (Fails: unless
// that operation fails). The text depends on the shape only; constants are the
// returned uniforms. The lookup tables met are appended to in.Lookups.
func Generate(p *plan.Program, in *Inputs, mode Mode) (Source, []Uniform) {
	g := &generator{in: in, columns: map[int]string{}}
	root := func() []*plan.Val {
		if p.Fails != nil {
			return p.Fails.Kids
		}
		return []*plan.Val{p.L, p.R}
	}()
	g.narrow = p.Fails == nil && fits32(root)
	if isDouble(p) {
		g.parts = []string{"int64.glsl", "float64.glsl"}
	} else if !g.narrow {
		g.parts = []string{"int64.glsl"}
	}
	var values []string
	for _, v := range root {
		values = append(values, g.emit(v))
	}
	switch {
	case mode == Hazards:
		g.finishHazards(p, values)
	case p.Fails != nil:
		g.linef("if (failed) discard; // an operand failed: another check reports it")
		g.operate(p.Fails, values)
		g.linef("if (!failed) discard;")
	default:
		if !g.narrow {
			g.linef("if (failed) discard;")
		}
		g.linef("if (!(%s)) discard;", g.compare(p.Op, root[0].Float, values[0], values[1]))
	}
	return g.source(p.Shape), g.uniforms
}

// isDouble reports whether any node of the program is a double.
func isDouble(p *plan.Program) bool {
	return anyNode(func(v *plan.Val) bool { return v.Float }, p.L, p.R, p.Fails)
}

// Arithmetic reports whether doubles are computed with, not just compared.
func Arithmetic(p *plan.Program) bool {
	return anyNode(func(v *plan.Val) bool {
		switch v.Op {
		case plan.AddV, plan.SubV, plan.MulV, plan.DivV, plan.Round32:
			return v.Float
		}
		return false
	}, p.L, p.R, p.Fails)
}

// anyNode reports whether a node of the trees satisfies f; nil trees have none.
func anyNode(f func(*plan.Val) bool, trees ...*plan.Val) bool {
	for _, v := range trees {
		if v != nil && (f(v) || anyNode(f, v.Kids...)) {
			return true
		}
	}
	return false
}

// fits32 reports whether every value is an integer of 32 bits that cannot fail.
func fits32(roots []*plan.Val) bool {
	for _, v := range roots {
		if v.Float || v.CanFail {
			return false
		}
		if v.Op != plan.Lookup && (v.Lo == nil || v.Hi == nil || !v.Lo.IsInt64() || !v.Hi.IsInt64() ||
			v.Lo.Int64() < math.MinInt32 || v.Hi.Int64() > math.MaxInt32) {
			return false
		}
		if v.Op == plan.Lookup && v.Hi != nil && (!v.Hi.IsInt64() || v.Hi.Int64() > math.MaxInt32) {
			return false
		}
		if !fits32(v.Kids) {
			return false
		}
	}
	return true
}

type generator struct {
	in       *Inputs
	narrow   bool // int instead of uvec2
	parts    []string
	uniforms []Uniform
	declare  strings.Builder
	body     strings.Builder
	columns  map[int]string // code of a column as a variable
	vars     int
}

func (g *generator) linef(format string, args ...any) {
	fmt.Fprintf(&g.body, "    "+format+"\n", args...)
}

// variable declares a fresh variable with a value.
func (g *generator) variable(kind, value string) string {
	g.vars++
	name := fmt.Sprintf("v%d", g.vars)
	g.linef("%s %s = %s;", kind, name, value)
	return name
}

func (g *generator) uniform(kind string, u Uniform) string {
	u.Name = fmt.Sprintf("c%d", len(g.uniforms))
	g.uniforms = append(g.uniforms, u)
	fmt.Fprintf(&g.declare, "uniform %s %s;\n", kind, u.Name)
	return u.Name
}

// constant makes a uniform of a 64-bit pattern, or of an int.
func (g *generator) constant(bits uint64) string {
	if g.narrow {
		return g.uniform("int", Uniform{I: []int32{int32(bits)}})
	}
	return g.pair(bits)
}

func (g *generator) pair(bits uint64) string {
	return g.uniform("uvec2", Uniform{U: []uint32{uint32(bits), uint32(bits >> 32)}})
}

// code emits the code of a column as a variable: uint when narrow, else uvec2.
func (g *generator) code(col int) string {
	if name, ok := g.columns[col]; ok {
		return name
	}
	limbs := g.in.Limbs[col]
	g.linef("if (%s == 16777216.0) discard; // NULL", limbs[0])
	var value, kind string
	l := func(i int) string {
		if i < len(limbs) {
			return "uint(" + limbs[i] + ")"
		}
		return "0u"
	}
	switch {
	case g.narrow && len(limbs) == 1:
		kind, value = "uint", l(0)
	case g.narrow:
		kind, value = "uint", l(0)+" | "+l(1)+" << 24"
	case len(limbs) == 1:
		kind, value = "uvec2", "uvec2("+l(0)+", 0u)"
	default:
		kind, value = "uvec2", fmt.Sprintf("uvec2(%s | %s << 24, %s >> 8 | %s << 16)", l(0), l(1), l(1), l(2))
	}
	name := g.variable(kind, value)
	g.columns[col] = name
	return name
}

// emit writes the computation of v and returns its variable: int (narrow), uvec2
// holding an int64, or uvec2 holding the bits of a double.
func (g *generator) emit(v *plan.Val) string {
	var kids []string
	for _, k := range v.Kids {
		kids = append(kids, g.emit(k))
	}
	switch v.Op {
	case plan.Col:
		code, offset := g.code(v.Column), g.constant(uint64(v.Offset))
		if g.narrow {
			return g.variable("int", "int("+code+") + "+offset)
		}
		return g.variable("uvec2", "wrappingAdd("+code+", "+offset+")")
	case plan.ColF:
		ordinal := fmt.Sprintf("wrappingAdd(%s, %s)", g.code(v.Column), g.pair(v.Base))
		if v.Single {
			return g.variable("uvec2", "fromOrdinal32("+ordinal+".x)")
		}
		return g.variable("uvec2", "fromOrdinal64("+ordinal+")")
	case plan.Const:
		if v.Float {
			return g.pair(math.Float64bits(v.F))
		}
		return g.constant(uint64(v.I))
	case plan.Lookup:
		return g.lookup(v)
	}
	return g.operate(v, kids)
}

func (g *generator) lookup(v *plan.Val) string {
	n := len(g.in.Lookups)
	g.in.Lookups = append(g.in.Lookups, v.Table)
	code := g.code(v.Column)
	if !g.narrow {
		code += ".x"
	}
	fmt.Fprintf(&g.declare, "layout(binding = %d) uniform usamplerBuffer lookup%d;\n", g.in.Samplers+n, n)
	value := fmt.Sprintf("texelFetch(lookup%d, int(%s >> 2))[%s & 3u]", n, code, code)
	if g.narrow {
		return g.variable("int", "int("+value+")")
	}
	return g.variable("uvec2", "uvec2("+value+", 0u)")
}

var operators = map[plan.ValOp]string{plan.AddV: "add", plan.SubV: "sub", plan.MulV: "mul",
	plan.DivV: "div", plan.ModV: "mod", plan.NegV: "neg"}

// operate writes one operation on operands that are already variables.
func (g *generator) operate(v *plan.Val, kids []string) string {
	args := strings.Join(kids, ", ")
	switch {
	case v.Op == plan.ToFloat:
		return g.variable("uvec2", "floatI64("+args+")")
	case v.Op == plan.Round32:
		return g.variable("uvec2", "round32("+args+")")
	case v.Float:
		return g.variable("uvec2", operators[v.Op]+"F64("+args+")")
	case !g.narrow:
		return g.variable("uvec2", operators[v.Op]+"I64("+args+")")
	}
	switch v.Op {
	case plan.AddV:
		return g.variable("int", kids[0]+" + "+kids[1])
	case plan.SubV:
		return g.variable("int", kids[0]+" - "+kids[1])
	case plan.MulV:
		return g.variable("int", kids[0]+" * "+kids[1])
	case plan.NegV:
		return g.variable("int", "-"+kids[0])
	}
	// GLSL leaves / and % of negative numbers open: divide magnitudes.
	a, b := kids[0], kids[1]
	if v.Op == plan.DivV {
		q := g.variable("int", fmt.Sprintf("int(uint(abs(%s)) / uint(abs(%s)))", a, b))
		return g.variable("int", fmt.Sprintf("(%s < 0) != (%s < 0) ? -%s : %s", a, b, q, q))
	}
	r := g.variable("int", fmt.Sprintf("int(uint(abs(%s)) %% uint(abs(%s)))", a, b))
	return g.variable("int", fmt.Sprintf("%s < 0 ? -%s : %s", a, r, r))
}

var glslOps = [...]string{expr.LT: "<", expr.LE: "<=", expr.EQ: "==", expr.NE: "!=", expr.GE: ">=", expr.GT: ">"}

// GLSLOp returns the GLSL operator of a comparison.
func GLSLOp(op expr.CmpOp) string { return glslOps[op] }

func (g *generator) compare(op expr.CmpOp, float bool, a, b string) string {
	switch {
	case g.narrow:
		return a + " " + glslOps[op] + " " + b
	case float:
		return fmt.Sprintf("compareF64(%s, %s) %s 0", a, b, glslOps[op])
	}
	return fmt.Sprintf("compareI64(%s, %s) %s 0", a, b, glslOps[op])
}

// finishHazards ends a program that keeps records with subnormal doubles.
func (g *generator) finishHazards(p *plan.Program, values []string) {
	if p.Fails != nil {
		g.operate(p.Fails, values)
	}
	g.linef("if (!hazard) discard;")
}

func (g *generator) source(shape plan.Shape) Source {
	name := [...]string{plan.Semilinear: "semilinear", plan.Polynomial: "polynomial", plan.Expression: "expression"}[shape]
	s := assemble("generated "+name, nil, g.parts...)
	var b strings.Builder
	b.WriteString(s.Text)
	fmt.Fprintf(&b, "#line 1 %d\n", len(g.parts))
	fmt.Fprintf(&b, "layout(binding = 0) uniform sampler2D attributes[%d];\n", g.in.Samplers)
	b.WriteString(g.declare.String())
	b.WriteString("\nvoid main() {\n    ivec2 at = ivec2(gl_FragCoord.xy);\n")
	for i := range g.in.Samplers {
		fmt.Fprintf(&b, "    vec4 t%d = texelFetch(attributes[%d], at, 0);\n", i, i)
	}
	b.WriteString(g.body.String())
	b.WriteString("}\n")
	s.Text = b.String()
	s.Files = append(s.Files, s.Name)
	return s
}
