package sql_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/sql"
)

// TestHugeStatements shows that what would kill the parser is an error.
func TestHugeStatements(t *testing.T) {
	const n = 100_000
	rep := strings.Repeat
	head := "SELECT COUNT(*) FROM t WHERE "
	for _, c := range []struct{ name, in, want string }{
		{"sum", head + "x = 1" + rep("+1", n), "too long"},
		{"sum with comments", head + "x = 1" + rep("/**/-- \n+1", n), "too long"},
		{"parentheses", head + rep("(", n) + "b" + rep(")", n), "nested too deeply"},
		{"open parentheses", head + rep("(", n), "nested too deeply"},
		{"brackets", head + rep("[", n), "nested too deeply"},
		{"close first", rep(")", n), "too long"},
		{"NOT", head + rep("NOT ", n) + "b", "too long"},
		{"OR", head + "b" + rep(" OR b", n), "too long"},
		{"AND", head + "b" + rep(" aNd b", n), "too long"},
		{"minus", head + rep("- ", n) + "x = 1", "too long"},
		{"casts", head + "b" + rep("::bool", n), "too long"},
		{"CASE", head + rep("CASE WHEN b THEN ", n/2), "nested too deeply"},
		{"UNION", "SELECT 1, 2" + rep(" UNION SELECT 1, 2", n/2), "too long"},
		{"JOIN", "SELECT 1 FROM t" + rep(" NATURAL JOIN t", n/2), "too long"},
		{"JOIN ON", "SELECT 1 FROM t" + rep(" JOIN t ON a AND b", n/2), "too long"},
		{"BETWEEN", head + rep("x BETWEEN 1 AND NOT ", n/4) + "b", "too long"},
		{"COLLATE", head + "v" + rep(` COLLATE "C"`, n/2), "too long"},
		{"AT TIME ZONE", head + "v" + rep(` AT TIME ZONE 'x'`, n/2), "too long"},
		{"words", rep("a ", n), "too long"},
		{"chain in a chain", head + rep("(", 100) + "1" + rep(rep("+1", 1000)+")", 100) + " = x", "too long"},
		{"10 MB", head + "v = '" + rep("a", 10<<20) + "'", "too long; at most 1048576 are allowed"},
		{"10 MB of ;", rep(";", 10<<20), ""},
		{"open quote", head + "v = '" + rep("''", n), "unterminated quoted string"},
		{"open comment", head + rep("/*", n), "unterminated /* comment"},
		{"open dollar quote", head + rep("$a$ $b$ ", n) + "$a", "too long"},
		{"NUL", "SELECT COUNT(*) FROM t\x00 WHERE b", "NUL byte"},
		{"not UTF-8", "SELECT '\xff'", "not valid UTF-8"},
		{"signs", head + "x = " + rep("+", n) + "1", "too long"},
		{"1 MB of signs", head + "x = " + rep("-+", 500_000) + "1", "too long"},
		{"closed comments", head + rep("/*", n) + rep("*/", n), "at end of input"},
		{"doubling by SYMMETRIC", head + rep("b BETWEEN SYMMETRIC (", 400) + "b" + rep(") AND b", 400), "too complex"},
		{"doubling by DISTINCT", head + rep("b IS DISTINCT FROM (", 400) + "b" + rep(")", 400), "too complex"},
		{"doubling by IN", head + rep("(", 400) + "b" + rep(" IN (b, b))", 400), "too complex"},
		{"items", "SELECT 1" + rep(", COUNT(*)", n/2) + " FROM t", "the select list has 50001 items"},
		{"products", head + "x = 1e999" + rep(" * 1e999", 1900), ""},
		{"cut UTF-8", "SELECT '\xc3", "not valid UTF-8"},
	} {
		list, err := sql.Parse(c.in)
		if len(list) > 0 {
			_, err = list[0].Bind(tables())
		}
		switch {
		case c.want == "" && err == nil:
		case err == nil || c.want == "" || !strings.Contains(err.Error(), c.want):
			t.Errorf("%s: error %.200v, want %q", c.name, err, c.want)
		}
	}
}

// TestLongStatements shows what the bounds let through.
func TestLongStatements(t *testing.T) {
	rep := strings.Repeat
	head := "SELECT COUNT(*) FROM t WHERE "
	for name, in := range map[string]string{
		"2,000 additions":   head + "x = 1" + rep("+ 1", 1990),
		"2,000 ORs":         head + "x = 1" + rep(" OR x < y + 2", sql.MaxChain),
		"400 parentheses":   head + rep("(", 400) + "b" + rep(")", 400),
		"a list of 100,000": head + "x IN (1" + rep(",2345", 100_000) + ")",
		"1,000 ranges":      head + "x BETWEEN 1 AND 2" + rep(" OR x BETWEEN 1 AND 2", 999),
	} {
		if _, err := bind(t, in); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSplit(t *testing.T) {
	for _, c := range []struct {
		in   string
		want []string
	}{
		{"", nil},
		{" ; -- x\n ;/* ; */", nil},
		{"a; b ;c", []string{"a", "b", "c"}},
		{"a ';' \";\" b; c", []string{`a ';' ";" b`, "c"}},
		{"a 'it''s;' ; b", []string{`a 'it''s;'`, "b"}},
		{`a E'it\';' ; b`, []string{`a E'it\';'`, "b"}},
		{`a 'it\'; b`, []string{`a 'it\'`, "b"}},
		{"a $$;$$; $x$ $y$; $x$; c", []string{"a $$;$$", "$x$ $y$; $x$", "c"}},
		{"a$b$;c$b$", []string{"a$b$", "c$b$"}},
		{"a -- ; x\n, b; c", []string{"a -- ; x\n, b", "c"}},
		{"a /* ; /* ; */ ; */ b; c", []string{"a /* ; /* ; */ ; */ b", "c"}},
		{"-- first\na; /* last", []string{"a", "/* last"}},
		{"a 'open; b", []string{"a 'open; b"}},
		{"select 1+-- x;\n2; b", []string{"select 1+-- x;\n2", "b"}},
	} {
		list, err := sql.Parse(c.in)
		var got []string
		for _, s := range list {
			got = append(got, s.Text)
			if c.in[s.Offset:s.Offset+len(s.Text)] != s.Text {
				t.Errorf("%q: %q is not at %d", c.in, s.Text, s.Offset)
			}
		}
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, %v, want %q", c.in, got, err, c.want)
		}
	}
}

// TestStatementsFailAlone shows that a bad statement leaves its neighbours alone,
// and that positions count in the whole text.
func TestStatementsFailAlone(t *testing.T) {
	text := "SELECT COUNT(*) FROM t;\nSELECT MIN(é) FROM t; SELECT 1 +;\n/* 4 */ SELECT COUNT(*) FROM t; INSERT INTO t VALUES (1)"
	list, err := sql.Parse(text)
	if err != nil || len(list) != 5 {
		t.Fatalf("%d statements, %v", len(list), err)
	}
	want := []string{
		"",
		`column "é" does not exist; did you mean b or s or i? (line 2, column 12)`,
		"syntax error at end of input (line 2, column 33)",
		"",
		"INSERT changes tables: it is run or explained, and what is traced is a SELECT (line 3, column 33)",
	}
	for i, s := range list {
		_, err := s.Bind(tables())
		switch {
		case want[i] == "" && err != nil:
			t.Errorf("statement %d: %v", i+1, err)
		case want[i] != "" && (err == nil || sql.Describe(text, err) != want[i]):
			t.Errorf("statement %d: %v, want %s", i+1, err, want[i])
		}
	}
}

func TestExplain(t *testing.T) {
	for _, c := range []struct {
		in               string
		explain, analyze bool
	}{
		{"SELECT COUNT(*) FROM t", false, false},
		{"EXPLAIN SELECT COUNT(*) FROM t", true, false},
		{"explain analyze SELECT COUNT(*) FROM t", true, true},
		{"EXPLAIN (ANALYZE) SELECT COUNT(*) FROM t", true, true},
		{"EXPLAIN (ANALYZE off) SELECT COUNT(*) FROM t", true, false},
		{"EXPLAIN (ANALYZE 1) SELECT COUNT(*) FROM t", true, true},
		{"EXPLAIN (ANALYZE true) SELECT COUNT(*) FROM t", true, true},
	} {
		list, err := sql.Parse(c.in)
		if err != nil || len(list) != 1 || list[0].Explain != c.explain || list[0].Analyze != c.analyze {
			t.Errorf("%s: %+v, %v", c.in, list, err)
			continue
		}
		if _, err := list[0].Bind(tables()); err != nil || list[0].Select() != "SELECT COUNT(*) FROM t" {
			t.Errorf("%s: %s, %v", c.in, list[0].Select(), err)
		}
	}
}

// What was typed over lines is one line that means the same, where there is one.
func TestOneLine(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"SELECT 1;", "SELECT 1;"},
		{"SELECT a,\n\n  b  FROM t;", "SELECT a, b  FROM t;"},
		{"SELECT 1 -- one */ /* two\n+ 2; -- three", "SELECT 1 /* one   two */ + 2; -- three"},
		{"SELECT 1 /* a\n  b */ + 2", "SELECT 1 /* a b */ + 2"},
		{"SELECT 'it''s\n\\n', E'a\\'\\\\\n\\\nb' FROM t", `SELECT E'it''s\n\\n', E'a\'\\\n\nb' FROM t`},
		{"SELECT 'a' 'b'", "SELECT 'a' 'b'"},
		{"SELECT 'a'\n'b'", ""},
		{"SELECT 'a' -- c\n'b'", ""},
		{"SELECT \"a\nb\"", ""},
		{"SELECT $$a\nb$$", ""},
		{"SELECT 'never\nended", `SELECT E'never\nended`},
		{`\o file.csv`, `\o file.csv`},
		{"", ""},
	} {
		if got, ok := sql.OneLine(c.text); got != c.want || ok != (c.want != "" || c.text == "") {
			t.Errorf("%q: %q (%v), want %q", c.text, got, ok, c.want)
		}
	}
}
