package sql

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/sqlstate"
)

// Upkeep is VACUUM, ANALYZE or CHECKPOINT.
type Upkeep struct {
	Verb   string
	Tables []NamedTable // that it names; of VACUUM and ANALYZE none is all of them
}

// NamedTable is the name of a table in a statement.
type NamedTable struct {
	name name
	pos  int
}

// maintain takes VACUUM and ANALYZE. Options say how PostgreSQL goes about it, which is of no meaning here.
func (s *Statement) maintain(n *pg.VacuumStmt) error {
	s.Upkeep = &Upkeep{Verb: "ANALYZE"}
	if n.IsVacuumcmd {
		s.Upkeep.Verb = "VACUUM"
	}
	for _, r := range n.Rels {
		r := r.GetVacuumRelation().Relation
		if r.Schemaname != "" && !strings.EqualFold(r.Schemaname, "public") {
			return s.coded(sqlstate.FeatureNotSupported, int(r.Location), "a schema before a table's name is not supported, other than public")
		}
		names := s.spelled(int(r.Location), r.Relname)
		if r.Schemaname != "" {
			names = s.spelled(int(r.Location), r.Schemaname, r.Relname)
		}
		s.Upkeep.Tables = append(s.Upkeep.Tables, NamedTable{names[len(names)-1], s.pos(int(r.Location))})
	}
	return nil
}

// Of is the one of names that the statement means; an error where there is none.
func (t NamedTable) Of(names []string) (string, error) {
	i, _ := lookup(t.name, names)
	if i < 0 {
		return "", expr.Coded(sqlstate.UndefinedTable, t.pos, "table %s does not exist%s", clipped(t.name.text), suggest(t.name.text, names, "tables"))
	}
	return names[i], nil
}
