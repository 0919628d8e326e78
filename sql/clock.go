package sql

import (
	"slices"
	"strings"
	"time"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// The time of a statement is that of its binding, in UTC: all that ask for it get the same. These are
// functions that give it, and words of the grammar.
var (
	clockFunctions = []string{"now", "transaction_timestamp", "statement_timestamp"}
	clockWords     = map[string]table.Type{"CURRENT_DATE": date, "CURRENT_TIMESTAMP": timestamp, "LOCALTIMESTAMP": timestamp}
)

// Version is what version() says behind the product's name.
var Version = "dev"

// sessionInformation are functions and words of the grammar that ask for what is the same everywhere: there are no users, and one database.
var sessionInformation = map[string]string{
	"current_user": "stencildb", "session_user": "stencildb", "current_role": "stencildb", "user": "stencildb",
	"current_catalog": "stencildb", "current_database": "stencildb", "current_schema": "public",
}

// sessionFunctions are those of them that are called, and version.
var sessionFunctions = []string{"current_database", "current_schema", "version"}

// usesClock reports whether what a statement means depends on when it runs.
func (s *Statement) usesClock() bool {
	for i, t := range s.tokens {
		text := s.Text[t.start:t.end]
		_, is := clockWords[strings.ToUpper(text)]
		called := i+1 < len(s.tokens) && s.Text[s.tokens[i+1].start] == '('
		if t.kind == word && (is || strings.EqualFold(text, "tablesample") || called && (slices.Contains(append(clockFunctions, ageName), strings.ToLower(text)) || randomFunctions[strings.ToLower(text)] != "")) {
			return true
		}
	}
	return false
}

// ageName is the function whose form of one argument is the age today.
const ageName = "age"

// clock is the time of the statement as a value of a type, DATE or TIMESTAMP.
func (b *binder) clock(t table.Type, pos int) expr.Expr {
	if b.now.IsZero() {
		*b.now = time.Now()
	}
	v := table.Value{Type: timestamp, I: b.now.UnixMicro()}
	return convert(&expr.Const{V: v, P: pos}, t, pos)
}

// zoneName is the function that AT TIME ZONE is.
const zoneName = "timezone"

// isInstant reports an expression that has a time zone in PostgreSQL, and is UTC here. That is the clock, AT
// TIME ZONE of a timestamp without one, and expressions over these.
func isInstant(n *pg.Node) bool {
	if v := n.GetSqlvalueFunction(); v != nil {
		return v.Op == pg.SQLValueFunctionOp_SVFOP_CURRENT_TIMESTAMP || v.Op == pg.SQLValueFunctionOp_SVFOP_CURRENT_TIMESTAMP_N
	}
	if e := n.GetAExpr(); e != nil && e.Lexpr != nil {
		return isInstant(e.Lexpr) && !isInstant(e.Rexpr)
	}
	f := n.GetFuncCall()
	if f == nil {
		return false
	}
	switch name := lastName(f.Funcname); {
	case slices.Contains(clockFunctions, name), name == "to_timestamp":
		return true
	case name == zoneName && len(f.Args) == 2:
		return !isInstant(f.Args[1])
	default:
		return (name == "date_trunc" || name == "date_bin") && len(f.Args) > 1 && isInstant(f.Args[1])
	}
}

// whyNot says of functions why there are none of them, or what there is.
var whyNot = map[string]string{
	"setseed":         "t TABLESAMPLE BERNOULLI (10) REPEATABLE (1) takes the same rows again",
	"clock_timestamp": "it gives another value each time; there is now(), the time of the statement",
	"year":            "write extract(year FROM x)", "month": "write extract(month FROM x)", "day": "write extract(day FROM x)",
	"hour": "write extract(hour FROM x)", "dayofweek": "write extract(dow FROM x)", "date_diff": "write x - y",
	"ifnull": "write coalesce(x, y)", "nvl": "write coalesce(x, y)", "len": "write length(x)", "strftime": "write to_char(x, 'YYYY-MM-DD')",
	"datediff": "write x - y", "dateadd": "write x + INTERVAL '1 day'", "pg_sleep": "it gives no value",
	"array_agg": "there are no arrays; write string_agg(x::text, ', ')", "list": "there are no arrays; write string_agg(x::text, ', ')",
	"json_agg": "there is no JSON; write string_agg(x::text, ', ')", "group_concat": "write string_agg(x::text, ',')", "listagg": "write string_agg(x::text, ',')",
	"approx_count_distinct": "write COUNT(DISTINCT x)", "quantile": "write percentile_disc(0.5) WITHIN GROUP (ORDER BY x)",
	"quantile_cont": "write percentile_cont(0.5) WITHIN GROUP (ORDER BY x)", "first": "write any_value(x), or SELECT DISTINCT ON (...) with ORDER BY",
	"last": "write SELECT DISTINCT ON (...) with ORDER BY", "arg_max": "write SELECT y with ORDER BY x DESC LIMIT 1, or SELECT DISTINCT ON (...)",
	"arg_min": "write SELECT y with ORDER BY x LIMIT 1, or SELECT DISTINCT ON (...)", "max_by": "write SELECT y with ORDER BY x DESC LIMIT 1, or SELECT DISTINCT ON (...)",
	"min_by": "write SELECT y with ORDER BY x LIMIT 1, or SELECT DISTINCT ON (...)", "countif": "write COUNT(*) FILTER (WHERE ...)", "count_if": "write COUNT(*) FILTER (WHERE ...)",
	"ends_with": "write right(x, length(y)) = y", "contains": "write strpos(x, y) > 0", "instr": "write strpos(x, y)", "log2": "write log(2, x)",
	"if": "write CASE WHEN x THEN y ELSE z END", "iif": "write CASE WHEN x THEN y ELSE z END", "iff": "write CASE WHEN x THEN y ELSE z END",
	"date_add": "write x + INTERVAL '1 day'", "date_subtract": "write x - INTERVAL '1 day'", "trim_scale": "the digits of a NUMERIC are its type's; write round(x, 2)",
	"typeof": "write pg_typeof(x)", "date": "write x::date", "dayname": "write to_char(x, 'FMDay')", "monthname": "write to_char(x, 'FMMonth')",
	"minute": "write extract(minute FROM x)", "second": "write extract(second FROM x)", "epoch": "write extract(epoch FROM x)", "isnan": "write x = 'NaN'",
	"strptime": "write to_timestamp(x, 'YYYY-MM-DD HH24:MI:SS')", "histogram": "write SELECT x, COUNT(*) ... GROUP BY x",
	"last_day": "write (date_trunc('month', x) + INTERVAL '1 month - 1 day')::date", "isnull": "write coalesce(x, y)", "unnest": "there are no arrays",
	"regexp_match": "there are no arrays; write regexp_substr(x, y)", "regexp_matches": "there are no arrays; write x ~ y, or regexp_substr(x, y)",
	"regexp_extract": "write regexp_substr(x, y)", "percentile": "write percentile_cont(0.5) WITHIN GROUP (ORDER BY x)", "date_format": "write to_char(x, 'YYYY-MM-DD')",
	"charindex": "write strpos(y, x)", "string_to_array": "there are no arrays; write split_part(x, ',', 1)", "string_split": "there are no arrays; write split_part(x, ',', 1)",
	"split": "there are no arrays; write split_part(x, ',', 1)", "regexp_split_to_array": "there are no arrays; write split_part(x, ',', 1)",
	"generate_series": "it gives rows: write SELECT * FROM generate_series(1, 3)",
}
