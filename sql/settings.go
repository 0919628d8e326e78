package sql

import (
	"strconv"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/stencildb/stencildb/sqlstate"
)

// Setting is what SET, RESET, SHOW or DISCARD ALL asks for.
type Setting struct {
	Verb  string // "SET", "RESET", "SHOW" or "DISCARD"
	Local bool   // SET and RESET: until the end of the transaction
	Name  string // of the setting; "all" with RESET and SHOW: all of them
	Value string // of SET
	Pos   int    // of the name, in the text given to [Parse]
}

// sets takes SET or RESET. SET ... TO DEFAULT is RESET.
func (s *Statement) sets(n *pg.VariableSetStmt) error {
	name := settingName(n.Name)
	at := s.keyword(name)
	s.Setting = &Setting{Verb: "SET", Name: name, Local: n.IsLocal, Pos: s.pos(at)}
	switch {
	case n.Kind == pg.VariableSetKind_VAR_RESET, n.Kind == pg.VariableSetKind_VAR_SET_DEFAULT:
		s.Setting.Verb = "RESET"
		return nil
	case n.Kind == pg.VariableSetKind_VAR_RESET_ALL:
		s.Setting.Verb, s.Setting.Name = "RESET", "all"
		return nil
	case n.Kind != pg.VariableSetKind_VAR_SET_VALUE:
		return s.coded(sqlstate.FeatureNotSupported, 0, "this form of SET is not supported; write SET name = value, or SET LOCAL name = value")
	case len(n.Args) != 1:
		return s.coded(sqlstate.InvalidParameterValue, at, "SET %s takes only one argument", name)
	}
	switch v := n.Args[0].GetAConst(); {
	case v.GetSval() != nil:
		s.Setting.Value = v.GetSval().Sval
	case v.GetIval() != nil:
		s.Setting.Value = strconv.Itoa(int(v.GetIval().Ival))
	case v.GetFval() != nil:
		s.Setting.Value = v.GetFval().Fval
	default:
		return s.coded(sqlstate.InvalidParameterValue, at, "the value of %s must be text, a word or a number", name)
	}
	return nil
}

// discards takes DISCARD ALL.
func (s *Statement) discards(n *pg.DiscardStmt) error {
	if n.Target != pg.DiscardMode_DISCARD_ALL {
		return s.coded(sqlstate.FeatureNotSupported, 0, "this form of DISCARD is not supported; write DISCARD ALL")
	}
	s.Setting = &Setting{Verb: "DISCARD", Name: "all"}
	return nil
}

// insteadOfJoin stands where a statement names the setting join, which the grammar has as a keyword.
const insteadOfJoin = "joi_"

func settingName(name string) string {
	if name == insteadOfJoin {
		return "join"
	}
	return name
}

// nameJoin puts [insteadOfJoin] into SET, RESET and SHOW.
func (s *Statement) nameJoin() {
	word := func(n int) string { return strings.ToLower(s.token(n)) }
	at := 1
	switch verb := word(0); {
	case verb == "set" && (word(1) == "session" || word(1) == "local"):
		at = 2
	case verb != "set" && verb != "reset" && verb != "show":
		return
	}
	if word(at) == "join" {
		t := s.tokens[at]
		s.clean = s.clean[:t.start] + insteadOfJoin + s.clean[t.end:]
	}
}
