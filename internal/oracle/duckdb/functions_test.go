//go:build duckdb

package duckdb

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/oracle/draw"
	"github.com/stencildb/stencildb/internal/oracle/harness"
	"github.com/stencildb/stencildb/internal/oracle/reference"
	"github.com/stencildb/stencildb/internal/plantest"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// sameInDuckDB are functions that mean the same there, by the name that they have there; a name that
// begins with a blank is an operator.
var sameInDuckDB = map[string]string{
	"abs": "abs", "ceil": "ceil", "floor": "floor", "trunc": "trunc", "mod": " %", "gcd": "gcd", "lcm": "lcm", "&": " &", "|": " |", "#": "xor",
	"greatest": "greatest", "least": "least", "coalesce": "coalesce", "||": " ||", "length": "length", "lower": "lower", "upper": "upper",
	"left": "left", "right": "right", "strpos": "strpos", "starts_with": "starts_with", "^@": " ^@", "replace": "replace", "repeat": "repeat", "translate": "translate", "md5": "md5",
	"bit_length": "bit_length", "chr": "chr", "ltrim": "ltrim", "rtrim": "rtrim", "btrim": "trim", "regexp_replace": "regexp_replace", "date_trunc": "date_trunc",
	"date_bin": "time_bucket", "~~": " LIKE", "~~*": " ILIKE", "!~~": " NOT LIKE", "!~~*": " NOT ILIKE",
}

// nearInDuckDB are those that are not rounded correctly, here or there.
var nearInDuckDB = []string{"sqrt", "cbrt", "exp", "ln", "log10", "pow", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "degrees", "radians", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "cot"}

// Call writes a function.
func (d dialect) Call(w *harness.Writer, e *expr.Call) {
	name, known := sameInDuckDB[e.Fn.Name]
	if slices.Contains(nearInDuckDB, e.Fn.Name) {
		name, known = e.Fn.Name, true
	}
	switch {
	case e.Fn == expr.Case:
		w.Put("(CASE")
		for i := 0; i+1 < len(e.Args); i += 2 {
			w.Put(" WHEN ", e.Args[i], " THEN ", e.Args[i+1])
		}
		if len(e.Args)%2 == 1 {
			w.Put(" ELSE ", e.Args[len(e.Args)-1])
		}
		w.Put(" END)")
		return
	case e.Fn.Name == "~" && len(e.Args) == 1:
		w.Put("(~", e.Args[0], ")")
		return
	case e.Fn.Name == "~" || e.Fn.Name == "!~":
		w.Put("(", map[bool]string{true: "NOT "}[e.Fn.Name == "!~"], "regexp_matches(", e.Args[0], ", ", e.Args[1], "))")
		return
	case e.Fn.Name == "extract" || e.Fn.Name == "date_part":
		d.extract(w, e)
		return
	case !known, e.T.Kind == table.Decimal,
		e.Fn.Name == "trunc" && len(e.Args) > 1, // digits that are no powers of 2
		e.Fn.Name == "regexp_replace" && len(e.Args) > 3:
		w.Refuse("%s", e.Fn.Name)
		return
	case e.Fn.Name == "date_trunc" && !slices.Contains([]string{"'day'", "'month'", "'year'", "'quarter'", "'week'", "'decade'", "'hour'", "'minute'", "'second'"}, e.Args[0].String()):
		w.Refuse("%v", e) // a century begins with its year 0 there
		return
	case e.Fn.Name == "regexp_replace" && strings.Contains(e.Args[2].String(), `\&`):
		w.Refuse(`\&`)
		return
	}
	if op, infix := strings.CutPrefix(name, " "); infix {
		w.Infix(e.Args[0], op, e.Args[1])
		if strings.Contains(op, "LIKE") {
			text := strings.TrimSuffix(w.Text.String(), ")") + ` ESCAPE '\')`
			w.Text.Reset()
			w.Text.WriteString(text)
		}
		return
	}
	w.Put(name, "(")
	for i, a := range e.Args {
		if i > 0 {
			w.Put(", ")
		}
		w.Put(a)
	}
	w.Put(")")
}

// extract is the part of a time; a second has no fraction there.
func (dialect) extract(w *harness.Writer, e *expr.Call) {
	unit, ok := e.Args[0].(*expr.Const)
	parts := []string{"year", "month", "day", "quarter", "week", "decade", "dow", "doy", "isodow", "hour", "minute"}
	if !ok || !slices.Contains(parts, unit.V.S) || e.Args[1].Type().Kind == table.Interval {
		w.Refuse("%v", e)
		return
	}
	w.Put("date_part(", e.Args[0], ", ", e.Args[1], ")")
}

// inexact reports a function that is rounded otherwise.
func inexact(e expr.Expr) bool {
	return slices.ContainsFunc(plantest.Names(e), func(name string) bool { return slices.Contains(nearInDuckDB, name) })
}

// Near reports two answers that differ by no more than rounding, where a function is rounded
// otherwise.
func (dialect) Near(e expr.Expr, a, b table.Value) bool {
	return inexact(e) && a.Type.IsFloat() && !a.Null && !b.Null && math.Abs(a.F-b.F) <= 1e-9*math.Max(math.Abs(a.F), math.Abs(b.F))
}

// Functions that DuckDB has with the same meaning have the same values there.
func TestDuckDBFunctions(t *testing.T) {
	h := harness.Open(t)
	p := open(t)
	rapid.Check(t, func(t *rapid.T) {
		tab, _ := h.Functions(t)
		shared := plantest.NewFunctions(t, tab, func(f *expr.Function) bool {
			return sameInDuckDB[f.Name] != "" || slices.Contains(nearInDuckDB, f.Name) || slices.Contains([]string{"extract", "~", "!~"}, f.Name)
		})
		if err := p.Load(tab); err != nil {
			t.Fatal(err)
		}
		for range 25 {
			h.Queries++
			q := &draw.RowQuery{Items: []expr.Expr{shared.Value(rapid.IntRange(1, 3).Draw(t, "depth"))}, Limit: -1}
			tree, ok := h.Bindable(t, tab, q.Text(tab))
			if !ok {
				continue
			}
			want, err := reference.Rows(tab, tree)
			if err != nil {
				h.Failed++
				continue
			}
			e := tree.(*plan.Project).Items[0].E
			if slices.ContainsFunc(expr.Kids(e), inexact) { // what is computed from a rounded value may be far off
				h.Inexpressible++
				continue
			}
			h.CheckItem(t, tab, q, 0, e, want, p)
		}
		if err := p.Drop(tab.Name); err != nil {
			t.Fatal(err)
		}
	})
	t.Log(&h.Tally)
}
