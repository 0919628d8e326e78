package sql

import (
	"strings"

	"github.com/stencildb/stencildb/sqlstate"
)

// The bounds of one statement. pg_query's C code recurses once for each operator of a
// chain: some 30,000 of them end the process.
const (
	// MaxText is the longest statement, in bytes.
	MaxText = 1 << 20
	// MaxNesting is how deep parentheses, brackets and CASE may nest.
	MaxNesting = 500
	// MaxChain is how many operators may follow one another in an expression,
	// those of its parentheses included, and how many ANDs and ORs.
	MaxChain = 2000

	// maxRun is the most tokens of a list element: whatever construct the
	// counting of operators does not know takes a token a level.
	maxRun = 30000
)

// chainWords are the keywords that take an operand to their left: each adds a
// level to the tree, as an operator does.
var chainWords = map[string]bool{
	"is": true, "isnull": true, "notnull": true, "like": true, "ilike": true, "similar": true, "in": true,
	"collate": true, "at": true, "escape": true, "overlaps": true, "operator": true,
}

// deepWords add a level that neither AND nor OR ends.
var deepWords = map[string]bool{"not": true, "between": true, "case": true, "join": true}

// setWords add a level that a comma does not end either.
var setWords = map[string]bool{"union": true, "intersect": true, "except": true}

// level is what has been seen since an opening parenthesis.
type level struct {
	sets   int // UNION and the like
	deep   int // deepWords since the last comma
	bools  int // ANDs and ORs since the last comma
	ops    int // operators since the last comma, AND or OR
	child  int // the deepest parentheses among those operators' operands
	best   int // the deepest operand of an AND, OR or comma so far
	run    int // tokens since the last comma, with the longest inner run
	runTop int // the longest run so far
}

func (l *level) depth() int { return max(l.best, l.ops+l.child) + l.deep + l.sets + 1 }

// endTerm is an AND or OR: its operands lie beside one another in the tree.
func (l *level) endTerm() {
	l.best = max(l.best, l.ops+l.child)
	l.ops, l.child = 0, 0
}

// endElement is a comma.
func (l *level) endElement() {
	l.endTerm()
	l.best, l.deep = l.best+l.deep, 0
	l.bools = 0
	l.runTop, l.run = max(l.runTop, l.run), 0
}

// guard checks that pg_query can take the statement.
func (s *Statement) guard() error {
	text := s.Text
	if len(text) > MaxText {
		return s.coded(sqlstate.StatementTooComplex, 0, "a statement of %d bytes is too long; at most %d are allowed: rows come by COPY FROM, parameters or several statements", len(text), MaxText)
	}
	levels := []level{{}}
	cases := 0
	for _, t := range s.tokens {
		top := &levels[len(levels)-1]
		top.run++
		switch t.kind {
		case operator:
			// PostgreSQL reads +++ as three signs: count the bytes.
			top.ops += t.end - t.start
		case word:
			switch w := strings.ToLower(text[t.start:t.end]); {
			case w == "and" || w == "or":
				top.bools++
				top.endTerm()
			case chainWords[w]:
				top.ops++
			case deepWords[w]:
				top.deep++
				if w == "case" {
					cases++
				}
			case setWords[w]:
				top.sets++
			}
		case punct:
			switch text[t.start] {
			case '(', '[':
				levels = append(levels, level{})
			case ')', ']':
				levels = closeLevel(levels)
			case ',':
				top.endElement()
			}
		}
		if len(levels)+cases > MaxNesting {
			return s.coded(sqlstate.StatementTooComplex, t.start, "the expression is nested too deeply; at most %d levels are allowed", MaxNesting)
		}
		top = &levels[len(levels)-1]
		if top.depth() > MaxChain || top.bools > MaxChain || top.run > maxRun {
			return s.coded(sqlstate.StatementTooComplex, t.start, "the expression is too long; at most %d operators may follow one another (a list of values can be longer: x IN (1, 2, ...))", MaxChain)
		}
	}
	if s.open >= 0 {
		return s.errorf(s.open, "unterminated /* comment")
	}
	return nil
}

// closeLevel folds the innermost level into the one around it.
func closeLevel(levels []level) []level {
	n := len(levels) - 1
	if n == 0 {
		return levels
	}
	inner, outer := &levels[n], &levels[n-1]
	outer.child = max(outer.child, inner.depth())
	outer.run += max(inner.run, inner.runTop)
	return levels[:n]
}
