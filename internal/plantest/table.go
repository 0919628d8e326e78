package plantest

import (
	"fmt"
	"math"
	"slices"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// Knobs says what may be drawn. The zero value draws next to nothing; start from
// [Default].
type Knobs struct {
	MaxColumns int // columns of a table, at least 1
	MaxRows    int // rows of a table
	MaxChunk   int // rows of a chunk; 0: one chunk
	Depth      int // nesting of AND, OR, NOT
	Arith      int // nesting of arithmetic; 0: columns against constants only

	Kinds   []table.Kind // of columns
	Narrow  bool         // integers of few bits only, whose arithmetic rarely overflows
	Nulls   bool         // NULLs in columns and lists
	Errors  bool         // division, remainder, and wide arithmetic that may raise errors
	Casts   bool         // explicit casts
	Special bool         // NaN and infinities in floating-point columns
	Changes bool         // tables with deleted rows and patched values
	SQL     bool         // only what package sql binds: no cast of a text column, no MIN or MAX of a BOOLEAN

	// Shapes, where there are any, take the place of arithmetic. One in three leaves is one of them with
	// other constants, and the rest compare columns with constants. A backend that compiles a program for
	// each shape of arithmetic then meets few of them.
	Shapes Shapes
}

// Shapes are N conditions with arithmetic, or between columns, over the fields of a table;
// the same Seed gives the same ones.
type Shapes struct {
	N    int
	Seed uint64
	Only func(expr.Expr) bool // where not nil: those for which it is true
}

// Default draws everything.
func Default() Knobs {
	return Knobs{
		MaxColumns: 4, MaxRows: 24, MaxChunk: 12, Depth: 3, Arith: 2,
		Kinds: []table.Kind{table.Boolean, table.SmallInt, table.Integer, table.BigInt, table.Decimal,
			table.Real, table.Double, table.Date, table.Timestamp, table.Varchar},
		Nulls: true, Errors: true, Casts: true, Special: true, Changes: true,
	}
}

// Exact draws integers, DECIMALs, dates and strings: what the graphics pipeline
// computes without floating-point arithmetic.
func Exact() Knobs {
	k := Default()
	k.Kinds = []table.Kind{table.Boolean, table.SmallInt, table.Integer, table.BigInt, table.Decimal, table.Date, table.Varchar}
	return k
}

// bits16 draws 16 fair bits. Rapid's ranges and samples favour small numbers and
// first elements, which would make most tables and conditions trivial.
var bits16 = rapid.SliceOfN(rapid.Bool(), 16, 16)

// uniform draws one of 0..n-1, each as likely as the others.
func uniform(t *rapid.T, label string, n int) int {
	x := 0
	for _, b := range bits16.Draw(t, label) {
		x *= 2
		if b {
			x++
		}
	}
	return x % n
}

// oneOf draws an element, each as likely as the others.
func oneOf[T any](t *rapid.T, label string, list []T) T { return list[uniform(t, label, len(list))] }

// Table draws a table named t with columns c0, c1, ...
func Table(t *rapid.T, k Knobs) *table.Table {
	n := 1 + uniform(t, "columns", k.MaxColumns)
	var fields []table.Field
	for i := range n {
		typ := table.Type{Kind: oneOf(t, "kind", k.Kinds)}
		if typ.Kind == table.Decimal {
			typ.Precision = 18
			typ.Scale = oneOf(t, "scale", []int{0, 1, 2, 5})
		}
		fields = append(fields, table.Field{Name: fmt.Sprintf("c%d", i), Type: typ})
	}
	return TableOf(t, "t", fields, k)
}

// TableOf draws a table of the given name and fields.
func TableOf(t *rapid.T, name string, fields []table.Field, k Knobs) *table.Table {
	chunk := 0
	if k.MaxChunk > 0 {
		chunk = 1 + uniform(t, "chunk rows", k.MaxChunk)
	}
	b := table.NewBuilder(name, fields, chunk)
	rows := uniform(t, "rows", k.MaxRows+1)
	var gens []func() table.Value
	for _, f := range fields {
		gens = append(gens, columnValues(t, f.Type, k))
	}
	for range rows {
		for i, g := range gens {
			b.Column(i).Value(g())
		}
		if err := b.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	tab := b.Table()
	if k.Changes {
		tab = changed(t, tab, gens)
	}
	return tab
}

// changed is a later snapshot of a table, or the table itself. It has rows deleted: one in five, one in two
// or all of a chunk. It has other values, drawn as those of their column were.
func changed(t *rapid.T, tab *table.Table, gens []func() table.Value) *table.Table {
	if len(tab.Chunks) == 0 || uniform(t, "changes", 2) == 0 {
		return tab
	}
	for range 1 + uniform(t, "how many changes", 3) {
		chunks := slices.Clone(tab.Chunks)
		i := uniform(t, "chunk to change", len(chunks))
		c, col, share := chunks[i], uniform(t, "change", 2*len(gens)), oneOf(t, "percent of the rows", []int{20, 20, 50, 100})
		var rows []int
		var values []table.Value
		for row := range c.Rows {
			if uniform(t, "in the change", 100) < share {
				rows = append(rows, row)
				if col < len(gens) {
					values = append(values, gens[col]())
				}
			}
		}
		var err error
		if col < len(gens) {
			chunks[i], err = c.Assign(col, rows, table.SegmentOf(tab.Fields[col].Type, values...), 0)
		} else {
			chunks[i], err = c.Delete(rows)
		}
		if err != nil {
			t.Fatal(err)
		}
		tab = tab.With(chunks...)
	}
	return tab
}

// columnValues settles how a column's values lie and returns the drawing of one.
func columnValues(t *rapid.T, typ table.Type, k Knobs) func() table.Value {
	nulls := 0
	if k.Nulls {
		nulls = oneOf(t, "percent NULL", []int{0, 0, 0, 30, 100})
	}
	width := oneOf(t, "bits", []int{1, 4, 8, 16, 24, 33, 63})
	if k.Narrow {
		width = min(width, 16)
	}
	return func() table.Value {
		if nulls > 0 && uniform(t, "null", 100) < nulls {
			return table.Null(typ)
		}
		return Value(t, typ, width, k)
	}
}

// Value draws a value of a type, not NULL, of magnitude up to about 2^width.
func Value(t *rapid.T, typ table.Type, width int, k Knobs) table.Value {
	v := table.Value{Type: typ}
	switch typ.Kind {
	case table.Boolean:
		v.I = int64(uniform(t, "bool", 2))
	case table.Real:
		v.F = float64(float32(double(t, k)))
		if math.IsInf(v.F, 0) && !k.Special {
			v.F = 3
		}
	case table.Double:
		v.F = double(t, k)
	case table.Varchar:
		v.S = oneOf(t, "word", words)
	case table.Decimal:
		v.I = integer(t, min(width, 59)) % 1e18
	default:
		v.I = integer(t, min(width, widest[typ.Kind]))
	}
	return v
}

// widest are the bits of the integers that are drawn for a type.
var widest = map[table.Kind]int{table.SmallInt: 15, table.Integer: 31, table.BigInt: 63, table.Date: 16, table.Timestamp: 50, table.Interval: 45}

var words = []string{"", "a", "A", "ab", "aB%", "abc", "b", "ba", "b_", "é", "éa", "z", "12", "-7", " 3 ", "x y", "true", "1.5"}

// integer draws from around 0, around powers of two and in between.
func integer(t *rapid.T, width int) int64 {
	top := int64(math.MaxInt64)
	if width < 63 {
		top = 1<<width - 1
	}
	switch uniform(t, "where", 6) {
	case 0, 1:
		return max(-top-1, min(int64(uniform(t, "small", 16)-3), top))
	case 2:
		p := int64(1) << uniform(t, "power", min(width, 62)+1)
		p += int64(uniform(t, "beside", 3) - 1)
		if rapid.Bool().Draw(t, "negative") {
			p = -p
		}
		return max(-top-1, min(p, top))
	case 3:
		return oneOf(t, "end", []int64{top, -top - 1, top - 1, -top})
	}
	return rapid.Int64Range(-top-1, top).Draw(t, "any")
}

// double draws simple fractions, boundaries, and, if allowed, what is no number.
func double(t *rapid.T, k Knobs) float64 {
	switch uniform(t, "where", 7) {
	case 0, 1, 2:
		return float64(uniform(t, "quarters", 81)-20) / 4
	case 3:
		return oneOf(t, "plain", []float64{0, math.Copysign(0, -1), 1, -1, 0.1, 1 << 24, 1<<24 + 1, 1 << 53, 1e10, -1e-10})
	case 4:
		if k.Special {
			return oneOf(t, "special", []float64{math.NaN(), math.Inf(1), math.Inf(-1)})
		}
	case 5:
		if k.Errors && !k.Narrow {
			return oneOf(t, "extreme", []float64{1e308, -1e308, math.MaxFloat64, math.SmallestNonzeroFloat64, 1e-200, 1e200, 1e30, 1e38, -1e-45, -3e-324})
		}
	}
	return float64(rapid.Float32Range(-1e6, 1e6).Draw(t, "any"))
}
