package expr

import "strings"

// Ident writes a name as SQL: in double quotes unless it is a plain lower-case word
// that PostgreSQL takes for a column's name.
func Ident(name string) string {
	plain := name != "" && !reserved[name]
	for i := range len(name) {
		c := name[i]
		letter := c >= 'a' && c <= 'z' || c == '_'
		if !letter && (i == 0 || c < '0' || c > '9') {
			plain = false
		}
	}
	if plain {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

// Quote writes a text as SQL: in quotes, those in it doubled.
func Quote(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// reserved are PostgreSQL's keywords that are no column name without quotes.
var reserved = map[string]bool{}

func init() {
	for _, w := range strings.Fields(`
		all analyse analyze and any array as asc asymmetric authorization binary both case cast check
		collate collation column concurrently constraint create cross current_catalog current_date
		current_role current_schema current_time current_timestamp current_user default deferrable desc
		distinct do else end except false fetch for foreign freeze from full grant group having ilike in
		initially inner intersect into is isnull join lateral leading left like limit localtime
		localtimestamp natural not notnull null offset on only or order outer overlaps placing primary
		references returning right select session_user similar some symmetric system_user table tablesample
		then to trailing true union unique user using variadic verbose when where window with`) {
		reserved[w] = true
	}
}
