package sql

import (
	"slices"
	"strings"
	"time"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// The time of a statement is that of its binding, in UTC: all that ask for it get the same. These are
// functions that give it, and words of the grammar.
var (
	clockFunctions = []string{"now", "transaction_timestamp", "statement_timestamp"}
	clockWords     = map[string]table.Type{"CURRENT_DATE": date, "CURRENT_TIMESTAMP": timestamp, "LOCALTIMESTAMP": timestamp}
)

// usesClock reports whether what a statement means depends on when it runs.
func (s *Statement) usesClock() bool {
	for i, t := range s.tokens {
		text := s.Text[t.start:t.end]
		_, is := clockWords[strings.ToUpper(text)]
		called := i+1 < len(s.tokens) && s.Text[s.tokens[i+1].start] == '('
		if t.kind == word && (is || called && slices.Contains(append(clockFunctions, ageName), strings.ToLower(text))) {
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
		b.now = time.Now()
	}
	v := table.Value{Type: timestamp, I: b.now.UnixMicro()}
	return convert(&expr.Const{V: v, P: pos}, t, pos)
}

// whyNot says of functions why there are none of them, or what there is.
var whyNot = map[string]string{
	"random":  "it gives another value each time, and an answer here is the same on every backend",
	"setseed": "there is no random()", "gen_random_uuid": "it gives another value each time",
	"clock_timestamp": "it gives another value each time; there is now(), the time of the statement",
	"timezone":        "timestamps have no zone here, and are taken as UTC",
	"year":            "write extract(year FROM x)", "month": "write extract(month FROM x)", "day": "write extract(day FROM x)",
	"hour": "write extract(hour FROM x)", "dayofweek": "write extract(dow FROM x)", "date_diff": "write x - y",
	"ifnull": "write coalesce(x, y)", "nvl": "write coalesce(x, y)", "len": "write length(x)", "strftime": "write to_char(x, 'YYYY-MM-DD')",
	"make_interval": "write n * INTERVAL '1 day'",
}
