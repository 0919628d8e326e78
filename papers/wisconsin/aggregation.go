package wisconsin

import (
	"context"
	_ "embed"
	"fmt"
	"math"

	"github.com/stencildb/stencildb/papers/scan"
	"github.com/stencildb/stencildb/primitives"
	"github.com/stencildb/stencildb/shaders"
)

//go:embed aggregation.comp
var aggregationText string

// Aggregate is an aggregate function over an expression.
type Aggregate struct {
	Name string
	// Expr is the expression in GLSL, over the attributes of aggregation.comp, and Go the same over a tuple, as a word.
	Expr string
	Go   func(t *Table, i int) uint32
	scan.Operator
	Identity uint32 // of the operator
	Of       func(a, b uint32) uint32
	average  bool
	wide     bool // it has attributes that small tuples lack
}

// The published maximum and minimum (section 5.2.2): expressions, not functions. Padding is by the extreme.
const (
	largerInt    = "a * int(a >= b) + b * int(a < b)"
	smallerInt   = "a * int(a <= b) + b * int(a > b)"
	largerFloat  = "a * float(a >= b) + b * float(a < b)"
	lowestInt    = "0x80000000"
	highestInt   = "0x7fffffff"
	lowestFloat  = "uintBitsToFloat(0xff7fffffu)" // -infinity * 0 is no number
	lowestAsWord = 0xff7fffff
)

func operator(typ, name, expr, identity string) scan.Operator {
	return scan.Operator{Type: typ, Operator: primitives.Operator{Name: name, Expr: expr, Identity: identity}}
}

func boolean(b bool) int32 {
	if b {
		return 1
	}
	return 0
}

func larger(a, b uint32) uint32 {
	x, y := int32(a), int32(b)
	return uint32(x*boolean(x >= y) + y*boolean(x < y))
}

func smaller(a, b uint32) uint32 {
	x, y := int32(a), int32(b)
	return uint32(x*boolean(x <= y) + y*boolean(x > y))
}

func largerF(a, b uint32) uint32 {
	x, y := math.Float32frombits(a), math.Float32frombits(b)
	return math.Float32bits(x*float32(boolean(x >= y)) + y*float32(boolean(x < y)))
}

func sum(a, b uint32) uint32 { return a + b }

func unique1(t *Table, i int) uint32 { return uint32(t.number(i, Unique1)) }

// The aggregates: listing 14 as it stands, into an array of ints, its float form of section 5.2.2, and those of section 4.3.
var (
	MaxInt = Aggregate{Name: "MAX(unique1*tenpercent/100)", Expr: "int(float(unique1) * tenpercent / 100.0)", Operator: operator("int", "max", largerInt, lowestInt), Identity: 1 << 31, Of: larger, wide: true,
		Go: func(t *Table, i int) uint32 {
			return uint32(int32(float32(t.number(i, Unique1)) * t.percent(i, TenPercent) / 100))
		}}
	MaxFloat = Aggregate{Name: "MAX(unique1/(0.173+onepercent))", Expr: "float(unique1) / (0.173 + onepercent)", Operator: operator("float", "max", largerFloat, lowestFloat), Identity: lowestAsWord, Of: largerF,
		Go: func(t *Table, i int) uint32 {
			return math.Float32bits(float32(t.number(i, Unique1)) / (0.173 + t.percent(i, OnePercent)))
		}}
	Sum     = Aggregate{Name: "SUM(unique1)", Expr: "unique1", Operator: operator("int", "sum", "a + b", "0"), Of: sum, Go: unique1}
	Average = Aggregate{Name: "AVG(unique1)", Expr: "unique1", Operator: operator("int", "sum", "a + b", "0"), Of: sum, Go: unique1, average: true}
	Min     = Aggregate{Name: "MIN(unique1)", Expr: "unique1", Operator: operator("int", "min", smallerInt, highestInt), Identity: 1<<31 - 1, Of: smaller, Go: unique1}
	Count   = Aggregate{Name: "COUNT(*) of listing 8", Expr: "int(unique1 > 1000 && unique1 < 6000 && unique2 % 2 == 0 && two == 0)", Operator: operator("int", "count", "a + b", "0"), Of: sum, wide: true,
		Go: func(t *Table, i int) uint32 { return uint32(boolean(t.selects(i))) }}
)

// Aggregates lists them.
var Aggregates = []Aggregate{MaxInt, MaxFloat, Sum, Average, Min, Count}

// finish is the aggregate of a word: the average is divided on the host.
func (a Aggregate) finish(word uint32, n int) float64 {
	switch {
	case a.average:
		return float64(int32(word)) / float64(n)
	case a.Type == "float":
		return float64(math.Float32frombits(word))
	}
	return float64(int32(word))
}

// kernels are those of the aggregate.
func (a Aggregate) kernel(l Layout) (kernel, error) {
	if a.wide && l.Integers < 3 {
		return kernel{}, fmt.Errorf("wisconsin: %s needs attributes that %s tuples lack", a.Name, l.Name)
	}
	result := "RESULT(x) uint(x)"
	if a.Type == "float" {
		result = "RESULT(x) floatBitsToUint(x)"
	}
	k := kernel{name: "aggregation.comp", text: aggregationText, defines: append(l.defines(), "EXPR "+a.Expr, result)}
	if a.wide {
		k.defines = append(k.defines, "WIDE")
	}
	return k, nil
}

// Aggregation is section 4.3: the attribute is copied into an array, of which the reduction alone is done. The sums wrap at 2^32. Of no
// tuples it is the operator's identity. A table larger than a storage block comes in parts.
func (g *GPU) Aggregation(ctx context.Context, a Aggregate, in Input) (result float64, err error) {
	k, err := a.kernel(in.Layout)
	if err != nil {
		return 0, err
	}
	err = g.query(ctx, func() error {
		if err := g.prepare(k); err != nil {
			return err
		}
		source, values := g.memory(in), primitives.New(max(1, in.N))
		values.N = in.N
		if err := firstOf(g.fits("the table", source.N), g.fits("the attribute", in.N)); err != nil {
			return err
		}
		if err := g.part(initMemory, func() error { return g.reside(source, values) }); err != nil {
			return err
		}
		if err := g.part(execution, func() error {
			return g.parts(in, in.Layout.Words, func(from int, part Input) error {
				if err := g.copyTo(part, source); err != nil {
					return err
				}
				return g.launch(k, op("copy of the attribute", part.N), part.N, []shaders.Uniform{shaders.Uint("first", uint32(from))}, source, values)
			})
		}); err != nil {
			return err
		}
		return g.part(scanning, func() error {
			total, err := g.scanner().Reduce(a.Operator, scan.Over(values))
			if err != nil {
				return err
			}
			word, err := g.word(total)
			result = a.finish(word, in.N)
			return err
		})
	})
	return result, err
}

// Aggregation is its sequential form: the highest value found so far, by the same expression.
func (t *Table) Aggregation(a Aggregate) float64 {
	word := a.Identity
	for i := range t.N {
		word = a.Of(word, a.Go(t, i))
	}
	return a.finish(word, t.N)
}
