package expr

import (
	"regexp"
	"strings"
	"sync"

	"github.com/stencildb/stencildb/table"
)

// Regular expressions. They are PostgreSQL's as far as Go's package regexp goes: without back
// references and looking ahead, with letters of ASCII for \w and \d. What is found is the first,
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
		}).as(infix)
	}
	for _, flags := range []string{"", ",text"} {
		define("regexp_like(text,text"+flags+") boolean!", func(a args) (table.Value, error) {
			re, _, err := a.regexp(1, a.flags(2))
			if err != nil {
				return table.Null(a.T), err
			}
			return table.Bool(re.MatchString(a.v[0].S)), nil
		})
		define("regexp_replace(text,text,text"+flags+") text!", regexpReplace)
	}
	define("regexp_count(text,text) bigint!", func(a args) (table.Value, error) {
		re, _, err := a.regexp(1, "")
		if err != nil {
			return table.Null(a.T), err
		}
		return table.Int(int64(len(re.FindAllStringIndex(a.v[0].S, -1)))), nil
	})
	define("regexp_substr(text,text) text!", func(a args) (table.Value, error) { return a.found(0) })
	define("substring(text,text) text!", func(a args) (table.Value, error) { return a.found(1) })
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
				return a.fail("%v", err)
			}
			return table.Bool(m.Match(a.v[0].S) != op.not), nil
		}).as(infix)
	}
}

// flags are those of argument i, none where there is no such argument.
func (a args) flags(i int) string {
	if i < len(a.v) {
		return a.v[i].S
	}
	return ""
}

// regexp is argument i, a pattern, made ready; global says that the flag g is there.
func (a args) regexp(i int, flags string) (re *regexp.Regexp, global bool, err error) {
	if re, err = compiled(a.v[i].S, flags); err != nil {
		return nil, false, Errorf(a.P, "%v", err)
	}
	return re, strings.Contains(flags, "g"), nil
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

// regexpReplace puts another text in the place of the first match, or with the flag g of all; \1 to
// \9 in it are the pattern's groups, \& is the whole match.
func regexpReplace(a args) (table.Value, error) {
	re, global, err := a.regexp(1, a.flags(3))
	if err != nil {
		return table.Null(a.T), err
	}
	var out strings.Builder
	s, by, last := a.v[0].S, a.v[2].S, 0
	n := 1
	if global {
		n = -1
	}
	for _, at := range re.FindAllStringSubmatchIndex(s, n) {
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
		last = at[1]
	}
	return table.Str(out.String() + s[last:]), nil
}

// similarPattern is the regular expression of a pattern of SIMILAR TO; the second argument is what
// escapes a character, \ where there is none.
func similarPattern(a args) (table.Value, error) {
	escape := `\`
	if len(a.v) > 1 {
		escape = a.v[1].S
	}
	if len([]rune(escape)) > 1 {
		return a.fail("invalid escape string: it must be empty or one character")
	}
	var out strings.Builder
	escaped, bracket := false, false
	for _, r := range a.v[0].S {
		c := string(r)
		switch {
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
	return table.Str("^(?:" + out.String() + ")$"), nil
}

// escapes are the letters that may follow a backslash, and what stands for both in Go.
var escapes = map[byte]string{
	'd': `\d`, 'D': `\D`, 's': `\s`, 'S': `\S`, 'w': `\w`, 'W': `\W`, 'a': `\a`, 'f': `\f`, 'n': `\n`, 'r': `\r`, 't': `\t`, 'v': `\v`,
	'A': `\A`, 'Z': `\z`, 'y': `\b`, 'Y': `\B`, 'b': `\x08`, 'e': `\x1b`, 'm': `\b`, 'M': `\b`,
}

// patterns are those that were compiled last.
var patterns struct {
	sync.Mutex
	of map[string]*regexp.Regexp
}

// compiled is a pattern made ready.
func compiled(pattern, flags string) (*regexp.Regexp, error) {
	key := flags + "/" + pattern
	patterns.Lock()
	defer patterns.Unlock()
	if re, ok := patterns.of[key]; ok {
		return re, nil
	}
	text, err := translatedPattern(pattern, flags)
	if err != nil {
		return nil, err
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, Errorf(-1, "invalid regular expression: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	if !shortest.MatchString(pattern) {
		re.Longest()
	}
	const most = 256
	if patterns.of == nil || len(patterns.of) >= most {
		patterns.of = map[string]*regexp.Regexp{}
	}
	patterns.of[key] = re
	return re, nil
}

// shortest finds what asks for the shortest match.
var shortest = regexp.MustCompile(`[*+?}]\?`)

// translatedPattern is a pattern with its flags as Go writes it.
func translatedPattern(pattern, flags string) (string, error) {
	fold, dot, lines := "", "s", ""
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
		default:
			return "", Errorf(-1, "invalid regular expression option: %q; there are g, i, c, n, p, s and w", string(f))
		}
	}
	var text strings.Builder
	if all := fold + dot + lines; all != "" {
		text.WriteString("(?" + all + ")")
	}
	for i := 0; i < len(pattern); i++ {
		if pattern[i] != '\\' || i+1 == len(pattern) {
			text.WriteByte(pattern[i])
			continue
		}
		i++
		c := pattern[i]
		word := c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		switch escape, ok := escapes[c]; {
		case ok:
			text.WriteString(escape)
		case word:
			return "", Errorf(-1, `invalid regular expression: \%c is not supported`, c)
		default:
			text.WriteString(pattern[i-1 : i+1])
		}
	}
	return text.String(), nil
}
