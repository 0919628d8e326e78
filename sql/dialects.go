package sql

import (
	"slices"
	"strings"

	"github.com/stencildb/stencildb/sqlstate"
)

// dialectClauses are clauses that other databases have and PostgreSQL's grammar does not, and what says the same.
var dialectClauses = []struct{ words, name, instead string }{
	{"qualify", "QUALIFY", "filter in a query around this one: SELECT * FROM (SELECT ..., row_number() OVER (...) AS n FROM ...) s WHERE n = 1"},
	{"pivot", "PIVOT", "write an aggregate for each column: SUM(x) FILTER (WHERE y = 'a') AS a"},
	{"unpivot", "UNPIVOT", "write CROSS JOIN LATERAL (VALUES ('a', a), ('b', b)) v(name, value)"},
	{"ignore nulls", "IGNORE NULLS", "leave the NULLs out by WHERE x IS NOT NULL in a subquery"},
	{"respect nulls", "RESPECT NULLS", "window functions do so anyway: leave it out"},
}

// reach is how many tokens before the place of an error such a clause may begin: PIVOT (sum(x) ... is wrong at its second parenthesis.
const reach = 3

// ofDialect is the error of a statement that the grammar refuses at loc because of such a clause; nil for another one.
func (s *Statement) ofDialect(loc int) error {
	at, _ := slices.BinarySearchFunc(s.tokens, loc, func(t token, loc int) int { return t.start - loc })
	for i := min(at, len(s.tokens)-1); i >= max(0, at-reach); i-- {
		for _, c := range dialectClauses {
			words := strings.Fields(c.words)
			if !s.wordsAt(i, words) {
				continue
			}
			return s.coded(sqlstate.FeatureNotSupported, s.tokens[i].start, "%s is not supported; %s", c.name, c.instead)
		}
	}
	return nil
}

// wordsAt reports that unquoted words stand at token i.
func (s *Statement) wordsAt(i int, words []string) bool {
	if i+len(words) > len(s.tokens) {
		return false
	}
	for k, w := range words {
		if s.tokens[i+k].kind != word || !strings.EqualFold(s.token(i+k), w) {
			return false
		}
	}
	return true
}

// joins are words before JOIN that other databases have for kinds of joins, and that are aliases of a table here.
var joins = map[string]string{
	"semi": "WHERE EXISTS (SELECT 1 FROM ...) keeps the rows that have a partner",
	"anti": "WHERE NOT EXISTS (SELECT 1 FROM ...) keeps the rows that have no partner",
	"asof": "JOIN LATERAL (SELECT ... WHERE y.t <= x.t ORDER BY y.t DESC LIMIT 1) finds the latest one before",
}

// Notes are what the statement may not mean though it says so.
func (s *Statement) Notes() (list []string) {
	if s.err != nil {
		return nil
	}
	for i, t := range s.tokens {
		kind := strings.ToLower(s.token(i))
		instead := joins[kind]
		if t.kind != word || instead == "" || i == 0 || i+1 >= len(s.tokens) || !strings.EqualFold(s.token(i+1), "join") {
			continue
		}
		switch before := s.token(i - 1); {
		case s.tokens[i-1].kind == punct && before != ")", slices.Contains([]string{"as", "from", "join", "only", "lateral"}, strings.ToLower(before)):
			continue // it is a table's name, or meant to be an alias
		}
		list = append(list, strings.ToUpper(kind)+" JOIN is read as a JOIN with a table that has the alias "+kind+", as PostgreSQL reads it; "+instead)
	}
	return list
}
