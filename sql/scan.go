package sql

import (
	"slices"
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
	text     string
	at       int
	comments [][2]int // from where to where
	open     int      // where a comment starts that nothing ends, -1 if there is none
}

// tokens returns those of the text.
func (s *scanner) tokens() (list []token) {
	for s.skipBlank(); s.at < len(s.text); s.skipBlank() {
		start := s.at
		kind := s.scan()
		list = append(list, token{kind, start, s.at})
	}
	return list
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
	s.comments = append(s.comments, [2]int{start, s.at})
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
				s.comments = append(s.comments, [2]int{start, s.at})
				return
			}
		default:
			s.at++
		}
	}
	s.at = len(s.text)
	s.open = start
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

// split cuts text at its semicolons; a statement reaches from its first token to its
// last, so that comments and blanks around it are gone (a comment that nothing
// ends stays, to be an error). Those without a token are left out. Comments in them are
// blanks in what is parsed: PostgreSQL's lexer takes minutes over deeply nested ones.
func split(text string) (list []*Statement) {
	s := scanner{text: text, open: -1}
	all := s.tokens()
	clean := []byte(text)
	for _, c := range s.comments {
		for i := c[0]; i < c[1]; i++ {
			clean[i] = ' '
		}
	}
	for more := true; more; {
		n := slices.IndexFunc(all, func(t token) bool { return text[t.start] == ';' })
		tokens, open := all, s.open
		if more = n >= 0; more {
			tokens, all, open = all[:n], all[n+1:], -1
		}
		if len(tokens) == 0 && open < 0 {
			continue
		}
		start, end := open, len(text)
		if len(tokens) > 0 {
			start = tokens[0].start
		}
		if open < 0 {
			end = tokens[len(tokens)-1].end
		}
		for i := range tokens {
			tokens[i].start, tokens[i].end = tokens[i].start-start, tokens[i].end-start
		}
		list = append(list, &Statement{Text: text[start:end], Offset: start, tokens: tokens, clean: string(clean[start:end]), open: open - start})
	}
	return list
}
