package sql_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// evaluate binds and computes "expression" without a table: its value as text, or its error.
func evaluate(t *testing.T, text string) string {
	t.Helper()
	q, err := bind(t, "SELECT "+text)
	if err != nil {
		return "error: " + err.Error()
	}
	v, err := expr.Eval(q.Items[0].E, &expr.Env{Agg: func(int) table.Value { return table.Value{} }})
	if err != nil {
		return "error: " + err.Error()
	}
	return v.String()
}

// TestFunctions has the results that PostgreSQL's manual gives of its functions, those at
// their edges, and what is an error.
func TestFunctions(t *testing.T) {
	cases, err := os.ReadFile("testdata/functions.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(cases)), "\n") {
		text, want, ok := strings.Cut(line, " -> ")
		if !ok {
			t.Errorf("no case: %s", line)
		} else if got := evaluate(t, text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	for _, name := range expr.FunctionNames() {
		if !regexp.MustCompile(`(?i)\b` + name + `\(`).Match(cases) {
			t.Errorf("there is no case of the function %s", name)
		}
	}
}

// TestFunctionsPrintThemselves binds conditions and what they print as: the same.
func TestFunctionsPrintThemselves(t *testing.T) {
	for _, text := range []string{
		"CASE WHEN x = 1 THEN y WHEN b THEN 2 ELSE x + y END > 3",
		"coalesce(v, 'x') = 'x'",
		"lower(v || x) || 'a' = 'b' AND starts_with(v, 'a') AND substring(v, 1, 2) = btrim(v)",
		"extract(year FROM day) = 2001 AND date_trunc('month', ts) = day AND v ~ 'a' AND v !~* 'b'",
		"greatest(x, y, 3) < least(x, 5)",
		"day + INTERVAL '1 month' < ts - INTERVAL '1 year 2 days' AND (day, ts) OVERLAPS (ts, INTERVAL '1 day') AND age(ts, day) > x * INTERVAL '1 day' + INTERVAL '1 mon'",
		"to_char(ts, 'YYYY') = '2001' AND v LIKE v || '%' AND v SIMILAR TO 'a%' AND -(ts - day) < INTERVAL '-1 mon'",
		"(x & 3) = 1 AND ((~x) # y) > 0 AND ((x << 2) | 1) = 5",
		"round(d) = 2 AND trunc(d, 1) > 0.5 AND (d ^ 2) < sqrt(d)",
	} {
		q, err := bind(t, "SELECT 1 FROM t WHERE "+text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		again, err := bind(t, "SELECT 1 FROM t WHERE "+q.Where.String())
		if err != nil {
			t.Errorf("%s: printed as %s: %v", text, q.Where, err)
		} else if got := again.Where.String(); got != q.Where.String() {
			t.Errorf("%s: printed as %s, read again as %s", text, q.Where, got)
		}
	}
}
