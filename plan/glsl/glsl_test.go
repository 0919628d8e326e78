package glsl_test

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/internal/gltest"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan/glsl"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/shaders"
)

// product is col0 * col1 + k < k with values up to top, or in doubles.
func product(k int64, top int64, float bool) *predicate.Computed {
	number := func(op predicate.ValOp, kids ...*predicate.Val) *predicate.Val {
		return &predicate.Val{Op: op, Kids: kids, Float: float, I: k, F: float64(k), Lo: big.NewInt(0), Hi: big.NewInt(top), CanFail: top > 1<<60}
	}
	col := func(i int) *predicate.Val {
		v := number(predicate.Col)
		if float {
			v.Op = predicate.ColF
		}
		v.Column, v.Name = i, fmt.Sprintf("c%d", i)
		return v
	}
	return &predicate.Computed{Op: expr.LT, L: number(predicate.AddV, number(predicate.MulV, col(0), col(1)), number(predicate.Const)), R: number(predicate.Const), Shape: predicate.Expression}
}

func TestTheTextOfAFunctionDependsOnItsShapeOnly(t *testing.T) {
	for _, float := range []bool{false, true} {
		for _, top := range []int64{1 << 20, 1<<63 - 1} {
			a := glsl.Function(product(3, top, float), 0, 2)
			b := glsl.Function(product(-17, top, float), 0, 2)
			if a.Text != b.Text || len(a.Uniforms) != len(b.Uniforms) {
				t.Errorf("constants 3 and -17 give\n%s\nand\n%s", a.Text, b.Text)
			}
		}
	}
}

// Several functions share a shader, and it need not be a fragment shader.
func TestFunctionsCompileTogetherInAnyShader(t *testing.T) {
	lookup := &predicate.Computed{Op: expr.EQ, L: &predicate.Val{Op: predicate.Lookup, Column: 3, Table: []uint32{2, 1}},
		R: &predicate.Val{Op: predicate.Lookup, Column: 5, Table: []uint32{3}}, Shape: predicate.Expression}
	fails := product(1, 1<<63-1, false)
	fails.L, fails.R, fails.Fails = nil, nil, fails.L
	var funcs []*glsl.Func
	for n, p := range []*predicate.Computed{product(1, 1<<20, false), product(1, 1<<63-1, false), fails, product(1, 1, true), lookup} {
		funcs = append(funcs, glsl.Function(p, n, 7))
	}
	text, calls := "", []string{}
	for _, f := range funcs {
		text += f.Text
		var args []string
		for _, a := range f.Args {
			args = append(args, map[bool]string{false: "x", true: "uvec2(x)"}[a.Wide])
		}
		calls = append(calls, f.Name+"("+strings.Join(args, ", ")+")")
	}
	if n := len(funcs[4].Lookups); n != 2 {
		t.Errorf("%d lookup tables, want 2", n)
	}
	decide := "bool decide(uint x) { return " + strings.Join(calls, " || ") + "; }\n"
	gltest.Run(t, 0, func(ctx *glctx.Context, g *pass.GL) {
		fragment := shaders.Compose("all", glsl.Parts(funcs...), text+decide+"void main() { if (!decide(uint(gl_FragCoord.x))) discard; }\n")
		compute := shaders.Compose("all", glsl.Parts(funcs...), "layout(local_size_x = 64) in;\nlayout(std430, binding = 0) buffer Out { uint n; };\n"+
			text+decide+"void main() { if (decide(gl_LocalInvocationIndex)) n = 1u; }\n")
		compute.Compute = true
		for _, s := range []shaders.Source{fragment, compute} {
			if _, err := g.Programs().Get(s); err != nil {
				t.Errorf("%v\n%s", err, s.Text)
			}
		}
	})
}
