package sql

import (
	"iter"
	"strings"
)

// tokenKind is what a token is, as far as cutting, guarding and naming need it.
type tokenKind uint8

const (
	word     tokenKind = iota // an unquoted identifier or keyword
	quoted                    // "an identifier"
	str                       // any string constant, with its quotes
	number                    // a numeric constant
	operator                  // a run of operator characters, or ::
	punct                     // one byte: ( ) [ ] , ; . and whatever is left
)

// token is text[start:end].
type token struct {
	kind       tokenKind
	start, end int
}

// scanner walks SQL text as PostgreSQL's lexer does, as far as quotes, comments
// and words go. It never fails: an unfinished quote or comment runs to the end of
// the text, and pg_query reports it.
type scanner struct {
	text string
	at   int
	// open is where a comment starts that nothing ends, -1 if there is none.
	open int
	// comment, when set, is told of each comment.
	comment func(start, end int)
}

// next returns the next token; false at the end.
func (s *scanner) next() (token, bool) {
	s.skipBlank()
	if s.at >= len(s.text) {
		return token{}, false
	}
	start := s.at
	kind := s.scan()
	return token{kind, start, s.at}, true
}

// tokens yields those of a text.
func tokens(text string) iter.Seq[token] {
	return func(yield func(token) bool) {
		s := scanner{text: text}
		for t, ok := s.next(); ok && yield(t); t, ok = s.next() {
		}
	}
}

// peek returns the byte i places ahead, 0 past the end.
func (s *scanner) peek(i int) byte {
	if s.at+i < len(s.text) {
		return s.text[s.at+i]
	}
	return 0
}

func isBlank(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }
func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isWordStart(c byte) bool {
	return c == '_' || c >= 0x80 || c|0x20 >= 'a' && c|0x20 <= 'z'
}
func isWordPart(c byte) bool { return isWordStart(c) || isDigit(c) || c == '$' }

// skipBlank passes white space, -- comments and nested /* */ comments.
func (s *scanner) skipBlank() {
	for s.at < len(s.text) {
		switch {
		case isBlank(s.text[s.at]):
			s.at++
		case s.peek(0) == '-' && s.peek(1) == '-':
			s.skipLine()
		case s.peek(0) == '/' && s.peek(1) == '*':
			s.skipComment()
		default:
			return
		}
	}
}

func (s *scanner) skipLine() {
	start := s.at
	if n := strings.IndexAny(s.text[s.at:], "\n\r"); n >= 0 {
		s.at += n
	} else {
		s.at = len(s.text)
	}
	s.skipped(start)
}

func (s *scanner) skipped(start int) {
	if s.comment != nil {
		s.comment(start, s.at)
	}
}

func (s *scanner) skipComment() {
	start, depth := s.at, 0
	for s.at < len(s.text) {
		switch {
		case s.peek(0) == '/' && s.peek(1) == '*':
			depth++
			s.at += 2
		case s.peek(0) == '*' && s.peek(1) == '/':
			depth--
			s.at += 2
			if depth == 0 {
				s.skipped(start)
				return
			}
		default:
			s.at++
		}
	}
	s.at = len(s.text)
	s.open = start
}

// blankComments returns text with spaces, byte for byte, in the place of its comments:
// PostgreSQL's lexer takes minutes over deeply nested ones.
func blankComments(text string) string {
	var out []byte
	s := scanner{text: text}
	s.comment = func(start, end int) {
		if out == nil {
			out = []byte(text)
		}
		for i := start; i < end; i++ {
			out[i] = ' '
		}
	}
	for ok := true; ok; _, ok = s.next() {
	}
	if out == nil {
		return text
	}
	return string(out)
}

// scan passes one token, of which the first byte is at s.at.
func (s *scanner) scan() tokenKind {
	c := s.text[s.at]
	switch {
	case c == '\'':
		return s.quote('\'', false, str)
	case c == '"':
		return s.quote('"', false, quoted)
	case isWordStart(c):
		return s.word()
	case isDigit(c), c == '.' && isDigit(s.peek(1)):
		return s.number()
	case c == '$':
		return s.dollar()
	case c == ':' && s.peek(1) == ':':
		s.at += 2
		return operator
	case strings.IndexByte(operatorBytes, c) >= 0:
		return s.operator()
	}
	s.at++
	return punct
}

// quote passes a quoted thing, in which the quote doubled (or, with escapes, after a
// backslash) stands for itself.
func (s *scanner) quote(q byte, escapes bool, kind tokenKind) tokenKind {
	for s.at++; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; {
		case c == '\\' && escapes:
			s.at++
		case c == q && s.peek(1) == q:
			s.at++
		case c == q:
			s.at++
			return kind
		}
	}
	s.at = len(s.text)
	return kind
}

// word passes an identifier, or the string or quoted identifier that it is the
// prefix of: E, B, X, N or U& with a quote right after it.
func (s *scanner) word() tokenKind {
	c := s.text[s.at] | 0x20
	switch next := s.peek(1); {
	case next == '\'' && (c == 'e' || c == 'b' || c == 'x' || c == 'n'):
		s.at++
		return s.quote('\'', c == 'e', str)
	case c == 'u' && next == '&' && s.peek(2) == '\'':
		s.at += 2
		return s.quote('\'', false, str)
	case c == 'u' && next == '&' && s.peek(2) == '"':
		s.at += 2
		return s.quote('"', false, quoted)
	}
	for s.at < len(s.text) && isWordPart(s.text[s.at]) {
		s.at++
	}
	return word
}

// number passes digits, a fraction and an exponent; letters glued to it become a
// token of their own, which is pg_query's to refuse.
func (s *scanner) number() tokenKind {
	digits := func() {
		for isDigit(s.peek(0)) || s.peek(0) == '_' {
			s.at++
		}
	}
	digits()
	if s.peek(0) == '.' {
		s.at++
		digits()
	}
	if s.peek(0)|0x20 == 'e' {
		switch {
		case isDigit(s.peek(1)):
			s.at++
		case (s.peek(1) == '+' || s.peek(1) == '-') && isDigit(s.peek(2)):
			s.at += 2
		}
		digits()
	}
	return number
}

// dollar passes $1, $$text$$ or $tag$text$tag$.
func (s *scanner) dollar() tokenKind {
	if isDigit(s.peek(1)) {
		for s.at++; isDigit(s.peek(0)); s.at++ {
		}
		return punct
	}
	end := s.at + 1
	for end < len(s.text) && isWordPart(s.text[end]) && s.text[end] != '$' {
		end++
	}
	if end >= len(s.text) || s.text[end] != '$' {
		s.at++
		return punct
	}
	tag := s.text[s.at : end+1]
	s.at = end + 1
	if n := strings.Index(s.text[s.at:], tag); n >= 0 {
		s.at += n + len(tag)
	} else {
		s.at = len(s.text)
	}
	return str
}

const operatorBytes = "~!@#^&|`?+-*/%<>="

// operator passes a run of operator bytes, which a comment ends.
func (s *scanner) operator() tokenKind {
	for s.at++; s.at < len(s.text); s.at++ {
		c := s.text[s.at]
		comment := c == '-' && s.peek(1) == '-' || c == '/' && s.peek(1) == '*'
		if comment || strings.IndexByte(operatorBytes, c) < 0 {
			break
		}
	}
	return operator
}

// split cuts text at its semicolons; a piece reaches from its first token to its
// last, so that comments and blanks around it are gone (a comment that nothing
// ends stays, to be an error). Pieces without a token are left out.
func split(text string) [][2]int {
	var pieces [][2]int
	s := scanner{text: text, open: -1}
	start, end := -1, 0
	for {
		t, ok := s.next()
		if !ok && s.open >= 0 {
			if start < 0 {
				start = s.open
			}
			end = len(text)
		}
		if start >= 0 && (!ok || text[t.start] == ';') {
			pieces = append(pieces, [2]int{start, end})
			start = -1
		}
		if !ok {
			return pieces
		}
		if text[t.start] == ';' {
			continue
		}
		if start < 0 {
			start = t.start
		}
		end = t.end
	}
}
