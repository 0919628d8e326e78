package match

import (
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/stencildb/stencildb/sqlstate"
)

// Regexp is a regular expression; behind is that after any one character.
type Regexp struct {
	finder
	behind finder
	Class  *ByteClass // it, where it is one
	folded string     // ASCII in small letters, where the pattern is that text without regard to case; else ""
}

// MatchString reports whether s has a match.
func (p *Regexp) MatchString(s string) bool {
	if p.folded != "" && IsASCII(s) {
		return containsFolded(s, p.folded)
	}
	return p.finder.MatchString(s)
}

// foldedLiteral is the text of a pattern in Go's syntax that is one of ASCII without regard to case, in small letters; "" for others.
func foldedLiteral(text string) string {
	re, err := syntax.Parse(text, syntax.Perl)
	if err != nil || re.Op != syntax.OpLiteral || re.Flags&syntax.FoldCase == 0 {
		return ""
	}
	var small []byte
	for _, r := range re.Rune {
		if r >= utf8.RuneSelf {
			return ""
		}
		small = append(small, lowerByte(byte(r)))
	}
	return string(small)
}

// containsFolded reports whether s, of ASCII, has a text of small letters in it without regard to case.
func containsFolded(s, small string) bool {
	for ; len(s) >= len(small); s = s[1:] {
		i := 0
		for i < len(small) && lowerByte(s[i]) == small[i] {
			i++
		}
		if i == len(small) {
			return true
		}
	}
	return false
}

// All are the matches. As in PostgreSQL, an empty one may follow another at once, which Go's package leaves out.
func (p *Regexp) All(s string) (list [][]int) {
	found := p.FindAllStringSubmatchIndex(s, -1)
	if p.Class != nil { // none is empty
		return found
	}
	for i, at := range found {
		list = append(list, at)
		end := at[1]
		if at[0] == end || i+1 < len(found) && found[i+1][0] == end {
			continue
		}
		_, size := utf8.DecodeLastRuneInString(s[:end])
		if to := p.behind.FindStringIndex(s[end-size:]); to != nil && to[1] == size {
			list = append(list, []int{end, end})
		}
	}
	return list
}

// AllFrom are the matches that begin behind so many characters, or later.
func (p *Regexp) AllFrom(s string, characters int64) (list [][]int) {
	if characters == 0 {
		return p.All(s)
	}
	at, before := 0, 0 // a byte, and that of the character before it
	step := func() {
		_, size := utf8.DecodeRuneInString(s[at:])
		before, at = at, at+max(size, 1)
	}
	for range characters {
		if step(); at > len(s) {
			return nil
		}
	}
	for at <= len(s) {
		to := p.behind.FindStringSubmatchIndex(s[before:])
		if to == nil {
			step()
			continue
		}
		for i := range to {
			if to[i] >= 0 {
				to[i] += before
			}
		}
		to[0] = at
		if list = append(list, to); to[1] == at {
			step()
			continue
		}
		_, size := utf8.DecodeLastRuneInString(s[:to[1]])
		before, at = to[1]-size, to[1]
	}
	return list
}

// cache are those that were compiled last.
var cache struct {
	sync.Mutex
	of map[string]*Regexp
}

// CompileRegexp is a pattern made ready.
func CompileRegexp(source, flags string) (*Regexp, error) {
	key := flags + "/" + source
	cache.Lock()
	defer cache.Unlock()
	if re, ok := cache.of[key]; ok {
		return re, nil
	}
	text, words, err := toGoSyntax(source, flags)
	if err != nil {
		return nil, err
	}
	longest := !nonGreedy.MatchString(source)
	of := func(text string) (finder, error) {
		re, err := regexp.Compile(text)
		if err != nil {
			return nil, err
		}
		if longest {
			re.Longest()
		}
		if words == "" {
			return re, nil
		}
		return newWordFinder(text, re, !strings.ContainsAny(words, "mM"), longest)
	}
	p := &Regexp{}
	if p.finder, err = of(text); err == nil {
		p.behind, err = of(`\A(?s:.)(?:` + text + `)`)
	}
	if p.Class = newByteClass(text); err == nil && p.Class != nil {
		p.finder = p.Class
	}
	p.folded = foldedLiteral(text)
	if err != nil {
		return nil, sqlstate.Errorf(sqlstate.InvalidRegularExpression, "invalid regular expression: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	const most = 256
	if cache.of == nil || len(cache.of) >= most {
		cache.of = map[string]*Regexp{}
	}
	cache.of[key] = p
	return p, nil
}

// nonGreedy finds what asks for the shortest match.
var nonGreedy = regexp.MustCompile(`[*+?}]\?`)

// Replace puts another text in the place of the first match, or of all. fits is false where it has more than most bytes.
func (p *Regexp) Replace(s, by string, global bool, most int) (out string, fits bool) {
	if global {
		return ReplaceAt(s, by, p.All(s), most)
	}
	if strings.IndexByte(by, '\\') < 0 {
		at := p.FindStringIndex(s)
		if at == nil {
			return s, true
		}
		return s[:at[0]] + by + s[at[1]:], len(s)+len(by) <= most
	}
	return ReplaceAt(s, by, p.FindAllStringSubmatchIndex(s, 1), most)
}

// ReplaceAt puts another text in the place of some matches.
func ReplaceAt(s, by string, list [][]int, most int) (text string, fits bool) {
	if len(list) == 0 {
		return s, true
	}
	var out strings.Builder
	last := 0
	for _, at := range list {
		out.WriteString(s[last:at[0]])
		for i := 0; i < len(by); i++ {
			if by[i] != '\\' || i+1 == len(by) {
				out.WriteByte(by[i])
				continue
			}
			i++
			group := int(by[i] - '0')
			switch {
			case by[i] == '&':
				group = 0
			case by[i] == '\\':
				out.WriteByte('\\')
				continue
			case group < 1 || group > 9:
				out.WriteString(by[i-1 : i+1])
				continue
			}
			if 2*group < len(at) && at[2*group] >= 0 {
				out.WriteString(s[at[2*group]:at[2*group+1]])
			}
		}
		if last = at[1]; out.Len()+len(s)-last > most {
			return "", false
		}
	}
	return out.String() + s[last:], true
}
