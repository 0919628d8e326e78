package sql

import "strings"

// tokenKind is what a token is, as far as cutting, guarding and naming need it.
type tokenKind uint8

const (
	word       tokenKind = iota // an unquoted identifier or keyword
	quoted                      // "an identifier"
	str                         // any string constant, with its quotes
	path                        // a string constant in the place of a table
	number                      // a numeric constant
	operator                    // a run of operator characters, or ::
	punct                       // one byte: ( ) [ ] , ; . and whatever is left; or $1
	blank                       // white space; it and comments are no token of a statement
	comment                     // -- to the end of the line, or /* nested */
	unfinished                  // a comment that nothing ends
)

// token is text[start:end].
type token struct {
	kind       tokenKind
	start, end int
}

const operatorBytes = "~!@#^&|`?+-*/%<>="

func isBlank(c byte) bool    { return c == ' ' || c >= '\t' && c <= '\r' }
func isDigit(c byte) bool    { return c >= '0' && c <= '9' }
func isInNumber(c byte) bool { return isDigit(c) || c == '_' }
func isInLine(c byte) bool   { return c != '\n' && c != '\r' }
func isWordStart(c byte) bool {
	return c == '_' || c >= 0x80 || c|0x20 >= 'a' && c|0x20 <= 'z'
}
func isWordPart(c byte) bool { return isWordStart(c) || isDigit(c) || c == '$' }
func isTagPart(c byte) bool  { return isWordPart(c) && c != '$' }

// byteAt is 0 past the end.
func byteAt(text string, i int) byte {
	if i < len(text) {
		return text[i]
	}
	return 0
}

// run is how many bytes at the start of text are of a kind.
func run(text string, of func(byte) bool) (n int) {
	for n < len(text) && of(text[n]) {
		n++
	}
	return n
}

// scan tells what text begins with and how long that is, as PostgreSQL's lexer does, as far
// as quotes, comments and words go. It never fails: an unfinished quote or comment runs to
// the end of the text, and pg_query reports it.
func scan(text string) (kind tokenKind, n int) {
	c, next, lower := text[0], byteAt(text, 1), text[0]|0x20
	switch {
	case isBlank(c):
		return blank, run(text, isBlank)
	case strings.HasPrefix(text, "--"):
		return comment, run(text, isInLine)
	case strings.HasPrefix(text, "/*"):
		return scanComment(text)
	case c == '\'':
		return str, quote(text, 0, false)
	case c == '"':
		return quoted, quote(text, 0, false)
	case next == '\'' && strings.IndexByte("ebxn", lower) >= 0:
		return str, quote(text, 1, lower == 'e')
	case lower == 'u' && next == '&' && byteAt(text, 2) == '\'':
		return str, quote(text, 2, false)
	case lower == 'u' && next == '&' && byteAt(text, 2) == '"':
		return quoted, quote(text, 2, false)
	case isWordStart(c):
		return word, run(text, isWordPart)
	case isDigit(c), c == '.' && isDigit(next):
		return number, scanNumber(text)
	case c == '$':
		return scanDollar(text)
	case c == ':' && next == ':':
		return operator, 2
	case strings.IndexByte(operatorBytes, c) >= 0:
		return operator, scanOperator(text)
	}
	return punct, 1
}

// scanComment passes a comment with those nested in it.
func scanComment(text string) (kind tokenKind, n int) {
	for depth := 0; n < len(text); n++ {
		switch {
		case strings.HasPrefix(text[n:], "/*"):
			depth++
			n++
		case strings.HasPrefix(text[n:], "*/"):
			depth--
			if n++; depth == 0 {
				return comment, n + 1
			}
		}
	}
	return unfinished, len(text)
}

// quote passes a quoted thing that begins at n, in which the quote doubled (or, with
// escapes, after a backslash) stands for itself.
func quote(text string, n int, escapes bool) int {
	q := text[n]
	for n++; n < len(text); n++ {
		switch c := text[n]; {
		case c == '\\' && escapes, c == q && byteAt(text, n+1) == q:
			n++
		case c == q:
			return n + 1
		}
	}
	return len(text)
}

// scanNumber passes digits, a fraction and an exponent; letters glued to it become a
// token of their own, which is pg_query's to refuse.
func scanNumber(text string) int {
	n := run(text, isInNumber)
	if byteAt(text, n) == '.' {
		n += 1 + run(text[n+1:], isInNumber)
	}
	if byteAt(text, n)|0x20 == 'e' {
		exponent := n + 1
		if c := byteAt(text, exponent); c == '+' || c == '-' {
			exponent++
		}
		if isDigit(byteAt(text, exponent)) {
			n = exponent + run(text[exponent:], isInNumber)
		}
	}
	return n
}

// scanDollar passes $1, $$text$$ or $tag$text$tag$.
func scanDollar(text string) (tokenKind, int) {
	if n := run(text[1:], isDigit); n > 0 {
		return punct, 1 + n
	}
	tag := 1 + run(text[1:], isTagPart)
	if byteAt(text, tag) != '$' {
		return punct, 1
	}
	tag++
	if n := strings.Index(text[tag:], text[:tag]); n >= 0 {
		return str, tag + n + tag
	}
	return str, len(text)
}

// scanOperator passes a run of operator bytes, which a comment ends.
func scanOperator(text string) (n int) {
	for n = 1; strings.IndexByte(operatorBytes, byteAt(text, n)) >= 0; n++ {
		if strings.HasPrefix(text[n:], "--") || strings.HasPrefix(text[n:], "/*") {
			break
		}
	}
	return n
}

// split cuts text at its semicolons. A statement reaches from its first token to its last, so that comments
// and blanks around it are gone. A comment that nothing ends stays, to be an error. Those without a token are
// left out. Comments in them are blanks in what is parsed: PostgreSQL's lexer takes minutes over deeply
// nested ones.
func split(text string) (list []*Statement) {
	clean, open := []byte(text), -1
	tokens := make([]token, 0, len(text)/4) // of the statement at hand
	end := func() {
		if len(tokens) == 0 && open < 0 {
			return
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
		tokens = nil
	}
	for at, n := 0, 0; at < len(text); at += n {
		var kind tokenKind
		switch kind, n = scan(text[at:]); {
		case kind == blank:
		case kind == comment:
			copy(clean[at:], strings.Repeat(" ", n))
		case kind == unfinished:
			open = at
		case text[at] == ';':
			copies := copiesIn(text, tokens)
			if end(); !copies {
				continue
			}
			if from, to, next, _ := copyData(text, at+n); from >= 0 {
				list[len(list)-1].data = []byte(text[from:to])
				n = next - at
			}
		default:
			tokens = append(tokens, token{kind, at, at + n})
		}
	}
	end()
	return list
}

// copiesIn reports a COPY FROM STDIN, of whose data lines follow.
func copiesIn(text string, tokens []token) bool {
	is := func(i int, name string) bool {
		return tokens[i].kind == word && strings.EqualFold(text[tokens[i].start:tokens[i].end], name)
	}
	if len(tokens) < 4 || !is(0, "copy") {
		return false
	}
	for i := 2; i+1 < len(tokens); i++ {
		if is(i, "from") {
			return is(i+1, "stdin")
		}
	}
	return false
}

// copyData finds the data of a COPY FROM STDIN that ends at a place of a text: its beginning, its end, and the next
// statement. The data is the lines behind the statement's line, up to a line of \. or the end of the text. The start is
// negative where only blanks follow, or another statement in the same line. It is whole where \. ends it.
func copyData(text string, at int) (from, to, next int, whole bool) {
	line, rest, _ := strings.Cut(text[at:], "\n")
	if !isEmpty(line) || strings.TrimSpace(rest) == "" {
		return -1, 0, 0, false
	}
	from = at + len(line) + 1
	for to = from; to < len(text); to = next {
		if next = len(text); strings.Contains(text[to:], "\n") {
			next = to + strings.Index(text[to:], "\n") + 1
		}
		if strings.TrimRight(text[to:next], "\r\n") == `\.` {
			return from, to, next, true
		}
	}
	return from, len(text), len(text), false
}

// Complete tells of a text that is still being typed where its last statement that a
// semicolon ends does end, 0 for none. It also tells whether another one begins behind that.
func Complete(text string) (end int, begun bool) {
	var tokens []token
	for at, n := 0, 0; at < len(text); at += n {
		var kind tokenKind
		switch kind, n = scan(text[at:]); {
		case kind == blank, kind == comment:
		case text[at] == ';':
			if copiesIn(text, tokens) && blankTo(text, at+1) { // its data follow
				_, _, next, whole := copyData(text, at+1)
				if !whole {
					return end, true
				}
				n = next - at
			}
			end, begun, tokens = at+n, false, nil
		default:
			begun, tokens = true, append(tokens, token{kind, at, at + n})
		}
	}
	return end, begun
}

// Endable reports that a semicolon behind a text would end its last statement: it ends in no quotes, in no comment and in no data.
func Endable(text string) bool {
	end, _ := Complete(text + "\n;")
	return end == len(text)+2
}

// blankTo reports that the line from a place on is blank.
func blankTo(text string, at int) bool {
	line, _, _ := strings.Cut(text[at:], "\n")
	return isEmpty(line)
}

// isEmpty reports a line of blanks, or of a comment.
func isEmpty(line string) bool {
	line = strings.TrimSpace(line)
	return line == "" || strings.HasPrefix(line, "--")
}

// OneLine writes a text as one line that means the same; ok is false where there is none.
func OneLine(text string) (line string, ok bool) {
	var b strings.Builder
	before := punct // the kind of the token before
	for at, n := 0, 0; at < len(text); at += n {
		var kind tokenKind
		kind, n = scan(text[at:])
		part := text[at : at+n]
		broken := strings.ContainsAny(part, "\r\n")
		switch {
		case strings.HasPrefix(part, "--") && at+n < len(text):
			part = "/*" + strings.NewReplacer("/*", "", "*/", "").Replace(part[2:]) + " */"
		case !broken:
		case kind == blank:
			next, _ := scan(text[at+n:] + ";")
			if before == str && next == str { // over a line break they are one string
				return "", false
			}
			part = " "
		case kind == comment:
			part = strings.Join(strings.Fields(part), " ")
		case kind == str && part[0] == '\'':
			part = "E" + strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\r", `\r`).Replace(part)
		case kind == str && part[0]|0x20 == 'e':
			part = strings.NewReplacer(`\\`, `\\`, "\\\n", `\n`, "\n", `\n`, "\r", `\r`).Replace(part)
		default:
			return "", false
		}
		b.WriteString(part)
		if kind != comment && kind != blank {
			before = kind
		}
	}
	return b.String(), true
}
