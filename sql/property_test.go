package sql_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/sql"
	"github.com/stencildb/stencildb/table"
)

// readsBack checks that what a bound WHERE prints binds to what prints the same,
// and that both compute the same for a record. A statement that does not bind
// passes.
func readsBack(t interface{ Fatalf(string, ...any) }, text string) (bound bool) {
	list, err := sql.Parse(text)
	if err != nil {
		return false
	}
	for _, s := range list {
		tree, err := s.Bind(tables())
		if err != nil {
			continue
		}
		q := parts(tree)
		if q.Where == nil {
			continue
		}
		bound = true
		again := "SELECT COUNT(*) FROM " + expr.Ident(q.Table) + " WHERE " + q.Where.String()
		list, err := sql.Parse(again)
		if err != nil || len(list) != 1 {
			t.Fatalf("%q\n prints  %q: %d statements, %v", text, again, len(list), err)
		}
		tree, err = list[0].Bind(tables())
		if err != nil {
			t.Fatalf("%q\n prints  %q\n: %s", text, again, sql.Describe(again, err))
		}
		q2, where := parts(tree), ""
		if q2.Where != nil {
			where = q2.Where.String()
		}
		if q.Where.String() != where {
			t.Fatalf("%q\n prints  %q\n and then %q", text, q.Where, where)
		}
		for _, row := range records() {
			env := &expr.Env{Column: func(i int) table.Value { return row[i] }}
			a, errA := expr.Eval(q.Where, env)
			b, errB := expr.Eval(q2.Where, env)
			if (errA == nil) != (errB == nil) || errA == nil && (a.Null != b.Null || a.I != b.I) {
				t.Fatalf("%q\n is %v (%v), what it prints, %q, is %v (%v)", text, a, errA, where, b, errB)
			}
		}
	}
	return bound
}

// records are rows of table t: one of ordinary values, one of NULLs. Other tables
// of the catalog take what fits.
func records() [][]table.Value {
	var values, nulls []table.Value
	t, _ := tables().Table(0)
	for i, f := range t.Fields {
		v := table.Value{Type: f.Type, I: int64(i % 2), F: 1.5, S: "a"}
		v.Null = f.Type.Kind == table.Unknown
		values = append(values, v)
		nulls = append(nulls, table.Null(f.Type))
	}
	return [][]table.Value{values, nulls}
}

// TestWhereReadsBack runs the property over conditions picked by hand.
func TestWhereReadsBack(t *testing.T) {
	for _, where := range seeds() {
		if text := "SELECT COUNT(*) FROM t WHERE " + where; !readsBack(t, text) {
			_, err := bind(t, text)
			t.Errorf("%s does not bind: %s", where, sql.Describe(text, err))
		}
	}
}

// TestRandomWhereReadsBack runs it over random conditions, most of which have a type.
func TestRandomWhereReadsBack(t *testing.T) {
	bound, all := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		all++
		if readsBack(t, "SELECT COUNT(*) FROM t WHERE "+condition(t, 3)) {
			bound++
		}
	})
	if all >= 50 && bound*4 < all {
		t.Errorf("only %d of %d random conditions bind", bound, all)
	}
}

func pick(t *rapid.T, list ...string) string { return rapid.SampledFrom(list).Draw(t, "pick") }

// condition writes a random boolean expression.
func condition(t *rapid.T, depth int) string {
	if depth > 0 && rapid.Bool().Draw(t, "nested") {
		a, b := condition(t, depth-1), condition(t, depth-1)
		switch pick(t, "and", "or", "not", "is") {
		case "and":
			return "(" + a + " AND " + b + ")"
		case "or":
			return "(" + a + " OR " + b + ")"
		case "not":
			return "NOT (" + a + ")"
		}
		return "(" + a + ") IS " + pick(t, "", "NOT ") + pick(t, "TRUE", "FALSE", "UNKNOWN", "NULL")
	}
	term := rapid.SampledFrom([]func(*rapid.T, int) string{numberTerm, numberTerm, timeTerm, textTerm}).Draw(t, "kind")
	a, b, c := term(t, 2), term(t, 2), term(t, 2)
	switch pick(t, "compare", "compare", "between", "in", "distinct", "null", "like", "bool") {
	case "compare":
		return a + pick(t, " < ", " <= ", " = ", " <> ", " > ", " >= ") + b
	case "between":
		return fmt.Sprintf("%s %sBETWEEN %s%s AND %s", a, pick(t, "", "NOT "), pick(t, "", "SYMMETRIC "), b, c)
	case "in":
		return fmt.Sprintf("%s %sIN (%s, %s)", a, pick(t, "", "NOT "), b, c)
	case "distinct":
		return a + " IS " + pick(t, "", "NOT ") + "DISTINCT FROM " + b
	case "null":
		return a + " IS " + pick(t, "", "NOT ") + "NULL"
	case "like":
		return textTerm(t, 0) + pick(t, " LIKE ", " NOT ILIKE ") + pick(t, "'a%'", "'_''' ESCAPE '!'", "NULL", `'\\%'`)
	}
	return pick(t, "b", "u", "true", "NULL", "'f'")
}

func numberTerm(t *rapid.T, depth int) string {
	if depth > 0 && rapid.Bool().Draw(t, "deeper") {
		a, b := numberTerm(t, depth-1), numberTerm(t, depth-1)
		switch pick(t, "op", "op", "neg", "cast") {
		case "op":
			return "(" + a + " " + pick(t, "+", "-", "*", "/", "%") + " " + b + ")"
		case "neg":
			return "-(" + a + ")"
		}
		return "CAST(" + a + " AS " + pick(t, "smallint", "int", "bigint", "numeric(6,2)", "real", "double precision") + ")"
	}
	return pick(t, "x", "y", "s", "i", "dec", "r", "d", "u", "0", "1", "-5", "2.50", "1e3", "9223372036854775807", "-9223372036854775808",
		"'7'", "NULL", "1e-7", "0.1::real", "3::float8", "5::numeric", "'NaN'::float8", "-0.0::float8", "99999999999999999999")
}

func timeTerm(t *rapid.T, depth int) string {
	if depth > 0 && rapid.Bool().Draw(t, "deeper") {
		a, b := timeTerm(t, depth-1), timeTerm(t, depth-1)
		span := pick(t, "INTERVAL '1 day'", "INTERVAL '-1:30'", "INTERVAL '1 mon 2 days'", "INTERVAL '3' HOUR", "3", "u", "NULL::interval")
		switch pick(t, "minus", "shift", "cast") {
		case "minus":
			return "(" + a + " - " + b + ")"
		case "shift":
			return "(" + a + pick(t, " + ", " - ") + span + ")"
		}
		return a + "::" + pick(t, "date", "timestamp")
	}
	return pick(t, "day", "ts", "DATE '2004-02-29'", "TIMESTAMP '1969-12-31 23:59:59.5'", "'2001-01-01'", "NULL", "DATE '0044-03-15 BC'", "u")
}

func textTerm(t *rapid.T, _ int) string {
	return pick(t, "v", "u", "'a'", "'it''s'", "NULL", "'é'::text", `E'\\'`, "v COLLATE \"C\"")
}

// FuzzSQL shows that no text makes Parse or Bind panic, and that what they bind
// reads back.
func FuzzSQL(f *testing.F) {
	for _, where := range seeds() {
		f.Add("SELECT COUNT(*) FROM t WHERE " + where)
	}
	for _, text := range []string{
		"SELECT SUM(x) / COUNT(*) AS mean, MEDIAN(day) FROM t; EXPLAIN ANALYZE SELECT kth_largest(x, 2) FROM t",
		"SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY v DESC) FROM t /* ; */ WHERE $$a$$ = v -- x",
		`SELECT MIN("Über Zeit") FROM mixed WHERE U&"\0041" = 1`,
		"SELECT * FROM t JOIN q USING (x) GROUP BY 1 LIMIT 2",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, err := sql.Parse(text)
		if err != nil {
			sql.Describe(text, err)
			return
		}
		for _, s := range list {
			if _, err := s.Bind(tables()); err != nil {
				sql.Describe(text, err)
			}
		}
		readsBack(t, text)
	})
}
