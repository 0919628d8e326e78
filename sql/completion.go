package sql

import (
	"slices"
	"strings"
)

// Expectation is what a statement that is being typed goes on with.
type Expectation int

// The expectations.
const (
	Beginning  Expectation = iota // the word that a statement begins with
	OfTable                       // the name of a table
	OfValue                       // an expression: a column, a function, a constant
	OfOperator                    // an operator or the next clause, behind a whole expression or a table
	OfName                        // a name that there is not yet
)

// Context is what is known of a place in a statement that is being typed.
type Context struct {
	Expects   Expectation
	Relations []Relation // whose columns may stand there: of the SELECT around the place, in front of it and behind, then of those around that
	Given     []string   // names of CTEs where a table is expected; else those that the SELECT list gives
}

// Relation is a table in FROM, or that a statement changes.
type Relation struct {
	Table string // as it is written; "" of a subquery
	Alias string // "" for none
	Path  string // of a file, instead of a table
}

// typing is a statement that is being typed: its tokens, and how many stand in front of the place.
type typing struct {
	words []lexeme
	at    int
}

// lexeme is a token with its text, of a word in lower case.
type lexeme struct {
	kind        tokenKind
	text, lower string
}

func (t *typing) lower(i int) string {
	if i < 0 || i >= len(t.words) {
		return ""
	}
	return t.words[i].lower
}

// lexemes are the tokens of a text up to the semicolon that ends a statement.
func lexemes(text string) (list []lexeme) {
	for at, n := 0, 0; at < len(text); at += n {
		var kind tokenKind
		kind, n = scan(text[at:])
		switch part := text[at : at+n]; {
		case kind == blank, kind == comment:
		case part == ";":
			return list
		default:
			l := lexeme{kind, part, part}
			if kind == word {
				l.lower = strings.ToLower(part)
			}
			list = append(list, l)
		}
	}
	return list
}

// ContextOf finds out what may stand between two parts of a text, of which the first ends with a whole token.
func ContextOf(before, after string) (c Context) {
	end, _ := Complete(before)
	first := lexemes(before[end:])
	t := &typing{append(first, lexemes(after)...), len(first)}
	c.Expects = t.expects()
	if c.Expects != OfTable && ExpectsTable(before) {
		c.Expects = OfTable
	}
	levels := t.levels()
	for i := len(levels) - 1; i >= 0; i-- {
		from, to := t.query(levels[i])
		c.Relations = append(c.Relations, t.relations(from, to)...)
		if c.Expects == OfTable {
			c.Given = append(c.Given, t.ctes(from, to)...)
		} else if i == len(levels)-1 {
			c.Given = append(c.Given, t.selectAliases(from, to)...)
		}
	}
	if c.Expects == OfTable {
		c.Relations = nil
	}
	return c
}

// beginValue are keywords that an expression follows.
var beginValue = strings.Fields("select distinct all where on and or not having by case when then else between like ilike similar in set returning limit offset values using filter column any some array escape to returns only")

// expects is what stands at the place by what stands in front of it.
func (t *typing) expects() Expectation {
	last := t.at - 1
	if last < 0 {
		return Beginning
	}
	switch w := t.words[last]; {
	case w.text == "(":
		switch t.lower(last - 1) {
		case "from", "join", "lateral", "as":
			return OfTable // or SELECT
		}
		return OfValue
	case w.kind == quoted || w.kind == number || w.kind == str || w.text == ")" || w.text == "]":
		return OfOperator
	case w.text == "*":
		if before := t.lower(last - 1); before == "select" || before == "," || before == "(" || before == "." || before == "distinct" {
			return OfOperator
		}
		return OfValue
	case w.kind != word:
		return OfValue
	case w.lower == "from" && t.ofCall(last):
		return OfValue
	case w.lower == "as":
		if t.opens(last) == "cast" {
			return OfOperator // which is where types are
		}
		return OfName
	case slices.Contains(beginValue, w.lower):
		return OfValue
	}
	return OfOperator
}

// opens is the word in front of the parenthesis around a token; "" for none.
func (t *typing) opens(i int) string {
	for depth := 0; i >= 0; i-- {
		switch t.words[i].text {
		case ")":
			depth++
		case "(":
			if depth--; depth < 0 {
				return t.lower(i - 1)
			}
		}
	}
	return ""
}

// ofCall reports a FROM that is no clause: in the arguments of a call such as EXTRACT(year FROM x), or of IS DISTINCT FROM.
func (t *typing) ofCall(from int) bool {
	return t.lower(from-1) == "distinct" && t.lower(from-2) != "select" || slices.Contains(calls, t.opens(from-1))
}

// levels are where the parentheses around the place begin, the outermost first: the statement itself is one, at 0.
func (t *typing) levels() []int {
	list := []int{0}
	for i := range t.at {
		switch t.words[i].text {
		case "(":
			list = append(list, i+1)
		case ")":
			list = list[:max(1, len(list)-1)]
		}
	}
	return list
}

// query is the part of a level that the place is in: between set operations, up to the end of its parenthesis.
func (t *typing) query(from int) (begin, end int) {
	begin, end = from, len(t.words)
	depth := 0
	for i := from; i < len(t.words); i++ {
		switch w := t.words[i]; {
		case w.text == "(":
			depth++
		case w.text == ")":
			if depth--; depth < 0 {
				return begin, i
			}
		case depth == 0 && (w.lower == "union" || w.lower == "intersect" || w.lower == "except"):
			if i >= t.at {
				return begin, i
			}
			begin = i + 1
		}
	}
	return begin, end
}

// named are words that the name of a relation follows.
var named = []string{"from", "join", "into", "update", "table", "copy", "using", "only", "lateral"}

// relations are those that a part of the statement names at its own level.
func (t *typing) relations(from, to int) (list []Relation) {
	listed := false // a comma is followed by another one
	for i := from; i < to; i++ {
		w := t.words[i]
		switch {
		case w.text == "(":
			i = t.close(i, to)
		case w.lower == "from" && t.ofCall(i):
		case slices.Contains(named, w.lower) && w.kind == word || w.text == "," && listed || w.lower == "on" && t.lower(from) == "create":
			listed = listed || w.lower == "from"
			r, next := t.relation(i+1, to)
			if r != (Relation{}) {
				list = append(list, r)
			}
			i = next - 1
		case slices.Contains([]string{"where", "group", "order", "having", "limit", "set", "returning", "window"}, w.lower):
			listed = false
		}
	}
	return list
}

// close is where the parenthesis at i ends, or the last token before to.
func (t *typing) close(i, to int) int {
	for depth := 0; i < to; i++ {
		switch t.words[i].text {
		case "(":
			depth++
		case ")":
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return to
}

// relation reads one from i on, and says where it ends.
func (t *typing) relation(i, to int) (r Relation, next int) {
	if i >= to || i == t.at { // the word that is being typed is not there
		return r, i
	}
	switch w := t.words[i]; {
	case w.text == "(":
		i = t.close(i, to) + 1
	case w.kind == str:
		r.Path = strings.ReplaceAll(strings.Trim(w.text, "'"), "''", "'")
		i++
	case w.kind == quoted || w.kind == word && !slices.Contains(notTables, w.lower):
		r.Table = w.text
		for i++; i+1 < to && t.words[i].text == "." && i+1 != t.at; i += 2 {
			r.Table = t.words[i+1].text
		}
		if i < to && t.words[i].text == "(" && slices.Contains(FileFunctions, strings.ToLower(r.Table)) {
			if r.Table = ""; i+1 < to && t.words[i+1].kind == str {
				r.Path = strings.ReplaceAll(strings.Trim(t.words[i+1].text, "'"), "''", "'")
			}
			i = t.close(i, to) + 1
		}
	default:
		return r, i
	}
	if i < to && t.lower(i) == "as" && i != t.at {
		i++
	}
	if i < to && i != t.at && (t.words[i].kind == quoted || t.words[i].kind == word && !isKeyword(t.lower(i))) {
		r.Alias = t.words[i].text
		i++
	}
	return r, i
}

// notTables are keywords that stand where the name of a table may.
var notTables = strings.Fields("select values with lateral only where set stdin stdout")

// isKeyword reports a word that names nothing where an alias may stand.
func isKeyword(lower string) bool {
	_, found := slices.BinarySearch(Keywords, strings.ToUpper(lower))
	return found
}

// ctes are the names that WITH gives at a level.
func (t *typing) ctes(from, to int) (list []string) {
	if t.lower(from) != "with" {
		return nil
	}
	for i := from; i < to; i++ {
		switch w := t.words[i]; {
		case w.text == "(":
			i = t.close(i, to)
		case w.lower == "select" || w.lower == "insert" || w.lower == "update" || w.lower == "delete":
			return list
		case (w.kind == quoted || w.kind == word && !isKeyword(w.lower)) && (t.lower(i+1) == "as" || t.lower(i+1) == "("):
			list = append(list, w.text)
		}
	}
	return list
}

// selectAliases are the names that a SELECT list gives with AS.
func (t *typing) selectAliases(from, to int) (list []string) {
	for i := from; i+1 < to && t.lower(i) != "from"; i++ {
		switch {
		case t.words[i].text == "(":
			i = t.close(i, to)
		case t.lower(i) == "as" && i+1 != t.at && (t.words[i+1].kind == quoted || t.words[i+1].kind == word):
			list = append(list, t.words[i+1].text)
		}
	}
	return list
}
