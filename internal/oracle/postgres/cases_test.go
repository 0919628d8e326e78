package postgres

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stencildb/stencildb/engine"
)

var update = flag.Bool("update", false, "write PostgreSQL's answers into testdata/*.sql")

// A file of testdata is SQL with what PostgreSQL answers behind each statement that gives rows. An answer is a line "--> types" and a
// line "--> values" a row, or "--> error" with its SQLSTATE. A statement ends with the semicolon that ends a line. All statements of
// a file run in order, over tables of its own.

// answered is a statement of a file, and the lines of its answer.
type answered struct {
	before string // comments and empty lines
	text   string
	answer []string
}

// parseCases splits a file.
func parseCases(text string) (list []answered, rest string) {
	var c answered
	var before, statement []string
	for _, line := range strings.Split(text, "\n") {
		switch {
		case strings.HasPrefix(line, "--> "):
			list[len(list)-1].answer = append(list[len(list)-1].answer, strings.TrimPrefix(line, "--> "))
		case len(statement) == 0 && (line == "" || strings.HasPrefix(line, "--")):
			before = append(before, line)
		default:
			if statement = append(statement, line); strings.HasSuffix(line, ";") {
				c.text = strings.TrimSuffix(strings.Join(statement, "\n"), ";")
				c.before = strings.Join(before, "\n")
				list, c, before, statement = append(list, c), answered{}, nil, nil
			}
		}
	}
	return list, strings.Join(append(before, statement...), "\n")
}

// lines are the answer as a file has it.
func (a answer) lines() (out []string) {
	if a.err != nil {
		return []string{"error " + a.code}
	}
	if len(a.types) == 0 {
		return nil
	}
	out = []string{strings.Join(a.types, ", ")}
	for _, row := range a.rows {
		var texts []string
		for _, v := range row {
			switch {
			case v == nil:
				texts = append(texts, "NULL")
			case *v == "" || *v == "NULL" || strings.ContainsAny(*v, ",'\n"):
				texts = append(texts, "'"+strings.NewReplacer("'", "''", "\n", "\\n").Replace(*v)+"'")
			default:
				texts = append(texts, *v)
			}
		}
		out = append(out, strings.Join(texts, ", "))
	}
	return out
}

// inOrder says whether a statement gives the order of its rows: ORDER BY stands outside of parentheses.
func inOrder(text string) bool {
	deep, upper := 0, strings.ToUpper(text)
	for i := range upper {
		switch {
		case upper[i] == '(':
			deep++
		case upper[i] == ')':
			deep--
		case deep == 0 && strings.HasPrefix(upper[i:], "ORDER BY"):
			return true
		}
	}
	return false
}

// Each case has PostgreSQL's answer here, and the answer in the file is PostgreSQL's.
func TestCases(t *testing.T) {
	files, err := filepath.Glob("testdata/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".sql"), func(t *testing.T) { runCases(t, file) })
	}
}

func runCases(t *testing.T, file string) {
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p := openPair(t)
	defer p.close()
	p.only(t, "DROP SCHEMA public CASCADE; CREATE SCHEMA public; SET client_min_messages = error")
	session := p.db.Session()
	defer session.Close()
	list, rest := parseCases(string(content))
	var out strings.Builder
	for _, c := range list {
		want := p.ofPostgreSQL(c.text)
		if lines := want.lines(); *update {
			c.answer = lines
		} else if strings.Join(lines, "\n") != strings.Join(c.answer, "\n") {
			t.Errorf("%s;\nPostgreSQL says %s\nthe file %s (go test -update writes it)", c.text, strings.Join(lines, "\n"), strings.Join(c.answer, "\n"))
		}
		if c.before != "" {
			out.WriteString(c.before + "\n")
		}
		out.WriteString(c.text + ";\n")
		for _, line := range c.answer {
			out.WriteString("--> " + line + "\n")
		}
		got := p.run(session, c.text)
		p.tally = tally{}
		switch d := p.difference(c.text, "the engine", want, got, inOrder(c.text)); {
		case d != "":
			t.Errorf("%s;\n%s", c.text, d)
		case want.err != nil && got.err != nil && want.code != got.code && !knownCode(want, got):
			t.Errorf("%s;\nPostgreSQL: %v\nthe engine, with %s: %v", c.text, want.err, got.code, got.err)
		case want.err == nil && got.err != nil:
			t.Errorf("%s;\n%v\nPostgreSQL gives %s", c.text, got.err, want.print())
		case inOrder(c.text) && otherSigns(want, got):
			t.Errorf("%s;\nPostgreSQL gives %s\nthe engine gives %s", c.text, want.print(), got.print())
		case (want.err == nil) != (got.err == nil):
			t.Errorf("%s;\nPostgreSQL: %v\nthe engine gives %s", c.text, want.err, got.print())
		}
	}
	if out.WriteString(rest); *update {
		if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// only runs a script in PostgreSQL alone.
func (p *pair) only(t fataler, script string) {
	t.Helper()
	if _, err := p.peer.Exec(context.Background(), script).ReadAll(); err != nil {
		t.Fatalf("%s: %v", script, err)
	}
}

// run runs a statement in a session.
func (p *pair) run(s *engine.Session, text string) answer {
	rows, err := s.Query(context.Background(), text)
	return read(rows, err)
}
