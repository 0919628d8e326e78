package match

import (
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/sqlstate"
)

// Like is a LIKE or ILIKE pattern, ready to match many strings.
type Like struct {
	elems []likeElement
	fold  bool
	// counts says that nothing but the number of characters counts: ones of them, or with more that many at least.
	counts, more bool
	ones         int64
}

// likeElement is one element of a pattern: the byte c, or any one character, or any
// sequence of characters.
type likeElement struct {
	kind likeKind
	c    byte
	next string // of any sequence: literal bytes that come behind it, the first of them the first of a character
}

type likeKind uint8

const (
	literal likeKind = iota
	anyOne
	anyRun
)

// CompileLike reads a pattern. % stands for any sequence, _ for any one UTF-8
// character (a byte that is not valid UTF-8 is one too). escape (0: none) makes
// the next character literal. fold is ILIKE: letters match without
// regard to case, by Unicode's simple mapping to lower case. A pattern that ends with the escape
// character is an error.
func CompileLike(pattern string, escape rune, fold bool) (*Like, error) {
	m := &Like{fold: fold}
	for i := 0; i < len(pattern); {
		r, n := utf8.DecodeRuneInString(pattern[i:])
		switch {
		case escape != 0 && r == escape:
			if i += n; i == len(pattern) {
				return nil, sqlstate.Errorf(sqlstate.InvalidEscapeSequence, "LIKE pattern must not end with escape character")
			}
			_, n = utf8.DecodeRuneInString(pattern[i:])
			m.literal(pattern[i : i+n])
		case r == '_':
			m.elems = append(m.elems, likeElement{kind: anyOne})
		case r == '%':
			m.elems = append(m.elems, likeElement{kind: anyRun})
		default:
			m.literal(pattern[i : i+n])
		}
		i += n
	}
	m.elems = runsLast(m.elems)
	for i := range m.elems {
		if m.elems[i].kind == anyRun {
			m.elems[i].next = m.run(i + 1)
		}
	}
	m.count()
	return m, nil
}

// count finds the patterns of _ alone, with % or without.
func (m *Like) count() {
	m.counts = true
	for _, e := range m.elems {
		switch e.kind {
		case literal:
			m.counts = false
		case anyOne:
			m.ones++
		case anyRun:
			m.more = true
		}
	}
}

// runsLast writes %_% and the like as _%: so what is retried begins with bytes.
func runsLast(elems []likeElement) (out []likeElement) {
	anything := false // a % that is yet to be written
	for i, e := range elems {
		if e.kind != anyRun {
			if e.kind == literal && anything {
				out, anything = append(out, likeElement{kind: anyRun}), false
			}
			out = append(out, e)
		}
		anything = anything || e.kind == anyRun
		if anything && i == len(elems)-1 {
			out = append(out, likeElement{kind: anyRun})
		}
	}
	return out
}

// run is the literal bytes from an element on; none where they begin within a character.
func (m *Like) run(from int) string {
	b := m.bytes(from)
	if b != "" && !utf8.RuneStart(b[0]) {
		return ""
	}
	return b
}

// bytes is the literal bytes from an element on.
func (m *Like) bytes(from int) string {
	var b []byte
	for ; from < len(m.elems) && m.elems[from].kind == literal; from++ {
		b = append(b, m.elems[from].c)
	}
	return string(b)
}

func (m *Like) literal(s string) {
	if m.fold {
		s = strings.ToLower(s)
	}
	for i := range len(s) {
		m.elems = append(m.elems, likeElement{c: s[i]})
	}
}

// Elements of a pattern that are no byte.
const (
	AnyOne = 256 + iota // any one character
	AnyRun              // any sequence of characters
)

// Elements are those of the pattern, in their order: bytes, [AnyOne] and [AnyRun]. Of ILIKE letters are small.
func (m *Like) Elements() []int32 {
	return xslices.Map(m.elems, func(e likeElement) int32 { return [...]int32{int32(e.c), AnyOne, AnyRun}[e.kind] })
}

// Fold reports ILIKE.
func (m *Like) Fold() bool { return m.fold }

// Runs are the bytes of the pattern that stand together, in their order.
func (m *Like) Runs() (list []string) {
	for i, e := range m.elems {
		if e.kind == literal && (i == 0 || m.elems[i-1].kind != literal) {
			list = append(list, m.bytes(i))
		}
	}
	return list
}

// Prefix is what all texts that match begin with.
func (m *Like) Prefix() string {
	if m.fold {
		return ""
	}
	return m.bytes(0)
}

// shortFold is up to how many bytes of ASCII ILIKE makes letters small in place.
const shortFold = 128

// Match reports whether all of s matches the pattern. It takes at most
// len(s) * len(pattern) steps: only the last % seen is ever retried, where the bytes behind it come next.
func (m *Like) Match(s string) bool {
	switch {
	case m.counts:
		n := CountCharacters(s)
		return n == m.ones || m.more && n > m.ones
	case !m.fold:
		return m.match(s)
	case len(m.elems) > 0 && m.elems[0].kind == literal && s != "" && s[0] < utf8.RuneSelf && lowerByte(s[0]) != m.elems[0].c:
		return false
	case len(s) <= shortFold && IsASCII(s):
		var small [shortFold]byte
		for i := range len(s) {
			small[i] = lowerByte(s[i])
		}
		return m.match(unsafe.String(&small[0], len(s)))
	}
	return m.match(strings.ToLower(s))
}

// lowerByte makes a letter of ASCII small.
func lowerByte(c byte) byte {
	if c-'A' < 26 {
		c += 'a' - 'A'
	}
	return c
}

// match is Match of a text whose letters are small where the pattern's are.
func (m *Like) match(s string) bool {
	i, p := 0, 0
	retryP, retryI := -1, 0
	find := func() bool {
		at := strings.Index(s[retryI:], m.elems[retryP-1].next)
		retryI += at
		i, p = retryI, retryP
		return at >= 0
	}
	for {
		if p == len(m.elems) && i == len(s) {
			return true
		}
		if p < len(m.elems) {
			switch e := m.elems[p]; {
			case e.kind == anyRun:
				if retryP, retryI = p+1, i; retryP == len(m.elems) {
					return true
				}
				if !find() {
					return false
				}
				continue
			case i < len(s) && e.kind == anyOne:
				_, n := utf8.DecodeRuneInString(s[i:])
				i, p = i+n, p+1
				continue
			case i < len(s) && e.kind == literal && s[i] == e.c:
				i, p = i+1, p+1
				continue
			}
		}
		if retryP < 0 || retryI >= len(s) {
			return false
		}
		_, n := utf8.DecodeRuneInString(s[retryI:])
		if retryI += n; !find() {
			return false
		}
	}
}
