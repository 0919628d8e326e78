package expr

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// Regular expressions. They are PostgreSQL's as far as Go's package regexp goes: without back
// references and looking ahead, with digits of ASCII for \d. What is found is the first,
// of these the longest match, unless a part asks for the shortest (*?, +?, ??).
func init() {
	for _, op := range []struct {
		name, flags string
		not         bool
	}{{"~", "", false}, {"~*", "i", false}, {"!~", "", true}, {"!~*", "i", true}} {
		define(op.name+"(text,text) boolean!", func(a args) (table.Value, error) {
			re, _, err := a.regexp(1, op.flags)
			if err != nil {
				return table.Null(a.T), err
			}
			return table.Bool(re.MatchString(a.v[0].S) != op.not), nil
		}).bound(func(e *Call) kernel { return matchKernel(e, op.flags, op.not) }).as(infix)
	}
	for _, flags := range []string{"", ",text"} {
		define("regexp_like(text,text"+flags+") boolean!", func(a args) (table.Value, error) {
			re, _, err := a.regexp(1, a.flags(2))
			if err != nil {
				return table.Null(a.T), err
			}
			return table.Bool(re.MatchString(a.v[0].S)), nil
		}).bound(func(e *Call) kernel {
			if flags, ok := e.textAt(2); ok {
				return matchKernel(e, flags, false)
			}
			return kernel{}
		})
		define("regexp_replace(text,text,text"+flags+") text!", regexpReplace).bound(func(e *Call) kernel {
			re, flags := e.pattern(3)
			by, ok := e.textAt(2)
			if re == nil || !ok {
				return kernel{}
			}
			global := strings.Contains(flags, "g")
			if re.class != nil && strings.IndexByte(by, '\\') < 0 {
				return written1(0, func(out []byte, s string) ([]byte, state) {
					from := len(out)
					out = re.class.appendReplaced(out, s, by, global)
					return out, failedIf(len(out)-from > MaxText)
				}).only(len(e.Args), 0)
			}
			return of1(0, func(s string) (string, state) {
				out, fits := re.replaced(s, by, global)
				return out, failedIf(!fits)
			}).only(len(e.Args), 0)
		})
	}
	for _, more := range []string{",integer", ",integer,integer", ",integer,integer,text"} {
		define("regexp_replace(text,text,text"+more+") text!", regexpReplace)
	}
	for _, more := range []string{"", ",integer", ",integer,text"} {
		define("regexp_count(text,text"+more+") integer!", func(a args) (table.Value, error) {
			re, list, err := a.matches(2, 3)
			if re == nil {
				return table.Null(a.T), err
			}
			return table.Int(int64(len(list))), nil
		}).bound(func(e *Call) kernel {
			re, flags := e.pattern(3)
			if re == nil || len(e.Args) > 2 || strings.Contains(flags, "g") {
				return kernel{}
			}
			if re.class != nil {
				return of1(0, never(re.class.count)).only(2, 0)
			}
			return of1(0, never(func(s string) int64 { return int64(len(re.all(s))) })).only(2, 0)
		})
	}
	for _, more := range []string{"", ",integer", ",integer,integer", ",integer,integer,text", ",integer,integer,text,integer"} {
		define("regexp_substr(text,text"+more+") text!", func(a args) (table.Value, error) {
			at, err := a.match(2, 4)
			if err != nil || at == nil {
				return table.Null(a.T), err
			}
			return table.Str(a.v[0].S[at[0]:at[1]]), nil
		}).bound(func(e *Call) kernel {
			if len(e.Args) > 2 {
				return kernel{}
			}
			return foundKernel(e, false)
		})
	}
	for _, more := range []string{"", ",integer", ",integer,integer", ",integer,integer,integer", ",integer,integer,integer,text", ",integer,integer,integer,text,integer"} {
		define("regexp_instr(text,text"+more+") integer!", func(a args) (table.Value, error) {
			end, err := a.number(4, "endoption", 0)
			if err != nil || end > 1 {
				return a.failAs(sqlstate.InvalidParameterValue, "invalid value for parameter \"endoption\": %d", end)
			}
			at, err := a.match(2, 5)
			if err != nil {
				return table.Null(a.T), err
			}
			if at == nil {
				return table.Int(0), nil
			}
			return table.Int(int64(utf8.RuneCountInString(a.v[0].S[:at[end]])) + 1), nil
		})
	}
	define("substring(text,text) text!", func(a args) (table.Value, error) { return a.found(1) }).bound(func(e *Call) kernel { return foundKernel(e, true) })
	define("substring(text,text,text) text!", similarSubstring)
	for _, escape := range []string{"", ",text"} {
		define("similar_to_escape(text"+escape+") text!", similarPattern)
	}
	for _, op := range []struct {
		name      string
		fold, not bool
	}{{"~~", false, false}, {"~~*", true, false}, {"!~~", false, true}, {"!~~*", true, true}} {
		define(op.name+"(text,text) boolean!", func(a args) (table.Value, error) {
			m, err := CompileLike(a.v[1].S, '\\', op.fold)
			if err != nil {
				return table.Null(a.T), ErrorAt(a.P, err)
			}
			return table.Bool(m.Match(a.v[0].S) != op.not), nil
		}).as(infix)
	}
}

// pattern is the constant second argument made ready, with the flags of an argument; nil where these are no constants, or wrong.
func (e *Call) pattern(flagsAt int) (re *pattern, flags string) {
	source, ok := e.textAt(1)
	flags, known := e.textAt(flagsAt)
	if !ok || !known {
		return nil, ""
	}
	re, err := compiled(source, flags)
	if err != nil {
		return nil, ""
	}
	return re, flags
}

// matchKernel tells which texts have a match of a constant pattern.
func matchKernel(e *Call, flags string, not bool) kernel {
	source, ok := e.textAt(1)
	if !ok {
		return kernel{}
	}
	re, err := compiled(source, flags)
	if err != nil {
		return kernel{}
	}
	return of1(0, never(func(s string) int64 { return truth(re.MatchString(s) != not) })).only(len(e.Args), 0)
}

// foundKernel is the first match of a constant pattern, or of its first group.
func foundKernel(e *Call, group bool) kernel {
	re, _ := e.pattern(len(e.Args))
	if re == nil {
		return kernel{}
	}
	if f := re.class; f != nil {
		return of1(0, func(s string) (string, state) {
			from, to := f.next(s, 0)
			if from == len(s) {
				return "", null
			}
			return s[from:to], valid
		}).only(2, 0)
	}
	return of1(0, func(s string) (string, state) {
		if !group || re.NumSubexp() == 0 {
			at := re.FindStringIndex(s)
			if at == nil {
				return "", null
			}
			return s[at[0]:at[1]], valid
		}
		at := re.FindStringSubmatchIndex(s)
		if at == nil || at[2] < 0 {
			return "", null
		}
		return s[at[2]:at[3]], valid
	}).only(2, 0)
}

// flags are those of argument i, none where there is no such argument.
func (a args) flags(i int) string {
	if i < len(a.v) {
		return a.v[i].S
	}
	return ""
}

// regexp is argument i, a pattern, made ready; global says that the flag g is there.
func (a args) regexp(i int, flags string) (re *pattern, global bool, err error) {
	if re, err = compiled(a.v[i].S, flags); err != nil {
		return nil, false, ErrorAt(a.P, err)
	}
	return re, strings.Contains(flags, "g"), nil
}

// number is argument i, at least least; without such an argument it is that.
func (a args) number(i int, name string, least int64) (int64, error) {
	if i >= len(a.v) {
		return least, nil
	}
	if n := a.v[i].I; n >= least {
		return n, nil
	}
	return 0, Coded(sqlstate.InvalidParameterValue, a.P, "invalid value for parameter %q: %d", name, a.v[i].I)
}

// matches are those of a pattern, the second argument, from the character on whose number is argument start, with the
// flags of argument flags. Without a pattern there is an error.
func (a args) matches(start, flags int) (re *pattern, list [][]int, err error) {
	re, global, err := a.regexp(1, a.flags(flags))
	if err != nil {
		return nil, nil, err
	}
	if global {
		return nil, nil, Coded(sqlstate.InvalidParameterValue, a.P, "%s() does not support the \"global\" option", a.Fn.Name)
	}
	from, err := a.number(start, "start", 1)
	if err != nil {
		return nil, nil, err
	}
	return re, re.from(a.v[0].S, from-1), nil
}

// match is where the match is that the arguments say: start, the number of the match, and behind the flags that of a
// group. It is nil where there is none.
func (a args) match(start, flags int) ([]int, error) {
	re, list, err := a.matches(start, flags)
	if err != nil {
		return nil, err
	}
	n, err := a.number(start+1, "n", 1)
	if err != nil {
		return nil, err
	}
	group, err := a.number(flags+1, "subexpr", 0)
	if group == 1 && re.NumSubexp() == 0 {
		group = 0 // as in substring
	}
	if err != nil || n > int64(len(list)) || group > int64(re.NumSubexp()) {
		return nil, err
	}
	at := list[n-1][2*group:]
	if at[0] < 0 {
		return nil, nil
	}
	return at[:2], nil
}

// found is what a pattern, the second argument, finds first: all of it, or its group of a number,
// if it has so many. It is NULL where nothing is found.
func (a args) found(group int) (table.Value, error) {
	re, _, err := a.regexp(1, "")
	if err != nil {
		return table.Null(a.T), err
	}
	at := re.FindStringSubmatchIndex(a.v[0].S)
	if re.NumSubexp() < group {
		group = 0
	}
	if at == nil || at[2*group] < 0 {
		return table.Null(a.T), nil
	}
	return table.Str(a.v[0].S[at[2*group]:at[2*group+1]]), nil
}

// regexpReplace replaces the first match, or with the flag g all matches. With a start and a number it replaces the
// match of that number from there on, 0 for all. \1 to \9 in the new text are the pattern's groups, \& is the whole
// match.
func regexpReplace(a args) (table.Value, error) {
	places := len(a.v) > 3 && a.v[3].Type.IsInteger()
	flags := a.flags(3)
	if places {
		flags = a.flags(5)
	}
	re, global, err := a.regexp(1, flags)
	if err != nil {
		return table.Null(a.T), err
	}
	s, by := a.v[0].S, a.v[2].S
	var list [][]int
	switch {
	case places:
		start, err := a.number(3, "start", 1)
		if err != nil {
			return table.Null(a.T), err
		}
		n, err := a.number(4, "n", 0)
		if err != nil {
			return table.Null(a.T), err
		}
		if list = re.from(s, start-1); len(a.v) == 4 && !global {
			n = 1
		}
		if n > 0 {
			list = list[min(n-1, int64(len(list))):min(n, int64(len(list)))]
		}
	case global:
		list = re.all(s)
	default:
		list = re.FindAllStringSubmatchIndex(s, 1)
	}
	out, fits := replacedAt(s, by, list)
	if !fits {
		return a.failAs(sqlstate.ProgramLimitExceeded, "requested length too large")
	}
	return table.Str(out), nil
}

// replaced puts another text in the place of the first match, or of all. fits is false where it is too long.
func (p *pattern) replaced(s, by string, global bool) (out string, fits bool) {
	if global {
		return replacedAt(s, by, p.all(s))
	}
	if strings.IndexByte(by, '\\') < 0 {
		at := p.FindStringIndex(s)
		if at == nil {
			return s, true
		}
		return s[:at[0]] + by + s[at[1]:], len(s)+len(by) <= MaxText
	}
	return replacedAt(s, by, p.FindAllStringSubmatchIndex(s, 1))
}

// replacedAt puts another text in the place of some matches.
func replacedAt(s, by string, list [][]int) (text string, fits bool) {
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
		if last = at[1]; out.Len()+len(s)-last > MaxText {
			return "", false
		}
	}
	return out.String() + s[last:], true
}

// similarPattern is the regular expression of a pattern of SIMILAR TO; the second argument is what
// escapes a character, \ where there is none.
func similarPattern(a args) (table.Value, error) {
	escape := `\`
	if len(a.v) > 1 {
		escape = a.v[1].S
	}
	parts, err := a.similarParts(a.v[0].S, escape)
	if err != nil {
		return table.Null(a.T), err
	}
	return table.Str(anchored(parts...)), nil
}

// anchored is the regular expression of a text that is some parts, one after the other.
func anchored(parts ...string) string { return "^(?:" + strings.Join(parts, ")(?:") + ")$" }

// similarSubstring is SUBSTRING(x SIMILAR p ESCAPE e). A double quote behind the escape separates the parts of the pattern.
// The result is what the second part matches, or all of x where there is one part. The first and the third match as little as
// they can.
func similarSubstring(a args) (table.Value, error) {
	parts, err := a.similarParts(a.v[1].S, a.v[2].S)
	if err != nil {
		return table.Null(a.T), err
	}
	if len(parts) == 1 {
		parts = []string{"", parts[0], ""}
	}
	parts = append(parts, "")[:3]
	var of [5]*pattern
	for i, p := range []string{parts[0], parts[1], parts[2], anchored(parts[1:]...), anchored(parts...)} {
		if i < 3 {
			p = anchored(p)
		}
		if of[i], err = compiled(p, ""); err != nil {
			return table.Null(a.T), ErrorAt(a.P, err)
		}
	}
	s := a.v[0].S
	if !of[4].MatchString(s) {
		return table.Null(a.T), nil
	}
	from, to := 0, len(s)
	for from < len(s) && !(of[0].MatchString(s[:from]) && of[3].MatchString(s[from:])) {
		_, size := utf8.DecodeRuneInString(s[from:])
		from += size
	}
	for to > from && !(of[1].MatchString(s[from:to]) && of[2].MatchString(s[to:])) {
		_, size := utf8.DecodeLastRuneInString(s[:to])
		to -= size
	}
	return table.Str(s[from:to]), nil
}

// similarParts are the regular expressions of the parts of a pattern of SIMILAR TO, which an escaped double quote ends: up to three.
func (a args) similarParts(pattern, escape string) ([]string, error) {
	if len([]rune(escape)) > 1 {
		return nil, Coded(sqlstate.InvalidEscapeSequence, a.P, "invalid escape string: it must be empty or one character")
	}
	var parts []string
	var out strings.Builder
	escaped, bracket := false, false
	for _, r := range pattern {
		c := string(r)
		switch {
		case escaped && c == `"` && !bracket:
			if len(parts) == 2 {
				return nil, Coded(sqlstate.InvalidRegularExpression, a.P, "a pattern of SIMILAR may not contain more than two double quotes behind the escape")
			}
			parts = append(parts, out.String())
			out.Reset()
			escaped = false
		case escaped:
			out.WriteString(`\` + c)
			escaped = false
		case c == escape:
			escaped = true
		case bracket:
			bracket = c != "]"
			out.WriteString(strings.ReplaceAll(c, `\`, `\\`))
		case c == "%":
			out.WriteString(".*")
		case c == "_":
			out.WriteByte('.')
		case c == "(":
			out.WriteString("(?:")
		case strings.Contains(`\.^$`, c):
			out.WriteString(`\` + c)
		default:
			bracket = c == "["
			out.WriteString(c)
		}
	}
	return append(parts, out.String()), nil
}

// escapes are the letters that may follow a backslash, and what stands for both in Go.
var escapes = map[byte]string{
	'd': `\d`, 'D': `\D`, 's': `\s`, 'S': `\S`, 'a': `\a`, 'f': `\f`, 'n': `\n`, 'r': `\r`, 't': `\t`, 'v': `\v`,
	'A': `\A`, 'Z': `\z`, 'b': `\x08`, 'e': `\x1b`,
}

// boundaries are the letters behind a backslash that stand for a boundary of words, which brackets cannot have.
var boundaries = map[byte]string{'y': `\b`, 'Y': `\B`, 'm': beginsWord, 'M': endsWord}

// hexDigits are how many follow the letters that write a character by its number.
var hexDigits = map[byte]int{'u': 4, 'U': 8}

// wordClass is \w within brackets.
const wordClass = `\p{L}\p{Nd}_`

// noWord is \W within brackets: the ranges of what is not in wordClass.
var noWord = sync.OnceValue(func() string {
	re, err := syntax.Parse("[^"+wordClass+"]", syntax.Perl)
	if err != nil {
		panic(err)
	}
	var text strings.Builder
	for i := 0; i < len(re.Rune); i += 2 {
		fmt.Fprintf(&text, `\x{%x}-\x{%x}`, re.Rune[i], re.Rune[i+1])
	}
	return text.String()
})

// classes are the characters of any language that PostgreSQL has for a name in brackets.
var classes = map[string]string{"[:alpha:]": `\p{L}`, "[:alnum:]": `\p{L}\p{Nd}`, "[:word:]": wordClass, "[:lower:]": `\p{Ll}`, "[:upper:]": `\p{Lu}`}

// pattern is a regular expression; behind is that after any one character.
type pattern struct {
	finder
	behind finder
	class  *byteClass // it, where it is one
	folded string     // ASCII in small letters, where the pattern is that text without regard to case; else ""
}

// MatchString reports whether s has a match.
func (p *pattern) MatchString(s string) bool {
	if p.folded != "" && isASCII(s) {
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

// all are the matches. As in PostgreSQL, an empty one may follow another at once, which Go's package leaves out.
func (p *pattern) all(s string) (list [][]int) {
	found := p.FindAllStringSubmatchIndex(s, -1)
	if p.class != nil { // none is empty
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

// from are the matches that begin behind so many characters, or later.
func (p *pattern) from(s string, characters int64) (list [][]int) {
	if characters == 0 {
		return p.all(s)
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

// patterns are those that were compiled last.
var patterns struct {
	sync.Mutex
	of map[string]*pattern
}

// compiled is a pattern made ready.
func compiled(source, flags string) (*pattern, error) {
	key := flags + "/" + source
	patterns.Lock()
	defer patterns.Unlock()
	if re, ok := patterns.of[key]; ok {
		return re, nil
	}
	text, words, err := translatedPattern(source, flags)
	if err != nil {
		return nil, err
	}
	longest := !shortest.MatchString(source)
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
	p := &pattern{}
	if p.finder, err = of(text); err == nil {
		p.behind, err = of(`\A(?s:.)(?:` + text + `)`)
	}
	if p.class = newByteClass(text); err == nil && p.class != nil {
		p.finder = p.class
	}
	p.folded = foldedLiteral(text)
	if err != nil {
		return nil, Coded(sqlstate.InvalidRegularExpression, -1, "invalid regular expression: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	const most = 256
	if patterns.of == nil || len(patterns.of) >= most {
		patterns.of = map[string]*pattern{}
	}
	patterns.of[key] = p
	return p, nil
}

// shortest finds what asks for the shortest match.
var shortest = regexp.MustCompile(`[*+?}]\?`)

// translatedPattern is a pattern with its flags as Go writes it, and the letters of the boundaries of words that it has.
func translatedPattern(pattern, flags string) (goes, words string, err error) {
	fold, dot, lines, literal := "", "s", "", false
	for _, f := range flags {
		switch f {
		case 'g':
		case 'i':
			fold = "i"
		case 'c':
			fold = ""
		case 'n', 'm':
			dot, lines = "", "m"
		case 'p':
			dot, lines = "", ""
		case 'w':
			dot, lines = "s", "m"
		case 's':
			dot, lines = "s", ""
		case 'q':
			literal = true
		default:
			return "", "", Coded(sqlstate.InvalidRegularExpression, -1, "invalid regular expression option: %q; there are g, i, c, n, p, q, s and w", string(f))
		}
	}
	var text strings.Builder
	if all := fold + dot + lines; all != "" {
		text.WriteString("(?" + all + ")")
	}
	if literal {
		return text.String() + regexp.QuoteMeta(pattern), "", nil
	}
	bracket := -1 // where one begins, negative outside
	for i := 0; i < len(pattern); i++ {
		rest := pattern[i:]
		if bracket >= 0 && strings.HasPrefix(rest, "[:") && strings.Contains(rest, ":]") {
			name := rest[:strings.Index(rest, ":]")+2]
			if class, ok := classes[name]; ok {
				text.WriteString(class)
			} else {
				text.WriteString(name)
			}
			i += len(name) - 1
			continue
		}
		if word := map[string]byte{"[[:<:]]": 'm', "[[:>:]]": 'M'}[rest[:min(len(rest), 7)]]; bracket < 0 && word != 0 {
			text.WriteString(boundaries[word])
			words += string(word)
			i += 6
			continue
		}
		switch {
		case bracket < 0 && rest[0] == '[':
			bracket = i
			if strings.HasPrefix(rest, "[^") {
				bracket++
			}
		case rest[0] == ']' && i > bracket+1:
			bracket = -1
		}
		if rest[0] != '\\' || len(rest) == 1 {
			text.WriteByte(rest[0])
			continue
		}
		i++
		c := pattern[i]
		word := c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		switch escape, ok := escapes[c]; {
		case c == 'w' && bracket >= 0:
			text.WriteString(wordClass)
		case c == 'w':
			text.WriteString("[" + wordClass + "]")
		case c == 'W' && bracket >= 0:
			text.WriteString(noWord())
		case c == 'W':
			text.WriteString("[^" + wordClass + "]")
		case boundaries[c] != "" && bracket >= 0:
			return "", "", Coded(sqlstate.InvalidRegularExpression, -1, `invalid regular expression: \%c is no character, and in brackets`, c)
		case boundaries[c] != "":
			text.WriteString(boundaries[c])
			words += string(c)
		case ok:
			text.WriteString(escape)
		case hexDigits[c] > 0:
			digits := pattern[i+1 : min(i+1+hexDigits[c], len(pattern))]
			n, err := strconv.ParseUint(digits, 16, 32)
			if err != nil || len(digits) < hexDigits[c] {
				return "", "", Coded(sqlstate.InvalidRegularExpression, -1, `invalid regular expression: \%c wants %d hexadecimal digits behind it`, c, hexDigits[c])
			}
			fmt.Fprintf(&text, `\x{%x}`, n)
			i += len(digits)
		case word:
			return "", "", Coded(sqlstate.FeatureNotSupported, -1, `invalid regular expression: \%c is not supported`, c)
		default:
			text.WriteString(pattern[i-1 : i+1])
		}
	}
	return text.String(), words, nil
}
