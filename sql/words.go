package sql

import (
	"maps"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/rules"
	"github.com/stencildb/stencildb/table"
)

// Keywords are those that a statement may have here, in upper case.
var Keywords = strings.Fields(`
	ADD ALL ALTER ALWAYS ANALYZE AND ANY ARRAY AS ASC AT BEGIN BETWEEN BIGINT BOOLEAN BY CASCADE CASE CAST CHAR CHECK CHECKPOINT COALESCE COLLATE COLUMN
	COMMENT COMMIT CONFLICT CONSTRAINT COPY CREATE CROSS CUBE CURRENT DATE DEALLOCATE DECIMAL DEFAULT DELETE DELIMITER DESC DESCRIBE DISCARD DISTINCT DO
	DOUBLE DROP ELSE END ESCAPE EXCEPT EXCLUDE EXECUTE EXISTS EXPLAIN EXTRACT FALSE FETCH FILTER FIRST FOLLOWING FORMAT FROM FULL FUNCTIONS GENERATED
	GREATEST GROUP GROUPING GROUPS HASH HAVING HEADER IDENTITY IF ILIKE IN INDEX INDEXES INNER INSERT INT INTEGER INTERSECT INTERVAL INTO IS JOIN JSON KEY
	LAST LATERAL LEAST LEFT LIKE LIMIT LOCAL MATCHED MERGE NATURAL NO NOT NOTHING NULL NULLIF NULLS NUMERIC OFFSET ON ONLY OR ORDER OTHERS OUTER OVER
	PARTITION PRECEDING PRECISION PREPARE PRIMARY RANGE READ REAL RECURSIVE RELEASE RENAME REPEATABLE REPLACE RESET RETURNING RIGHT ROLLBACK ROLLUP ROW
	ROWS RULES SAVEPOINT SELECT SERIAL SESSION SET SETS SHOW SIMILAR SMALLINT SORTED STDIN STDOUT SUMMARIZE SYMMETRIC TABLE TABLES TABLESAMPLE TEMP
	TEMPORARY TEXT THEN TIES TIME TIMESTAMP TO TRANSACTION TRUE TRUNCATE TYPE UNBOUNDED UNION UNIQUE UPDATE USING VACUUM VALUES VARCHAR VIEW WHEN WHERE
	WINDOW WITH WITHIN ZONE`)

// Functions are the names of those that there are.
func Functions() []string {
	list := append(expr.FunctionNames(), typeOfName)
	list = append(append(list, clockFunctions...), sessionFunctions...)
	list = slices.AppendSeq(list, maps.Keys(randomFunctions))
	for _, a := range aggregates {
		list = append(list, a.name)
	}
	for _, f := range windowFunctions {
		list = append(list, f.name)
	}
	return list
}

// ruleList is SHOW RULES: the rules of plans, which SET disable_rule leaves out.
func ruleList() plan.Node {
	var names, do []string
	for _, r := range rules.Rules {
		names, do = append(names, r.Name), append(do, r.Does)
	}
	return listed([]string{"rule_name", "description"}, names, do)
}

// constructs are what the grammar has beside functions, and that look like them.
var constructs = map[string]string{
	"coalesce": "coalesce(any type, ...)", "greatest": "greatest(any type, ...)", "least": "least(any type, ...)", "nullif": "nullif(any type, any type)",
}

// functionList is SHOW FUNCTIONS: each form of a function, how it is called, and its type; of aggregates,
// that they are some.
func functionList() plan.Node {
	var names, calls, types []string
	add := func(name, call, kind string) {
		if n := len(calls); n == 0 || calls[n-1] != call { // timezone has two forms of the same types
			names, calls, types = append(names, name), append(calls, call), append(types, kind)
		}
	}
	list := slices.AppendSeq(Functions(), maps.Keys(constructs))
	slices.Sort(list)
	for _, name := range slices.Compact(list) {
		for _, f := range expr.Functions(name) {
			add(name, signature(name, f), typeName(table.Type{Kind: f.Kind()}))
		}
		switch at := slices.IndexFunc(aggregates, func(a aggregate) bool { return a.name == name }); {
		case at >= 0:
			_, arguments, _ := strings.Cut(aggregates[at].kind.Form(), "(")
			if name == "median" {
				arguments = "x)"
			}
			add(name, name+"("+arguments, "aggregate")
		case windowOf(name) != nil:
			add(name, windowOf(name).call, "window")
		case constructs[name] != "":
			add(name, constructs[name], "any type")
		case name == typeOfName:
			add(name, name+"(any type)", typeName(varchar))
		case slices.Contains(clockFunctions, name):
			add(name, name+"()", typeName(timestamp))
		case name == "random":
			add(name, name+"()", typeName(double))
		case slices.Contains(sessionFunctions, name) || name == "gen_random_uuid":
			add(name, name+"()", typeName(varchar))
		}
	}
	return listed([]string{"function_name", "call", "data_type"}, names, calls, types)
}

// mistyped are keywords that stand where a statement or clause begins, in the place of which one finds words
// that are nearly the same.
var mistyped = strings.Fields("SELECT FROM WHERE GROUP ORDER HAVING LIMIT DISTINCT DESCRIBE SUMMARIZE EXPLAIN BETWEEN")

// barePath is the path of a file without quotes around loc, where that stands for a table; "" where there is none.
func (s *Statement) barePath(loc int) string {
	const ends = " \t\r\n(),;'\""
	loc = min(loc, len(s.Text))
	from, to := strings.LastIndexAny(s.Text[:loc], ends)+1, len(s.Text)
	if n := strings.IndexAny(s.Text[loc:], ends); n >= 0 {
		to = loc + n
	}
	i, found := slices.BinarySearchFunc(s.tokens, from, func(t token, loc int) int { return t.start - loc })
	if path := s.Text[from:to]; found && strings.ContainsAny(path, "./") && path[0] != '~' && s.beforeTable(i) { // ~ is the command line's
		return path
	}
	return ""
}

// remedy is what may have been meant where the grammar found an error.
func (s *Statement) remedy(loc int, message string) string {
	switch {
	case strings.HasPrefix(message, "LIMIT #,#"):
		return "; write LIMIT n OFFSET m"
	case strings.EqualFold(s.token(0), "desc") && loc == 0:
		return "; did you mean DESCRIBE?"
	case s.summarizes && loc == s.tokens[min(1, len(s.tokens)-1)].start:
		return "; SUMMARIZE takes a table or a file: CREATE VIEW v AS SELECT ... makes one of a query"
	case (s.summarizes || s.describes) && slices.Contains(FileFunctions, strings.ToLower(s.token(1))):
		return "; options of a file stand behind its path here: 'x.csv?header=false'"
	case strings.Contains(s.Text, "`"):
		return "; a name is written in double quotes"
	case strings.Contains(s.Text, "&&"):
		return "; && is written AND"
	case slices.ContainsFunc(s.tokens, func(t token) bool { return t.kind == operator && strings.HasSuffix(s.Text[t.start:t.end], "?") }):
		return "; a parameter is written $1, $2, and so on"
	}
	if path := s.barePath(loc); path != "" {
		return "; a file is written " + expr.Quote(path)
	}
	at, found := slices.BinarySearchFunc(s.tokens, loc, func(t token, loc int) int { return t.start - loc })
	switch {
	case found && at > 0 && strings.EqualFold(s.token(at-1), "top"):
		return "; write LIMIT " + s.token(at) + " at the end"
	case found && at > 0 && s.token(at-1) == "*" && (strings.EqualFold(s.token(at), "exclude") || strings.EqualFold(s.token(at), "except")):
		return "; name the columns that are wanted"
	}
	for _, i := range []int{at, at - 1} {
		if i < 0 || i >= len(s.tokens) || s.tokens[i].kind != word {
			continue
		}
		for _, w := range mistyped {
			if Distance(strings.ToUpper(s.token(i)), w, 1) == 1 {
				return "; did you mean " + w + "?"
			}
		}
	}
	return ""
}
