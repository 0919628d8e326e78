package sql

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// Prepared is what PREPARE, EXECUTE and DEALLOCATE ask for.
type Prepared struct {
	Verb  string
	Name  string   // "" of DEALLOCATE ALL
	Types []string // of PREPARE: those of its first parameters
	Args  []Part   // of EXECUTE: expressions
	Query Part     // of PREPARE: the statement
}

// Part is a part of a statement's text.
type Part struct {
	Text  string
	Start int // where it begins in the text given to [Parse], in bytes
}

// Statement is the part as a statement of its own, whose errors have their places in the text that it is a part of.
func (p Part) Statement() *Statement {
	s := split(p.Text)[0]
	s.Offset += p.Start
	s.err = s.parse(nil)
	return s
}

// Argument is a statement that gives one row: argument i, assigned to a type.
func (p *Prepared) Argument(i int, to string) *Statement {
	const before = "SELECT ("               // no longer than EXECUTE, a name and a parenthesis
	text := before + p.Args[i].Text + "\n)" // the argument may end with a comment
	if to != "" {
		text += "::" + to
	}
	s := Part{Text: text, Start: p.Args[i].Start - len(before)}.Statement()
	if to != "" && s.sel != nil && len(s.sel.TargetList) == 1 {
		s.argument, s.number = s.sel.TargetList[0].GetResTarget().GetVal().GetTypeCast(), i+1
	}
	return s
}

// assignedArgument is the argument of EXECUTE for a parameter of a type. As in PostgreSQL the digits of that type do not count.
func (b *binder) assignedArgument(n *pg.TypeCast) expr.Expr {
	to := target{t: b.target(n.TypeName).t}
	if to.bare = to.t.Kind == table.Decimal; to.bare {
		to.t = numeric
	}
	x := coerce(b.expr(n.Arg), to.t)
	if from := x.Type(); !assignable(from, to.t) {
		panic(expr.Coded(sqlstate.DatatypeMismatch, x.Pos(), "parameter $%d of type %s cannot be coerced to the expected type %s: write CAST(... AS %s)", b.number, typeName(from), typeName(to.t), typeName(to.t)))
	}
	return b.cast(x, to, x.Pos())
}

// prepares takes a PREPARE.
func (s *Statement) prepares(n *pg.PrepareStmt) error {
	s.Prepared = &Prepared{Verb: "PREPARE", Name: n.Name}
	for _, p := range s.parts() {
		s.Prepared.Types = append(s.Prepared.Types, p.Text)
	}
	at := s.keyword("as") + len("as")
	query := strings.TrimLeft(s.Text[at:], " \t\r\n")
	s.Prepared.Query = Part{query, s.pos(len(s.Text) - len(query))}
	s.Params = 0 // they are those of the statement
	return nil
}

// parts are the parts, between commas, of the first parentheses behind the name of PREPARE and EXECUTE; nil where there are none.
func (s *Statement) parts() (list []Part) {
	if len(s.tokens) < 3 || s.Text[s.tokens[2].start] != '(' {
		return nil
	}
	depth, from := 0, s.tokens[2].end
	add := func(to int) {
		text := strings.TrimLeft(s.Text[from:to], " \t\r\n")
		list = append(list, Part{strings.TrimSpace(text), s.pos(to - len(text))})
		from = to + 1
	}
	for _, t := range s.tokens[2:] {
		if t.kind != punct {
			continue
		}
		switch s.Text[t.start] {
		case '(', '[':
			depth++
		case ')', ']':
			if depth--; depth == 0 {
				add(t.start)
				return list
			}
		case ',':
			if depth == 1 {
				add(t.start)
			}
		}
	}
	return list
}
