package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/sql"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// prepared is a statement of PREPARE.
type prepared struct {
	script string // that the places of its errors are in
	parsed *sql.Statement
	types  []string
	of     *Statement // that ran last outside of a transaction; nil before there is one
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
		return done(sqlstate.Errorf(sqlstate.DuplicateStatement, "prepared statement %q already exists; DEALLOCATE %s comes first", p.Name, expr.Ident(p.Name)))
	case p.Verb == "PREPARE":
		now := &prepared{script: script, parsed: p.Query.Statement(), types: p.Types}
		now.parsed.Infers = true
		of, err := s.DB().prepare(ctx, script, now.parsed)
		if err == nil && of.bound != nil {
			_, err = of.read(ctx, false)
		}
		if err != nil {
			return nil, err
		}
		if s.prepared == nil {
			s.prepared = map[string]*prepared{}
		}
		s.prepared[p.Name] = now
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
		return done(sqlstate.Errorf(sqlstate.InvalidStatementName, "prepared statement %q does not exist: %s", p.Name, known))
	case p.Verb == "DEALLOCATE":
		delete(s.prepared, p.Name)
		return done(nil)
	case len(args) > 0 && len(p.Args) == 0:
		if len(old.types) == 0 {
			return s.execute(ctx, old, args)
		}
		p = &sql.Prepared{Name: p.Name}
		for i := range args {
			p.Args = append(p.Args, sql.Part{Text: fmt.Sprintf("$%d", i+1), Start: st.Offset})
		}
	}
	var values []any
	for i, a := range p.Args {
		to := ""
		if i < len(old.types) {
			to = old.types[i]
		}
		arg := &prepared{script: script, parsed: p.Argument(i, to)}
		answer, err := Collect(s.execute(ctx, arg, args[:min(arg.parsed.Params, len(args))]))
		switch {
		case err != nil:
			return nil, err
		case len(answer.Rows) != 1 || len(answer.Rows[0]) != 1:
			return done(expr.Coded(sqlstate.SyntaxError, a.Start, "an argument of EXECUTE is one value"))
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
		return done(sqlstate.Errorf(sqlstate.SyntaxError, "wrong number of parameters for prepared statement %q: it takes %s, and %s given", p.Name, numbers.Count(int64(n), "parameter", "parameters"), numbers.Count(int64(len(values)), "value was", "values were")))
	}
	return s.execute(ctx, old, values)
}

// execute runs a prepared statement with values for its parameters.
func (s *Session) execute(ctx context.Context, p *prepared, values []any) (*Rows, error) {
	db := s.DB()
	return db.limited(ctx, func(ctx context.Context) (_ *Rows, err error) {
		of := p.of
		if of == nil || of.db != db || of.bound != nil && !db.means(of) {
			if of, err = db.prepare(running(ctx, p.parsed), p.script, p.parsed); err != nil {
				return nil, err
			}
		}
		if s.tx == nil {
			p.of = of
		}
		return of.query(ctx, values)
	})
}
