package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/sql"
	"github.com/stencildb/stencildb/table"
)

// prepared is a statement of PREPARE.
type prepared struct {
	text  string // with blanks before it, so that the places of errors are those in the script
	types []string
}

// behind is a part of a script where it stands, with blanks in the place of what is before it.
func behind(script string, p sql.Part) string {
	blank := strings.Map(func(r rune) rune {
		if r == '\n' {
			return r
		}
		return ' '
	}, script[:p.Start])
	return blank + p.Text
}

// prepare does PREPARE, EXECUTE and DEALLOCATE. A statement without parameters is bound at once, which finds what is wrong with it.
func (s *Session) prepare(ctx context.Context, script string, st *sql.Statement, args []any) (*Rows, error) {
	p := st.Prepared
	done := func(err error) (*Rows, error) {
		if err != nil {
			return nil, described(script, st.Text, err)
		}
		return (&Statement{db: s.db, script: script, parsed: st}).empty(ctx), nil
	}
	old := s.prepared[p.Name]
	switch {
	case p.Verb == "PREPARE" && old != nil:
		return done(fmt.Errorf("prepared statement %q already exists; DEALLOCATE %s comes first", p.Name, expr.Ident(p.Name)))
	case p.Verb == "PREPARE":
		text := behind(script, p.Query)
		if _, err := s.DB().Prepare(ctx, text); err != nil {
			return nil, err
		}
		if s.prepared == nil {
			s.prepared = map[string]*prepared{}
		}
		s.prepared[p.Name] = &prepared{text, p.Types}
		return done(nil)
	case p.Name == "": // DEALLOCATE ALL
		clear(s.prepared)
		return done(nil)
	case old == nil:
		names := make([]string, 0, len(s.prepared))
		for name := range s.prepared {
			names = append(names, name)
		}
		slices.Sort(names)
		known := "there is none; PREPARE name AS SELECT ... makes one"
		if len(names) > 0 {
			known = "there are " + strings.Join(names, ", ")
		}
		return done(fmt.Errorf("prepared statement %q does not exist: %s", p.Name, known))
	case p.Verb == "DEALLOCATE":
		delete(s.prepared, p.Name)
		return done(nil)
	case len(args) > 0 && len(p.Args) == 0:
		return s.DB().Query(ctx, old.text, args...)
	}
	var values []any
	for i, a := range p.Args {
		const before = "SELECT ("       // no longer than EXECUTE, a name and a parenthesis
		text := before + a.Text + "\n)" // the argument may end with a comment
		if i < len(old.types) {
			text += "::" + old.types[i]
		}
		text = behind(script, sql.Part{Text: text, Start: a.Start - len(before)})
		answer, err := Collect(s.DB().Query(ctx, text, args...))
		switch {
		case err != nil:
			return nil, err
		case len(answer.Rows) != 1 || len(answer.Rows[0]) != 1:
			return done(expr.Errorf(a.Start, "an argument of EXECUTE is one value"))
		}
		v := answer.Rows[0][0]
		switch known := i < len(old.types) || v.Type.Kind != table.Varchar; {
		case known:
			values = append(values, v)
		case v.Null:
			values = append(values, nil)
		default:
			values = append(values, v.S) // of the type that its place needs, as a literal is
		}
	}
	if n := len(old.types); n > 0 && n != len(values) {
		return done(fmt.Errorf("wrong number of parameters for prepared statement %q: it takes %s, and %s given", p.Name, numbers.Count(int64(n), "parameter", "parameters"), numbers.Count(int64(len(values)), "value was", "values were")))
	}
	return s.DB().Query(ctx, old.text, values...)
}
